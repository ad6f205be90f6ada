"""``probcal try``: read and describe a table, run it as an experiment, and rank the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probcal.config.experiment import read_experiment
from probcal.errors import ProbcalError
from probcal.metrics.registry import find_metric
from probcal.runner.run import RunOptions, run_experiment
from probcal.store.folder import Store
from probcal.try_table import choices
from probcal.try_table import description as describe
from probcal.try_table import experiment_files as files
from probcal.try_table.experiment_files import Plan
from probcal.try_table.export import refuse_export
from probcal.try_table.finished_trial import Finished
from probcal.try_table.measures import LOSS, Measure
from probcal.try_table.preparation import TableRequest, cleaned, prepare, slug
from probcal.try_table.traps import find_traps
from probcal.try_table.trial_page import write_trial_page

Say = Callable[[str], None]


@dataclass(frozen=True)
class TrialOptions:
    """Hold the options of a trial. Without ``learners`` or ``methods``, the default ones run."""

    learners: Sequence[str] = ()
    methods: Sequence[str] = ()
    splits: int = 10
    jobs: int = 1
    output: Path | None = None
    save: Path | None = None
    retry_failed: bool = False
    dry_run: bool = False
    again: str = "the same command"
    """The command that runs it once more."""
    measure: Measure = LOSS
    """The measure that ranks."""
    export: Path | None = None
    """Folder for the fitted winner."""


def try_table(request: TableRequest, options: TrialOptions, say: Say, progress: Say) -> int:
    """Run a trial and return the exit code. ``say`` gets the findings, ``progress`` the messages during the run.

    Raises ProbcalError for a table, a name or a folder that cannot be used, before anything is written or run.
    """
    prepared = prepare(request, options.splits)
    counts = prepared.target.class_counts
    metric = find_metric(options.measure.metric)
    if metric is not None and metric.two_classes and len(counts) > 2:
        wanted = f"--metric {metric.name}" if options.measure.name == metric.name else "--cost"
        raise ProbcalError(
            f"{wanted} needs two classes, and {prepared.target.name} has {len(counts)}; choose one with --positive"
        )
    usual, left_out = choices.usual_learners(prepared.width, len(counts))
    learners = choices.learners(options.learners or usual, prepared.most_levels)
    methods = choices.methods(options.methods, bool(options.learners), prepared.width, counts.values())
    choices.refuse_scores_alone(options.learners, options.methods)
    combined = choices.combinations(list(learners), list(methods), options.methods)
    card_name = slug(prepared.table.name, "table")
    table_files = files.table_files(prepared, card_name)
    plan = Plan(learners, methods, combined, prepared.split, request.seed, {} if options.learners else left_out)
    name = f"try-{card_name}-{slug(prepared.target.name, 'target')}"
    folder = options.output or Path("results") / name
    path, title = folder / "input" / f"{name}.yaml", f"{prepared.table.name}: {prepared.target.name}"
    heading = f"{cleaned(prepared.table.place)}, target {prepared.target.name}"
    files.refuse_unsound(table_files, plan, name)
    if options.save:
        files.refuse_others(options.save, card_name)
    if options.export:
        refuse_export(options.export)
    Store(folder).refuse_others(name)
    _refuse_another_table(path, heading)
    description = [*describe.table_lines(prepared), "", *describe.plan_lines(prepared, plan, request.rows is not None)]
    traps = find_traps(prepared, prepared.raw, table_files.dataset, request.seed)
    for line in description:
        say(line)
    if options.dry_run:
        for line in describe.trap_lines(traps.lines):
            say(line)
        return 0
    files.write(table_files, plan, path, title, heading)
    if options.save:
        made = f"{cleaned(Path(prepared.table.place).name)} as probcal try read it; probcal run {options.save.name}"
        written = files.write(table_files, plan, options.save, title, made)
        say(f"saved, with the rows: {written[-1]}, {written[0].parent}")
    experiment = read_experiment(path)
    run_options = RunOptions(folder, jobs=options.jobs, retry_failed=options.retry_failed)
    code = run_experiment(experiment, experiment, run_options, progress)
    finished = Finished(prepared, table_files.dataset, experiment, folder, options.measure, traps)
    lines = [*finished.ranked_lines, "", *describe.wrapped(finished.verdict, hang=0), *describe.trap_lines(traps.lines)]
    for line in ["", *lines, ""]:
        say(line)
    say(f"report: {write_trial_page(Store(folder), finished.findings(description), folder / 'report.html')}")
    if options.export:
        for line in finished.export(options.export, request.number):
            say(line)
    if prepared.table.has_changed():
        again = f"{options.again} (with another file after --save)" if options.save else options.again
        progress(
            f"warning: {prepared.table.place} changed during the run, so these results are those of its earlier "
            f"content; to run its present content, type: {again}"
        )
    return code


def _refuse_another_table(path: Path, heading: str) -> None:
    there = files.heading_of(path)
    if there is not None and there != heading:
        folder = path.parents[1]
        raise ProbcalError(f"{folder} holds the results of another table ({there}); choose another folder with -o")
