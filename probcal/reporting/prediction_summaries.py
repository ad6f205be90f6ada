"""Pictures of stored predictions, and ``estimates.json``, which keeps what they need when predictions are absent.

The file is small enough to be committed, which predictions.bin is not.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from probcal._io import refuse_links_out, refuse_other_kinds, write_atomic
from probcal.errors import StoreError
from probcal.metrics.curves import BinnedCurve
from probcal.metrics.decisions import DecisionCurve, of_treated
from probcal.metrics.reliability import Band, ReliabilityCurve, ScoreHistogram, score_histogram
from probcal.reporting.prediction_curves import (
    CostCurve,
    Reliability,
    RocCurve,
    StoredPredictions,
    cost_curve,
    read_stored_predictions,
    reliability,
    roc_curve,
)
from probcal.store.cell_result import Results
from probcal.store.folder import ESTIMATES, CellResult, Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import done_cells

_MOST_BINS = 1000
"""Most bins and points. Ours are fewer, but a file from elsewhere may hold any number."""
Count = Annotated[int, Field(ge=0, le=10**12)]
CountList = Annotated[list[Count], Field(min_length=1, max_length=_MOST_BINS)]
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
    mean: Annotated[list[Share], Field(min_length=1, max_length=_MOST_BINS)]
    """Mean prediction of each bin of the reliability diagram. ``counts`` and ``positive`` are by bin too."""
    counts: CountList
    positive: CountList
    scores: tuple[CountList, CountList]
    """Counts of negative and of positive rows."""
    roc: tuple[CountList, CountList] | None
    """Increase of negative and of positive rows from each point to the next."""

    @model_validator(mode="after")
    def _check_lengths(self) -> Entry:
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
    def of(cls, predictions: StoredPredictions, digest: str) -> Entry:
        curve, roc = reliability(predictions), roc_curve(predictions)
        histogram = score_histogram(predictions.y, predictions.p)
        return cls(
            dataset=predictions.row.name,
            learner=predictions.column.learner,
            method=predictions.column.method,
            digest=digest,
            splits=predictions.n_splits,
            appearances=predictions.appearances,
            top_label=predictions.top_label,
            mean=curve.mean.tolist(),
            counts=list(curve.counts),
            positive=list(curve.positive),
            scores=(histogram.negative.astype(int).tolist(), histogram.positive.astype(int).tolist()),
            roc=None if roc is None else (np.diff(roc.negative).tolist(), np.diff(roc.positive).tolist()),
        )

    @property
    def name(self) -> tuple[str, str, str]:
        return self.dataset, self.learner, self.method


_LARGEST_FILE = 50_000_000
"""Most bytes of the file. The largest of our experiments takes a million."""

Entries = dict[tuple[str, str, str], Entry]
"""(data set, learner, method) -> entry."""


class _SummaryFile(BaseModel):
    model_config = ConfigDict(strict=True)

    version: Literal[1]
    estimates: list[Entry]


def read_entries(folder: Path) -> Entries:
    """Read the entries of a folder, none without the file. Raises StoreError for a file that is not ours."""
    path = folder / ESTIMATES
    refuse_other_kinds(folder, [ESTIMATES])
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise StoreError(f"{path} cannot be read: it is too large")
        file = _SummaryFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise StoreError(f"{path} cannot be read: {place + ': ' if place else ''}{first['msg']}") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}") from None
    return {entry.name: entry for entry in file.estimates}


def write_entries(folder: Path, entries: Iterable[Entry]) -> None:
    """Write one line per entry, unless the file holds the same already. A folder that cannot be written is left alone.

    Raises StoreError for a link out of the folder or a pipe in place of the file.
    """
    path = folder / ESTIMATES
    lines = ",\n".join(entry.model_dump_json() for entry in entries)
    text = f'{{"version": 1, "estimates": [\n{lines}\n]}}\n'
    refuse_links_out(folder, (ESTIMATES, f"{ESTIMATES}.new"))
    refuse_other_kinds(folder, (ESTIMATES, f"{ESTIMATES}.new"))
    with suppress(OSError):
        if not path.is_file() or path.read_bytes() != text.encode():
            write_atomic(path, text)


_MOST_NAMED = 3
"""Most columns without a figure that are named."""


@dataclass(frozen=True)
class PredictionFigure:
    """Hold the curves of one data set and column, computed from its entry.

    With ``entry.top_label``, all are about the likeliest class of each row, as in ``StoredPredictions``.
    """

    row: Row
    column: ResultColumn
    entry: Entry

    @functools.cached_property
    def reliability(self) -> Reliability:
        entry = self.entry
        return Reliability.of(entry.mean, entry.counts, entry.positive, entry.appearances)

    @property
    def reliability_curve(self) -> ReliabilityCurve:
        """Return the reliability diagram as a display draws it: bins and their intervals, without an isotonic curve."""
        curve, scores = self.reliability, self.score_histogram
        bins, bars = BinnedCurve(curve.mean, curve.observed, curve.n), Band(curve.mean, curve.low, curve.high)
        return ReliabilityCurve(bins, None, bars, None, scores.edges, scores.negative + scores.positive)

    @property
    def score_histogram(self) -> ScoreHistogram:
        negative, positive = (np.asarray(counts, np.float64) for counts in self.entry.scores)
        return ScoreHistogram(np.linspace(0, 1, len(negative) + 1), negative, positive)

    @property
    def decisions(self) -> DecisionCurve | None:
        """Return the net benefit at the lower edges of the histogram's bins, or None where ``roc`` is None.

        The rows from an edge on are counted exactly.
        """
        if self.roc is None:
            return None
        edges, negative, positive = self.score_histogram
        n = negative.sum() + positive.sum()
        false, true = (np.cumsum(counts[::-1])[::-1] / n for counts in (negative, positive))
        return of_treated(edges[:-1], true, false, (true[0], false[0]))

    @functools.cached_property
    def roc(self) -> RocCurve | None:
        """Return the ROC curve. None for more than two classes, and where all test rows have one class."""
        steps = self.entry.roc
        return RocCurve(*(np.cumsum([0, *increases], dtype=np.int64) for increases in steps)) if steps else None

    @property
    def costs(self) -> CostCurve | None:
        """Return the cost curve, or None where ``roc`` is None."""
        return cost_curve(self.roc) if self.roc else None


_RENEWAL_ADVICE = "fetch its predictions.bin, or run the experiment into another folder (-o)"
_MISSING_REASON = f"the predictions are no longer stored; {_RENEWAL_ADVICE}"
_STALE_REASON = f"{ESTIMATES} belongs to other predictions than the results; {_RENEWAL_ADVICE}"
_IMPOSSIBLE_REASON = f"{ESTIMATES} has other numbers of rows than the results; {_RENEWAL_ADVICE}"
_LABELS_REASON = "there are no figures for rows with several labels"
_PARTIAL_REASON = "the predictions of some splits are no longer stored: the figures show the others"


@dataclass(frozen=True)
class Pictures:
    """Hold the pictures of an experiment. ``figures`` is in the order of the experiment."""

    figures: list[PredictionFigure]
    missing_figures: list[tuple[Row, ResultColumn, str]]
    """Data sets and columns without a picture, or with one of some splits only, and why."""
    fault: str = ""
    """Reason why ``estimates.json`` cannot be read."""

    def notes(self, stored: StoredExperiment) -> list[str]:
        """Return notes on what the pictures of ``stored``, which may be a selection, do not show."""
        titles: dict[str, list[str]] = {}
        for row, column, reason in self.missing_figures:
            if row in stored.datasets and column in stored.columns:
                titles.setdefault(reason, []).append(f"{row.title} {column.label}")
        return [*filter(None, [self.fault]), *(f"{_names_text(labels)}: {reason}" for reason, labels in titles.items())]


def pictures_of(store: Store, stored: StoredExperiment, results: Results, keep: bool = False) -> Pictures:
    """Return the pictures of every data set and column with predictions, or with a valid entry in ``estimates.json``.

    With ``keep`` the file is written, so that the same pictures can be drawn without predictions.bin. A file that
    cannot be read is reported in the notes and otherwise ignored.
    """
    stored_entries, pictures = {}, Pictures([], [])
    try:
        stored_entries = read_entries(store.folder)
    except StoreError as error:
        pictures = Pictures([], [], fault=str(error))
    entries, has_new = [], False
    for row in stored.datasets:
        for column in stored.columns:
            estimates = read_stored_predictions(store, stored, results, row, column)
            cells = [cell for cell in done_cells(stored, results, row, column) if cell.predictions]
            entry, reason = _find_entry(cells, estimates, stored_entries.get((row.name, column.learner, column.method)))
            if entry is not None:
                pictures.figures.append(PredictionFigure(row, column, entry))
                # A picture of some splits is not stored, because it would later stand for all of them.
                entries += [entry] if not reason else []
                has_new = has_new or estimates is not None
            if reason:
                pictures.missing_figures.append((row, column, reason))
    if keep and has_new:
        write_entries(store.folder, entries)
    return pictures


def estimates_file_faults(store: Store) -> list[str]:
    """Return why ``estimates.json`` disagrees with the stored predictions. Empty where it agrees or is absent."""
    try:
        stored_entries = read_entries(store.folder)
    except StoreError as error:
        return [str(error)]
    if not stored_entries:
        return []
    stored, results = StoredExperiment.of(store), store.results_with_any_values()
    entries = [figure.entry for figure in pictures_of(store, stored, results).figures]
    faults = [
        f"{entry.dataset} {entry.learner}.{entry.method}"
        for entry in entries
        if (known := stored_entries.get(entry.name)) and known.digest == entry.digest and known != entry
    ]
    path = store.folder / ESTIMATES
    return [f"{path} differs from the predictions of {_names_text(faults)}; remove it"] if faults else []


def _find_entry(
    cells: list[CellResult], estimates: StoredPredictions | None, stored_entry: Entry | None
) -> tuple[Entry | None, str]:
    """Return the entry from all splits' predictions, else ``stored_entry``, else that of some splits, and its fault."""
    if not cells:
        return None, ""
    digest = _digest(cells)
    # Predictions first: what is computed from them needs no trust in a file.
    if estimates is not None and estimates.n_splits == len(cells):
        return Entry.of(estimates, digest), ""
    if stored_entry is not None and stored_entry.digest == digest:
        return (stored_entry, "") if _is_possible(stored_entry, cells) else (None, _IMPOSSIBLE_REASON)
    if estimates is not None:
        return Entry.of(estimates, digest=""), _PARTIAL_REASON
    if any("labels" in (cell.predictions or {}) for cell in cells):
        return None, _LABELS_REASON
    return None, _MISSING_REASON if stored_entry is None else _STALE_REASON


def _is_possible(entry: Entry, cells: list[CellResult]) -> bool:
    n_rows, n_positive = sum((cell.predictions or {})["rows"] for cell in cells), sum(entry.positive)
    counts = (n_rows - n_positive, n_positive)
    parts = [entry.scores, *([entry.roc] if entry.roc else [])]
    return sum(entry.counts) == n_rows and all((sum(part[0]), sum(part[1])) == counts for part in parts)


def _digest(cells: Iterable[CellResult]) -> str:
    """Return the digest of the predictions of these repetitions, from the digests in the results."""
    digests = [[cell.repetition, cell.predictions["digest"]] for cell in cells if cell.predictions]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()[:12]


def _names_text(names: Sequence[str]) -> str:
    text = ", ".join(names[:_MOST_NAMED])
    return text if len(names) <= _MOST_NAMED else f"{text} and {len(names) - _MOST_NAMED} more"
