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
    learning_rate : float, default=0.1
        Factor of each tree.
    num_leaves : int, default=31
        Largest number of leaves of a tree.
    min_child_samples : int, default=20
        Fewest rows in a leaf.
    reg_lambda : float, default=0.0
        L2 penalty on the values of the leaves.
    colsample_bytree : float, default=1.0
        Share of the columns that a tree gets.
    random_state : int, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    classifier_ : lightgbm.LGBMClassifier
        Fitted classifier of the library.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        reg_lambda: float = 0.0,
        colsample_bytree: float = 1.0,
        random_state: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return how to install LightGBM if it is missing, or None."""
        return missing("lightgbm", _FOUND)

    def _classifier(self) -> Any:
        return LGBMClassifier(
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            num_leaves=self.num_leaves,
            min_child_samples=self.min_child_samples,
            reg_lambda=self.reg_lambda,
            colsample_bytree=self.colsample_bytree,
            random_state=self.random_state,
            n_jobs=1,
            verbosity=-1,
            deterministic=True,
            # else LightGBM takes the faster one of two ways to add, by the clock, and they round differently
            force_row_wise=True,
        )

    @staticmethod
    def _first_trees(n_trees: int) -> dict[str, Any]:
        return {"num_iteration": n_trees}
