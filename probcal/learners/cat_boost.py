"""CatBoost as a learner that an experiment can name: quiet, in one thread, and without files."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from probcal.learners._gradient_boosting import GradientBoosting, missing

_FOUND = find_spec("catboost") is not None
if _FOUND:  # now and not in a fit: the import changes the process, and a worker that a cell changes ends after the cell
    from catboost import CatBoostClassifier


class CatBoost(GradientBoosting):
    """Fit the gradient boosting of CatBoost (Prokhorenkova et al. 2018), with its defaults except the number of trees.

    Parameters
    ----------
    iterations : int, default=100
        Number of trees. CatBoost's own default is 1,000, and it chooses its learning rate for the number.
    learning_rate : float, default=None
        Factor of each tree. None means that CatBoost chooses it.
    depth : int, default=None
        Depth of a tree. None is CatBoost's own default, 6.
    l2_leaf_reg : float, default=None
        L2 penalty on the values of the leaves. None is CatBoost's own default, 3.
    rsm : float, default=None
        Share of the columns that each choice of a split gets. None is CatBoost's own default, 1.
    random_state : int, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels in sorted order.
    classifier_ : catboost.CatBoostClassifier
        Fitted classifier of the library.
    """

    def __init__(
        self,
        iterations: int = 100,
        *,
        learning_rate: float | None = None,
        depth: int | None = None,
        l2_leaf_reg: float | None = None,
        rsm: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.iterations = iterations
        self.learning_rate = learning_rate
        self.depth = depth
        self.l2_leaf_reg = l2_leaf_reg
        self.rsm = rsm
        self.random_state = random_state

    @staticmethod
    def unmet_requirement() -> str | None:
        """Return how to install CatBoost if it is missing, or None."""
        return missing("catboost", _FOUND)

    def _classifier(self) -> Any:
        # CatBoost chooses no learning rate where another of these is given, even its own default
        given = {
            name: value
            for name, value in (
                ("learning_rate", self.learning_rate),
                ("depth", self.depth),
                ("l2_leaf_reg", self.l2_leaf_reg),
                ("rsm", self.rsm),
            )
            if value is not None
        }
        return CatBoostClassifier(
            iterations=self.iterations,
            **given,
            random_seed=self.random_state,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
        )

    @staticmethod
    def _first_trees(n_trees: int) -> dict[str, Any]:
        return {"ntree_end": n_trees}
