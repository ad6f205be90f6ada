"""Kull, Silva Filho & Flach (2017): published numbers, and what scikit-learn did in 2016."""
