"""Experiment files: their model, YAML loading, checks, and the components that they name."""
