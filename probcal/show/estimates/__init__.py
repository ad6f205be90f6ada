"""What the kept estimates of a results folder tell: reliability, score histograms, ROC and cost curves, as data."""
