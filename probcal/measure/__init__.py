"""``probcal measure``: reads a file of predictions, measures them, and calibrates them if asked."""
