"""Experiment files: their model, their YAML, their checks, and the components that they name."""
