"""The ranking of the columns of a trial by log loss: tests of differences, the table and its summary sentence."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from probcal._io import shortened, visible
from probcal.analysis.hypothesis_tests import corrected_interval, corrected_t_test, holm
from probcal.store.folder import CellResult, cell_id
from probcal.store.outline import Outline, ResultColumn
from probcal.try_table.choices import BASELINE
from probcal.try_table.description import wrapped
from probcal.try_table.experiment_files import TRAIN

TEST_SHARE = 1 - TRAIN
_DOUBT = 0.05
LOSS = "cxe"
OTHER_METRICS = ("rms", "auc", "c_emp")


@dataclass(frozen=True)
class RankedMethod:
    """Hold the results of a learner with a method. ``losses`` holds the log loss in bits of each finished split."""

    learner: str
    method: str
    losses: tuple[float, ...]
    means: dict[str, float]
    """Metric -> its mean over the splits that have it."""
    failed: int
    splits: int
    """Number of planned splits."""
    seconds: float
    """Mean time to fit and predict."""
    error: str = ""
    """The message of the first failed split."""

    @property
    def loss(self) -> float:
        """Return the mean log loss. It is infinite when one split has an infinite loss or none."""
        whole = len(self.losses) == self.splits and all(map(math.isfinite, self.losses))
        return statistics.fmean(self.losses) if whole else math.inf

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval, corrected for splits that share rows, and never below 0.

        It is None for one split or an infinite loss.
        """
        if len(self.losses) < 2 or not math.isfinite(self.loss):
            return None
        low, high = corrected_interval(self.losses, TEST_SHARE)
        return max(0.0, low), high


def ranking(outline: Outline, results: dict[str, CellResult]) -> list[RankedMethod]:
    """Return every column of an experiment on one data set, the smallest loss first.

    Columns with infinite loss are sorted by RMS.
    """
    found = [_ranked(outline, results, column) for column in outline.columns]
    return sorted(found, key=lambda one: (one.loss, one.failed, not one.losses, one.means["rms"] if one.losses else 0))


def not_significantly_different(best: RankedMethod, others: Sequence[RankedMethod]) -> list[RankedMethod]:
    """Return those of ``others`` whose loss is not significantly different from that of ``best``.

    An infinite loss counts as larger. The differences on the same splits go into the corrected resampled t-test (Nadeau
    & Bengio, 2003). Holm's correction is applied to all p-values, at 5 %. With one split no difference is significant.
    """
    finite = [one for one in others if math.isfinite(one.loss)]
    if best.splits < 2:
        return finite
    p = holm([_p_value(best, one) for one in finite])
    return [one for one, corrected in zip(finite, p, strict=True) if corrected is None or corrected > _DOUBT]


def _p_value(best: RankedMethod, one: RankedMethod) -> float:
    return corrected_t_test([a - b for a, b in zip(one.losses, best.losses, strict=True)], TEST_SHARE).p


def _ranked(outline: Outline, results: dict[str, CellResult], column: ResultColumn) -> RankedMethod:
    [row] = outline.datasets
    splits = outline.repetitions[row.name]
    ids = [cell_id(row.name, one, column.learner, column.method) for one in range(splits)]
    found = [results[one] for one in ids if one in results]
    done = [one for one in found if one.status == "done"]
    failed = [one for one in found if one.status != "done"]
    values = {name: [one.metrics.get(name, math.nan) for one in done] for name in (LOSS, *OTHER_METRICS)}
    return RankedMethod(
        learner=column.learner,
        method=column.method,
        losses=tuple(values[LOSS]),
        means={name: _mean(values[name]) for name in OTHER_METRICS},
        failed=len(failed),
        splits=splits,
        seconds=_mean([one.seconds for one in done]),
        error=f"{failed[0].error_type}: {failed[0].message}" if failed else "",
    )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return statistics.fmean(known) if known else math.nan


_HEADER = ("", "learner", "method", "log loss", "95 % interval", "RMS", "AUC", "c_emp", "s")
_MOST_NAMED = 4
_LONGEST_NAME = 12
_DIRECT = "direct"


def ranked_lines(ranked: Sequence[RankedMethod]) -> Iterator[str]:
    """Yield the table, best first, how to read it, and what failed."""
    best = ranked[0]
    rivals = not_significantly_different(best, ranked[1:]) if best.splits > 1 else []
    rows = [(_mark(place, one in rivals), *_row(one)) for place, one in enumerate(ranked, 1)]
    yield from _aligned([_HEADER, *rows])
    yield ""
    yield "log loss (in bits; 1 bit is 0.693 nats), RMS error and calibration error c_emp:"
    yield f"smaller is better; AUC: larger. {_means(best.splits)}; s: seconds a cell."
    if best.splits > 1 and rivals:
        yield "* not significantly different from the best (corrected t-test, Holm, 5 %)."
    if any(math.inf in one.losses for one in ranked):
        yield "inf: an observed label had predicted probability 0; these are sorted by RMS."
    for one in ranked:
        if one.failed:
            where = f"{name_of(one)} failed on {one.failed} of {one.splits} splits"
            yield from wrapped(visible(f"{where}: {_first_line(one.error)}"))


def sentence(ranked: Sequence[RankedMethod]) -> str:
    """Return a sentence about the best column and how certain that is."""
    best = ranked[0]
    if not math.isfinite(best.loss):
        return "No column has a finite log loss on every split, so there is no best one."
    loss = f"log loss {best.loss:.4f} bits"
    if best.splits < 2:
        return f"{name_of(best)} has the smallest loss, {loss}; one split does not show how certain that is."
    rivals = not_significantly_different(best, ranked[1:])
    if len(ranked) > 1 and any(one.learner == BASELINE for one in [best, *rivals]):
        is_baseline = best.learner == BASELINE
        shares = "predicting the class shares for every row"
        found = f"it is {shares}" if is_baseline else f"not significantly different from {shares}"
        return (
            f"{name_of(best)} has the smallest loss, {loss}; {found}. The inputs may not be related to the target, or "
            "there are too few rows or splits."
        )
    if len(ranked) == 1:
        return f"{name_of(best)} ran alone, so there is nothing to compare: {loss}."
    if not rivals:
        return f"The best is {name_of(best)}, {loss}{_better_than(', ', ranked)}."
    named = [name_of(one) for one in rivals[:_MOST_NAMED]]
    more = f" and {len(rivals) - _MOST_NAMED} more" if len(rivals) > _MOST_NAMED else ""
    behind = _better_than("; ", [one for one in ranked if one not in rivals])
    return f"The best is {name_of(best)}, {loss}; not significantly different: {', '.join(named)}{more}{behind}."


def _better_than(joint: str, ranked: Sequence[RankedMethod]) -> str:
    """Return how many others the first of ``ranked`` is better than. Failed ones are counted separately."""
    behind = sum(not one.failed for one in ranked[1:])
    failed = len(ranked) - 1 - behind
    counts = [f"significantly better than {behind} at the 5 % level"] if behind else []
    counts += [f"{failed} failed"] if failed else []
    return joint + "; ".join(counts) if counts else ""


def name_of(one: RankedMethod) -> str:
    """Return ``isotonic on forest``, or ``forest alone``."""
    return f"{one.learner} alone" if one.method == _DIRECT else f"{one.method} on {one.learner}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield rows with learner and method left-aligned, and everything else right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        places = enumerate(zip(row, widths, strict=True))
        cells = (text.ljust(width) if place in (1, 2) else text.rjust(width) for place, (text, width) in places)
        yield "  ".join(cells).rstrip()


def _means(splits: int) -> str:
    return f"Means over {splits} splits" if splits > 1 else "One split"


def _mark(place: int, level: bool) -> str:
    return f"{place}{'*' if level else ' '}"


def _row(one: RankedMethod) -> tuple[str, ...]:
    interval = one.interval
    between = f"{interval[0]:.3f} to {interval[1]:.3f}" if interval else ""
    loss = "failed" if not one.losses else f"{one.loss:.4f}"
    beside = ("" if math.isnan(one.means[name]) else f"{one.means[name]:.3f}" for name in OTHER_METRICS)
    seconds = "" if math.isnan(one.seconds) else f"{one.seconds:.2g}"
    return shortened(one.learner, _LONGEST_NAME), shortened(one.method, _LONGEST_NAME), loss, between, *beside, seconds


def _first_line(text: str) -> str:
    return shortened(text.strip().partition("\n")[0], 150)
