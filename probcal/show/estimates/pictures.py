"""All that is drawn of the estimates of a results folder, whether they are still there or only ``estimates.json``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from probcal.errors import StoreError
from probcal.show.estimates.costs import CostCurve, cost_curve
from probcal.show.estimates.entry import Entry
from probcal.show.estimates.file import read_entries, write_entries
from probcal.show.estimates.kept import Estimates, done_cells, estimates_for
from probcal.show.estimates.reliability import Reliability
from probcal.show.estimates.roc import RocCurve
from probcal.show.estimates.scores import ScoreHistogram
from probcal.show.outline import Column, Outline, Row
from probcal.show.summary import Results
from probcal.store import ESTIMATES, CellResult, Store

_NAMED = 3
"""So many columns that lack a figure are named."""


@dataclass(frozen=True)
class Picture:
    """One data set and column."""

    row: Row
    column: Column
    n_splits: int
    top_label: bool
    """As in ``Estimates``: of more than two classes, all of this is about the likeliest class of each row."""
    reliability: Reliability
    scores: ScoreHistogram
    roc: RocCurve | None
    """None of more than two classes, and where all test rows are of one."""

    @property
    def costs(self) -> CostCurve | None:
        """None where ``roc`` is."""
        return cost_curve(self.roc) if self.roc else None


_RENEW = "run the experiment again, or fetch its predictions.bin"
_GONE = f"the estimates are not kept any more; {_RENEW}"
_STALE = f"{ESTIMATES} is of other estimates than the results are; {_RENEW}"
_LABELS = "there are no figures of estimates of several labels a row"
_IN_PART = "the estimates of some splits are not kept any more: the figures are of the others"


@dataclass(frozen=True)
class Pictures:
    """``every``: in the order of the outline."""

    every: list[Picture]
    lacking: list[tuple[Row, Column, str]]
    """Data sets and columns without a picture, or without that of all splits, and why."""
    fault: str = ""
    """Why ``estimates.json`` cannot be read, if it cannot."""

    def notes(self, outline: Outline) -> list[str]:
        """What a reader of the pictures of ``outline``, which may be a part, has to know and cannot see."""
        found: dict[str, list[str]] = {}
        for row, column, why in self.lacking:
            if row in outline.datasets and column in outline.columns:
                found.setdefault(why, []).append(f"{row.title} {column.label}")
        return [*filter(None, [self.fault]), *(f"{_names(names)}: {why}" for why, names in found.items())]


def pictures_of(store: Store, outline: Outline, results: Results, keep: bool = False) -> Pictures:
    """Those of every data set and column whose estimates are there, or in an ``estimates.json`` of the same estimates.

    ``keep``: write that file, so that the same is drawn where predictions.bin is not. Raises StoreError when it
    cannot be written; one that cannot be read is told in the notes, and as if it were not there.
    """
    found = Pictures([], [], fault="")
    try:
        kept = read_entries(store.folder)
    except StoreError as error:
        kept, found = {}, Pictures([], [], fault=str(error))
    entries, anew = [], False
    for row in outline.datasets:
        for column in outline.columns:
            estimates = estimates_for(store, outline, results, row, column)
            cells = [one for one in done_cells(outline, results, row, column) if one.predictions]
            entry, why = _entry(cells, estimates, kept.get((row.name, column.learner, column.method)))
            if entry is not None:
                found.every.append(_picture(row, column, entry))
                entries += [entry] if not why else []
                anew = anew or estimates is not None
            if why:
                found.lacking.append((row, column, why))
    if keep and anew:
        write_entries(store.folder, entries)
    return found


def _entry(
    cells: list[CellResult], estimates: Estimates | None, before: Entry | None
) -> tuple[Entry | None, str]:
    """From the estimates of all splits, else from ``before``, else from those of some; and what is wrong with it."""
    if not cells:
        return None, ""
    digest = _digest(cells)
    if estimates is not None and estimates.n_splits == len(cells):
        return Entry.of(estimates, digest), ""
    if before is not None and before.digest == digest:
        return before, ""
    if estimates is not None:
        return Entry.of(estimates, digest=""), _IN_PART
    if any("labels" in (one.predictions or {}) for one in cells):
        return None, _LABELS
    return None, _GONE if before is None else _STALE


def _picture(row: Row, column: Column, entry: Entry) -> Picture:
    drawn = entry.reliability, entry.histogram, entry.roc_curve
    return Picture(row, column, entry.splits, entry.top_label, *drawn)


def _digest(cells: Iterable[CellResult]) -> str:
    """Of the estimates of these repetitions, by what the results say of them."""
    said = [[one.repetition, one.predictions["digest"]] for one in cells if one.predictions]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]


def _names(names: Sequence[str]) -> str:
    few = ", ".join(names[:_NAMED])
    return few if len(names) <= _NAMED else f"{few} and {len(names) - _NAMED} more"
