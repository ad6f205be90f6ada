"""XGBoost as a learner that an experiment can name: quiet and in one thread."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from probcal.learners._gradient_boosting import GradientBoosting, missing

_FOUND = find_spec("xgboost") is not None
if _FOUND:  # now and not in a fit: the import changes the process, and a worker that a cell changes ends after the cell
    from xgboost import XGBClassifier


class XGBoost(GradientBoosting):
    """Fit the gradient boosting of XGBoost (Chen & Guestrin 2016), with its defaults.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees, for each class if there are more than two.
    learning_rate : float, default=0.3
        Factor of each tree.
    max_depth : int, default=6
        Largest depth of a tree.
    min_child_weight : float, default=1.0
        Smallest sum of p (1 - p) over the rows of a leaf, for their predicted probabilities p so far.
    reg_lambda : float, default=1.0
        L2 penalty on the values of the leaves.
    colsample_bytree : float, default=1.0
        Share of the columns that a tree gets.
    random_state : int, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    classifier_ : xgboost.XGBClassifier
        Fitted classifier of the library.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.3,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        reg_lambda: float = 1.0,
        colsample_bytree: float = 1.0,
        random_state: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return how to install XGBoost if it is missing, or None."""
        return missing("xgboost", _FOUND)

    def _classifier(self) -> Any:
        return XGBClassifier(
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            min_child_weight=self.min_child_weight,
            reg_lambda=self.reg_lambda,
            colsample_bytree=self.colsample_bytree,
            random_state=self.random_state,
            n_jobs=1,
            tree_method="hist",
        )

    @staticmethod
    def _first_trees(n_trees: int) -> dict[str, Any]:
        return {"iteration_range": (0, n_trees)}
