"""Weka's classifiers as scikit-learn classifiers (they need the packages of the extra ``weka``)."""

from probcal.learners.weka.classifier import WekaClassifier
from probcal.learners.weka.jvm import WekaError, WekaMissing

__all__ = ["WekaClassifier", "WekaError", "WekaMissing"]
