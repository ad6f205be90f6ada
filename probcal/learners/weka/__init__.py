"""Weka's classifiers as scikit-learn classifiers (needs ``pip install probcal[weka]``)."""

from probcal.learners.weka.classifier import WekaClassifier
from probcal.learners.weka.jar import WekaMissing
from probcal.learners.weka.jvm import WekaError

__all__ = ["WekaClassifier", "WekaError", "WekaMissing"]
