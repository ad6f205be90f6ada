"""Ranks, significance tests and intervals. Arrays go in, numbers come out."""
