"""probcal: class probability estimation, as estimators and as an experiment runner."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from probcal.methods.bagging import BaggedVoteClassifier
    from probcal.methods.probing import ProbingClassifier
    from probcal.methods.sigmoid import SigmoidClassifier

__version__ = "0.1.0"
__all__ = ["BaggedVoteClassifier", "ProbingClassifier", "SigmoidClassifier"]

_HOME = {
    "BaggedVoteClassifier": "probcal.methods.bagging",
    "ProbingClassifier": "probcal.methods.probing",
    "SigmoidClassifier": "probcal.methods.sigmoid",
}


def __getattr__(name: str) -> object:
    # imported on first use: scikit-learn costs a second that `probcal --help` must not pay
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'probcal' has no attribute {name!r}")
