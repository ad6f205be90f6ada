"""Comparisons of the methods of an experiment: pairs, ranks, bootstrap draws, support of claims, and leaderboards."""
