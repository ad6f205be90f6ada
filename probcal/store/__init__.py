"""The results folder: what was asked, which cells ran, and what came out."""
