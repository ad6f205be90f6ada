"""Run an experiment: plan, run missing and stale cells, and store each result as soon as it is there."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from probcal.components.classes import import_class
from probcal.config.experiment import Component, Experiment, parse_experiment
from probcal.data.card import Card
from probcal.data.card_split import Split
from probcal.errors import StoreError
from probcal.runner import dask
from probcal.runner.cell import PlannedCell, cells_of
from probcal.runner.data_step import current_data, data_changes
from probcal.runner.execute import Outcome, remeasure
from probcal.runner.heartbeat import useful_worker_count
from probcal.runner.identity import Identities, changed_parts, has_same_metrics
from probcal.runner.options import RunOptions
from probcal.runner.plan import (
    cells_to_fit,
    count_states,
    find_missing_metrics,
    make_plan,
    mark_missing_data,
    plan_lines,
    refuse_unmet_requirements,
    summary,
)
from probcal.runner.pool import outcomes
from probcal.runner.progress import RunProgress
from probcal.runner.provenance import RunTimes, provenance
from probcal.store.cell_result import CellResult
from probcal.store.folder import Store, by_run
from probcal.store.outline import Outline
from probcal.yaml_file import YamlFile

_QUICK_ROWS, _QUICK_ROUNDS = 1000, 10
_ROUNDS = ("n_probes", "n_estimators")
_QUICK_HELD_OUT = _QUICK_ROWS // 4


def small_experiment(experiment: Experiment) -> Experiment:
    """Return a small version of the experiment.

    It has one repetition, at most 1,000 training and test rows, and 10 probes or bags.
    """
    columns = tuple(replace(column, method=_small_method(column.method)) for column in experiment.columns)
    return replace(
        experiment,
        name=f"{experiment.name}-quick",
        title=f"{experiment.title} (in small: --quick)",
        paper=None,  # results on a part of the rows are not comparable with published ones
        repeats=1,
        max_rows=_QUICK_ROWS,
        columns=columns,
        overrides=tuple(
            replace(override, method_params=_limit_params(override.method_params, override.method_params))
            for override in experiment.overrides
        ),
    )


def run_experiment(
    experiment: Experiment, selection: Experiment, options: RunOptions, say: Callable[[str], None]
) -> int:
    """Run ``selection``, the selected part of ``experiment``, and return the exit code.

    Each result is on disk before the next is awaited, so an interruption loses at most the running cells. If no cell
    runs, nothing is written. Raises ProbcalError before anything is written when the folder, the data, or a requirement
    of a learner or method is missing or unusable.
    """
    store, cards = Store(options.folder), selection.used_cards()
    store.refuse_other_results(experiment.name)
    planned = partial(
        make_plan,
        selection,
        store,
        retry_failed=options.retry_failed,
        strict=options.strict,
        refit=options.refit,
    )
    data = current_data(cards, options.data_folder, say)
    if new_cards := data.unfetched_cards(cards):  # check requirements before anything is fetched, if possible
        refuse_unmet_requirements(cells_to_fit(planned(data)), experiment.weka)
        data.obtain(new_cards, options.data_folder, say)  # their values are part of the identities
    old_state = store.state()
    plan = planned(data)
    refuse_unmet_requirements(cells_to_fit(plan), experiment.weka)
    needed_cards = dict.fromkeys(entry.cell.card for entry in plan if entry.needs_run)
    data.obtain((card for card in needed_cards if card.name not in data.missing), options.data_folder, say)
    experiment = data.bind_cards(experiment)
    plan, n_finished, n_failures = mark_missing_data(plan, data.missing), 0, 0
    if any(entry.needs_run for entry in plan):
        with store.writing(experiment.name):
            if store.state() != old_state:  # another run has ended meanwhile
                plan = planned(data)
                plan = mark_missing_data(plan, data.missing)
            _print_plan(plan, say)
            sources = {card.name: data.sources[card.name] for card in needed_cards if card.name in data.sources}
            n_finished, n_failures = _run(experiment, plan, store, sources, options, say)
    else:
        _print_plan(plan, say)
        if not any(entry.state == "no data" for entry in plan):
            _update_description(experiment, store, say)
            store.move_left_results(experiment.name)
    say(summary(plan, n_finished, n_failures, options.folder))
    for change in data_changes(needed_cards, options.data_folder) if n_finished else ():
        say(f"warning: {change}; to run the present content, type: {options.command}")
    states = count_states(plan)
    return 1 if n_failures or states["failed"] or states["no data"] else 0


def _print_plan(plan: list[PlannedCell], say: Callable[[str], None]) -> None:
    for line in plan_lines(plan):
        say(line)


def _update_description(experiment: Experiment, store: Store, say: Callable[[str], None]) -> None:
    """Write ``experiment.json`` after a run without cells, if the tables would now show something else."""
    description = _description(experiment, store)
    old_description = store.experiment() if store.exists() else {}
    if all(old_description.get(part) == value for part, value in description.items() if part not in _FILE_PARTS):
        return
    with store.writing(experiment.name):
        store.write_experiment(description)
    say(f"nothing was run; the tables now show the experiment as {experiment.path} describes it")


_FILE_PARTS = ("config", "config_path")
"""Parts of the description that change no table, such as a comment."""


def _description(experiment: Experiment, store: Store) -> dict[str, Any]:
    """Return the description to store. Results whose data are not at hand keep their earlier mark."""
    description: dict[str, Any] = json.loads(json.dumps(describe(experiment, store.folder)))
    description["stale"] = by_run(_stale_results(experiment, store)) if store.exists() else {}
    return description


def _stale_results(experiment: Experiment, store: Store) -> Iterator[CellResult]:
    """Yield the results with another identity than their cell has now."""
    identities, results, outline = Identities(experiment.weka), store.results(), None
    with suppress(StoreError):  # a run writes an unsound file anew
        outline = Outline.of(store)
    for cell in cells_of(experiment):
        result = results.get(cell.id)
        if result is None:
            continue
        key = identities.key(cell)
        if "data" not in key:
            is_stale = outline is not None and outline.is_stale(result)
        elif {*changed_parts(key, result)} - {"stages", "curves"}:  # these two change no other number
            is_stale = True
        else:
            # without stored predictions, a run cannot measure a result again for other versions of the metrics
            is_stale = not has_same_metrics(key, result) and (
                store.has_predictions(result) or bool(find_missing_metrics(cell, key, result))
            )
        if is_stale:
            yield result


def describe(experiment: Experiment, folder: Path) -> dict[str, Any]:
    """Return the experiment as plain values: everything that tables need, and the text of its file.

    ``folder`` is where it will be stored. The path of the config is relative to it.
    """
    return {
        "name": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "metrics": list(experiment.metrics),
        "curves": list(experiment.curves),
        "seed": experiment.seed,
        "datasets": [
            {"name": card.name, "title": card.title, "reading_of": card.reading_of}
            | _split(experiment.split or card.split)
            | ({"drawn": True} if card.generator else {})
            | _plane_labels(card)
            | _class_counts(card)
            for card in experiment.cards
        ],
        "repetitions": {card.name: experiment.repetitions_of(card) for card in experiment.cards},
        "columns": [
            {
                "learner": column.learner.name,
                "method": column.method.name,
                "label": column.label,
                "group": column.group,
                "paper_learner": column.learner.paper,
                "paper_method": column.method.paper,
                "encoding": column.learner.encoding,
                "settings": _json_settings({"type": column.method.path, "params": column.method.params}),
                **({"before_and_after": True} if experiment.stages and _is_calibrator(column.method) else {}),
            }
            for column in experiment.columns
        ],
        "exceptions": [
            {
                "datasets": override.datasets,
                "columns": override.columns,
                "skip": override.skip,
                "what": override.description,
                "why": override.why,
            }
            for override in experiment.overrides
        ],
        "quick": experiment.max_rows is not None,
        "config_path": os.path.relpath(experiment.path, folder),
        "config": experiment.text,
    }


def _json_settings(settings: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json.dumps(settings, default=str))  # YAML also has dates
    return values


def _split(split: Split) -> dict[str, Any]:
    return {"split": split.kind} | ({"folds": split.folds} if split.folds else {})


def _plane_labels(card: Card) -> dict[str, Any]:
    """Return the labels of the axes and marks in a picture of two columns."""
    inputs = [name for name, kind in card.columns.items() if kind not in ("ignore", "target")]
    names = {"inputs": inputs} if len(inputs) == 2 and "*" not in inputs else {}
    return names | ({"positive": card.positive_labels[0]} if len(card.positive) == 1 else {})


def _class_counts(card: Card) -> dict[str, Any]:
    """Return the number of rows of each class, smallest first, where the card tells it."""
    counts = dict(card.expect.classes or {})
    if card.task == "binary":
        positive = sum(counts.pop(label, 0) for label in card.positive_labels)
        counts = {"positive": positive, "negative": sum(counts.values())}
    is_complete = card.task != "multilabel" and len(counts) > 1 and min(counts.values()) > 0
    return {"class_counts": sorted(counts.values())} if is_complete else {}


def _is_calibrator(method: Component) -> bool:
    return getattr(import_class(method.path), "before_and_after", False)


def experiment_of(store: Store) -> Experiment:
    """Return the experiment of a results folder, as it was last run.

    Raises StoreError when it was not stored completely, and FileProblems when it is no longer valid.
    """
    description = store.experiment()
    for name, kind in (("config_path", str), ("config", str), ("seed", int), ("quick", bool)):
        if not isinstance(description.get(name), kind) or (name == "seed" and description[name] < 0):
            raise StoreError(
                f'{store.folder / "experiment.json"} has no sound "{name}"; run the experiment again to write it anew'
            )
    path = store.folder / description["config_path"]
    experiment = replace(parse_experiment(YamlFile(path, description["config"])), seed=description["seed"])
    return small_experiment(experiment) if description["quick"] else experiment


def _run(
    experiment: Experiment,
    plan: list[PlannedCell],
    store: Store,
    sources: dict[str, str],
    options: RunOptions,
    say: Callable[[str], None],
) -> tuple[int, int]:
    """Return the number of cells that ended, and how many of them failed."""
    entries = [entry for entry in plan if entry.needs_run]
    if not entries:
        return 0, 0
    description = _description(experiment, store)
    with _runner(entries, options, say) as runner:
        record = provenance(experiment, entries, sources, options.jobs) | runner.record
        if not store.exists():  # so that probcal status can show the first cells
            store.write_experiment(description)
        progress, run_times = RunProgress(entries, runner.jobs, store.folder), RunTimes()
        results = _outcomes(entries, store, record["run"], partial(runner.outcomes, notify=progress.record_start))
        try:
            for outcome in results:
                if not progress.n_ended:  # written late, so that a run that is interrupted before changes nothing
                    store.write_experiment(description)
                    store.add_run(record)
                store.add(outcome.result, outcome.y, outcome.p)
                run_times.add(outcome.result)
                progress.record_end(outcome.result)
                if progress.failed and options.fail_fast:
                    break
        finally:
            results.close()
            progress.close()
            if progress.n_ended:
                with suppress(StoreError):  # a full disk was already reported
                    store.add_run({**record, **run_times.record()})
    return progress.n_ended, progress.failed


class _Runner(NamedTuple):
    """Hold ``outcomes``, which runs ``jobs`` cells at a time, and its part of the run's record."""

    outcomes: Callable[..., Iterator[Outcome]]
    jobs: int
    record: dict[str, Any]


@contextmanager
def _runner(entries: list[PlannedCell], options: RunOptions, say: Callable[[str], None]) -> Iterator[_Runner]:
    if options.scheduler is None and options.workers is None:
        jobs = useful_worker_count(entries, options.jobs)
        yield _Runner(partial(outcomes, jobs=jobs, timeout=options.timeout), jobs, {})
        return
    cluster = {"scheduler": options.scheduler} if options.scheduler else {"workers": options.workers}
    with dask.open_client(options) as client:
        run_cells = partial(dask.outcomes, client=client, options=options, say=say)
        yield _Runner(run_cells, max(1, sum(client.nthreads().values())), {"dask": cluster})


def _outcomes(
    entries: list[PlannedCell], store: Store, run: str, run_cells: Callable[[list[PlannedCell], str], Iterator[Outcome]]
) -> Generator[Outcome]:
    fits = []
    for entry in entries:
        outcome = remeasure(entry, store, run)
        if outcome is None:
            fits.append(entry)
        else:
            yield outcome
    if fits:
        yield from run_cells(fits, run)


def _small_method(method: Component) -> Component:
    parameters = inspect.signature(import_class(method.path)).parameters
    defaults = {name: parameters[name].default for name in _ROUNDS if name in parameters}
    return replace(method, params=_limit_params(method.params, {**defaults, **method.params}))


def _limit_params(params: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``params`` with limited rounds and held-out rows. ``settings`` also has the defaults."""
    limits = {**dict.fromkeys(_ROUNDS, _QUICK_ROUNDS), "holdout_size": _QUICK_HELD_OUT}
    return {
        **params,
        **{name: min(n, limits[name]) for name, n in settings.items() if name in limits and isinstance(n, int)},
    }
