"""Results lines that another version of probcal wrote, with messages that name the version and what to do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from probcal import __version__
from probcal._io import visible
from probcal.store.cell_result import WRITER

_LONGEST = 40
"""Largest number of characters of a version or of the name of a part."""
_MOST_LISTED = 10


class OtherVersions:
    """Collect the lines of ``path`` that another version wrote.

    ``runs`` reads the provenance, which also names a version.
    """

    def __init__(self, path: Path, runs: Callable[[], Mapping[str, Mapping[str, Any]]]) -> None:
        self._path, self._read_runs = path, runs
        self._runs: Mapping[str, Mapping[str, Any]] | None = None
        self._lines: dict[tuple[str, str], list[int]] = {}

    def __bool__(self) -> bool:
        return bool(self._lines)

    def take(self, number: int, line: str, unknown: list[str]) -> bool:
        """Remember a line that could not be read. Return False when nothing shows that another version wrote it.

        ``unknown`` holds the parts of the line that this version does not know.
        """
        writer = self._writer(line)
        newer = writer if is_newer(writer) else ""
        if newer or unknown:
            self._lines.setdefault((newer, "" if newer else unknown[0]), []).append(number)
        return bool(newer or unknown)

    def messages(self) -> list[str]:
        """Return a message for each version, and for each unknown part where no version is named."""
        messages = [self._about(writer, part, lines) for (writer, part), lines in [*self._lines.items()][:_MOST_LISTED]]
        more = len(self._lines) - _MOST_LISTED
        return [*messages, f"and {more} more versions or parts"] if more > 0 else messages

    def _about(self, writer: str, part: str, lines: list[int]) -> str:
        where = f"{self._path}:{lines[0]}"
        these = f"this and {len(lines) - 1} more lines were" if len(lines) > 1 else "this line was"
        if writer:
            return (
                f"{where}: {these} written by probcal {visible(writer, _LONGEST)}, and this is probcal {__version__}; "
                "nothing is lost, install a newer version to read it: pip install --upgrade probcal"
            )
        return (
            f"{where}: {these} written by another version of probcal: {__version__} does not know its part "
            f'"{visible(part, _LONGEST)}"; nothing is lost, use the version that wrote it'
        )

    def _writer(self, line: str) -> str:
        """Return the version that wrote a line, from the line itself or from its run. Empty if neither names one."""
        try:
            row = json.loads(line)
            named = row.get(WRITER) or self._run(row.get("run")).get("probcal")
        except (ValueError, TypeError, AttributeError, RecursionError):
            return ""
        return named if isinstance(named, str) else ""

    def _run(self, run: Any) -> Mapping[str, Any]:
        if self._runs is None:
            self._runs = self._read_runs()
        return self._runs.get(run, {})


def is_newer(version: str) -> bool:
    """Return whether ``version`` of probcal comes after this one, judged by the numbers that it begins with."""
    return _numbers(version) > _numbers(__version__)


def _numbers(version: str) -> list[int]:
    begin = re.match(r"[0-9]{1,9}(\.[0-9]{1,9}){0,9}", version)
    return [int(number) for number in begin[0].split(".")] if begin else []
