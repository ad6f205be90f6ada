"""Compared numbers of each split, and ``FOLDER/compare.json`` with the bootstrap samples behind a comparison.

Predictions are too large to be committed with results. So what a comparison needs of them is written to the file
while they exist, and read from it later. Where predictions exist, everything is computed from them. Elsewhere entries
count if their digests match the predictions of the results, and must be possible beside the stored metrics.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from probcal._io import join_first, refuse_links_out, refuse_other_kinds, write_atomic
from probcal.analysis.hypothesis_tests import ROW_METRICS, bootstrap_rows, clipped_cross_entropy
from probcal.errors import StoreError
from probcal.store.cell_result import Results
from probcal.store.folder import COMPARISON, CellResult, Store
from probcal.store.stored_experiment import ResultColumn, Row, StoredExperiment
from probcal.store.summary import done_cells

Floats = npt.NDArray[np.float64]
Progress = Callable[[list[Any]], Iterable[Any]]
"""Function that yields the items of a list one by one, and may show the progress."""
DECIMALS = 10
"""Decimals that count. A further difference comes from the order of a sum."""
LEVEL = 0.95
"""Level of all intervals and tests of a comparison."""
UNKNOWN_TEST_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class SplitNumbers:
    """Hold one metric of some columns on the planned splits of one data set. NaN stands for a missing number."""

    row: Row
    values: Floats
    """(n_columns, n_planned)."""
    test_shares: Floats
    """(n_columns, n_planned): ``known_test_share`` of each cell."""

    @classmethod
    def of(
        cls, stored: StoredExperiment, results: Results, row: Row, columns: Sequence[ResultColumn], metric: str
    ) -> SplitNumbers:
        values = np.full((len(columns), stored.repetitions[row.name]), math.nan)
        shares = values.copy()
        for index, column in enumerate(columns):
            for cell in done_cells(stored, results, row, column):
                values[index, cell.repetition] = cell.metrics.get(metric, math.nan)
                shares[index, cell.repetition] = known_test_share(row, cell)
        return cls(row, np.round(values, DECIMALS), shares)

    @property
    def common_means(self) -> Floats | None:
        """Return (n_columns,) means over the splits that all columns have, infinite as soon as one split is.

        None without such a split.
        """
        is_common = ~np.isnan(self.values).any(axis=0)
        if not is_common.any():
            return None
        # one column after the other in memory, since the order of a sum decides its last digit
        return np.asarray(np.ascontiguousarray(self.values[:, is_common]).mean(axis=1))


def share_of_test_rows(row: Row, cells: Sequence[CellResult]) -> float:
    """Return the share of test rows, or a quarter where the results do not contain the numbers of rows.

    Results of earlier versions and tables written by hand do not contain them.
    """
    known_shares = (share for cell in cells if not math.isnan(share := known_test_share(row, cell)))
    return next(known_shares, UNKNOWN_TEST_SHARE)


def known_test_share(row: Row, cell: CellResult) -> float:
    """Return n_test / (n_train + n_test) of one cell, 0 where splits are independent draws, NaN where it is unknown."""
    if row.drawn or row.has_fixed_rows:
        return 0.0
    return cell.n_test / (cell.n_train + cell.n_test) if cell.n_train and cell.n_test else math.nan


def first_reading_rows(stored: StoredExperiment) -> list[Row]:
    """Return the data sets. Of several readings of one data set, only the first is returned."""
    first: dict[str, Row] = {}
    for row in stored.datasets:
        first.setdefault(row.paper_dataset, row)
    return list(first.values())


SAMPLES = 1000
_UNIT = 1e5
"""The file holds multiples of 1e-5. The run that writes it rounds too, so that both print the same numbers."""


class _SplitSamples(BaseModel):
    """Hold the samples of a data set with one split.

    ``digests`` is column -> digest of its predictions. ``samples`` is metric -> column -> number of each sample.
    """

    model_config = ConfigDict(extra="forbid")
    digests: dict[str, str]
    samples: dict[str, dict[str, list[int | None]]]


class _SplitFile(BaseModel):
    model_config = ConfigDict(extra="forbid")
    rows: dict[str, _SplitSamples]
    clipped: dict[str, tuple[str, float]]

    @model_validator(mode="after")
    def _check_samples(self) -> _SplitFile:
        for row in self.rows.values():
            sample_maps = list(row.samples.values())
            sizes = {len(numbers) for samples in sample_maps for numbers in samples.values()}
            if set(row.samples) != set(ROW_METRICS) or sizes != {SAMPLES}:
                raise ValueError("samples are missing")
            if any(samples.keys() != row.digests.keys() for samples in sample_maps):
                raise ValueError("samples and digests are of other columns")
        return self


@dataclass(frozen=True)
class ComparisonData:
    """Hold what a comparison needs of the predictions.

    ``rows`` is data set -> metric -> learner/method -> (n_samples,). ``clipped`` is cell -> CXE of clipped predictions.
    """

    rows: dict[str, dict[str, dict[str, Floats]]] = field(default_factory=dict)
    clipped: dict[str, float] = field(default_factory=dict)
    missing_columns: dict[str, list[str]] = field(default_factory=dict)
    """Title of each data set with one split that cannot be sampled -> its columns without stored predictions."""
    is_from_file: bool = False
    """Whether something comes from ``compare.json``, because predictions are not here."""
    missing_clipped: dict[str, int] = field(default_factory=dict)
    """Title of each data set without clipped CXE -> number of its cells whose predictions are gone."""


def column_id(column: ResultColumn) -> str:
    return f"{column.learner}/{column.method}"


def read_comparison_data(
    store: Store, stored: StoredExperiment, results: Results, progress: Progress = iter
) -> ComparisonData:
    """Return what is needed of the predictions, from themselves if they exist and otherwise from the file.

    Raises StoreError for a damaged file.
    """
    if len(stored.columns) < 2:
        return ComparisonData()
    old_file = _read_file(store)
    clipped_losses, n_missing = _clipped_losses(store, stored, results, old_file, progress)
    rows = {
        row.name: samples
        for row in progress(_single_split_rows(stored))
        if (samples := _split_samples(store, stored, results, row, old_file.rows.get(row.name)))
    }
    file = _SplitFile(rows=rows, clipped=clipped_losses)
    if store.is_whole and file != old_file and (rows or clipped_losses):
        refuse_links_out(store.folder, (COMPARISON, f"{COMPARISON}.new"))
        with suppress(OSError):  # a folder that cannot be written is left alone
            write_atomic(store.folder / COMPARISON, f"{file.model_dump_json()}\n")
    missing_columns = {
        row.title: [column_id(column) for column, cell in cells.items() if _read_two_classes(store, cell) is None]
        for row in _single_split_rows(stored)
        if row.name not in rows and (cells := _single_cells(stored, results, row))
    }
    return ComparisonData(
        {
            name: {
                metric: {column: _unscale_numbers(numbers) for column, numbers in columns.items()}
                for metric, columns in row.samples.items()
            }
            for name, row in rows.items()
        },
        # columns of one data set must have the same splits, or their means would mislead
        {cell: number for cell, (_, number) in clipped_losses.items() if results[cell].dataset not in n_missing},
        missing_columns,
        bool(rows or clipped_losses) and not (store.folder / "predictions.bin").is_file(),
        {row.title: n_missing[row.name] for row in stored.datasets if row.name in n_missing},
    )


def _single_split_rows(stored: StoredExperiment) -> list[Row]:
    return [row for row in stored.datasets if stored.repetitions[row.name] == 1]


def _clipped_losses(
    store: Store, stored: StoredExperiment, results: Results, old_file: _SplitFile, progress: Progress = iter
) -> tuple[dict[str, tuple[str, float]], Counter[str]]:
    """Return cell -> (digest of its predictions, CXE of clipped predictions).

    Also return data set -> number of its cells whose predictions were stored, and cannot be read any more.
    """
    losses: dict[str, tuple[str, float]] = {}
    n_missing: Counter[str] = Counter()
    if "cxe" not in stored.metrics:
        return losses, n_missing
    for row in progress([*stored.datasets]):
        for column in stored.columns:
            for cell in done_cells(stored, results, row, column):
                digest = _digest(cell)
                entry = old_file.clipped.get(cell.id)
                if arrays := _read_two_classes(store, cell):
                    losses[cell.id] = (digest, round(clipped_cross_entropy(*arrays), 6))
                elif entry and entry[0] == digest:
                    _refuse_impossible_loss(store, cell, entry[1])
                    losses[cell.id] = entry
                elif (kept := cell.predictions) and "labels" not in kept and kept.get("columns", 2) == 2:
                    n_missing[row.name] += 1  # predictions of two classes were stored, wherever they are now
    return losses, n_missing


def _split_samples(
    store: Store, stored: StoredExperiment, results: Results, row: Row, old: _SplitSamples | None
) -> _SplitSamples | None:
    """Return the samples of a data set, or None where a column lacks predictions or has other test rows."""
    cells = {column_id(column): cell for column, cell in _single_cells(stored, results, row).items()}
    digests = {name: _digest(cell) for name, cell in cells.items()}
    predictions = [_read_two_classes(store, cell) for cell in cells.values()]
    pairs = [pair for pair in predictions if pair is not None]
    if len(pairs) < len(predictions) or not pairs:
        # a file of all columns covers a selection, since all columns share the drawn rows
        if (
            not cells
            or old is None
            or not (old.digests == digests or (not store.is_whole and digests.items() <= old.digests.items()))
        ):
            return None
        for name, cell in cells.items():
            _refuse_impossible_samples(store, cell, {metric: old.samples[metric][name] for metric in ROW_METRICS})
        return old
    if any(not np.array_equal(y, pairs[0][0]) for y, _ in pairs):
        return None
    y = pairs[0][0]
    # The AUC of one class does not exist.
    if len(np.unique(y)) < 2:
        return None
    # The seed is the name of the data set, and not a hash of Python's, which differs in every process.
    random = np.random.default_rng(zlib.crc32(row.name.encode()))
    draws = bootstrap_rows(y, np.array([p for _, p in pairs]), SAMPLES, random)
    samples = {
        metric: {
            name: [None if math.isinf(number) else round(number * _UNIT) for number in draws[:, column, index].tolist()]
            for column, name in enumerate(cells)
        }
        for index, metric in enumerate(ROW_METRICS)
    }
    return _SplitSamples(digests=digests, samples=samples)


_CLIPPING_GAIN = 0.0015
"""Largest log loss in bits that clipping to ``CLIP_RANGE`` adds to a row, rounded up: -log2(.999)."""
_MOST_ERRORS = 8
"""Number of standard errors by which the mean of bootstrap samples may miss the metric of the rows."""


def _refuse_impossible_loss(store: Store, cell: CellResult, clipped: float) -> None:
    """Raise StoreError for a clipped log loss that no predictions with the stored metrics of ``cell`` have."""
    rms, log_loss = cell.metrics.get("rms", 0.0), cell.metrics.get("cxe", math.inf)
    # Each row has -log2(p) >= (1 - p)^2 / ln 2, and clipping adds at most ``_CLIPPING_GAIN``.
    least = rms**2 / math.log(2) - _CLIPPING_GAIN if math.isfinite(rms) else 0.0
    if not least <= clipped <= log_loss + _CLIPPING_GAIN:
        raise _disagreement(store, cell, f"a clipped cross entropy of {clipped:g}")


def _refuse_impossible_samples(store: Store, cell: CellResult, samples: dict[str, list[int | None]]) -> None:
    """Raise StoreError for bootstrap samples around another number than the stored metric of ``cell``."""
    for metric, scaled in samples.items():
        number = cell.metrics.get(metric, math.nan)
        values = _unscale_numbers(scaled)
        finite = values[np.isfinite(values)]
        if math.isnan(number) or (math.isinf(number) and len(finite) < len(values)):
            continue
        # Also one unit of the file, to which samples are rounded.
        error = _MOST_ERRORS * (float(finite.std()) / math.sqrt(len(values)) + 1 / _UNIT) if len(finite) else 0.0
        # the bootstrap mean of the nonlinear rms and AUC is biased by less than their standard deviation
        error += float(finite.std()) / 2 if len(finite) and metric in ("rms", "auc") else 0.0
        if len(finite) < len(values) or not abs(float(finite.mean()) - number) <= error:
            raise _disagreement(store, cell, f"samples of {metric} with mean {values.mean():.4f}")


def _disagreement(store: Store, cell: CellResult, found: str) -> StoreError:
    return StoreError(
        f"{store.folder / COMPARISON} has {found} for {cell.id}, which cannot be beside its metrics; "
        "remove it, and run probcal compare where predictions.bin is"
    )


_ROUNDING = 2e-6
"""Another machine may round the sixth decimal of a loss, and the last unit of a sample, differently."""


def comparison_file_faults(store: Store) -> list[str]:
    """Return why ``compare.json`` disagrees with the stored predictions. Empty where it agrees or is absent."""
    stored, results = StoredExperiment.of(store), store.results_with_any_values()
    try:
        old_file = _read_file(store)
        losses, _ = _clipped_losses(store, stored, results, old_file)
        faults = [
            name
            for name, (digest, loss) in losses.items()
            if (entry := old_file.clipped.get(name)) and entry[0] == digest and abs(entry[1] - loss) > _ROUNDING
        ]
        for row in _single_split_rows(stored):
            old = old_file.rows.get(row.name)
            new = _split_samples(store, stored, results, row, old) if old else None
            if old and new:
                for name in (name for name, digest in new.digests.items() if old.digests.get(name) == digest):
                    samples = [
                        pair
                        for m in ROW_METRICS
                        for pair in zip(old.samples[m][name], new.samples[m][name], strict=True)
                    ]
                    if any(abs(x - y) > 1 if x is not None and y is not None else x != y for x, y in samples):
                        faults.append(f"{row.name} {name}")
    except StoreError as error:
        return [str(error)]
    path = store.folder / COMPARISON
    return [f"{path} differs from the predictions of {join_first(faults, 3)}; remove it"] if faults else []


def _single_cells(stored: StoredExperiment, results: Results, row: Row) -> dict[ResultColumn, CellResult]:
    """Return the done cell of each column of a data set with one split."""
    return {column: cells[0] for column in stored.columns if (cells := done_cells(stored, results, row, column))}


def _read_two_classes(store: Store, cell: CellResult) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Return (y, p), (n,) and (n, 2), if the predictions exist, have no weights, and are of two classes."""
    if not store.has_predictions(cell) or "weights" in (cell.predictions or {}):
        return None
    try:
        y, p = store.predictions(cell)
    except StoreError:
        return None
    if p.ndim == 1:  # earlier versions stored only P(y = 1)
        p = np.column_stack([1 - p, p])
    return (y, p) if y.ndim == 1 and p.shape[1] == 2 else None


def _digest(cell: CellResult) -> str:
    return str((cell.predictions or {}).get("digest", ""))


def _unscale_numbers(numbers: list[int | None]) -> Floats:
    return np.array([math.inf if number is None else number / _UNIT for number in numbers])


def _read_file(store: Store) -> _SplitFile:
    path = store.folder / COMPARISON
    refuse_other_kinds(store.folder, (COMPARISON,), ())
    try:
        return _SplitFile.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return _SplitFile(rows={}, clipped={})
    except (OSError, ValidationError):
        raise StoreError(
            f"{path} was not written by probcal compare; remove it and run probcal compare again"
        ) from None
