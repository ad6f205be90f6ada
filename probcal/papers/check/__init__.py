"""Checks that results still reproduce the published numbers and our accepted ones, for ``probcal check``."""
