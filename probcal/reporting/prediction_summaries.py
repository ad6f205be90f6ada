"""Curves of stored predictions, and ``estimates.json``, which keeps what they need when predictions are absent.

The curves are ROC curve, cost curve, score histogram and reliability diagram. Cost curves are those of Drummond & Holte
(2006), Machine Learning 65: the cost of the best threshold at every ratio of costs. The file is small enough to be
committed, which predictions.bin is not.
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
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from sklearn.isotonic import isotonic_regression

from probcal._io import refuse_links_out, refuse_other_kinds, write_atomic
from probcal.errors import StoreError
from probcal.metrics.checked_rows import checked_numbers, checked_two_classes
from probcal.metrics.curves import BinnedCurve, bin_numbers, wilson
from probcal.metrics.decisions import DecisionCurve, of_treated
from probcal.metrics.ranking import RankedRows
from probcal.metrics.reliability import Band, ReliabilityCurve, ScoreHistogram, score_histogram
from probcal.store.cell_result import Results
from probcal.store.folder import ESTIMATES, CellResult, Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import done_cells

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class StoredPredictions:
    """Hold the predictions for the test rows of all splits of one data set under one column, one split after the other.

    With more than two classes they are about the likeliest class of each row, the first of several. Then ``p`` is its
    predicted probability, and ``y`` says whether it is the right class.
    """

    row: Row
    column: ResultColumn
    y: Array
    """(n,) of 0 and 1."""
    p: Array
    """(n,) predictions of P(y = 1)."""
    n_splits: int
    appearances: float
    """Mean number of these splits in which a tested row is tested, at least 1."""
    top_label: bool
    """Whether there are more than two classes."""


def read_stored_predictions(
    store: Store, stored: StoredExperiment, results: Results, row: Row, column: ResultColumn
) -> StoredPredictions | None:
    """Return the predictions of one data set and column.

    Returns None where none are stored, where they have several labels, or where they are not probabilities.
    """
    cells = done_cells(stored, results, row, column)
    splits = [predictions for cell in cells if (predictions := _read_two_classes(store, cell)) is not None]
    if not splits:
        return None
    y, p = (np.concatenate([split[part] for split in splits]) for part in (0, 1))
    top_label = any((cell.predictions or {}).get("columns", 2) > 2 for cell in cells)
    return StoredPredictions(row, column, y, p, len(splits), appearances(row, cells[0], len(splits)), top_label)


def appearances(row: Row, cell: CellResult, n_splits: int) -> float:
    """Return in how many of ``n_splits`` a tested row is tested, on average.

    That is every split where all test the same rows, and one where each split draws its own rows. Of the folds of one
    repetition, one tests the row. With random splits that test a share s, a row is tested in n s of n splits, and in
    none of them with probability (1 - s)^n.
    """
    if row.drawn:
        return 1.0
    if row.has_fixed_rows:
        return float(n_splits)
    if row.folds:
        return max(1.0, n_splits / row.folds)
    n_train, n_test = cell.n_train or 0, cell.n_test or 0
    # Results of earlier versions lack the numbers of rows. Then every split is taken to test every row.
    share = n_test / (n_train + n_test) if n_test else 1.0
    return max(1.0, n_splits * share / (1 - (1 - share) ** n_splits))


def _read_two_classes(store: Store, cell: CellResult) -> tuple[Array, Array] | None:
    """Return (y, p), (n,) each, or None where they are absent, of several labels, weighted, or not probabilities."""
    # without their weights, these rows would show the frequencies of another population
    if not store.has_predictions(cell) or {"labels", "weights"} & (cell.predictions or {}).keys():
        return None
    try:
        rows = checked_numbers(*store.predictions(cell))
    except (StoreError, ValueError):  # ValueError: a folder from elsewhere may hold anything
        return None
    if rows.p.ndim == 1:
        return rows.y, rows.p
    top = rows.p.argmax(axis=1)
    return (rows.y == top).astype(np.float64), rows.p[np.arange(len(top)), top]


MOST_POINTS = 200
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RocCurve:
    """Hold points of the curve from (0, 0) to (1, 1). Both coordinates rise, and arrays have shape (points,)."""

    negative: Counts
    """Number of negative rows with a larger prediction than the threshold."""
    positive: Counts
    """Number of positive rows with a larger prediction than the threshold."""

    @property
    def x(self) -> Array:
        """Return the false positive rate."""
        return np.asarray(self.negative / self.negative[-1])

    @property
    def y(self) -> Array:
        """Return the true positive rate."""
        return np.asarray(self.positive / self.positive[-1])


def roc_curve(predictions: StoredPredictions, points: int = MOST_POINTS) -> RocCurve | None:
    """Return at most ``points`` points of the ROC curve, or None for more than two classes or rows of one class only.

    The points on the convex hull are kept, since the cost curve depends on them, and others at even distances. All
    splits share one curve, since a threshold on probabilities means the same in each split.
    """
    if predictions.top_label:
        return None
    rows = RankedRows.of(checked_two_classes(predictions.y, predictions.p))
    if not rows.has_both_classes():
        return None
    totals = (np.rint(rows.up_to(labels)).astype(np.int64) for labels in (1 - rows.y, rows.y))
    # From the largest prediction down.
    negative, positive = (counts[-1] - counts[::-1] for counts in totals)
    places = _select_points(negative, positive, points)
    return RocCurve(negative[places], positive[places])


def hull_places(negative: Counts, positive: Counts) -> Counts:
    """Return the places of the points on the upper convex hull. Isotonic regression finds its falling slopes."""
    steps = np.diff(negative) + np.diff(positive)
    slopes = isotonic_regression(np.diff(positive) / steps, sample_weight=steps, increasing=False)
    return np.concatenate([[0], np.flatnonzero(np.diff(slopes)) + 1, [len(steps)]])


def _select_points(negative: Counts, positive: Counts, points: int) -> Counts:
    """Return at most so many places of points: corners of the hull, then others at even distances."""
    distances = negative / negative[-1] + positive / positive[-1]

    def select_even(places: Counts, most: int) -> Counts:
        """Return at most so many of ``places``, with first and last."""
        if len(places) <= most:
            return places
        values = distances[places]
        even = np.searchsorted(values, np.linspace(values[0], values[-1], most))
        return np.asarray(places[np.unique(even.clip(0, len(values) - 1))])

    all_places = np.arange(len(negative))
    if len(negative) <= points:
        return all_places
    corners = select_even(hull_places(negative, positive), points)
    n_left = points - len(corners)
    # Two more, because the first and the last point are corners already.
    return np.union1d(corners, select_even(all_places, n_left + 2)) if n_left else corners


@dataclass(frozen=True)
class CostCurve:
    """Hold the corners of the lower envelope of the lines of all thresholds, (corners,) each.

    The curve is straight between corners. It begins at (0, 0), where a classifier that always says negative costs
    nothing, and ends at (1, 0). Always predicting the same class costs min(x, 1 - x).
    """

    x: Array
    """Probability cost p(+) C(-|+) / (p(+) C(-|+) + p(-) C(+|-)), in rising order."""
    y: Array
    """Normalised expected cost, over the cost of being wrong on every row: (1 - TPR) x + FPR (1 - x)."""


def cost_curve(roc: RocCurve) -> CostCurve:
    """Return the cost curve of the thresholds in ``roc``. Two neighbours on its hull cost the same at a corner.

    The class frequencies of the test rows do not matter, since x stands for both frequencies and costs.
    """
    corners = hull_places(roc.negative, roc.positive)
    fpr, tpr = roc.x[corners], roc.y[corners]
    x = np.diff(fpr) / (np.diff(fpr) + np.diff(tpr))
    y = (1 - tpr[:-1]) * x + fpr[:-1] * (1 - x)
    return CostCurve(np.r_[0.0, x, 1.0], np.r_[0.0, y, 0.0])


RELIABILITY_BINS = 10


@dataclass(frozen=True)
class Reliability:
    """Hold a reliability diagram with one entry per bin, by rising prediction. Arrays have shape (bins,)."""

    mean: Array
    """Mean prediction."""
    observed: Array
    """Observed frequency of y = 1."""
    low: Array
    high: Array
    """Upper end of the 95 % interval of ``observed``, within [0, 1]. ``low`` is the lower end."""
    n: Array
    """Expected number of distinct rows. It may be fractional where a row is tested in several splits."""
    counts: tuple[int, ...]
    """Rows of all splits."""
    positive: tuple[int, ...]
    """Rows of all splits with y = 1."""

    @classmethod
    def of(
        cls, mean: Sequence[float], counts: Sequence[int], positive: Sequence[int], appearances: float
    ) -> Reliability:
        """Build the diagram from the counts over all splits. ``appearances`` is as in ``StoredPredictions``."""
        n = np.asarray(counts) / appearances
        observed = np.asarray(positive) / np.asarray(counts)
        low, high = wilson(observed, n)
        return cls(np.asarray(mean, float), observed, low, high, n, tuple(counts), tuple(positive))


def reliability(predictions: StoredPredictions, bins: int = RELIABILITY_BINS) -> Reliability:
    """Return at most ``bins`` bins with nearly the same number of rows.

    Rows with equal predictions are never in two bins. All are in the bin of their middle row. Bins without rows are
    left out.

    The interval is that of Wilson (1927) for the rows of a bin. With several random splits a row is tested more than
    once, which does not make the frequency more certain. So the number of rows is divided by ``appearances``.
    """
    numbers = bin_numbers(predictions.p, np.ones(len(predictions.p)), bins)
    _, places, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    mean = np.bincount(places, predictions.p) / counts
    positive = np.rint(np.bincount(places, predictions.y)).astype(np.int64)
    return Reliability.of(mean.tolist(), counts.tolist(), positive.tolist(), predictions.appearances)


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
