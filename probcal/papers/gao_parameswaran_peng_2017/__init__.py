"""Gao, Parameswaran & Peng (2017): published numbers."""
