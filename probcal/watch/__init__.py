"""Calibration over time: ``probcal watch`` reads a log of predictions and labels, and alarms when they drift apart."""
