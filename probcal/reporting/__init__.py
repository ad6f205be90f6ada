"""Tables, figures and web pages of a results folder."""

FORMATS = ("markdown", "latex", "csv", "html")
"""Formats of ``probcal.reporting.tables``. They are here because the command line offers them without importing it."""
