"""Somebody's own table without a config: read, kinds guessed, a card and an experiment made of it, ranked."""
