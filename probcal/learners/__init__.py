"""Base learners of the papers, with short names. You name any scikit-learn classifier by its import path."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.learners.kernel_naive_bayes import KernelNaiveBayes
    from probcal.learners.presorted_tree import PresortedTreeClassifier
    from probcal.learners.svm import HingeSVM
    from probcal.learners.weka import WekaClassifier


__all__ = ["HingeSVM", "KernelNaiveBayes", "PresortedTreeClassifier", "WekaClassifier"]


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name == "HingeSVM":
        from probcal.learners.svm import HingeSVM

        return HingeSVM
    if name == "KernelNaiveBayes":
        from probcal.learners.kernel_naive_bayes import KernelNaiveBayes

        return KernelNaiveBayes
    if name == "PresortedTreeClassifier":
        from probcal.learners.presorted_tree import PresortedTreeClassifier

        return PresortedTreeClassifier
    if name == "WekaClassifier":
        from probcal.learners.weka import WekaClassifier

        return WekaClassifier
    raise AttributeError(f"module 'probcal.learners' has no attribute {name!r}")
