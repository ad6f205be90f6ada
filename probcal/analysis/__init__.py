"""What of a comparison of methods survives the statistics that the field uses: ``probcal compare``."""
