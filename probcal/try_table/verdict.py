"""The summary of a trial: which method is best, how certain that is, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from probcal._io import counted
from probcal.try_table.choices import BASELINE
from probcal.try_table.measures import MEASURES
from probcal.try_table.ranked_methods import RankedMethod, interval_of, name_of, not_significantly_different

_MOST_NAMED = 4
_ENOUGH = 200
"""With so many rows of every class, columns without any sign of a relation are probably not related to the target."""
_ENOUGH_SPLITS = 5
_NEAR_PERFECT = 0.995
"""An AUC that real tables seldom have."""
_NO_LOSS = 0.02
"""Share of the log loss of the base rate that only nearly perfect predictions have left."""


@dataclass(frozen=True)
class VerdictContext:
    """Hold what the verdict needs besides the ranking."""

    class_counts: Mapping[str, int]
    """Class -> number of its used rows."""
    aucs: Sequence[float] = ()
    """AUC of the best method that uses the columns, of each split."""
    leaks: Sequence[str] = ()
    """Columns that may give the answer away."""


def verdict(ranked: Sequence[RankedMethod], around: VerdictContext) -> str:
    """Return a sentence or two about the best method and how certain that is.

    A method that is not better than the base rate is not recommended, nor is one that is too good to be true.
    """
    best = ranked[0]
    if not best.is_ranked:
        return f"No method has a {best.measure.header} on every split, so there is no best one."
    loss = f"{best.measure.header} {best.value:.4f}{' bits' if best.measure.name == 'log-loss' else ''}"
    rivals = not_significantly_different(best, ranked[1:])
    if best.learner != BASELINE and (reason := _too_good(ranked, around)):
        return f"Do not trust this ranking yet: {name_of(best)} has {loss}, and {reason}"
    if len(ranked) > 1 and any(one.learner == BASELINE for one in [best, *rivals]):
        return f"{name_of(best)} has the best {loss}; {_no_better(best, around)}"
    if len(ranked) == 1:
        return f"{name_of(best)} ran alone, so there is nothing to compare: {loss}."
    if not rivals:
        return f"The best is {name_of(best)}, {loss}{_better_than(', ', ranked)}."
    named = [name_of(one) for one in rivals[:_MOST_NAMED]]
    more = f" and {len(rivals) - _MOST_NAMED} more" if len(rivals) > _MOST_NAMED else ""
    behind = _better_than("; ", [one for one in ranked if one not in rivals])
    return f"The best is {name_of(best)}, {loss}; not significantly different: {', '.join(named)}{more}{behind}."


def _no_better(best: RankedMethod, around: VerdictContext) -> str:
    """Return why nothing is said to beat the base rate: too few rows, or columns without a relation."""
    found = "not significantly different from predicting the class shares for every row"
    if best.learner == BASELINE:
        found = "it predicts the class shares for every row"
    rarest = min(around.class_counts, key=around.class_counts.__getitem__, default="")
    rows = around.class_counts.get(rarest, 0)
    known = [auc for auc in around.aucs if not math.isnan(auc)]
    low, _ = interval_of(known, best.test_share, MEASURES["auc"]) if len(known) > 1 else (0.0, 1.0)
    too_few = f'{counted(rows)} of "{rarest}" {"is" if rows == 1 else "are"} too few to tell'
    if best.splits < _ENOUGH_SPLITS:
        return f"{found}. {best.splits} splits are too few to tell; --splits 10 tells more."
    if low > 0.5:
        auc = sum(known) / len(known)
        return (
            f"{found}. The columns do tell something, because they rank the rows (AUC {auc:.3f}), but {too_few} how "
            "good the probabilities are."
        )
    if rows < _ENOUGH:
        return f"{found}. With so few rows, this says nothing about the columns: {too_few}."
    return f"{found}. The columns may not be related to the target."


def _too_good(ranked: Sequence[RankedMethod], around: VerdictContext) -> str:
    """Return why the best method is too good to be true, or an empty text."""
    if around.leaks:
        names = ", ".join(f'"{name}"' for name in around.leaks[:_MOST_NAMED])
        return f"{names} may give the answer away. Drop what you will not know when you predict, and run it again."
    best = ranked[0]
    losses = [one.means.get("log-loss", math.nan) for one in ranked if one.learner == BASELINE]
    loss = best.means.get("log-loss", math.nan)
    nearly_none = any(loss < _NO_LOSS * of_baseline for of_baseline in losses)
    two_classes = len(around.class_counts) == 2  # with many classes, the mean AUC of each against the others is high
    if (two_classes and best.means.get("auc", math.nan) > _NEAR_PERFECT) or nearly_none:
        return (
            "few real tables can be predicted so well. Look for columns that are known only after the outcome, "
            "and for copies of rows."
        )
    return ""


def _better_than(joint: str, ranked: Sequence[RankedMethod]) -> str:
    """Return how many others the first of ``ranked`` is better than. Failed ones are counted separately."""
    behind = sum(not one.failed for one in ranked[1:])
    failed = len(ranked) - 1 - behind
    others = f"{behind} other{'s' * (behind > 1)}"
    counts = [f"significantly better than {others} at the 5 % level"] if behind else []
    counts += [f"{failed} failed"] if failed else []
    return joint + "; ".join(counts) if counts else ""
