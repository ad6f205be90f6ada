"""Vovk, Petej & Gammerman (2021): published numbers."""
