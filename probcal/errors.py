"""Errors that the user can fix. The command line prints one clear message for each, never a traceback."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from probcal.distribution import install_line

_SHORTEST_PART = 3
_CUTOFF, _CUTOFF_OF_THREE = 0.75, 0.66
"""Smallest similarity of a near miss. One slip in n letters leaves (n - 1) / n, which is less for three letters."""


class ProbcalError(Exception):
    """Report a fault that the user can fix. The command line prints it and exits with 2."""


class DataError(ProbcalError):
    """Report a data set that is missing, differs from its card, or cannot be used."""


class RowError(DataError):
    """Report one faulty row of a data set. ``row`` is counted from 0 in the order of the source."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message)
        self.row = row


class MissingDataError(DataError):
    """Report a data set that cannot be found or downloaded. The run goes on without it and ends with exit code 1."""


class MissingPackage(ProbcalError, ImportError):
    """Report an optional package that is not installed, with the line that installs it."""


class AmbiguousDataError(DataError):
    """Report that a card matches several data sets. ``fault`` holds the message without the advice."""

    def __init__(self, fault: str) -> None:
        super().__init__(f"{fault}; name the right folder with --data-dir")
        self.fault = fault


class StoreError(ProbcalError):
    """Report a results folder that cannot be read or written, or that belongs to something else."""


@dataclass(frozen=True, order=True)
class Problem:
    """Describe one fault in a file. ``line`` is counted from 1, and 0 means the file as a whole."""

    line: int
    message: str


class FileProblems(ProbcalError):
    """Report all faults found in one file, each as ``path:line: message``."""

    def __init__(self, path: Path | str, problems: Iterable[Problem]) -> None:
        self.path = Path(path)
        self.problems = sorted(set(problems))
        where = [f"{path}:{p.line}" if p.line else f"{path}" for p in self.problems]
        super().__init__("\n".join(f"{w}: {p.message}" for w, p in zip(where, self.problems, strict=True)))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``'; did you mean "x"?'`` for a near miss among ``known``, otherwise an empty string.

    A near miss is a similar spelling, or the only name that contains the word: "svm" for "linear_svm".
    """
    by_folded = {str(name).lower(): str(name) for name in known}
    folded = str(word).strip().lower()
    cutoff = _CUTOFF_OF_THREE if len(folded) == _SHORTEST_PART else _CUTOFF
    near = difflib.get_close_matches(folded, by_folded, n=1, cutoff=cutoff)
    if not near and len(folded) >= _SHORTEST_PART:
        containing = [name for name in by_folded if folded in name]
        near = containing if len(containing) == 1 else []
    return f'; did you mean "{by_folded[near[0]]}"?' if near else ""


def unknown_name(what: str, name: str, known: Iterable[str], more: str = "") -> str:
    """Return the message about a ``name`` that is not among ``known``. ``more`` ends the list of these."""
    known = list(known)
    return f'there is no {what} "{name}"{did_you_mean(name, known)} (there are: {", ".join(known)}{more})'


OF_A_PLUGIN = "; if a plugin adds this name, install its package"
"""What to do about an unknown name that another package may add."""

_EXTRAS = {"matplotlib": "plots", "openml": "openml", "distributed": "dask", "python_calamine": "excel"}
"""Optional package -> the extra of probcal that brings it."""


def is_installed(package: str) -> bool:
    """Return whether an optional package is there, without importing it."""
    return find_spec(package) is not None


def installation(package: str) -> str:
    """Return the line that installs an optional package and what it needs beside it."""
    return install_line(_EXTRAS[package])


def require(package: str, what: str) -> None:
    """Raise MissingPackage, with the line that installs it, unless ``package`` is there. ``what`` needs it."""
    if not is_installed(package):
        needed = f"{what} needs the package {package}, which is not installed"
        raise MissingPackage(f"{needed}; install it with: {installation(package)}")
