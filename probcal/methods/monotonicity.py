"""How often the classifiers of rising thresholds contradict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Monotonicity:
    """What sorting the votes changed (Langford & Zadrozny 2005, section 3, third issue).

    ``thresholds``: (n,) rising; ``changed_votes``: (n_rows,) int, how many votes of each row the sort changed;
    ``changed_at``: (n,) int, in how many rows it changed the vote of each threshold.
    """

    thresholds: np.ndarray
    changed_votes: np.ndarray
    changed_at: np.ndarray

    @property
    def changed_rows(self) -> float:
        """Share of rows, in [0, 1], whose votes were not all ones before all zeros."""
        return float(np.mean(self.changed_votes > 0))

    @property
    def changed(self) -> float:
        """Share of all votes, in [0, 1], that the sort changed."""
        return float(np.mean(self.changed_votes) / len(self.thresholds))

    def __repr__(self) -> str:
        return (
            f"the sort acted on {self.changed_rows:.1%} of {len(self.changed_votes)} rows and changed "
            f"{self.changed:.2%} of the votes, at most {self.changed_votes.max()} of {len(self.thresholds)} in a row"
        )


def monotonicity(thresholds: np.ndarray, answers: np.ndarray) -> Monotonicity:
    """The report on ``answers``, (n_rows, n) bool, a column for each of the rising ``thresholds``."""
    votes = answers.sum(axis=1)
    changed = answers != (np.arange(len(thresholds)) < votes[:, None])
    return Monotonicity(thresholds, changed.sum(axis=1), changed.sum(axis=0))
