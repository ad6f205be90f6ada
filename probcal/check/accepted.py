"""``accepted.csv``: our own numbers as they were last accepted, to be committed with the results.

One line a data set, column of ours and metric, with the number of every split: a later run of fewer splits is
compared on those it has.
"""

from __future__ import annotations

import csv
import io
import math
import os
import statistics
from pathlib import Path

from probcal.check.experiment import Checked, Splits
from probcal.errors import FileProblems, Problem, StoreError
from probcal.store import ACCEPTED

Accepted = dict[tuple[str, str, str, str], Splits]
"""(data set, learner, method, metric), by our names -> repetition -> number."""

_HEADER = ["dataset", "learner", "method", "metric", "n", "mean", "sd", "values"]
_NONE = "-"
"""A repetition without a number."""


def accepted_path(checked: Checked) -> Path:
    return checked.store.folder / ACCEPTED


def present(checked: Checked) -> Accepted:
    """What the folder holds now."""
    found = {
        (row.name, column.learner, column.method, metric): checked.splits(row, column, metric)
        for row in checked.outline.datasets
        for column in checked.planned(row)
        for metric in checked.outline.metrics
    }
    return {name: splits for name, splits in found.items() if splits}


def accept(checked: Checked) -> int:
    """Write what the folder holds now; how many lines. Raises StoreError without numbers, or when it cannot write."""
    numbers = present(checked)
    if not numbers:
        raise StoreError(f"{checked.store.folder} has no finished cell whose numbers could be accepted")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEADER)
    for name, splits in sorted(numbers.items()):
        writer.writerow([*name, len(splits), *_mean_and_sd(splits), _values(splits)])
    path = accepted_path(checked)
    new = path.with_suffix(".csv.new")
    try:
        new.write_text(text.getvalue(), encoding="utf-8")
        os.replace(new, path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None
    return len(numbers)


def read_accepted(path: Path) -> Accepted | None:
    """None where nothing was accepted yet. Raises FileProblems for lines that are no such numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise FileProblems(path, [Problem(0, f"cannot be read: {error}")]) from None
    numbers: Accepted = {}
    problems = []
    lines = csv.reader(io.StringIO(text))
    if next(lines, None) != _HEADER:
        raise FileProblems(path, [Problem(1, f"must begin with {','.join(_HEADER)}; probcal check --accept writes it")])
    for number, line in enumerate(lines, 2):
        try:
            dataset, learner, method, metric, _, _, _, values = line
            numbers[dataset, learner, method, metric] = {
                repetition: float(value) for repetition, value in enumerate(values.split()) if value != _NONE
            }
        except ValueError:
            problems.append(Problem(number, "is not a line of accepted numbers; probcal check --accept writes it anew"))
    if problems:
        raise FileProblems(path, problems)
    return numbers


def _mean_and_sd(splits: Splits) -> tuple[str, str]:
    numbers = list(splits.values())
    if any(map(math.isinf, numbers)):
        return "inf", ""
    return f"{statistics.fmean(numbers):.6g}", f"{statistics.stdev(numbers):.6g}" if len(numbers) > 1 else ""


def _values(splits: Splits) -> str:
    every = range(max(splits) + 1)
    return " ".join(f"{splits[split]:.6g}" if split in splits else _NONE for split in every)
