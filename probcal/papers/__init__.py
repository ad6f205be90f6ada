"""What the papers published, as data."""
