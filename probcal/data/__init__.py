"""Data sets: cards describe them, sources read their rows, and a Dataset holds the checked result."""
