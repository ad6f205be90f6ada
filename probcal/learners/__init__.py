"""Base learners of the papers, with short names. You name any scikit-learn classifier by its import path."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.learners.c45 import C45Classifier
    from probcal.learners.kernel_naive_bayes import KernelNaiveBayes
    from probcal.learners.svm import HingeSVM
    from probcal.learners.weka import WekaClassifier

_MODULES = {
    "C45Classifier": "probcal.learners.c45",
    "HingeSVM": "probcal.learners.svm",
    "KernelNaiveBayes": "probcal.learners.kernel_naive_bayes",
    "WekaClassifier": "probcal.learners.weka",
}
__all__ = ["C45Classifier", "HingeSVM", "KernelNaiveBayes", "WekaClassifier"]


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'probcal.learners' has no attribute {name!r}")
