"""C4.5 decision trees, compiled (needs ``pip install probcal[trees]``)."""

from probcal.learners.c45.estimator import C45Classifier

__all__ = ["C45Classifier"]
