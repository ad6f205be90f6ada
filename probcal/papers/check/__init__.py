"""Do we still reproduce the published numbers, and our own: ``probcal check``."""
