"""The summary of a trial: which method is best, how certain that is, and what speaks against it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from probcal._io import counted
from probcal.try_table.choices import BASELINE
from probcal.try_table.measures import LOSS, MEASURES
from probcal.try_table.ranked_methods import RankedMethod, interval_of, name_of, rivals_of

_MOST_NAMES = 4
# With so many rows of every class, columns without any sign of a relation are probably not related to the target.
_ENOUGH_ROWS = 200
_ENOUGH_SPLITS = 5
# An AUC that real tables seldom have.
_NEAR_PERFECT = 0.995
# Share of the log loss of the base rate that only nearly perfect predictions have left.
_TINY_LOSS_SHARE = 0.02


@dataclass(frozen=True)
class VerdictContext:
    """Hold what the verdict needs besides the ranking."""

    class_counts: Mapping[str, int]
    """Class -> number of its used rows."""
    aucs: Sequence[float] = ()
    """AUC of the best method that uses the columns, of each split."""
    leaks: Sequence[str] = ()
    """Columns that may give the answer away."""
    ignored: Collection[str] = ()
    """Codes of warnings that are not shown."""


def verdict(methods: Sequence[RankedMethod], context: VerdictContext) -> str:
    """Return a sentence or two about the best method and how certain that is.

    A method that is not better than the base rate is not recommended, nor is one that is too good to be true.
    """
    best = methods[0]
    if not best.is_ranked:
        return f"No method has a {best.measure.header} on every split, so there is no best one."
    loss = f"{best.measure.header} {best.value:.4f}{' bits' if best.measure.name == 'log-loss' else ''}"
    rivals = rivals_of(best, methods[1:])
    if best.learner != BASELINE and (reason := _suspicion(methods, context)):
        return f"Do not trust this ranking yet: {name_of(best)} has {loss}, and {reason}"
    if len(methods) > 1 and any(method.learner == BASELINE for method in [best, *rivals]):
        return f"{name_of(best)} has the best {loss}; {_baseline_reason(best, context)}"
    if len(methods) == 1:
        return f"{name_of(best)} ran alone, so there is nothing to compare: {loss}."
    if not rivals:
        return f"The best is {name_of(best)}, {loss}{_lead_text(', ', methods)}."
    names = [name_of(method) for method in rivals[:_MOST_NAMES]]
    suffix = f" and {len(rivals) - _MOST_NAMES} more" if len(rivals) > _MOST_NAMES else ""
    comparison = _lead_text("; ", [method for method in methods if method not in rivals])
    return f"The best is {name_of(best)}, {loss}; not significantly different: {', '.join(names)}{suffix}{comparison}."


def _baseline_reason(best: RankedMethod, context: VerdictContext) -> str:
    """Return why nothing is said to beat the base rate: too few rows, or columns without a relation."""
    finding = "not significantly different from predicting the class shares for every row"
    if best.learner == BASELINE:
        finding = "it predicts the class shares for every row"
    rare_class = min(context.class_counts, key=context.class_counts.__getitem__, default="")
    rows = context.class_counts.get(rare_class, 0)
    aucs = [auc for auc in context.aucs if not math.isnan(auc)]
    low, _ = interval_of(aucs, best.test_share, MEASURES["auc"]) if len(aucs) > 1 else (0.0, 1.0)
    shortage = f'{counted(rows)} of "{rare_class}" {"is" if rows == 1 else "are"} too few to tell'
    if best.splits < _ENOUGH_SPLITS:
        return f"{finding}. {best.splits} splits are too few to tell; --splits 10 tells more."
    if low > 0.5:
        auc = sum(aucs) / len(aucs)
        unsure = "the probabilities are" if best.measure is LOSS else f"their {best.measure.header} is"
        return (
            f"{finding}. The columns do tell something, because they rank the rows (AUC {auc:.3f}), but {shortage} "
            f"how good {unsure}."
        )
    if rows < _ENOUGH_ROWS:
        return f"{finding}. With so few rows, this says nothing about the columns: {shortage}."
    return f"{finding}. The columns may not be related to the target."


def _suspicion(methods: Sequence[RankedMethod], context: VerdictContext) -> str:
    """Return why the best method is too good to be true, or an empty text."""
    if context.leaks:
        names = ", ".join(f'"{name}"' for name in context.leaks[:_MOST_NAMES])
        return f"{names} may give the answer away. Drop what you will not know when you predict, and run it again."
    best = methods[0]
    losses = [method.means.get("log-loss", math.nan) for method in methods if method.learner == BASELINE]
    loss = best.means.get("log-loss", math.nan)
    is_tiny = any(loss < _TINY_LOSS_SHARE * baseline_loss for baseline_loss in losses)
    two_classes = len(context.class_counts) == 2  # with many classes, the mean AUC of each against the others is high
    if "too-good" in context.ignored:
        return ""
    if (two_classes and best.means.get("auc", math.nan) > _NEAR_PERFECT) or is_tiny:
        return (
            "few real tables can be predicted so well. Look for columns that are known only after the outcome, "
            "and for copies of rows. [too-good]"
        )
    return ""


def _lead_text(separator: str, methods: Sequence[RankedMethod]) -> str:
    """Return how many others the first of ``methods`` is better than. Failed ones are counted separately."""
    n_better = sum(not method.n_failed for method in methods[1:])
    n_failed = len(methods) - 1 - n_better
    rivals = f"{n_better} other{'s' * (n_better > 1)}"
    counts = [f"significantly better than {rivals} at the 5 % level"] if n_better else []
    counts += [f"{n_failed} failed"] if n_failed else []
    return separator + "; ".join(counts) if counts else ""
