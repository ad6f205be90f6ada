"""LightGBM as a learner that an experiment can name: quiet and in one thread."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from probcal.learners._gradient_boosting import GradientBoosting, missing

_FOUND = find_spec("lightgbm") is not None
if _FOUND:  # now and not in a fit: the import changes the process, and a worker that a cell changes ends after the cell
    from lightgbm import LGBMClassifier


class LightGBM(GradientBoosting):
    """Fit the gradient boosting of LightGBM (Ke et al. 2017), with its defaults.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees, for each class if there are more than two.
    random_state : int, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    classifier_ : lightgbm.LGBMClassifier
        Fitted classifier of the library.
    """

    def __init__(self, n_estimators: int = 100, *, random_state: int | None = None) -> None:
        self.n_estimators = n_estimators
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return how to install LightGBM if it is missing, or None."""
        return missing("lightgbm", _FOUND)

    def _classifier(self) -> Any:
        return LGBMClassifier(
            n_estimators=self.n_estimators,
            random_state=self.random_state,
            n_jobs=1,
            verbosity=-1,
            deterministic=True,
            # else LightGBM takes the faster one of two ways to add, by the clock, and they round differently
            force_row_wise=True,
        )
