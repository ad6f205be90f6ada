"""``accepted.csv``: our own numbers as they were last accepted, to be committed with the results.

One line a data set, column of ours and metric, with the number of every split and nothing that follows from these:
a later run of fewer splits is compared on those it has.

Our numbers against our own accepted ones.

The same code on the same data gives the same numbers: every seed is fixed. Another machine or BLAS may round the
last digits otherwise, which now and then turns a tie between two splits of a tree; that moves the mean of a few
test rows' losses by less than ``ABSOLUTE``. A change of code that matters moves it by more.
"""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass
from pathlib import Path

from probcal._io import as_it_was, csv_text, refuse_links_out
from probcal.errors import FileProblems, Problem, StoreError
from probcal.papers.check.findings import mean_of_finite
from probcal.papers.check.measured_results import Checked, Name, Splits
from probcal.store.folder import ACCEPTED

Accepted = dict[Name, Splits]

_HEADER = ["dataset", "learner", "method", "metric", "values"]
_NONE = "-"
"""A repetition without a number."""
_ANEW = "probcal check --accept writes it anew"


def accepted_path(checked: Checked) -> Path:
    return checked.store.folder / ACCEPTED


def present(checked: Checked) -> Accepted:
    """What the folder holds now."""
    found = {name: checked.splits(row, column, name[3]) for name, row, column in checked.every_number()}
    return {name: splits for name, splits in found.items() if splits}


def accept(checked: Checked) -> int:
    """Write what the folder holds now; how many lines. Raises StoreError without numbers, or when it cannot write."""
    numbers = present(checked)
    if not numbers:
        raise StoreError(f"{checked.store.folder} has no finished cell whose numbers could be accepted")
    text = csv_text([_HEADER, *([*name, _values(splits)] for name, splits in sorted(numbers.items()))])
    path = accepted_path(checked)
    new = path.with_suffix(".csv.new")
    refuse_links_out(path.parent, (path.name, new.name))
    try:
        new.write_text(text, encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
    return len(numbers)


def read_accepted(path: Path) -> Accepted | None:
    """None where nothing was accepted yet. Raises FileProblems for lines that are no such numbers, or come twice."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileProblems(path, [Problem(0, f"cannot be read: {error.strerror or error}")]) from None
    except UnicodeDecodeError:
        raise FileProblems(path, [Problem(0, f"is no text in UTF-8; {_ANEW}")]) from None
    numbers: Accepted = {}
    first: dict[Name, int] = {}
    problems = []
    lines = text.splitlines()
    if not lines or lines[0] != ",".join(_HEADER):
        raise FileProblems(path, [Problem(1, f"must begin with {','.join(_HEADER)}; {_ANEW}")])
    for place, line in enumerate(lines[1:], 2):
        try:
            name, splits = _parsed(line)
        except (ValueError, csv.Error):
            problems.append(Problem(place, f"is not a line of accepted numbers; {_ANEW}"))
            continue
        if name in first:
            problems.append(Problem(place, f"{' '.join(name)} is in line {first[name]} already; {_ANEW}"))
        first.setdefault(name, place)
        numbers[name] = splits
    if problems:
        raise FileProblems(path, problems)
    return numbers


def _parsed(line: str) -> tuple[Name, Splits]:
    """Raises ValueError and csv.Error for a line without a number in it, or with NaN."""
    [[dataset, learner, method, metric, values]] = [map(as_it_was, row) for row in csv.reader([line])]
    splits = {split: float(value) for split, value in enumerate(values.split()) if value != _NONE}
    if not splits or any(map(math.isnan, splits.values())):
        raise ValueError(line)
    return (dataset, learner, method, metric), splits


def _values(splits: Splits) -> str:
    every = range(max(splits) + 1)
    return " ".join(f"{splits[split]:.6g}" if split in splits else _NONE for split in every)


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
