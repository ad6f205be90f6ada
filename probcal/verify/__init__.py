"""Do stored results agree with the predictions they were measured from: ``probcal verify``."""
