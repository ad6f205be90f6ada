"""The columns of an experiment on one table in the order of their log loss, and which of them nobody can tell apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from probcal.compare.corrected import corrected_interval, corrected_t_test
from probcal.compare.signed_ranks import holm
from probcal.own_table.card_text import TRAIN
from probcal.show.outline import Column, Outline
from probcal.store import CellResult, cell_id

TEST_SHARE = 1 - TRAIN
_DOUBT = 0.05
LOSS = "cxe"
BESIDE = ("rms", "auc", "c_emp")


@dataclass(frozen=True)
class Ranked:
    """A learner with a method. ``losses``: log loss in bits of each split; empty where none was finished."""

    learner: str
    method: str
    losses: tuple[float, ...]
    means: dict[str, float]
    """Metric -> its mean over the splits that have it."""
    failed: int
    splits: int
    """Planned."""
    seconds: float
    """Of fitting and estimating, in the mean."""
    error: str = ""
    """What the first failed split said."""

    @property
    def loss(self) -> float:
        """In the mean; infinite as soon as one split's is, and where a split has none."""
        whole = len(self.losses) == self.splits and all(map(math.isfinite, self.losses))
        return statistics.fmean(self.losses) if whole else math.inf

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 %, corrected for splits that share rows; None for one split or an infinite loss. No loss is below 0."""
        if len(self.losses) < 2 or not math.isfinite(self.loss):
            return None
        low, high = corrected_interval(self.losses, TEST_SHARE)
        return max(0.0, low), high


def ranking(outline: Outline, results: dict[str, CellResult]) -> list[Ranked]:
    """Every column of an experiment on one data set, the smallest loss first; of infinite ones the smallest RMS."""
    found = [_ranked(outline, results, column) for column in outline.columns]
    return sorted(found, key=lambda one: (one.loss, one.failed, not one.losses, one.means["rms"] if one.losses else 0))


def not_told_apart(best: Ranked, others: Sequence[Ranked]) -> list[Ranked]:
    """Those of ``others`` whose loss is not told from that of ``best``; an infinite one is larger.

    The differences on the same splits are put to the corrected resampled t-test (Nadeau & Bengio, 2003), and the
    p-values of all of them to Holm's correction, at 5 %. With one split nothing is told apart.
    """
    finite = [one for one in others if math.isfinite(one.loss)]
    if best.splits < 2:
        return finite
    p = holm([_p_of_no_difference(best, one) for one in finite])
    return [one for one, corrected in zip(finite, p, strict=True) if corrected is None or corrected > _DOUBT]


def _p_of_no_difference(best: Ranked, one: Ranked) -> float:
    return corrected_t_test([a - b for a, b in zip(one.losses, best.losses, strict=True)], TEST_SHARE).p


def _ranked(outline: Outline, results: dict[str, CellResult], column: Column) -> Ranked:
    [row] = outline.datasets
    splits = outline.repetitions[row.name]
    ids = [cell_id(row.name, one, column.learner, column.method) for one in range(splits)]
    found = [results[one] for one in ids if one in results]
    done = [one for one in found if one.status == "done"]
    failed = [one for one in found if one.status != "done"]
    values = {name: [one.metrics.get(name, math.nan) for one in done] for name in (LOSS, *BESIDE)}
    return Ranked(
        learner=column.learner,
        method=column.method,
        losses=tuple(values[LOSS]),
        means={name: _mean(values[name]) for name in BESIDE},
        failed=len(failed),
        splits=splits,
        seconds=_mean([one.seconds for one in done]),
        error=f"{failed[0].error_type}: {failed[0].message}" if failed else "",
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.fmean(known) if known else math.nan
