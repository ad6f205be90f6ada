"""From an experiment to its results: plan the cells, run them, keep what came out."""
