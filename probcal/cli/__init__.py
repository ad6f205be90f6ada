"""The commands, one per file. Each parses its options, calls one function and prints. Heavy imports are inside."""
