"""The results of a run that goes on or was killed, ``cells.jsonl``: one line per cell that ended.

A line is whole or left out, so a kill at any moment loses at most the last one. A run that ends moves the results to
the table and leaves only the first line. This line has a digest of the table, so that a missing, older or damaged table
is noticed. While the table is replaced, the log ends with a line that has the digest of the new one.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

from probcal._io import appending, numbered_lines, sync_file, write_atomic
from probcal.errors import StoreError
from probcal.store.cell_result import (
    CellResult,
    ImpossibleValueError,
    RowFaultError,
    refuse_impossible_values,
    version_message,
)

# Lines and not SQLite: they need no locks of the file system, no journal that a stranger could plant, and no second
# form of a result.
_MARK = '{"probcal": "0.2.0", "table": '
"""Begin of the first line and of lines about the table. Versions before the table refuse them as too new."""
_MOST_LISTED = 10
"""Largest number of broken lines that a message lists."""


@dataclass(frozen=True)
class Log:
    """Hold the results of a log, and the messages about lines that are no results."""

    path: Path
    rows: list[tuple[CellResult, str, str]] = field(default_factory=list)
    """Result, its file and line, and the fault of a number that its metric cannot have, or an empty text."""
    broken_lines: list[str] = field(default_factory=list)
    version_lines: dict[str, list[int]] = field(default_factory=dict)
    """Message about another version -> numbers of the lines that it wrote."""
    tables: list[str] = field(default_factory=list)
    """Digests of the table beside the log, of which one is right. It is empty if the log knows none."""

    @property
    def has_faults(self) -> bool:
        return bool(self.broken_lines or self.version_lines)

    def refuse_faults(self, impossible_values: Sequence[str] = (), advice: str = "") -> None:
        """Raise one StoreError for all broken lines, lines of other versions and ``impossible_values``, if any.

        ``advice`` says what to do about impossible values.
        """
        broken_lines = [*self.broken_lines, *impossible_values]
        if not (broken_lines or self.version_lines):
            return
        versions = [f"{self.path}:{_lines_text(lines)} {text}" for text, lines in self.version_lines.items()]
        remarks = [
            f"and {len(messages) - _MOST_LISTED} more {noun}"
            for messages, noun in ((versions, "versions or parts"), (broken_lines, "lines"))
            if len(messages) > _MOST_LISTED
        ]
        remarks += [advice] if impossible_values else []
        raise StoreError("\n".join([*versions[:_MOST_LISTED], *broken_lines[:_MOST_LISTED], *remarks]))


def _lines_text(lines: list[int]) -> str:
    return f"{lines[0]}: {f'this and {len(lines) - 1} more lines were' if len(lines) > 1 else 'this line was'}"


def read_log(path: Path, runs: Callable[[], Mapping[str, Mapping[str, Any]]]) -> Log:
    """Read every line. A torn last line is left out. A missing file has no lines.

    ``runs`` reads the provenance, which names the version that wrote a line where the line does not.
    """
    log, known_runs = Log(path), cache(runs)
    for number, line in numbered_lines(path):
        if (line or "").startswith(_MARK):
            log.tables.append((line or "")[len(_MARK) :].strip('"}'))
        elif line != "":
            _read_line(log, number, line or "", known_runs)
    return log


def table_digest(path: Path) -> str:
    """Return a digest of the table at ``path``, or an empty text without a table."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except FileNotFoundError:
        return ""


def _read_line(log: Log, number: int, line: str, runs: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
    origin, fault = f"{log.path}:{number}", ""
    try:
        result = CellResult.from_json(line, any_values=True)
        try:
            refuse_impossible_values(result.metrics, result.stages)
        except ImpossibleValueError as error:
            fault = str(error)
        log.rows.append((result, origin, fault))
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        if version := version_message(line, error, runs):
            log.version_lines.setdefault(version, []).append(number)
            return
        reason = f" ({error})" if isinstance(error, RowFaultError) else ""
        advice = "remove this line to run that cell again"
        log.broken_lines.append(f"{origin}: is not the result of a cell{reason}; {advice}")


def open_log(path: Path, table: Path) -> IO[str]:
    """Open the log to append lines. A line torn by an earlier kill is removed first."""
    log = appending(path)
    if not os.fstat(log.fileno()).st_size:
        log.write(_line_about(table_digest(table)))
    return log


def announce_table(path: Path, table: Path, new_digest: str) -> None:
    """Add the digests of ``table`` and of the new one, which will replace it, and sync."""
    with appending(path) as log:
        log.write(_line_about(table_digest(table)) + _line_about(new_digest))
        sync_file(log)


def empty_log(path: Path, digest: str) -> None:
    """Remove all results in one atomic step. Only the ``digest`` of the table stays."""
    write_atomic(path, _line_about(digest))


def _line_about(digest: str) -> str:
    return f'{_MARK}"{digest}"}}\n'
