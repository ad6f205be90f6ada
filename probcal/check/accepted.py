"""``accepted.csv``: our own numbers as they were last accepted, to be committed with the results.

One line a data set, column of ours and metric, with the number of every split and nothing that follows from these:
a later run of fewer splits is compared on those it has.
"""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path

from probcal.check.experiment import Checked, Name, Splits
from probcal.csv_text import as_it_was, csv_text
from probcal.errors import FileProblems, Problem, StoreError
from probcal.links import refuse_links_out
from probcal.store import ACCEPTED

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
