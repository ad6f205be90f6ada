"""Summaries of stored predictions for the figures, and ``estimates.json``, which keeps them when predictions are
absent.

The file is small enough to be committed, which predictions.bin is not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from probcal._io import refuse_links_out, refuse_other_kinds, write_whole
from probcal.errors import StoreError
from probcal.reporting.prediction_curves import (
    CostCurve,
    Reliability,
    RocCurve,
    ScoreHistogram,
    StoredPredictions,
    cost_curve,
    done_cells,
    estimates_for,
    reliability,
    roc_curve,
    score_histogram,
)
from probcal.store.folder import ESTIMATES, CellResult, Store
from probcal.store.outline import Outline, ResultColumn, Row
from probcal.store.summary import Results

_MOST = 1000
"""Most bins and points. Ours are fewer, but a file from elsewhere may hold any number."""
Count = Annotated[int, Field(ge=0, le=10**12)]
Counts = Annotated[list[Count], Field(min_length=1, max_length=_MOST)]
Share = Annotated[float, Field(ge=0, le=1)]


class Entry(BaseModel):
    """Hold a line of ``estimates.json``. Figures always use it, so that they do not depend on stored predictions."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    dataset: str
    learner: str
    method: str
    digest: str
    """Digest of the predictions that it summarises."""
    splits: Annotated[int, Field(ge=1, le=10**6)]
    appearances: Annotated[float, Field(ge=1, le=10**6)]
    top_label: bool
    mean: Annotated[list[Share], Field(min_length=1, max_length=_MOST)]
    """Mean prediction of each bin of the reliability diagram. ``counts`` and ``positive`` are by bin too."""
    counts: Counts
    positive: Counts
    scores: tuple[Counts, Counts]
    """Counts of negative and of positive rows."""
    roc: tuple[Counts, Counts] | None
    """Increase of negative and of positive rows from each point to the next."""

    @model_validator(mode="after")
    def _fits_together(self) -> Entry:
        if not len(self.mean) == len(self.counts) == len(self.positive):
            raise ValueError("mean, counts and positive are not equally long")
        if not all(0 <= k <= n and n for k, n in zip(self.positive, self.counts, strict=True)):
            raise ValueError("more positive rows than rows, or no rows, in a bin")
        if len(self.scores[0]) != len(self.scores[1]):
            raise ValueError("scores are not equally long")
        if self.roc and not (len(self.roc[0]) == len(self.roc[1]) and all(map(any, zip(*self.roc, strict=True)))):
            raise ValueError("roc has steps that lead nowhere")
        if self.roc and not all(map(any, self.roc)):
            raise ValueError("roc has rows of one class only")
        return self

    @classmethod
    def of(cls, one: StoredPredictions, digest: str) -> Entry:
        curve, histogram, roc = reliability(one), score_histogram(one), roc_curve(one)
        steps = None if roc is None else (np.diff(roc.negative).tolist(), np.diff(roc.positive).tolist())
        return cls(
            dataset=one.row.name,
            learner=one.column.learner,
            method=one.column.method,
            digest=digest,
            splits=one.n_splits,
            appearances=one.appearances,
            top_label=one.top_label,
            mean=curve.mean.tolist(),
            counts=list(curve.counts),
            positive=list(curve.positive),
            scores=(histogram.negative.tolist(), histogram.positive.tolist()),
            roc=steps,
        )

    @property
    def name(self) -> tuple[str, str, str]:
        return self.dataset, self.learner, self.method

    @property
    def reliability(self) -> Reliability:
        return Reliability.of(self.mean, self.counts, self.positive, self.appearances)

    @property
    def histogram(self) -> ScoreHistogram:
        return ScoreHistogram.of(*self.scores)

    @property
    def roc_curve(self) -> RocCurve | None:
        return None if self.roc is None else RocCurve(*(_from_zero(steps) for steps in self.roc))


def _from_zero(steps: list[int]) -> Any:
    return np.array(list(accumulate(steps, initial=0)), np.int64)


_VERSION = 1
"""Version of the file. Another version is written again from the predictions, or refused."""
_LARGEST = 50_000_000
"""Most bytes of the file. The largest of our experiments takes a million."""

Entries = dict[tuple[str, str, str], Entry]
"""(data set, learner, method) -> entry."""


def read_entries(folder: Path) -> Entries:
    """Read the entries of a folder, none without the file. Raises StoreError for a file that is not ours."""
    path = folder / ESTIMATES
    refuse_other_kinds(folder, [ESTIMATES])
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.get("version") != _VERSION:
            raise ValueError("it was written by another version of probcal")
        if not isinstance(content.get("estimates"), list):
            raise ValueError("it holds no estimates")
        entries = [Entry.model_validate_json(json.dumps(one)) for one in content["estimates"]]
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StoreError(f"{path} cannot be read: {place + ': ' if place else ''}{first['msg']}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    return {one.name: one for one in entries}


def write_entries(folder: Path, entries: Iterable[Entry]) -> None:
    """Write one line per entry, unless the file holds the same already. Raises StoreError when it cannot be written."""
    path = folder / ESTIMATES
    lines = ",\n".join(one.model_dump_json() for one in entries)
    text = f'{{"version": {_VERSION}, "estimates": [\n{lines}\n]}}\n'
    refuse_links_out(folder, (ESTIMATES, f"{ESTIMATES}.new"))
    refuse_other_kinds(folder, (ESTIMATES, f"{ESTIMATES}.new"))
    try:
        if path.is_file() and path.read_bytes() == text.encode():
            return
        write_whole(path, text)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from None


_NAMED = 3
"""Most columns without a figure that are named."""


@dataclass(frozen=True)
class PredictionFigure:
    """Hold the curves of one data set and column."""

    row: Row
    column: ResultColumn
    n_splits: int
    top_label: bool
    """As in ``StoredPredictions``: with more than two classes, all curves are about the likeliest class of each row."""
    reliability: Reliability
    scores: ScoreHistogram
    roc: RocCurve | None
    """None for more than two classes, and where all test rows have one class."""

    @property
    def costs(self) -> CostCurve | None:
        """Return the cost curve, or None where ``roc`` is None."""
        return cost_curve(self.roc) if self.roc else None


_RENEW = "run the experiment again, or fetch its predictions.bin"
_GONE = f"the predictions are no longer stored; {_RENEW}"
_STALE = f"{ESTIMATES} belongs to other predictions than the results; {_RENEW}"
_LABELS = "there are no figures for rows with several labels"
_IN_PART = "the predictions of some splits are no longer stored: the figures show the others"


@dataclass(frozen=True)
class Pictures:
    """Hold the pictures of an experiment. ``every`` is in the order of the outline."""

    every: list[PredictionFigure]
    lacking: list[tuple[Row, ResultColumn, str]]
    """Data sets and columns without a picture, or with one of some splits only, and why."""
    fault: str = ""
    """Reason why ``estimates.json`` cannot be read."""

    def notes(self, outline: Outline) -> list[str]:
        """Return notes on what the pictures of ``outline``, which may be a selection, do not show."""
        found: dict[str, list[str]] = {}
        for row, column, why in self.lacking:
            if row in outline.datasets and column in outline.columns:
                found.setdefault(why, []).append(f"{row.title} {column.label}")
        return [*filter(None, [self.fault]), *(f"{_names(names)}: {why}" for why, names in found.items())]


def pictures_of(store: Store, outline: Outline, results: Results, keep: bool = False) -> Pictures:
    """Return the pictures of every data set and column with predictions, or with a valid entry in ``estimates.json``.

    With ``keep`` the file is written, so that the same pictures can be drawn without predictions.bin. Raises StoreError
    when it cannot be written. A file that cannot be read is reported in the notes and otherwise ignored.
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
    cells: list[CellResult], estimates: StoredPredictions | None, before: Entry | None
) -> tuple[Entry | None, str]:
    """Return the entry from the predictions of all splits, else ``before``, else that of some splits, and its fault."""
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


def _picture(row: Row, column: ResultColumn, entry: Entry) -> PredictionFigure:
    drawn = entry.reliability, entry.histogram, entry.roc_curve
    return PredictionFigure(row, column, entry.splits, entry.top_label, *drawn)


def _digest(cells: Iterable[CellResult]) -> str:
    """Return the digest of the predictions of these repetitions, from the digests in the results."""
    digests = [[one.repetition, one.predictions["digest"]] for one in cells if one.predictions]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:12]


def _names(names: Sequence[str]) -> str:
    few = ", ".join(names[:_NAMED])
    return few if len(names) <= _NAMED else f"{few} and {len(names) - _NAMED} more"
