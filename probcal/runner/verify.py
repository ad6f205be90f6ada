"""Verification: recompute every stored result from its stored predictions, and report the rows that differ."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
from tabulate import tabulate

from probcal.errors import ProbcalError, StoreError
from probcal.metrics import METHOD_METRICS, METRICS, find_metric, roc_curve
from probcal.runner.cell import Cell, list_cells
from probcal.runner.description import load_experiment
from probcal.runner.execute import load_truth, measure
from probcal.runner.identity import Identities
from probcal.store.cell_result import CellResult, cell_id
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection, StoredExperiment

RELATIVE, ABSOLUTE = 1e-9, 1e-12
"""Largest rounding differences between machines. An edit smaller than that is not found."""
_CURVE_TOLERANCE = 2e-6
"""Curves are stored with six digits."""
NO_PREDICTIONS = "no stored predictions"

Value = float | str | None


@dataclass(frozen=True)
class Difference:
    """Hold a stored value of a row and the recomputed one.

    ``metric`` may also be ``labels``, ``n_test`` or the like.
    """

    dataset: str
    split: int
    learner: str
    method: str
    metric: str
    stored: Value
    recomputed: Value


@dataclass
class FolderVerification:
    """Hold the verification of one results folder."""

    store: Store
    title: str
    n_agree: int = 0
    n_differ: int = 0
    differences: list[Difference] = field(default_factory=list)
    not_verified: Counter[str] = field(default_factory=Counter)
    """Reason -> number of done rows of which nothing could be recomputed."""
    not_recomputed: Counter[str] = field(default_factory=Counter)
    """What stored predictions do not contain -> number of rows that have it.

    Everything else in these rows is verified.
    """
    summary_faults: list[str] = field(default_factory=list)
    """Summary files, such as compare.json, that disagree with what they summarise, and a table without its digest."""
    n_stale: int = 0
    """Number of rows made with other settings, data or numerics versions than the last run had."""
    n_unplanned: int = 0
    """Number of rows that the experiment does not plan any more, so that no table shows them."""

    @property
    def differing_cells(self) -> set[str]:
        """Return the cells of the rows that differ."""
        return {cell_id(entry.dataset, entry.split, entry.learner, entry.method) for entry in self.differences}

    @property
    def n_rows(self) -> int:
        return self.n_agree + self.n_differ + self.not_verified.total()

    @property
    def ok(self) -> bool:
        """Return whether there is a done row, all were recomputed and agree, and so do the summary files."""
        return bool(self.n_agree) and not (self.n_differ or self.not_verified or self.summary_faults)


def verify(
    store: Store,
    selection: Selection | None = None,
    progress: Callable[[list[CellResult]], Iterable[CellResult]] = iter,
) -> FolderVerification:
    """Verify the last result of every cell, or of a ``selection`` of them.

    ``progress`` yields the rows one by one, and may show the progress. Raises StoreError for a folder that cannot be
    read.
    """
    return _Verification(store).verify(selection or Selection(), progress)


class _Verification:
    def __init__(self, store: Store) -> None:
        self.store, self.stored = store, StoredExperiment.of(store)
        self.report = FolderVerification(store, self.stored.title)
        self.differences_of: dict[str, list[Difference]] = {}
        self.labels: dict[tuple[Any, ...], list[tuple[CellResult, str]]] = {}
        self.row_at_offset: dict[int, CellResult] = {}

    def verify(
        self, selection: Selection, progress: Callable[[list[CellResult]], Iterable[CellResult]]
    ) -> FolderVerification:
        results = self.store.results_with_any_values().values()
        rows = [result for result in results if selection.includes(result.dataset, result.learner, result.method)]
        recomputed_ids = set()
        for row in progress(rows):
            self.report.n_stale += self.stored.is_stale(row)
            self.report.n_unplanned += not self.stored.plans(row)
            self.differences_of[row.id] = [*_status_faults(row), *self._split_faults(row)]
            if row.status == "done" and self._recompute(row):
                recomputed_ids.add(row.id)
        for cell, difference in self._label_differences():
            self.differences_of[cell].append(difference)
        for row in rows:
            self.report.differences += self.differences_of[row.id]
            if self.differences_of[row.id]:
                self.report.n_differ += 1
            elif row.id in recomputed_ids:
                self.report.n_agree += 1
            elif row.status == "done":
                self.report.not_verified[NO_PREDICTIONS] += 1
        if fault := self.store.table_fault():
            self.report.summary_faults.append(fault)
        return self.report

    def _recompute(self, row: CellResult) -> bool:
        """Recompute a row. Return whether there are predictions for that."""
        if row.predictions is None or not self.store.has_predictions(row):
            return False
        differences = self.differences_of[row.id]
        # Two rows of the same bytes would both agree, although one of them lost its own.
        first_row = self.row_at_offset.setdefault(row.predictions["at"], row)
        if first_row is not row and row.predictions["rows"]:
            differences.append(_difference(row, "predictions", "its own", f"those of {first_row.id}"))
        try:
            y, p = self.store.predictions(row)
        except StoreError:
            differences.append(_difference(row, "predictions", "as the run kept them", "changed since, or lost"))
            return True
        if row.n_test is not None and row.n_test != len(y):
            differences.append(_difference(row, "n_test", row.n_test, len(y)))
        if {"data", "split"} <= row.key.keys():
            same_rows = (row.dataset, row.repetition, row.key["data"], row.key["split"])
            self.labels.setdefault(same_rows, []).append((row, hashlib.sha256(y.tobytes()).hexdigest()))
        names = dict.fromkeys([*row.metrics, *row.stages, *self.stored.metrics])
        extra_metrics = tuple(name for name in names if name not in METRICS)
        try:
            metrics = measure(y, p, self._truth(row), extra_metrics, self.store.weights(row))
        except (ValueError, IndexError) as error:  # labels or probabilities that no run stores
            differences.append(_difference(row, "predictions", "probabilities", str(error)))
            return True
        differences += self._metric_differences(row, metrics)
        differences += self._stage_differences(row, metrics)
        differences += self._curve_differences(row, y, p)
        return True

    def _split_faults(self, row: CellResult) -> Iterator[Difference]:
        """Yield a difference for a row of an unplanned split with the identity of a planned one."""
        n_splits = self.stored.repetitions.get(row.dataset)
        if n_splits is None or row.repetition < n_splits:
            return
        # A row with another identity may belong to an earlier plan.
        split = self._splits.get((row.dataset, row.key.get("split", "")))
        if split is not None:
            reason = f"{split}, by its key; the experiment plans no split {row.repetition}"
            yield _difference(row, "split", row.repetition, reason)

    @cached_property
    def _splits(self) -> dict[tuple[str, str], int]:
        """Return (data set, digest of a split) -> its number, from the rows and the cells of planned splits."""
        repetitions, identities = self.stored.repetitions, Identities()
        cells = {(cell.dataset, identities.key(cell)["split"]): cell.repetition for cell in self._cells.values()}
        return cells | {
            (row.dataset, row.key["split"]): row.repetition
            for row in self.store.results_with_any_values().values()
            if "split" in row.key and row.repetition < repetitions.get(row.dataset, 0)
        }

    def _metric_differences(self, row: CellResult, metrics: Mapping[str, float]) -> Iterator[Difference]:
        """Yield metrics that differ, and metrics of the experiment that are missing."""
        # A metric that somebody deleted from the row is found only by the experiment's own list.
        for name in dict.fromkeys([*row.metrics, *self.stored.metrics]):
            stored_value, new_value = row.metrics.get(name), metrics.get(name)
            if new_value is None:
                if stored_value is not None:
                    self.report.not_recomputed[_reason_not_recomputed(name)] += 1
            elif stored_value is None or not _agree(stored_value, new_value):
                yield _difference(row, name, stored_value, new_value)

    def _stage_differences(self, row: CellResult, metrics: Mapping[str, float]) -> Iterator[Difference]:
        """Yield last stages that differ from the stored predictions. Earlier stages have none."""
        for name, course in row.stages.items():
            new_value = metrics.get(name)
            if course and new_value is not None and not (math.isnan(course[-1]) or _agree(course[-1], new_value)):
                yield _difference(row, f"{name} after the last stage", course[-1], new_value)
            if len(course) > 1:
                self.report.not_recomputed["stages before the last, which have no stored predictions"] += 1

    def _curve_differences(self, row: CellResult, y: np.ndarray, p: np.ndarray) -> Iterator[Difference]:
        for name, lines in row.curves.items():
            positive = _positive_probability(y, p)
            if name != "roc" or positive is None:
                self.report.not_recomputed[f"the curve {name}, which only the fitted method provides"] += 1
                continue
            curve = np.array(roc_curve(y, positive))
            curves = [np.array([line["x"], line["y"]]) for line in lines]
            if len(curves) != 1 or curves[0].shape != curve.shape or np.abs(curves[0] - curve).max() > _CURVE_TOLERANCE:
                yield _difference(row, "curve roc", f"{sum(line.shape[1] for line in curves)} points", "other points")

    def _label_differences(self) -> Iterator[tuple[str, Difference]]:
        """Yield rows whose labels differ from those of most rows of the same data and split."""
        for rows in self.labels.values():
            # The file does not say which rows are right, so most rows decide.
            [(usual_digest, _)] = Counter(digest for _, digest in rows).most_common(1)
            for row, digest in rows:
                if digest != usual_digest:
                    yield row.id, _difference(row, "labels", "others", "those of the other rows of the split")

    def _truth(self, row: CellResult) -> np.ndarray | None:
        """Return the true probabilities, drawn again where the row has a metric that needs them."""
        if not any(map(_needs_truth, [*row.metrics, *self.stored.metrics])) or row.id not in self._cells:
            return None
        return load_truth(self._cells[row.id])

    @cached_property
    def _cells(self) -> dict[str, Cell]:
        """Return the cells of the experiment. It is empty where the experiment cannot be read any more."""
        try:
            return {cell.id: cell for cell in list_cells(load_experiment(self.store))}
        except ProbcalError:
            return {}


def _status_faults(row: CellResult) -> Iterator[Difference]:
    """Yield faults of the status: done rows have no error, and other rows have no numbers."""
    if row.status == "done" and row.error_type is not None:
        yield _difference(row, "status", "done", f"failed: {row.error_type}")
    if row.status != "done" and (row.metrics or row.predictions):
        yield _difference(row, "status", row.status, "done: it has numbers")


def _needs_truth(name: str) -> bool:
    metric = find_metric(name)
    return metric is not None and metric.of_the_truth


def _reason_not_recomputed(name: str) -> str:
    if name in METHOD_METRICS:
        return f"{name}, which only the fitted method provides"
    if _needs_truth(name):
        return f"{name}, because the true probabilities cannot be drawn again"
    return name if find_metric(name) else f"{name}, which this version does not know"


def _positive_probability(y: np.ndarray, p: np.ndarray) -> np.ndarray | None:
    """Return P(y = 1) for two observed classes, whether one column of it is stored or two. Otherwise None."""
    if y.ndim > 1 or len(np.unique(y)) != 2 or (p.ndim > 1 and p.shape[1] != 2):
        return None
    return p if p.ndim == 1 else p[:, 1]


def _agree(stored_value: float, new_value: float) -> bool:
    if math.isnan(stored_value) or math.isnan(new_value):
        return math.isnan(stored_value) and math.isnan(new_value)
    return math.isclose(stored_value, new_value, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _difference(row: CellResult, metric: str, stored_value: Value, new_value: Value) -> Difference:
    return Difference(row.dataset, row.repetition, row.learner, row.method, metric, stored_value, new_value)


_HEADER = ["  data set", "split", "learner", "method", "metric", "stored", "recomputed"]


def text(report: FolderVerification, discards: bool = False) -> str:
    """Return what was found, in lines. ``discards`` says that the rows that differ are removed after that."""
    blocks = [[f"{report.title} ({report.store.folder})"], _differences(report.differences)]
    blocks += [report.summary_faults, _counts(report, discards)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def json_text(reports: Sequence[FolderVerification]) -> str:
    """Return JSON in which infinity and NaN are the texts ``"inf"`` and ``"nan"``."""
    return json.dumps([_as_json(report) for report in reports], indent=1, ensure_ascii=False) + "\n"


def _differences(differences: list[Difference]) -> list[str]:
    if not differences:
        return []
    parts = [part.name for part in fields(Difference)[1:]]
    rows = [
        [f"  {difference.dataset}", *(_format_value(getattr(difference, part)) for part in parts)]
        for difference in differences
    ]
    lines = tabulate(rows, _HEADER, tablefmt="plain", disable_numparse=True, preserve_whitespace=True)
    return ["these rows do not agree with their stored predictions:", *(line.rstrip() for line in lines.splitlines())]


def _format_value(value: Value) -> str:
    if value is None:
        return "missing"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def _counts(report: FolderVerification, discards: bool) -> list[str]:
    lines = [f"{_rows(count, 'has', 'have')} {part}" for part, count in sorted(report.not_recomputed.items())]
    if lines:
        lines.insert(0, "not recomputed, because the stored predictions do not contain it:")
        lines[1:] = [f"  {line}" for line in lines[1:]]
    if report.n_stale:
        lines.append(f"{_rows(report.n_stale, 'is', 'are')} stale: probcal status {report.store.folder} shows why")
    if report.n_unplanned:
        lines.append(
            f"{_rows(report.n_unplanned, 'is', 'are')} of an earlier plan: the experiment of the last run does not have"
            " these cells, so no table shows them"
        )
    return [*lines, _summary(report, discards)]


def _summary(report: FolderVerification, discards: bool) -> str:
    parts = [f"{_rows(report.n_agree, 'agrees', 'agree')} with the stored predictions"]
    if report.n_differ:
        parts.append(_rows(report.n_differ, "differs", "differ"))
        if not discards:
            pronoun = "it" if report.n_differ == 1 else "them"
            parts.append(
                f"the same command with --discard removes {pronoun}, and then probcal run makes what is missing"
            )
    parts += [f"{count} cannot be verified: {reason}" for reason, count in report.not_verified.items()]
    if not report.n_rows:
        parts = ["nothing was verified: no row is done"]
    return "; ".join(parts)


def _rows(n: int, singular: str, plural: str) -> str:
    return f"{n} row {singular}" if n == 1 else f"{n} rows {plural}"


def _as_json(report: FolderVerification) -> dict[str, Any]:
    return {
        "experiment": report.title,
        "folder": str(report.store.folder),
        "ok": report.ok,
        "agree": report.n_agree,
        "differ": report.n_differ,
        "differences": [
            # JSON has no infinity and no NaN.
            {
                name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
                for name, value in asdict(difference).items()
            }
            for difference in report.differences
        ],
        "not_verified": dict(report.not_verified),
        "not_recomputed": dict(report.not_recomputed),
        "summary_faults": report.summary_faults,
        "stale": report.n_stale,
        "unplanned": report.n_unplanned,
    }
