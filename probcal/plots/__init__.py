"""Displays: diagrams of predicted probabilities, with the signatures of scikit-learn's displays."""
