"""``probcal run``: plan, run what is missing or stale, keep each result the moment it is there."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from probcal.components import import_class
from probcal.config import Component, Experiment, parse_experiment
from probcal.data.splits import repetitions_of
from probcal.run.backends import outcomes
from probcal.run.data_step import obtain_all
from probcal.run.plan import Planned, count_states, expected_seconds, make_plan
from probcal.run.progress import Progress, duration
from probcal.run.provenance import provenance
from probcal.store import Store
from probcal.yaml_file import YamlFile

_QUICK_ROWS, _QUICK_ROUNDS = 1000, 10


@dataclass(frozen=True)
class RunOptions:
    """How to run, as the command line has it; none of these changes a number."""

    folder: Path
    data_folder: Path | None = None
    jobs: int = 1
    timeout: float | None = None
    retry_failed: bool = False
    fail_fast: bool = False


def quick(experiment: Experiment) -> Experiment:
    """The same experiment in small: one repetition, at most 1,000 training and test rows, 10 probes or bags."""
    columns = tuple(replace(column, method=_in_small(column.method)) for column in experiment.columns)
    return replace(
        experiment,
        name=f"{experiment.name}-quick",
        title=f"{experiment.title} (in small: --quick)",
        paper=None,  # numbers of a part of the rows are not to be held against published ones
        repeats=1,
        max_rows=_QUICK_ROWS,
        columns=columns,
    )


def run_experiment(
    experiment: Experiment, selection: Experiment, options: RunOptions, say: Callable[[str], None]
) -> int:
    """Run ``selection``, the part of ``experiment`` that was asked for. Returns the exit code.

    Each result is on disk before the next is waited for, so an interruption loses at most the cells
    in flight. Raises ProbcalError before anything has run when the folder or the data cannot be used.
    """
    store = Store(options.folder)
    with store.writing(experiment.name):
        data = obtain_all(selection.cards, options.data_folder, say)
        store.write_experiment(describe(experiment, options.folder))
        plan = make_plan(selection, store, missing=data.missing, retry_failed=options.retry_failed)
        to_run = [planned for planned in plan if planned.runs]
        for line in plan_lines(plan):
            say(line)
        failures = _run(experiment, to_run, store, data.sources, options) if to_run else 0
    say(_summary(plan, failures, options.folder))
    states = count_states(plan)
    return 1 if failures or states["failed"] or states["no data"] else 0


def plan_lines(plan: list[Planned], every_cell: bool = False) -> list[str]:
    """The plan in words: counts, why cells are stale, what is missing; with ``every_cell`` one line each."""
    lines = [f"{one.state:8} {one.cell.id}" + (f"  ({one.why})" if one.why else "") for one in plan if every_cell]
    states = count_states(plan)
    counts = [f"{states[state]} {state}" for state in ("done", "failed", "stale", "to run", "no data") if states[state]]
    lines.append(f"{len(plan)} cells: {', '.join(counts) or 'none'}")
    if not every_cell:
        for why in dict.fromkeys(one.why for one in plan if one.state == "stale"):
            n = sum(one.why == why for one in plan if one.state == "stale")
            lines.append(f"  stale: {n} cells: {why}")
    lines += [f"  no data: {why}" for why in dict.fromkeys(one.why for one in plan if one.state == "no data")]
    seconds, untimed = expected_seconds(plan)
    if seconds:
        lines.append(f"  about {duration(seconds)} of work" + (f", and {untimed} cells never timed" if untimed else ""))
    return lines


def describe(experiment: Experiment, folder: Path) -> dict[str, Any]:
    """The experiment as plain values: all that tables need, and the text it was read from.

    ``folder``: where it will be kept; the place of the config is told from there.
    """
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "metrics": list(experiment.metrics),
        "seed": experiment.seed,
        "datasets": [{"name": card.name, "title": card.title} for card in experiment.cards],
        "repetitions": {card.name: repetitions_of(card, experiment.repeats) for card in experiment.cards},
        "columns": [
            {
                "learner": column.learner.name,
                "method": column.method.name,
                "label": column.label,
                "group": column.learner.label,
                "paper_learner": column.learner.paper,
                "paper_method": column.method.paper,
            }
            for column in experiment.columns
        ],
        "quick": experiment.max_rows is not None,
        "config_path": os.path.relpath(experiment.path, folder),
        "config": experiment.text,
    }


def experiment_of(store: Store) -> Experiment:
    """The experiment whose results ``store`` holds, as it was last run."""
    kept = store.experiment()
    path = store.folder / kept["config_path"]
    experiment = replace(parse_experiment(YamlFile(path, kept["config"])), seed=kept["seed"])
    return quick(experiment) if kept["quick"] else experiment


def _run(
    experiment: Experiment, to_run: list[Planned], store: Store, sources: dict[str, str], options: RunOptions
) -> int:
    record = provenance(experiment, to_run, sources, options.jobs)
    store.add_run(record)
    progress, failures = Progress(len(to_run)), 0
    results = outcomes(to_run, record["run"], options.jobs, options.timeout)
    try:
        for outcome in results:
            store.add(outcome.result, outcome.y, outcome.p)
            progress.finished(outcome.result)
            failures += outcome.result.status != "done"
            if failures and options.fail_fast:
                break
    finally:
        results.close()
        progress.close()
    return failures


def _in_small(method: Component) -> Component:
    rounds = {"n_probes", "n_estimators"} & set(inspect.signature(import_class(method.path)).parameters)
    return replace(method, params={**method.params, **dict.fromkeys(sorted(rounds), _QUICK_ROUNDS)})


def _summary(plan: list[Planned], failures: int, folder: Path) -> str:
    states = count_states(plan)
    failed, missing = failures + states["failed"], states["no data"]
    faults = [f"{failed} cells failed" if failed else "", f"{missing} cells have no data" if missing else ""]
    said = ", ".join(fault for fault in faults if fault)
    retry = " (--retry-failed tries them again)" if failed else ""
    return f"{said + retry if said else 'all cells are done'}; probcal table {folder}"
