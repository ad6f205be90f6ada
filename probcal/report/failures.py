"""What went wrong, each fault once with all its cells; and what is there of each data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from probcal.show.outline import Outline
from probcal.show.summary import Results, planned_ids, stale_ids
from probcal.store import CellResult

_MOST_FAULTS = 50
_MOST_CELLS = 60
_LONGEST = 6_000
"""Letters of one traceback; a deep recursion writes more."""


@dataclass(frozen=True)
class Fault:
    """One error of one or more cells."""

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
    """Other faults, which are not shown."""


@dataclass(frozen=True)
class Progress:
    """The cells of one data set."""

    title: str
    planned: int
    done: int
    failed: int
    stale: int
    not_run: int


def faults(failed: Iterable[CellResult]) -> Faults:
    """The most frequent first; cells whose error reads the same share it, with the traceback of the first."""
    found: dict[tuple[str, str], list[CellResult]] = {}
    for one in failed:
        found.setdefault((one.error_type or one.status, (one.message or "").strip()), []).append(one)
    every = [
        Fault(kind, _cut(message), _cut((cells[0].traceback or "").strip()), [one.id for one in cells])
        for (kind, message), cells in found.items()
    ]
    every.sort(key=lambda fault: -len(fault.cells))
    return Faults(every[:_MOST_FAULTS], max(len(every) - _MOST_FAULTS, 0))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}\n…\n{text[-_LONGEST // 2 :]}"


def progress(outline: Outline, results: Results) -> list[Progress]:
    rows = []
    for row in outline.datasets:
        ids = [one for column in outline.columns for one in planned_ids(outline, row, column)]
        states = [results[one].status for one in ids if one in results]
        rows.append(
            Progress(
                title=row.title,
                planned=len(ids),
                done=states.count("done"),
                failed=len(states) - states.count("done"),
                stale=sum(len(stale_ids(outline, results, row, column)) for column in outline.columns),
                not_run=len(ids) - len(states),
            )
        )
    return rows
