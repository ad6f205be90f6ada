"""How well the estimates order the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from probcal.metrics.ranked import Ranked
from probcal.metrics.rows import checked


def roc_auc(y: Any, p: Any, sample_weight: Any = None) -> float:
    """Probability that a positive row gets a higher estimate than a negative one, ties counting half.

    Of three classes or more: the mean over the classes of each against the rest, every class counting alike
    (Hand & Till 2001 take pairs of classes instead). A pair of rows weighs the product of their weights.

    Raises ValueError when ``y`` lacks a class: there is no such pair then.
    """
    ranked = [Ranked.of(one) for one in checked(y, p, sample_weight).against_the_rest()]
    if not all(one.has_both_classes() for one in ranked):
        lacking = "both classes, y holds only one" if len(ranked) == 1 else "a row of every class, y lacks one"
        raise ValueError(f"AUC needs {lacking} (rows of weight 0 do not count)")
    return area_under_roc(ranked)


def area_under_roc(ranked: list[Ranked]) -> float:
    """NaN where a class is absent."""
    return float(np.mean([_won(one) if one.has_both_classes() else np.nan for one in ranked]))


def _won(ranked: Ranked) -> float:
    """Won pairs over all pairs; those within one block of equal estimates are won by half."""
    positive = ranked.up_to(ranked.weight * ranked.y)
    negative = ranked.up_to(ranked.weight * (1 - ranked.y))
    won = np.sum(np.diff(positive) * (negative[1:] + negative[:-1]) / 2)
    return float(won / (positive[-1] * negative[-1]))
