"""``accepted.csv`` with our last accepted numbers, and the drift of current results from them.

The file is committed with the results. Each line holds one data set, column and metric with the number of every
split. A later run of fewer splits is compared on the splits that it has.

All seeds are fixed, so the same code on the same data gives the same numbers. Another machine or BLAS may round the
last digits differently, which sometimes changes a tie between two splits of a tree. That moves the mean loss of a few
test rows by less than ``ABSOLUTE_TOLERANCE``. A change of code that matters moves it by more.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path

from probcal._io import csv_text, refuse_cut_off, refuse_links_out, unescape_formula, write_atomic
from probcal.errors import FileProblems, Problem, StoreError
from probcal.papers.check.findings import CheckedResults, Name, Splits, mean_of_finite
from probcal.store.cell_result import known_metric
from probcal.store.folder import ACCEPTED

AcceptedNumbers = dict[Name, Splits]

_HEADER = ["dataset", "learner", "method", "metric", "values"]
_MISSING_MARK = "-"
"""Mark of a repetition without a number."""
_ADVICE = "probcal check --accept writes it again"


def accepted_path(experiment: CheckedResults) -> Path:
    return experiment.store.folder / ACCEPTED


def current_numbers(experiment: CheckedResults) -> AcceptedNumbers:
    """Return the current numbers of the folder."""
    numbers = {name: experiment.splits(row, column, name[3]) for name, row, column in experiment.planned_numbers()}
    return {name: splits for name, splits in numbers.items() if splits}


def accept_numbers(experiment: CheckedResults) -> int:
    """Write the current numbers of the folder and return the number of lines.

    Raises StoreError without numbers, or when the file cannot be written.
    """
    numbers = current_numbers(experiment)
    if not numbers:
        raise StoreError(f"{experiment.store.folder} has no done cell with numbers to accept")
    # Sorted, so that a new number changes one line of a file under version control.
    text = csv_text([_HEADER, *([*name, _values_text(splits)] for name, splits in sorted(numbers.items()))])
    path = accepted_path(experiment)
    refuse_links_out(path.parent, (path.name, f"{path.name}.new", "runs.jsonl"))
    try:
        write_atomic(path, text)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
    experiment.store.add_acceptance(len(numbers))
    return len(numbers)


def read_accepted_numbers(path: Path) -> AcceptedNumbers | None:
    """Return the accepted numbers, or None where there are none yet.

    Raises FileProblems for a line that is not one of accepted numbers or that occurs twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileProblems(path, [Problem(0, f"cannot be read: {error.strerror or error}")]) from None
    except UnicodeDecodeError:
        raise FileProblems(path, [Problem(0, f"is not UTF-8 text; {_ADVICE}")]) from None
    numbers: AcceptedNumbers = {}
    first: dict[Name, int] = {}
    lines = text.splitlines()
    if not lines or lines[0] != ",".join(_HEADER):
        raise FileProblems(path, [Problem(1, f"must begin with {','.join(_HEADER)}; {_ADVICE}")])
    refuse_cut_off(path, text, f", or {_ADVICE}")
    for number, line in enumerate(lines[1:], 2):
        try:
            name, splits = _parse_line(line)
        except (ValueError, csv.Error):
            raise FileProblems(path, [Problem(number, f"is not a line of accepted numbers; {_ADVICE}")]) from None
        if name in first:
            message = f"{' '.join(name)} is in line {first[name]} already; {_ADVICE}"
            raise FileProblems(path, [Problem(number, message)])
        first[name] = number
        numbers[name] = splits
    return numbers


def _parse_line(line: str) -> tuple[Name, Splits]:
    """Return name and numbers of a line. Raises ValueError or csv.Error for a line without a number, or with NaN."""
    [[dataset, learner, method, metric, values]] = [map(unescape_formula, row) for row in csv.reader([line])]
    splits = {split: float(value) for split, value in enumerate(values.split()) if value != _MISSING_MARK}
    if not splits or any(map(math.isnan, splits.values())):
        raise ValueError(line)
    return (dataset, learner, method, metric), splits


def _values_text(splits: Splits) -> str:
    repetitions = range(max(splits) + 1)
    return " ".join(f"{splits[split]:.6g}" if split in splits else _MISSING_MARK for split in repetitions)


ABSOLUTE_TOLERANCE = 0.002
RELATIVE_TOLERANCE = 0.01
"""Tolerated relative change of a metric that can exceed 1. The larger of the two tolerances counts.

Ratios of losses, which no entry of the registry describes, have the absolute one only.
"""


@dataclass(frozen=True)
class DriftedMean:
    """Hold a mean that differs from the accepted one, over the ``n`` splits that both have."""

    dataset: str
    column: str
    metric: str
    accepted: float
    now: float
    n: int
    infinite: tuple[int, int]
    """Number of infinite splits, accepted and now."""
    distance: float
    """Change over the tolerance: 1 at the edge, infinite where ∞ appeared or disappeared."""


@dataclass(frozen=True)
class MissingMean:
    """Hold an accepted number that is missing now, or missing on ``lost`` splits whose cells are done."""

    dataset: str
    column: str
    metric: str
    lost: int
    """0 means that the number is missing on all splits."""


@dataclass(frozen=True)
class AcceptedDrift:
    compared: int
    out: list[DriftedMean]
    gone: list[MissingMean]
    """Missing numbers that the experiment still plans."""
    unplanned: list[str]
    """Data set, column and metric of each accepted number that the experiment no longer plans."""
    unknown: int
    """Number of current numbers that were never accepted."""

    @property
    def ok(self) -> bool:
        """Return whether an accepted number was compared, none has changed or is missing, and all are still planned."""
        return bool(self.compared) and not (self.out or self.gone or self.unplanned)


def find_drift(experiment: CheckedResults) -> AcceptedDrift | None:
    """Compare the current numbers with the accepted ones. Returns None where nothing was accepted yet.

    Raises FileProblems for a broken ``accepted.csv``, and StoreError for one that is lost or has lost lines.
    """
    path = accepted_path(experiment)
    accepted, count = read_accepted_numbers(path), experiment.store.accepted_count()
    if count > len(accepted or ()):
        fault = "is missing" if accepted is None else f"has {len(accepted)} numbers"
        raise StoreError(
            f"{path} {fault}, and {count} numbers were accepted there; get the file back, or accept the present"
            f" numbers: probcal check {experiment.store.folder} --accept"
        )
    if accepted is None:
        return None
    done_splits = {
        name: {cell.repetition for cell in experiment.done_cells(row, column)}
        for name, row, column in experiment.planned_numbers()
    }
    return _compare_numbers(accepted, current_numbers(experiment), done_splits)


def _compare_numbers(
    accepted: AcceptedNumbers, current: AcceptedNumbers, done_splits: dict[Name, set[int]]
) -> AcceptedDrift:
    """Compare accepted and current numbers. ``done_splits`` are those of all planned numbers."""
    common = {
        name: splits
        for name in accepted.keys() & current.keys()
        if (splits := sorted(accepted[name].keys() & current[name]))
    }
    drifts = []
    for name, splits in sorted(common.items()):
        old_values, new_values = ([numbers[name][split] for split in splits] for numbers in (accepted, current))
        distance = _distance(name[3], old_values, new_values)
        if distance > 1:
            dataset, learner, method, metric = name
            infinite = sum(map(math.isinf, old_values)), sum(map(math.isinf, new_values))
            column, means = f"{learner}.{method}", (_mean(old_values), _mean(new_values))
            drifts.append(DriftedMean(dataset, column, metric, means[0], means[1], len(splits), infinite, distance))
    gaps = []
    for name in (name for name in accepted if name in done_splits):
        n_lost = len((accepted[name].keys() & done_splits[name]) - current.get(name, {}).keys())
        if n_lost or name not in common:
            dataset, learner, method, metric = name
            gaps.append(MissingMean(dataset, f"{learner}.{method}", metric, n_lost))
    unplanned = [
        f"{dataset} {learner}.{method} {metric}"
        for dataset, learner, method, metric in sorted(accepted.keys() - done_splits.keys())
    ]
    return AcceptedDrift(len(common), drifts, gaps, unplanned, unknown=len(current.keys() - accepted.keys()))


def _distance(metric: str, accepted: list[float], current: list[float]) -> float:
    if [math.isinf(number) for number in accepted] != [math.isinf(number) for number in current]:
        return math.inf
    if all(map(math.isinf, accepted)):
        return 0.0
    accepted_mean = _mean(accepted)
    registered = known_metric(metric)
    is_large = registered is not None and registered.most > 1
    band = max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * abs(accepted_mean)) if is_large else ABSOLUTE_TOLERANCE
    # A little wider, so that a change of exactly the tolerance is within it.
    return abs(_mean(current) - accepted_mean) / (band + 1e-9)


def _mean(numbers: list[float]) -> float:
    return mean_of_finite(numbers) or 0.0
