"""C4.5 decision trees, compiled (they need the packages of the extra ``trees``)."""

from probcal.learners.c45.estimator import C45Classifier

__all__ = ["C45Classifier"]
