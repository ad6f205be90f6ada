"""The commands, a file for those that belong together. Each parses its options, calls one function and prints."""
