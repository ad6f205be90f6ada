"""Methods: each turns a base learner into an estimator of class probabilities."""
