"""The formula of a fitted map of two classes, or an error that says what else to do."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from probcal.methods.calibrators._calibrator import Calibrator
from probcal.methods.calibrators.formula import Formula


def formula_of(calibrator: Any, n_columns: int | None = None) -> Formula:
    """Return the probability of the second class as a formula of the columns of scores.

    Raises NotFittedError, TypeError for what is no map of probcal, and ValueError for more than two classes or another
    number of columns.
    """
    if not isinstance(calibrator, Calibrator):
        raise TypeError(f"{type(calibrator).__name__} is no map of probcal, so it has no formula")
    check_is_fitted(calibrator)
    if len(calibrator.classes_) > 2:
        raise ValueError(
            f"the map has {len(calibrator.classes_)} classes, and formulas are for two; use to_json and `probcal apply`"
        )
    if n_columns is not None and n_columns != calibrator.n_features_in_:
        raise ValueError(
            f"the map was fitted on {calibrator.n_features_in_} column(s) of scores, not {n_columns}; name so many"
        )
    return calibrator._formula()
