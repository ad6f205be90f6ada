"""Calibrators: methods that fit one map from a learner's scores to probabilities."""
