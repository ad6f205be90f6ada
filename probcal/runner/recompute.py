"""Refit a random sample of stored cells, and say what their agreement proves about all of them."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scipy.stats import beta

from probcal.errors import ProbcalError
from probcal.runner.cell import PlannedCell
from probcal.runner.data_step import current_data
from probcal.runner.description import load_experiment
from probcal.runner.instruction_set import lacking_flags, recorded_level
from probcal.runner.plan import make_plan, mark_missing_data, refuse_unmet_requirements
from probcal.runner.pool import run_cells
from probcal.runner.witness.record import ROUNDING, metric_gap
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection

_CONFIDENCE = 0.95
_MOST_LISTED = 20


@dataclass
class Recomputation:
    """Hold what a sample of refitted cells gave."""

    folder: Path
    n_done: int
    """Number of done cells, from which the sample was drawn."""
    columns: int
    """Number of columns, each a learner with a method, in the sample."""
    equal: int = 0
    rounding: dict[str, float] = field(default_factory=dict)
    """Cell -> largest relative difference of a metric, at most ``ROUNDING``."""
    changed: dict[str, float] = field(default_factory=dict)
    """Cell -> the same, where it is larger."""
    failed: dict[str, str] = field(default_factory=dict)
    """Cell -> why it could not be refitted."""
    beyond: dict[str, int] = field(default_factory=dict)
    """Level of instructions that this processor lacks -> cells of the sample that were made with it."""

    @property
    def n(self) -> int:
        return self.equal + len(self.rounding) + len(self.changed) + len(self.failed)

    @property
    def ok(self) -> bool:
        """Return whether some cells were refitted, and all of these agree."""
        return self.n > 0 and not (self.changed or self.failed)

    @property
    def largest_share(self) -> float:
        """Return the upper limit of the share of cells that differ, with 95 % confidence (Clopper and Pearson)."""
        differing = len(self.changed) + len(self.failed)
        if differing == self.n:
            return 1.0
        return float(beta.ppf(_CONFIDENCE, differing + 1, self.n - differing))

    def text(self) -> str:
        """Return what was found, in lines."""
        agreeing = self.equal + len(self.rounding)
        lines = [
            f"{self.folder}: {agreeing} of {self.n} refitted cells agree ({self.equal} equal, {len(self.rounding)} by "
            f"rounding), from {self.n_done} done cells and {self.columns} columns"
        ]
        if self.n:
            # Rounded up, because it is an upper limit.
            share = math.ceil(self.largest_share * 1000) / 10
            lines.append(f"  fewer than {share:g} % of the cells differ, with 95 % confidence")
        for word, cells in (("rounding", self.rounding), ("changed", self.changed)):
            for cell, gap in sorted(cells.items(), key=lambda item: -item[1])[:_MOST_LISTED]:
                lines.append(f"  {word}: {cell} (largest relative difference {gap:.2g})")
        for level, n in self.beyond.items():
            lines.append(f"  not refitted, {n} cells: made with {level}, which this processor lacks")
        lines += [f"  failed: {cell}: {reason}" for cell, reason in [*self.failed.items()][:_MOST_LISTED]]
        return "\n".join(lines)


def recompute(
    store: Store,
    n_cells: int,
    seed: int,
    selection: Selection,
    data_folder: Path | None = None,
    jobs: int = 1,
    progress: Callable[[list[PlannedCell]], Iterable[PlannedCell]] = iter,
) -> Recomputation:
    """Fit ``n_cells`` random done cells again, and compare metrics.

    Each is computed in a new process with the instructions that made it. The sample is spread over the columns. Nothing
    is stored. ``progress`` yields as many items as cells end, and may show the progress. Raises ProbcalError when the
    experiment or its data cannot be read, or no cell is done.
    """
    experiment = load_experiment(store)
    data = current_data(experiment.used_cards(), data_folder)
    plan = [
        planned
        for planned in mark_missing_data(make_plan(experiment, store, data), data.missing)
        if planned.state == "done"
        and planned.cell.card.name not in data.missing
        and selection.includes(*planned.cell.row_and_column)
    ]
    if not plan:
        raise ProbcalError(f"{store.folder}: no done cell has its data here; give --data-dir, or run the experiment")
    sample = draw(plan, n_cells, seed)
    refuse_unmet_requirements([planned.cell for planned in sample], experiment.weka)
    data.obtain({planned.cell.card: None for planned in sample}, data_folder, lambda line: None)
    columns = {planned.cell.row_and_column[1:] for planned in sample}
    report, results = Recomputation(store.folder, len(plan), len(columns)), store.results()
    runs = store.runs()
    levels = {planned.cell.id: recorded_level(runs.get(results[planned.cell.id].run, {})) for planned in sample}
    for _, new in zip(progress(sample), _refit(sample, levels, jobs, report), strict=True):
        if new is not None:
            _record(report, results[new.id], new)
    return report


def _refit(
    sample: list[PlannedCell], levels: dict[str, str], jobs: int, report: Recomputation
) -> Iterator[CellResult | None]:
    """Yield the new result of each cell, or None where this processor lacks the instructions that made the old one."""
    for level in sorted(set(levels.values())):
        planned_cells = [planned for planned in sample if levels[planned.cell.id] == level]
        if lacking_flags(level=level):
            report.beyond[level] = len(planned_cells)
            yield from [None] * len(planned_cells)
            continue
        for outcome in run_cells(planned_cells, "recomputed", jobs, level=level):
            yield outcome.result


def draw(plan: Sequence[PlannedCell], n_cells: int, seed: int) -> list[PlannedCell]:
    """Return a random sample, spread over the columns: each gives one cell before any gives its next one."""
    source = random.Random(seed)
    groups: defaultdict[tuple[str, ...], list[PlannedCell]] = defaultdict(list)
    for planned in plan:
        groups[planned.cell.row_and_column[1:]].append(planned)
    for group in groups.values():
        source.shuffle(group)
    chosen: list[PlannedCell] = []
    while len(chosen) < min(n_cells, len(plan)):
        names = [name for name, group in groups.items() if group]
        source.shuffle(names)
        chosen += [groups[name].pop() for name in names]
    counts = Counter(planned.cell.id for planned in chosen[:n_cells])
    # In the order of the plan, in which cells share data and fits.
    return [planned for planned in plan if planned.cell.id in counts]


def _record(report: Recomputation, stored: CellResult, new: CellResult) -> None:
    if new.status != "done":
        report.failed[new.id] = f"{new.error_type}: {new.message}"
        return
    gap = metric_gap(stored.metrics, new.metrics) if stored.metrics.keys() & new.metrics.keys() else math.inf
    if gap == 0:
        report.equal += 1
    else:
        (report.rounding if gap <= ROUNDING else report.changed)[new.id] = gap
