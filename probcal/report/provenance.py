"""Where the numbers come from: the runs behind the results, and what they ran on."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.show.summary import Results


@dataclass(frozen=True)
class Run:
    """One run as it told of itself; what is not known is an empty text."""

    id: str
    started: str
    ended: str
    command: str
    cells: int
    """How many of the results are its."""
    commit: str
    changed: bool
    """Whether the code differed from that commit."""
    machine: str
    python: str
    seed: str


@dataclass(frozen=True)
class Provenance:
    """Of the runs that results are from, and those that have not ended. ``versions`` and ``data``: name -> values."""

    runs: list[Run]
    unknown: int
    """Results of runs of which nothing is known."""
    versions: dict[str, list[str]]
    data: dict[str, list[tuple[str, str]]]
    """Data set -> (source, digest of what was read)."""
    code: dict[str, list[str]]
    """Module -> digests of its code."""


def provenance(runs: Mapping[str, Mapping[str, Any]], results: Results) -> Provenance:
    """``runs``: as the store has them, in which any value may be of any kind."""
    cells = Counter(result.run for result in results.values())
    known = {name: run for name, run in runs.items() if cells[name]}
    return Provenance(
        runs=[_run(name, run, cells[name]) for name, run in known.items()],
        unknown=sum(n for name, n in cells.items() if name not in runs),
        versions=_together({"probcal": run.get("probcal"), **_mapping(run.get("versions"))} for run in known.values()),
        data=_data(known.values()),
        code=_together(_mapping(run.get("code")) for run in known.values()),
    )


def _run(name: str, run: Mapping[str, Any], cells: int) -> Run:
    git, command = _mapping(run.get("git")), run.get("command")
    blas = run.get("linear_algebra")
    machine = [_text(run.get("system")), f"{_text(run.get('processors'))} processors" if run.get("processors") else ""]
    machine += [_text(one) for one in blas] if isinstance(blas, list) else []
    return Run(
        id=name,
        started=_time(run.get("started")),
        ended=_time(run.get("ended")),
        command=shlex.join(_text(word) for word in command) if isinstance(command, list) else "",
        cells=cells,
        commit=_text(git.get("commit")),
        changed=git.get("changed") is True,
        machine=", ".join(filter(None, machine)),
        python=_text(run.get("python")),
        seed=_text(run.get("seed")),
    )


def _together(parts: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            if text := _text(value):
                found.setdefault(str(name), {})[text] = None
    return {name: list(found[name]) for name in sorted(found)}


def _data(runs: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, dict[tuple[str, str], None]] = {}
    for run in runs:
        for name, told in _mapping(run.get("data")).items():
            told = _mapping(told)
            found.setdefault(str(name), {})[_text(told.get("source")), _text(told.get("fingerprint"))] = None
    return {name: list(found[name]) for name in sorted(found)}


def _time(value: Any) -> str:
    """``2026-01-02T03:04:05+00:00`` as one reads it; any other text as it is."""
    return _text(value).replace("T", " ").replace("+00:00", " UTC")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
