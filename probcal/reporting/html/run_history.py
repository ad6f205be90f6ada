"""Provenance of the results for the page: runs, versions, data, failures and progress by data set."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.store.folder import CellResult
from probcal.store.outline import Outline
from probcal.store.summary import Results, planned_ids, stale_ids


@dataclass(frozen=True)
class Run:
    """Describe one run as it recorded itself. Unknown values are empty texts."""

    id: str
    started: str
    ended: str
    command: str
    cells: int
    """Number of results from this run."""
    commit: str
    changed: bool
    """Whether the code differed from that commit."""
    machine: str
    python: str
    seed: str


@dataclass(frozen=True)
class Provenance:
    """Hold the runs that the results come from, and those that have not ended.

    ``versions`` and ``data`` are name -> values.
    """

    runs: list[Run]
    unknown: int
    """Number of results whose run left no record."""
    versions: dict[str, list[str]]
    data: dict[str, list[tuple[str, str]]]
    """Data set -> (source, digest of the data)."""
    code: dict[str, list[str]]
    """Module -> digests of its code."""


def provenance(runs: Mapping[str, Mapping[str, Any]], results: Results) -> Provenance:
    """Return the provenance. ``runs`` come from the store, where any value may have any type."""
    cells = Counter(result.run for result in results.values())
    known = {name: run for name, run in runs.items() if cells[name]}
    return Provenance(
        runs=[_run(name, run, cells[name]) for name, run in known.items()],
        unknown=sum(n for name, n in cells.items() if name not in runs),
        versions=_values_by_name(
            {"probcal": run.get("probcal"), **_mapping(run.get("versions"))} for run in known.values()
        ),
        data=_data(known.values()),
        code=_values_by_name(_mapping(run.get("code")) for run in known.values()),
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


def _values_by_name(parts: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            if text := _text(value):
                found.setdefault(str(name), {})[text] = None
    return {name: list(found[name]) for name in sorted(found)}


def _data(runs: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, dict[tuple[str, str], None]] = {}
    for run in runs:
        for name, record in _mapping(run.get("data")).items():
            record = _mapping(record)
            found.setdefault(str(name), {})[_text(record.get("source")), _text(record.get("fingerprint"))] = None
    return {name: list(found[name]) for name in sorted(found)}


def _time(value: Any) -> str:
    """Return ``2026-01-02T03:04:05+00:00`` in a readable form, and any other text unchanged."""
    return _text(value).replace("T", " ").replace("+00:00", " UTC")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


_MOST_FAULTS = 50
_MOST_CELLS = 60
_LONGEST = 6_000
"""Most characters of one traceback. Deep recursion writes more."""


@dataclass(frozen=True)
class Fault:
    """Hold one error of one or more cells."""

    kind: str
    message: str
    traceback: str
    cells: list[str]

    @property
    def named(self) -> list[str]:
        return self.cells[:_MOST_CELLS]

    @property
    def unnamed(self) -> int:
        return max(len(self.cells) - _MOST_CELLS, 0)


@dataclass(frozen=True)
class Faults:
    shown: list[Fault]
    more: int
    """Number of other faults, which are not shown."""


@dataclass(frozen=True)
class DataSetProgress:
    """Count the cells of one data set."""

    title: str
    planned: int
    done: int
    failed: int
    stale: int
    not_run: int


def faults(failed: Iterable[CellResult]) -> Faults:
    """Return the errors, the most frequent first. Cells with the same error share one traceback, that of the first."""
    found: dict[tuple[str, str], list[CellResult]] = {}
    for one in failed:
        found.setdefault((one.error_type or one.status, (one.message or "").strip()), []).append(one)
    every = [
        Fault(kind, _shorten(message), _shorten((cells[0].traceback or "").strip()), [one.id for one in cells])
        for (kind, message), cells in found.items()
    ]
    every.sort(key=lambda fault: -len(fault.cells))
    return Faults(every[:_MOST_FAULTS], max(len(every) - _MOST_FAULTS, 0))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n…\n{text[-_LONGEST // 2 :]}"


def progress(outline: Outline, results: Results) -> list[DataSetProgress]:
    rows = []
    for row in outline.datasets:
        ids = [one for column in outline.columns for one in planned_ids(outline, row, column)]
        states = [results[one].status for one in ids if one in results]
        rows.append(
            DataSetProgress(
                title=row.title,
                planned=len(ids),
                done=states.count("done"),
                failed=len(states) - states.count("done"),
                stale=sum(len(stale_ids(outline, results, row, column)) for column in outline.columns),
                not_run=len(ids) - len(states),
            )
        )
    return rows
