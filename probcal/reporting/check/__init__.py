"""Text and JSON of ``probcal check`` and of ``probcal audit``."""
