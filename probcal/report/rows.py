"""What is shown as a plain table: one thing, the texts of its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probcal.report.checked import Out
from probcal.report.failures import Progress
from probcal.report.provenance import Provenance, Run

Texts = list[str]


def of_deviation(one: Out) -> Texts:
    return [one.dataset, one.column, one.metric, one.published, one.ours, one.distance]


def of_progress(one: Progress) -> Texts:
    return [one.title, *(f"{n:,}" for n in (one.planned, one.done, one.failed, one.stale, one.not_run))]


def of_run(one: Run) -> Texts:
    commit = one.commit + (" and changes" if one.commit and one.changed else "")
    return [one.id, f"{one.cells:,}", one.started, one.ended or "not yet, or it was killed", one.command, commit,
            one.seed, one.python, one.machine]  # fmt: skip


def of_names(one: tuple[str, list[str]]) -> Texts:
    name, values = one
    return [name, ", ".join(values)]


def of_data(one: Provenance) -> list[Texts]:
    return [[name, source, digest] for name, several in one.data.items() for source, digest in several]


FILTERS: dict[str, Callable[..., Any]] = {
    "deviation_row": of_deviation,
    "progress_row": of_progress,
    "run_row": of_run,
    "names_row": of_names,
    "data_rows": of_data,
}
