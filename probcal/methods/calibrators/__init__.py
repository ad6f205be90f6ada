"""Calibrators: methods that fit a map from a learner's scores to probabilities."""
