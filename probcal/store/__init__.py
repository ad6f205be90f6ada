"""The results folder: the experiment, its runs and the results of its cells."""
