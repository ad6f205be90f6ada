"""Weights of classes that a learner brings along, which defeat methods that choose them."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.pipeline import Pipeline


def warn_of_class_weight(method: Any) -> None:
    """UserWarning where the learner of ``method``, or one within it, has a ``class_weight`` that is not None.

    Of a Pipeline the last step is asked, for steps before it give no labels.
    """
    learner = method.estimator
    while isinstance(learner, Pipeline):
        learner = learner.steps[-1][1]
    parameters = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    for name, value in sorted(parameters.items()):
        if name.rpartition("__")[2] == "class_weight" and value is not None:
            warnings.warn(
                f"{type(learner).__name__} has {name}={value!r}: {type(method).__name__} weights or relabels the rows "
                "for a threshold, and weights of the learner's own move it elsewhere, so that the probabilities are "
                f"wrong; set {name}=None",
                UserWarning,
                stacklevel=4,  # of whoever called fit
            )
