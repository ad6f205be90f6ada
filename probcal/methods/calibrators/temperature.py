"""Temperature scaling, by scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import sklearn
from sklearn import get_config
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.fixes import parse_version

from probcal.methods._base import class_labels
from probcal.methods._fitting import weights_parameter

_SINCE = "1.8"


class TemperatureClassifier(CalibratedClassifierCV):
    """softmax(scores / T), T the temperature of least log loss (Guo, Pleiss, Sun & Weinberger 2017, section 4.2).

    scikit-learn's CalibratedClassifierCV with ``method="temperature"`` and ``ensemble=False``: T is fitted on each
    row's score by a learner that was trained without its fold, and the learner that predicts is trained on all rows.
    The scores are the decision function, or the logarithms of the probabilities where there is none.

    It is here because that class, up to scikit-learn 1.9.1 at least, reads labels that are numbers as the places of
    their classes: with classes 1 and 2 it fits T to the wrong class, without a word. This one is given the places.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    cv : number of stratified folds, in the order of the rows; a splitter of scikit-learn, or a list of (rows to learn
        from, rows to calibrate on). None is 5.
    n_jobs : processes for the folds.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    calibrated_classifiers_ : one, of a learner whose classes are 0, 1, ..., the places in ``classes_``.
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(self, estimator: Any, *, cv: Any = None, n_jobs: int | None = None) -> None:
        super().__init__(estimator, method="temperature", cv=cv, n_jobs=n_jobs, ensemble=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """X: (n_rows, n_columns), y: (n_rows,) labels, sample_weight: (n_rows,) or None, for learner and temperature.

        Raises ValueError for what is none of these, a class of fewer rows than folds, a learner that takes no weights
        where some are given, and an older scikit-learn.
        """
        self.check_parameters()
        labels, classes = class_labels(X, y)
        if sample_weight is not None and not get_config()["enable_metadata_routing"]:
            name = weights_parameter(self.estimator)
            if name is None:
                raise ValueError(f"{type(self.estimator).__name__} cannot be fitted with weights")
            if name != "sample_weight":  # of a Pipeline, whose last step scikit-learn does not look at
                fit_params = {name: sample_weight, **fit_params}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Since .* does not appear to accept sample_weight")
            super().fit(X, np.searchsorted(classes, labels), sample_weight, **fit_params)
        self.classes_ = classes
        return self

    def check_parameters(self) -> None:
        """Raises ValueError for a parameter that is not as documented, or where scikit-learn has no temperature."""
        if parse_version(sklearn.__version__) < parse_version(_SINCE):
            raise ValueError(
                f"temperature scaling needs scikit-learn {_SINCE} or newer, and this is {sklearn.__version__}: "
                "pip install -U scikit-learn"
            )
        self._validate_params()
