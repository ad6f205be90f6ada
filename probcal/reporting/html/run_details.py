"""Provenance of results on the page: runs, versions, data and code, as lines of tables."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from probcal.store.cell_result import Results

Line = list[str]
"""The cells of one line of a table."""


@dataclass(frozen=True)
class Provenance:
    """Hold the lines of the tables about the runs that the results come from. Unknown values are empty texts."""

    runs: list[Line]
    unknown: int
    """Number of results whose run left no record."""
    versions: dict[str, list[str]]
    data: list[Line]
    """Data set, source, digest of the data."""
    numerics: dict[str, list[str]]
    """Component -> its numerics versions."""
    code: dict[str, list[str]]
    """Module of the user -> digests of its code."""


def provenance(runs: Mapping[str, Mapping[str, Any]], results: Results) -> Provenance:
    """Return the provenance. ``runs`` come from the store, where any value may have any type."""
    cells = Counter(result.run for result in results.values())
    known_runs = {name: run for name, run in runs.items() if cells[name]}
    versions = [{"probcal": run.get("probcal"), **_mapping(run.get("versions"))} for run in known_runs.values()]
    return Provenance(
        runs=[_run_line(name, run, cells[name]) for name, run in known_runs.items()],
        unknown=sum(n for name, n in cells.items() if name not in runs),
        versions=_values_by_name(versions),
        data=_data_lines(known_runs.values()),
        numerics=_values_by_name(_mapping(run.get("numerics")) for run in known_runs.values()),
        code=_values_by_name(_mapping(run.get("user_code")) for run in known_runs.values()),
    )


def _run_line(name: str, run: Mapping[str, Any], cells: int) -> Line:
    git, command = _mapping(run.get("git")), run.get("command")
    commit, has_changes = _text(git.get("commit")), git.get("changed") is True
    blas = run.get("linear_algebra")
    machine = [_text(run.get("system")), f"{_text(run.get('processors'))} processors" if run.get("processors") else ""]
    machine += [_text(run.get("processor"))]
    machine += [_text(library) for library in blas] if isinstance(blas, list) else []
    return [
        name,
        f"{cells:,}",
        _time_text(run.get("started")),
        _time_text(run.get("ended")) or "not ended, or killed",
        shlex.join(_text(word) for word in command) if isinstance(command, list) else "",
        commit + (" and changes" if commit and has_changes else ""),
        _text(run.get("seed")),
        _text(run.get("python")),
        ", ".join(filter(None, machine)),
    ]


def _values_by_name(parts: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    texts: dict[str, dict[str, None]] = {}
    for part in parts:
        for name, value in part.items():
            if text := _text(value):
                texts.setdefault(str(name), {})[text] = None
    return {name: list(values) for name, values in texts.items()}


def _data_lines(runs: Iterable[Mapping[str, Any]]) -> list[Line]:
    records = [(str(name), _mapping(record)) for run in runs for name, record in _mapping(run.get("data")).items()]
    lines = [(name, _text(record.get("source")), _text(record.get("fingerprint"))) for name, record in records]
    return [list(line) for line in sorted(dict.fromkeys(lines), key=lambda line: line[0])]


def _time_text(value: Any) -> str:
    """Return ``2026-01-02T03:04:05+00:00`` in a readable form, and any other text unchanged."""
    return _text(value).replace("T", " ").replace("+00:00", " UTC")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
