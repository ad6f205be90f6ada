"""Data sets: cards say what they are, sources bring them, a Dataset is what comes out."""
