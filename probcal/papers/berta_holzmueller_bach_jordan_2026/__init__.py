"""Berta, Holzmueller, Bach & Jordan (2026, CalArena): published ranks, and the map of the mean score."""
