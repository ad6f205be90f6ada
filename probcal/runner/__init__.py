"""The runner: it plans the cells of an experiment, runs them and stores their results."""
