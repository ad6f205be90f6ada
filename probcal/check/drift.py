"""Our numbers against our own accepted ones.

The same code on the same data gives the same numbers: every seed is fixed. Another machine or BLAS may round the
last digits otherwise, which now and then turns a tie between two splits of a tree; that moves the mean of a few
test rows' losses by less than ``ABSOLUTE``. A change of code that matters moves it by more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from probcal.check.accepted import Accepted, accepted_path, present, read_accepted
from probcal.check.experiment import Checked, Name
from probcal.check.finding import mean_of_finite

ABSOLUTE = 0.002
RELATIVE = 0.01
"""Of a number that has no upper end; the larger of the two counts."""
_WITHOUT_END = ("cxe", "errors", "log10_loss", "log10_martingale")


@dataclass(frozen=True)
class Drifted:
    """One mean that is no longer what was accepted, over the ``n`` splits that both have."""

    dataset: str
    column: str
    metric: str
    accepted: float
    now: float
    n: int
    infinite: tuple[int, int]
    """How many of these splits gave ∞: accepted, now."""
    distance: float
    """1 at the edge of the band; infinite where ∞ came or went."""


@dataclass(frozen=True)
class Gone:
    """An accepted number of which nothing is there now, or not on ``lost`` splits whose cells are done."""

    dataset: str
    column: str
    metric: str
    lost: int
    """0: no split of the number is there at all."""


@dataclass(frozen=True)
class Drift:
    compared: int
    out: list[Drifted]
    gone: list[Gone]
    """What the experiment still plans only."""
    unplanned: int
    """Accepted numbers that the experiment no longer has."""
    unknown: int
    """Numbers that were not there when it was accepted."""

    @property
    def ok(self) -> bool:
        return not (self.out or self.gone)


def drift(checked: Checked) -> Drift | None:
    """None where nothing was accepted yet. Raises FileProblems for a broken ``accepted.csv``."""
    accepted = read_accepted(accepted_path(checked))
    if accepted is None:
        return None
    done = {
        name: {one.repetition for one in checked.finished(row, column)} for name, row, column in checked.every_number()
    }
    return _drift(accepted, present(checked), done)


def _drift(accepted: Accepted, now: Accepted, done: dict[Name, set[int]]) -> Drift:
    """``done``: the finished splits of all that is planned."""
    common = {
        name: shared for name in accepted.keys() & now.keys() if (shared := sorted(accepted[name].keys() & now[name]))
    }
    found = []
    for name, shared in sorted(common.items()):
        before, after = ([numbers[name][split] for split in shared] for numbers in (accepted, now))
        distance = _distance(name[3], before, after)
        if distance > 1:
            dataset, learner, method, metric = name
            infinite = sum(map(math.isinf, before)), sum(map(math.isinf, after))
            column, means = f"{learner}.{method}", (_mean(before), _mean(after))
            found.append(Drifted(dataset, column, metric, means[0], means[1], len(shared), infinite, distance))
    gone = []
    for name in (one for one in accepted if one in done):
        lost = len((accepted[name].keys() & done[name]) - now.get(name, {}).keys())
        if lost or name not in common:
            dataset, learner, method, metric = name
            gone.append(Gone(dataset, f"{learner}.{method}", metric, lost))
    unplanned = len(accepted.keys() - done.keys())
    return Drift(len(common), found, gone, unplanned, unknown=len(now.keys() - accepted.keys()))


def _distance(metric: str, before: list[float], after: list[float]) -> float:
    if [math.isinf(number) for number in before] != [math.isinf(number) for number in after]:
        return math.inf
    if all(map(math.isinf, before)):
        return 0.0
    was = _mean(before)
    band = max(ABSOLUTE, RELATIVE * abs(was)) if metric in _WITHOUT_END else ABSOLUTE
    return abs(_mean(after) - was) / (band + 1e-9)


def _mean(numbers: list[float]) -> float:
    return mean_of_finite(numbers) or 0.0
