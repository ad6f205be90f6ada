"""The commands: a file each, which parses, calls one function and prints. Everything heavy is imported inside."""
