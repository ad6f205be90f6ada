"""Your own table without a config: it is read, its columns are inferred, and learners and methods are ranked on it."""
