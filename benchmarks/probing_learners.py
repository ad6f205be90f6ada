"""The learners that are timed under Probing: as scikit-learn has them, and as a shortcut stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from probcal.components.classes import import_class
from probcal.learners import C45Classifier
from probcal.learners.kernel_naive_bayes import KernelNaiveBayes
from probcal.learners.registry import LEARNERS as REGISTERED
from probcal.learners.svm import HingeSVM


@dataclass(frozen=True)
class Learner:
    """A learner of a loop and of Probing.

    ``default``: with scikit-learn's defaults, but of the hinge with the settings of experiments; ``tight``: so far
    converged that no label hangs on its solver.
    """

    default: Callable[[], Any]
    tight: Callable[[], Any]


def registered_learner(name: str) -> Any:
    """The learner that experiments know by this name."""
    builtin = REGISTERED[name]
    return import_class(builtin.path)(**builtin.params)


def kernel_nb_shares() -> KernelNaiveBayes:
    """With the densities that class weights leave as they are."""
    return KernelNaiveBayes(weights="shares")


def c45() -> C45Classifier:
    """Return C4.5 with J48's defaults, compiled, because that is not what is timed."""
    tree = C45Classifier()
    clone(tree).fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])
    return tree


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0)


LEARNERS = {
    "gaussian_nb": Learner(GaussianNB, GaussianNB),
    "logistic": Learner(LogisticRegression, lambda: LogisticRegression(solver="newton-cholesky", tol=1e-8)),
    "linear_svm": Learner(LinearSVC, lambda: LinearSVC(dual=False, tol=1e-8, max_iter=100_000)),
    "hinge_svm": Learner(lambda: registered_learner("linear_svm"), HingeSVM),
    "c45": Learner(c45, c45),
    "kernel_nb": Learner(KernelNaiveBayes, KernelNaiveBayes),
    "kernel_nb_shares": Learner(kernel_nb_shares, kernel_nb_shares),
    "sklearn_tree": Learner(tree, tree),
    "j48": Learner(lambda: registered_learner("j48"), lambda: registered_learner("j48")),
}
