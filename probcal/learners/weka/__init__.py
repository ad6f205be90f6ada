"""Weka's classifiers as scikit-learn classifiers (needs ``pip install probcal[weka]``)."""

from probcal.learners.weka.classifier import WekaClassifier
from probcal.learners.weka.java_errors import WekaError
from probcal.learners.weka.jvm import WekaMissing

__all__ = ["WekaClassifier", "WekaError", "WekaMissing"]
