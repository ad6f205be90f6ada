"""Temperature scaling with scikit-learn."""

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
    """Calibrate with softmax(scores / T), T the temperature of least log loss (Guo, Pleiss, Sun & Weinberger 2017).

    See their section 4.2. This is scikit-learn's CalibratedClassifierCV with ``method="temperature"`` and
    ``ensemble=False``. T is fitted on scores of learners trained without the row's fold, and the final learner is
    trained on all rows. The scores are the decision function or, if there is none, the logarithms of the probabilities.

    Use this class because scikit-learn's, up to version 1.9.1 at least, reads numeric labels as positions of their
    classes. With classes 1 and 2 it silently fits T to the wrong class. This class passes positions.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``.
    cv : number of stratified folds, in the order of the rows, a splitter of scikit-learn, or a list of (rows to learn
        from, rows to calibrate on). None means 5.
    n_jobs : number of processes for the folds.

    Attributes
    ----------
    classes_ : (n_classes,) labels in sorted order.
    calibrated_classifiers_ : a list of one, whose learner has the classes 0, 1, ..., the positions in ``classes_``.
    """

    needs_one_of = ("decision_function", "predict_proba")

    def __init__(self, estimator: Any, *, cv: Any = None, n_jobs: int | None = None) -> None:
        super().__init__(estimator, method="temperature", cv=cv, n_jobs=n_jobs, ensemble=False)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the learner and the temperature.

        Parameters
        ----------
        X : rows, (n_rows, n_columns).
        y : labels, (n_rows,).
        sample_weight : weights for learner and temperature, (n_rows,), or None.

        Raises
        ------
        ValueError
            For invalid labels or weights, a class with fewer rows than folds, weights for a learner that takes none,
            and a scikit-learn that is too old.
        """
        self.check_parameters()
        labels, classes = class_labels(X, y)
        if sample_weight is not None and not get_config()["enable_metadata_routing"]:
            name = weights_parameter(self.estimator)
            if name is None:
                raise ValueError(f"{type(self.estimator).__name__} cannot be fitted with weights")
            if name != "sample_weight":  # scikit-learn does not look at the last step of a Pipeline
                fit_params = {name: sample_weight, **fit_params}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Since .* does not appear to accept sample_weight")
            super().fit(X, np.searchsorted(classes, labels), sample_weight, **fit_params)
        self.classes_ = classes
        return self

    def check_parameters(self) -> None:
        """Raise ValueError for an invalid parameter, or if scikit-learn has no temperature scaling."""
        if parse_version(sklearn.__version__) < parse_version(_SINCE):
            raise ValueError(
                f"temperature scaling needs scikit-learn {_SINCE} or newer, and this is {sklearn.__version__}: "
                "pip install -U scikit-learn"
            )
        self._validate_params()
