"""Sections of one experiment on the page, prepared from one snapshot of its results folder."""

from __future__ import annotations

import functools
import shlex
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from probcal.metrics.registry import metric_named
from probcal.papers.published import Published
from probcal.reporting.html.charts import (
    Charts,
    PageTable,
    ReliabilityChart,
    Statistics,
    charts_of,
    page_tables,
    reliable,
    statistics,
)
from probcal.reporting.html.check_section import CheckSection, checked
from probcal.reporting.html.pictures import Picture, RankedPicture, paper_pictures, ranked
from probcal.reporting.html.run_history import DataSetProgress, Faults, Provenance, faults, progress, provenance
from probcal.reporting.labels import in_order
from probcal.reporting.tables import reads_by_method, tables
from probcal.store.folder import Store
from probcal.store.outline import Outline
from probcal.store.summary import Census, Results, census


@dataclass(frozen=True)
class Rerun:
    file: str
    """File name for the configuration."""
    config: str
    commands: str
    """Commands, one per line."""


def again(outline: Outline) -> Rerun:
    """Return how to make the results again. Paths are those of a fresh start, so that no local path is published."""
    name = PurePosixPath(outline.name).name or "experiment"
    file, folder = shlex.quote(f"{name}.yaml"), shlex.quote(f"results/{name}")
    commands = [f"probcal run {file}", f"probcal table {folder}"]
    commands += [f"probcal check {folder}"] if outline.paper else []
    return Rerun(f"{name}.yaml", outline.config, "\n".join([*commands, f"probcal report {folder}"]))


class StoreSnapshot(Store):
    """Read each file of the store only once, so that all parts of the page show the same cells."""

    @functools.cached_property
    def _experiment(self) -> dict[str, Any]:
        return super().experiment()

    @functools.cached_property
    def _results(self) -> Results:
        return super().results()

    def experiment(self) -> dict[str, Any]:
        return self._experiment

    def results(self) -> Results:
        return self._results


@dataclass(frozen=True)
class ExperimentSections:
    """Hold all parts of one experiment.

    ``id`` is the prefix of its element ids. ``published`` is None where it follows no paper.
    """

    id: str
    outline: Outline
    published: Published | None
    results: Results
    census: Census
    progress: list[DataSetProgress]
    tables: list[PageTable]
    charts: Charts
    reliable: ReliabilityChart
    ranked: list[RankedPicture]
    statistics: Statistics
    pictures: list[Picture]
    figure_notes: list[str]
    check: CheckSection | None
    faults: Faults
    provenance: Provenance
    again: Rerun

    @classmethod
    def of(cls, store: Store, id: str) -> ExperimentSections:
        """Read one experiment. Raises StoreError and UnknownPaper as ``probcal table`` does."""
        store = StoreSnapshot(store.folder)
        untitled, results = Outline.of(store), store.results()
        outline = untitled
        published = Published.read(outline.paper) if outline.paper else None
        if published:
            outline = outline.titled(published.titles)
        found = census(outline, results)
        grids = tables(store)
        pictures, figure_notes = paper_pictures(untitled, results)
        return cls(
            id=id,
            outline=outline,
            published=published,
            results=results,
            census=found,
            progress=progress(outline, results),
            tables=page_tables(grids, id),
            charts=charts_of(outline, results, published),
            reliable=reliable(store, outline, results),
            ranked=ranked(outline, results),
            statistics=statistics(store, len(grids) + 1, id),
            pictures=pictures,
            figure_notes=figure_notes,
            check=checked(store),
            faults=faults([*found.failed, *found.failed_since]),
            provenance=provenance(store.runs(), results),
            again=again(outline),
        )

    @property
    def done(self) -> int:
        return self.census.planned - self.census.not_run - len(self.census.failed)

    @property
    def stale(self) -> int:
        return self.census.stale.total()

    @property
    def metric_names(self) -> list[str]:
        return [metric_named(metric).short for metric in in_order(self.outline.metrics)]

    @property
    def rows_are_datasets(self) -> bool:
        return not reads_by_method(self.outline, self.published)

    @property
    def sentences(self) -> list[str]:
        """Return the summary in front of the tables."""
        sentences = []
        if agreeing := self.charts.agreeing:
            counts = [f"{yes} of {known} by {metric}" for metric, yes, known in agreeing]
            sentences.append(f"Published numbers within their band: {', '.join(counts)}.")
        if self.ranked:
            firsts = [f"{one.first} by {one.metric.short}" for one in self.ranked]
            sets = sorted({one.ranks.n_datasets for one in self.ranked})
            over = str(sets[0]) if len(sets) == 1 else f"{sets[0]} to {sets[-1]}"
            sentences.append(f"Best mean rank over {over} data sets: {', '.join(firsts)}.")
        if self.census.empty:
            sentences.append(f"No cells were run for {', '.join(self.census.empty)}.")
        return sentences

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Return (id, title in the contents) of each section that it has."""
        named = [
            ("summary", "Summary", True),
            ("charts", "Compare the methods", self.charts.compares),
            ("tables", "Tables", True),
            ("reliability", "Reliability", bool(self.reliable.lines)),
            ("ranks", "Mean ranks", bool(self.ranked)),
            ("chance", "More than chance?", bool(self.statistics.tables or self.statistics.fault)),
            ("figures", "Figures", bool(self.pictures)),
            ("check", "Compared with " + ("the paper" if self.published else "accepted"), self.check is not None),
            ("failures", "Failed, stale, missing", True),
            ("provenance", "Where the numbers come from", True),
            ("again", "Run it again", True),
        ]
        return [(f"{self.id}-{part}", name) for part, name, there in named if there]

    @property
    def has_beneath(self) -> bool:
        """Return whether a table has lines below the means."""
        lines = [line for table in self.tables for group in table.groups for line in group]
        return any(line.kind in ("spread", "paper") for line in lines)
