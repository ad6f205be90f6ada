"""All that is drawn of the estimates of a results folder, whether they are still there or only ``estimates.json``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from probcal.errors import StoreError
from probcal.show.estimates.costs import CostCurve, cost_curve
from probcal.show.estimates.entry import Entry
from probcal.show.estimates.file import Entries, read_entries, write_entries
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


@dataclass(frozen=True)
class Pictures:
    """In the order of the outline, and what a reader of them has to know and cannot see."""

    every: list[Picture]
    notes: list[str]


@dataclass
class _Lacking:
    """Names of data sets and columns, by why they have no picture or not that of all splits."""

    gone: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    in_part: list[str] = field(default_factory=list)

    def notes(self) -> list[str]:
        renew = "run the experiment again, or fetch its predictions.bin"
        said = (
            (self.gone, f"the estimates are not kept any more; {renew}"),
            (self.stale, f"{ESTIMATES} is of other estimates than the results are; {renew}"),
            (self.labels, "several labels a row have no figures of their estimates"),
            (self.in_part, "the estimates of some splits are not kept any more: the figures are of the others"),
        )
        return [f"{_names(names)}: {what}" for names, what in said if names]


def pictures_of(store: Store, outline: Outline, results: Results, keep: bool = False) -> Pictures:
    """Those of every data set and column whose estimates are there, or in an ``estimates.json`` of the same estimates.

    ``keep``: write that file, so that the same is drawn where predictions.bin is not. Raises StoreError when it
    cannot be written; one that cannot be read is told in the notes, and as if it were not there.
    """
    lacking, notes, pictures, entries, anew = _Lacking(), [], [], [], False
    try:
        kept = read_entries(store.folder)
    except StoreError as error:
        kept = {}
        notes.append(str(error))
    for row in outline.datasets:
        for column in outline.columns:
            estimates = estimates_for(store, outline, results, row, column)
            cells = [one for one in done_cells(outline, results, row, column) if one.predictions]
            entry = _entry(row, column, cells, estimates, kept, lacking)
            if entry is not None:
                pictures.append(_picture(row, column, entry))
                entries += [entry] if entry.digest else []
                anew = anew or estimates is not None
    if keep and anew:
        write_entries(store.folder, entries)
    return Pictures(pictures, [*notes, *lacking.notes()])


def _entry(
    row: Row, column: Column, cells: list[CellResult], estimates: Estimates | None, kept: Entries, lacking: _Lacking
) -> Entry | None:
    """From the estimates of all splits, else from the file, else from the estimates of some splits."""
    if not cells:
        return None
    name, digest = f"{row.title} {column.label}", _digest(cells)
    if estimates is not None and estimates.n_splits == len(cells):
        return Entry.of(estimates, digest)
    before = kept.get((row.name, column.learner, column.method))
    if before is not None and before.digest == digest:
        return before
    if estimates is not None:
        lacking.in_part.append(name)
        return Entry.of(estimates, digest="")
    several_labels = any("labels" in (one.predictions or {}) for one in cells)
    (lacking.labels if several_labels else lacking.gone if before is None else lacking.stale).append(name)
    return None


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
