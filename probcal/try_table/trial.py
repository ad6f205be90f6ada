"""``probcal try``: read and describe a table, run it as an experiment, and rank the results."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from probcal._io import printable, wrap_line
from probcal.config.columns import ExperimentColumn
from probcal.config.experiment import Experiment, read_experiment
from probcal.data.dataset import Dataset
from probcal.errors import ProbcalError, installation, is_installed
from probcal.reading.table import STANDARD_INPUT
from probcal.reading.table_plan import clean_name
from probcal.runner.cell_rows import calibration_cv
from probcal.runner.run import run_experiment
from probcal.runner.run_options import RunOptions
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.try_table import choices
from probcal.try_table import description as describe
from probcal.try_table import experiment_files as files
from probcal.try_table.boosting_search import METHOD as SEARCH_METHOD
from probcal.try_table.boosting_search import BoostingSearch, SearchRequest, best_setting, earlier_settings, plan_search
from probcal.try_table.experiment_files import Plan, checked_experiment
from probcal.try_table.export import CardFacts, held_out_predictions, refuse_export, write_export
from probcal.try_table.importance import Importance, permutation_importance
from probcal.try_table.measures import LOSS, MEASURES, Measure, MeasureScale, net_benefit_measure
from probcal.try_table.pipeline_code import PipelinePlan, pipeline_plan
from probcal.try_table.preparation import PreparedTable, TableRequest, prepare, slug
from probcal.try_table.ranked_methods import RankedMethod, cell_ids, name_of, ranked_lines, ranking, split_values
from probcal.try_table.result_folder import TrialSettings, result_folder
from probcal.try_table.split_choice import refuse_unusable_splits
from probcal.try_table.traps import Traps, find_traps
from probcal.try_table.unseen_result import UnseenResult, measure_unseen
from probcal.try_table.unseen_rows import UnseenRows, read_unseen_rows
from probcal.try_table.verdict import VerdictContext, verdict

if TYPE_CHECKING:
    from probcal.try_table.trial_page import TrialFindings

Printer = Callable[[str], None]
_CARD_MEASURES = ("log-loss", "brier", "rms", "auc", "c_emp", "ece")


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
    command: str = "the same command"
    """The command that runs it once more."""
    measure: Measure = LOSS
    """The measure that ranks."""
    export: Path | None = None
    """Folder for the fitted winner."""
    test: str | None = None
    """File of rows that the winner predicts once, after the ranking."""
    search: SearchRequest | None = None
    """How long to tune boosting, or how many settings to try. None means that nothing is tuned."""


def try_table(request: TableRequest, options: TrialOptions, print_line: Printer, progress: Printer) -> int:
    """Run a trial and return the exit code. ``print_line`` gets the findings, ``progress`` the messages during the run.

    Raises ProbcalError for a table, a name or a folder that cannot be used, before anything is written or run.
    """
    prepared = prepare(request, options.splits)
    counts = prepared.target.class_counts
    if options.measure.metric.two_classes and len(counts) > 2:
        option = "--cost" if options.measure.costs else f"--metric {options.measure.name}"
        raise ProbcalError(
            f"{option} needs two classes, and {prepared.target.name} has {len(counts)}; choose one with --positive"
        )
    default_learners, reasons = choices.usual_learners(prepared.width, len(counts))
    learners = choices.learners(
        options.learners or default_learners, prepared.most_levels, independent_rows=prepared.split.column is None
    )
    clip_range = choices.sample_clip(prepared.bound, prepared.class_weights)
    methods = choices.methods(
        options.methods, bool(options.learners), prepared.width, counts.values(), clip_range,
        in_time=prepared.split.kind == "time_ordered",
    )  # fmt: skip
    choices.refuse_direct_scores(options.learners, options.methods)
    combined = choices.combinations(list(learners), list(methods), options.methods)
    # All that can be refused is refused before the first file is written.
    card_name = slug(prepared.table.name, "table")
    table_files = files.table_files(prepared, card_name)
    exclusions = {} if options.learners else reasons
    name = f"try-{card_name}-{slug(prepared.target.name, 'target')}"
    title = f"{prepared.table.name}: {prepared.target.name}"
    heading = f"{clean_name(prepared.table.origin)}, target {prepared.target.name}"
    n_settings = options.search.n_settings if options.search else None
    entries = {"learners": learners, "methods": methods}
    place = result_folder(options.output, name, TrialSettings(heading, table_files, request.seed, entries, n_settings))
    folder, path = place.folder, place.experiment
    search = None
    if options.search:
        earlier = earlier_settings(path)
        search = plan_search(
            options.search, table_files.dataset, prepared.split, options.learners, prepared.most_levels, earlier,
            request.seed,
        )  # fmt: skip
        combined = search.combinations(list(learners), list(methods), combined)
        learners, methods = {**learners, **search.learners}, {**methods, SEARCH_METHOD: search.entry}
        exclusions = {**exclusions, **search.exclusions}
    plan = Plan(learners, methods, combined, prepared.split, request.seed, exclusions)
    columns = checked_experiment(table_files, plan, place.name).columns
    used_methods = {column.method.name: column.method for column in columns}
    if request.weight is not None:
        choices.refuse_unweighted(columns)
    class_names = np.array(prepared.class_names)
    refuse_unusable_splits(table_files.dataset, class_names, used_methods.values(), prepared.split, request.seed)
    if options.save:
        files.refuse_overwriting(options.save, card_name)
    if options.export:
        refuse_export(options.export)
    unseen_rows = read_unseen_rows(options.test, request.source, prepared) if options.test else None
    Store(folder).refuse_other_results(place.name)
    description = [*describe.table_lines(prepared), "", *describe.plan_lines(prepared, plan, request.rows is not None)]
    description += [] if options.methods else wrap_line(choices.reason_of_methods(len(counts)))
    description += wrap_line(search.sentence) if search else []
    description += unseen_rows.plan_lines if unseen_rows else []
    traps = find_traps(prepared, table_files.dataset, request.seed)
    for line in [*description, *(wrap_line(place.note) if place.note else ())]:
        print_line(line)
    if options.dry_run:
        for line in [*describe.trap_lines(traps.lines), *(unseen_rows.warning_lines if unseen_rows else ())]:
            print_line(line)
        return 0
    files.write(table_files, plan, path, title, heading)
    if options.save:
        table_name = clean_name(prepared.table.origin_name)
        origin = f"{table_name} as probcal try read it; probcal run {options.save.name}"
        paths = files.write(table_files, plan, options.save, title, origin)
        print_line(f"saved, with the rows: {paths[-1]}, {paths[0].parent}")
    experiment = read_experiment(path)
    run_options = RunOptions(folder, jobs=options.jobs, retry_failed=options.retry_failed)
    code = _run(experiment, run_options, search, options.search.budget if options.search else None, progress)
    result = TrialResult(
        prepared, table_files.dataset, experiment, folder, options.measure, traps, unseen_rows, progress
    )
    lines = [*result.ranked_lines, "", *wrap_line(result.verdict, hang=0), *describe.trap_lines(traps.lines)]
    for line in ["", *lines, "", *result.importance_lines, *result.unseen_lines]:
        print_line(line)
    from probcal.try_table.trial_page import write_trial_page  # a plan needs no page

    print_line(f"report: {write_trial_page(Store(folder), result.findings(description), folder / 'report.html')}")
    if options.export:
        for line in result.export(options.export):
            print_line(line)
    if prepared.table.has_changed():
        command = f"{options.command} (with another file after --save)" if options.save else options.command
        progress(
            f"warning: {prepared.table.origin} changed during the run, so these results are those of its earlier "
            f"content; to run its present content, type: {command}"
        )
    return code


def _run(
    experiment: Experiment, options: RunOptions, search: BoostingSearch | None, budget: float | None, progress: Printer
) -> int:
    """Run the cells, those of the search last and within its ``budget`` in seconds. Return the exit code."""
    if search is None:
        return run_experiment(experiment, experiment, options, progress)
    code = 0
    if usual_methods := {column.method.name for column in experiment.columns} - {SEARCH_METHOD}:
        usual = experiment.select(methods=tuple(usual_methods))
        code = run_experiment(experiment, usual, options, progress)
    tuned, start = experiment.select(methods=(SEARCH_METHOD,)), time.monotonic()
    code = max(code, run_experiment(experiment, tuned, replace(options, time_limit=budget), progress))
    for line in search.end_lines(Store(options.folder), time.monotonic() - start, budget):
        progress(line)
    return code


@dataclass(frozen=True)
class TrialResult:
    """Hold a trial and the folder of its results."""

    prepared: PreparedTable
    dataset: Dataset
    """The used rows."""
    experiment: Experiment
    folder: Path
    measure: Measure
    traps: Traps
    unseen_rows: UnseenRows | None = None
    progress: Printer = print

    @cached_property
    def _store(self) -> Store:
        return Store(self.folder)

    @cached_property
    def _stored(self) -> StoredExperiment:
        return StoredExperiment.of(self._store)

    @property
    def _scale(self) -> MeasureScale:
        return MeasureScale(self.prepared.bound, self.prepared.class_weights)

    @cached_property
    def methods(self) -> list[RankedMethod]:
        """Return the methods, the best first."""
        return ranking(self._store, self._stored, self._scale, self.measure, self.prepared.split.test_share)

    @property
    def ranked_lines(self) -> Iterator[str]:
        """Yield the table of the ranking."""
        return ranked_lines(self.methods, self._scale.bound)

    @cached_property
    def verdict(self) -> str:
        """Return which method is best, and how certain that is."""
        auc = MEASURES["auc"]
        best = next(
            (method for method in self.methods if method.learner != choices.BASELINE and method.is_ranked), None
        )
        aucs = [] if best is None else self._values(best.learner, best.method, [auc])[auc]
        context = VerdictContext(self.prepared.target.class_counts, aucs, self.traps.leaks, self.prepared.ignored)
        return verdict(self.methods, context)

    def findings(self, description: Sequence[str]) -> TrialFindings:
        """Return what the page of the trial shows. ``description`` has the lines about the table and the plan."""
        from probcal.try_table.trial_page import TrialFindings

        enriched = bool(self.prepared.enriched_classes)
        return TrialFindings(
            self.methods,
            self._scale.bound,
            self.verdict,
            self.traps.lines,
            description,
            enriched,
            self.unseen,
            self.importance,
        )

    def _values(self, learner: str, method: str, measures: Sequence[Measure]) -> dict[Measure, list[float]]:
        ids = cell_ids(self._stored, learner, method)
        values, _ = split_values(self._store, self._store.results(), ids, measures, self._scale)
        return {measure: values[measure.name] for measure in measures}

    @property
    def _card_measures(self) -> list[Measure]:
        """Return the measures of the model card: the one that ranks, then the usual ones."""
        benefit = [net_benefit_measure(self.measure.costs)] if self.measure.costs else []
        return list(dict.fromkeys([self.measure, *benefit, *(MEASURES[name] for name in _CARD_MEASURES)]))

    @property
    def _best_column(self) -> ExperimentColumn:
        best = self.methods[0]
        [column] = [
            entry
            for entry in self.experiment.columns
            if (entry.learner.name, entry.method.name) == (best.learner, best.method)
        ]
        return column

    @cached_property
    def importance(self) -> Importance | None:
        """Return what drives the best method. None if it is the base rate, or no method is best."""
        best, split = self.methods[0], self.dataset.card.split
        if not best.is_ranked or best.learner == choices.BASELINE:
            return None
        column = self._best_column
        cv = calibration_cv(column.method, split) if split.nested else None
        is_weighted = self.prepared.weight is not None
        plan = PipelinePlan(column.learner, column.method, self.experiment.seed, cv, is_weighted)
        n_fits = describe.FITS.get(best.method, 1)
        return permutation_importance(self.prepared, self.dataset, plan, self._scale, n_fits, self.progress)

    @property
    def importance_lines(self) -> Iterator[str]:
        """Yield what drives the best method and an empty line, nothing where nothing does."""
        if self.importance is not None:
            yield from (*self.importance.terminal_lines(), "")

    @cached_property
    def _pipeline(self) -> PipelinePlan:
        """Return the pipeline of the best method."""
        column = self._best_column
        is_weighted = self.prepared.weight is not None
        return pipeline_plan(column, self.prepared.bound, self.dataset.card.split, self.experiment.seed, is_weighted)

    @cached_property
    def _model(self) -> Any:
        """Return the best method, fitted on all labelled rows."""
        with threadpool_limits(1):  # as in a cell: many small fits would wait for each other's threads
            return self._pipeline.fit(*self.prepared.training_rows(), self.prepared.weight)

    @cached_property
    def unseen(self) -> UnseenResult | None:
        """Return what the best method reaches on the file of ``--test``. None without a file or a best method.

        Raises ProbcalError if the metric of a plugin raises anything.
        """
        best = self.methods[0]
        if self.unseen_rows is None or not best.is_ranked:
            return None
        p = self._model.predict_proba(self.unseen_rows.inputs(self.prepared, self._pipeline.is_native))
        values = self._values(best.learner, best.method, self._card_measures)
        return measure_unseen(self.unseen_rows, p, self.prepared, name_of(best), values)

    @property
    def unseen_lines(self) -> Iterator[str]:
        """Yield what the best method reaches on the file of ``--test`` and an empty line, nothing without a file."""
        if self.unseen is not None:
            yield from (*self.unseen.terminal_lines(), "")
        elif self.unseen_rows is not None:
            yield from (f"not tested: {name_of(self.methods[0])} and all others failed on some split", "")

    def export(self, folder: Path) -> Iterator[str]:
        """Write the export of the best method to ``folder``, and yield what was written."""
        best = self.methods[0]
        if not best.is_ranked:
            yield f"not exported: {name_of(best)} and all others failed on some split"
            return
        bound, plan = self.prepared.bound, self._pipeline
        ids = cell_ids(self._stored, best.learner, best.method)
        predictions = held_out_predictions(
            self._store, ids, self.prepared, self.dataset, self._scale, self.experiment.seed
        )
        note = self.prepared.split.note_on_calibration if plan.is_nested else None
        notes = [note] if note else []
        if setting := best_setting(self._model):
            notes.append(f"the search chose {setting}")
        origin = self.prepared.table.origin
        code_notes: list[str] = []
        if origin == "standard input":
            origin = STANDARD_INPUT
            code_notes.append("the table came from standard input: python train.py < TABLE.csv")
        if "clip" not in plan.method.params:
            code_notes.append(
                f"predict.py then keeps probabilities in {bound:.6g} to {1 - bound:.6g}, and divides each row by "
                "its sum"
            )
        facts = CardFacts(
            name=name_of(best),
            verdict=self.verdict,
            values=self._values(best.learner, best.method, self._card_measures),
            baseline=self._values(choices.BASELINE, "direct", self._card_measures),
            costs=self.measure.costs,
            traps=self.traps.lines,
            notes=notes,
            code=plan.code(origin, None, [*notes, *code_notes]),
            results=f"`{self.folder.resolve()}`, learner `{best.learner}`, method `{best.method}`",
            unseen=self.unseen,
            importance=self.importance,
        )
        write_export(folder, plan, self._model, self.prepared, predictions, facts)
        yield ""
        fitted = f"{facts.name}, fitted on all {self.prepared.n_labelled:,} labelled rows"
        yield from wrap_line(printable(f"exported: {folder} ({fitted}; see model-card.md)"))
        if best.learner == choices.BASELINE:
            yield from wrap_line("note: this model is constant: it predicts the class shares for every row")
        if not is_installed("matplotlib"):
            hint = "the reliability diagram needs matplotlib, which is not installed; install it with"
            yield from wrap_line(f"note: {hint}: {installation('matplotlib')}")
        if self.traps.leaks:
            names = " and ".join(f'"{name}"' for name in self.traps.leaks)
            yield from wrap_line(f"note: do not use this model yet: {names} may give the answer away")
        script = shlex.quote((folder / "predict.py").as_posix())
        yield f"new rows: python {script} new.csv > predicted.csv"
        if self.measure.costs:
            yield from wrap_line(f"to keep the cost low, {self.measure.costs.advice}")
        yield f"the same model in Python ({folder / 'train.py'}):"
        yield ""
        code = plan.code(origin, folder, [*notes, *code_notes])
        yield from (f"    {line}" if line else "" for line in code.rstrip().splitlines())
