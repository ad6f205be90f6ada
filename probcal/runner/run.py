"""Run an experiment: plan, run missing and stale cells, and store each result as soon as it is there.

``probcal.runner`` names the modules on the way of a cell, and ``execute`` says where failures come from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from probcal.config.experiment import Experiment
from probcal.errors import StoreError
from probcal.runner.cell import PlannedCell
from probcal.runner.data_step import current_data, data_changes
from probcal.runner.description import FILE_PARTS, describe_with_stale_results, other_file_notes
from probcal.runner.execute import Outcome, remeasure
from probcal.runner.plan import (
    cells_to_fit,
    count_states,
    make_plan,
    mark_missing_data,
    plan_lines,
    refuse_unmet_requirements,
    summary,
)
from probcal.runner.pool import run_cells
from probcal.runner.progress import RunProgress
from probcal.runner.provenance import RunTimes, provenance
from probcal.runner.run_options import RunOptions
from probcal.runner.time_left import useful_worker_count
from probcal.store.folder import Store


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
    for note in other_file_notes(experiment, store):
        say(note)
    data = current_data(cards, options.data_folder, say)
    # Requirements are checked before anything is fetched, if possible.
    if new_cards := data.unfetched_cards(cards):
        refuse_unmet_requirements(cells_to_fit(make_plan(selection, store, data, options)), experiment.weka)
        data.obtain(new_cards, options.data_folder, say)  # their values are part of the identities
    # Before the plan reads the results, so that no result is added unnoticed between the two.
    old_state = store.state()
    plan = make_plan(selection, store, data, options)
    refuse_unmet_requirements(cells_to_fit(plan), experiment.weka)
    needed_cards = dict.fromkeys(planned.cell.card for planned in plan if planned.needs_run)
    # A card may name the fingerprint of its data set, which is then known but not yet on this machine.
    data.obtain((card for card in needed_cards if card.name not in data.missing), options.data_folder, say)
    experiment = data.bind_cards(experiment)
    plan, n_ended, n_failures = mark_missing_data(plan, data.missing), 0, 0
    if any(planned.needs_run for planned in plan):
        with store.writing(experiment.name):
            if store.state() != old_state:  # another run has ended meanwhile
                plan = make_plan(selection, store, data, options)
                plan = mark_missing_data(plan, data.missing)
            _print_plan(plan, say)
            sources = {card.name: data.sources[card.name] for card in needed_cards if card.name in data.sources}
            n_ended, n_failures = _run(experiment, plan, store, sources, options, say)
    else:
        _print_plan(plan, say)
        if not any(planned.state == "no data" for planned in plan):
            _update_description(experiment, store, say)
            store.move_left_results(experiment.name)
    say(summary(plan, n_ended, n_failures, options.folder))
    for change in data_changes(needed_cards, options.data_folder) if n_ended else ():
        say(f"warning: {change}; to run the present content, type: {options.command}")
    states = count_states(plan)
    return 1 if n_failures or states["failed"] or states["no data"] else 0


def _print_plan(plan: list[PlannedCell], say: Callable[[str], None]) -> None:
    for line in plan_lines(plan):
        say(line)


def _update_description(experiment: Experiment, store: Store, say: Callable[[str], None]) -> None:
    """Write ``experiment.json`` after a run without cells, if the tables would now show something else."""
    description = describe_with_stale_results(experiment, store)
    old_description = store.experiment() if store.exists() else {}
    if all(old_description.get(part) == value for part, value in description.items() if part not in FILE_PARTS):
        return
    with store.writing(experiment.name):
        store.write_experiment(description)
    say(f"nothing was run; the tables now show the experiment as {experiment.path} describes it")


def _run(
    experiment: Experiment,
    plan: list[PlannedCell],
    store: Store,
    sources: dict[str, str],
    options: RunOptions,
    say: Callable[[str], None],
) -> tuple[int, int]:
    """Return the number of cells that ended, and how many of them failed."""
    planned_cells = [planned for planned in plan if planned.needs_run]
    if not planned_cells:
        return 0, 0
    description = describe_with_stale_results(experiment, store)
    with _runner(planned_cells, options, say) as runner:
        record = provenance(experiment, planned_cells, sources, options.jobs) | runner.record
        if not store.exists():  # so that probcal status can show the first cells
            store.write_experiment(description)
        start = time.monotonic()
        progress, run_times = RunProgress(planned_cells, runner.jobs, store.folder), RunTimes()
        results = _remeasure_or_run(
            planned_cells, store, record["run"], partial(runner.run_cells, notify=progress.record_start)
        )
        try:
            for outcome in results:
                # Written late, so that a run that is interrupted before changes nothing.
                if not progress.n_ended:
                    store.write_experiment(description)
                    store.add_run(record)
                store.add(outcome.result, outcome.y, outcome.p, outcome.weight)
                run_times.add(outcome.result)
                progress.record_end(outcome.result)
                if progress.failed and options.fail_fast:
                    break
                if options.time_limit is not None and time.monotonic() - start > options.time_limit:
                    break
        finally:
            results.close()
            progress.close()
            if progress.n_ended:
                # Also after an interruption, so that the run has an end and its times.
                with suppress(StoreError):  # a full disk was already reported
                    store.add_run({**record, **run_times.record()})
    return progress.n_ended, progress.failed


class _Runner(NamedTuple):
    """Hold ``run_cells``, which runs ``jobs`` cells at a time, and its part of the run's record."""

    run_cells: Callable[..., Iterator[Outcome]]
    jobs: int
    record: dict[str, Any]


@contextmanager
def _runner(planned_cells: list[PlannedCell], options: RunOptions, say: Callable[[str], None]) -> Iterator[_Runner]:
    if options.scheduler is None and options.workers is None:
        jobs = useful_worker_count(planned_cells, options.jobs)
        yield _Runner(partial(run_cells, jobs=jobs, timeout=options.timeout), jobs, {})
        return
    from probcal.runner import dask

    cluster = {"scheduler": options.scheduler} if options.scheduler else {"workers": options.workers}
    with dask.open_client(options) as client:
        run_on_cluster = partial(dask.run_cells, client=client, options=options, say=say)
        yield _Runner(run_on_cluster, max(1, sum(client.nthreads().values())), {"dask": cluster})


def _remeasure_or_run(
    planned_cells: list[PlannedCell],
    store: Store,
    run_id: str,
    run: Callable[[list[PlannedCell], str], Iterator[Outcome]],
) -> Generator[Outcome]:
    """Yield the outcomes of ``planned_cells``, first of those that need no fit, and then of those that ``run`` fits."""
    fits = []
    for planned in planned_cells:
        outcome = remeasure(planned, store, run_id)
        if outcome is None:
            fits.append(planned)
        else:
            yield outcome
    if fits:
        yield from run(fits, run_id)
