"""The errors that a user can mend: one clear message each, never a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_SHORTEST_PART = 3


class ProbcalError(Exception):
    """Something the user can mend. The command line prints it and exits with 2."""


class DataError(ProbcalError):
    """A data set is missing, is not what its card says, or cannot be used as it is."""


class RowError(DataError):
    """One row of a data set is at fault; ``row`` is counted from 0 in the order of the source."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


class MissingData(DataError):
    """A data set is nowhere to be had; the run goes on without it and ends with exit code 1."""


class SeveralDataSets(DataError):
    """Several data sets could be meant by a card, and nothing tells which; ``fault`` says so without an advice."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}; name the folder that is meant with --data-dir")
        self.fault = fault


class StoreError(ProbcalError):
    """A results folder cannot be read or written, or belongs to something else."""


@dataclass(frozen=True, order=True)
class Problem:
    """One fault in a file: where it is (line counted from 1, 0 = the file as a whole) and what it is."""

    line: int
    message: str


class FileProblems(ProbcalError):
    """All the faults found in one file, each as ``path:line: message``."""

    def __init__(self, path: Path | str, problems: Iterable[Problem]) -> None:
        self.path = Path(path)
        self.problems = sorted(set(problems))
        where = [f"{path}:{p.line}" if p.line else f"{path}" for p in self.problems]
        super().__init__("\n".join(f"{w}: {p.message}" for w, p in zip(where, self.problems, strict=True)))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``'; did you mean "x"?'`` for a near miss among ``known``, else ``''``.

    Near is what is spelt alike, or the only name that holds the word: "svm" for "linear_svm".
    """
    by_folded = {str(name).lower(): str(name) for name in known}
    folded = str(word).lower()
    near = difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    if not near and len(folded) >= _SHORTEST_PART:
        holding = [name for name in by_folded if folded in name]
        near = holding if len(holding) == 1 else []
    return f'; did you mean "{by_folded[near[0]]}"?' if near else ""
