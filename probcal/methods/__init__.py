"""Methods that turn a learner into a classifier with class probabilities."""
