"""Kull, Silva Filho & Flach (2017, EJS): published numbers, and the mean of the maps of several folds."""
