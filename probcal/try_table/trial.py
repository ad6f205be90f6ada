"""``probcal try``: a table is read, described, run as an experiment like any other, and ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from probcal.config.experiment import read_experiment
from probcal.errors import ProbcalError
from probcal.runner.run import RunOptions, run_experiment
from probcal.store.folder import Store
from probcal.store.outline import Outline
from probcal.try_table import choices
from probcal.try_table import description as describe
from probcal.try_table import experiment_files as files
from probcal.try_table.experiment_files import Plan
from probcal.try_table.preparation import Asked, balanced_seed, cleaned, prepare, slug
from probcal.try_table.ranked_methods import ranked_lines, ranking, sentence

Say = Callable[[str], None]


@dataclass(frozen=True)
class Wanted:
    """What to do with the table. ``learners`` and ``methods``: names; the usual ones where none is given."""

    learners: Sequence[str] = ()
    methods: Sequence[str] = ()
    splits: int = 10
    jobs: int = 1
    output: Path | None = None
    save: Path | None = None
    retry_failed: bool = False
    dry_run: bool = False
    again: str = "the same command"
    """What to type to run once more."""


def try_table(asked: Asked, wanted: Wanted, say: Say, progress: Say) -> int:
    """Run everything; ``say`` gets what is found, ``progress`` what goes on meanwhile. Returns the exit code.

    Raises ProbcalError before anything is written or run for a table, a name or a folder that cannot be used.
    """
    prepared = prepare(asked)
    counts = prepared.target.class_counts
    usual, left_out = choices.usual_learners(prepared.width, len(counts))
    learners = choices.learners(wanted.learners or usual, prepared.most_levels)
    methods = choices.methods(wanted.methods, bool(wanted.learners), prepared.width, counts.values())
    choices.refuse_no_estimates(wanted.learners, wanted.methods)
    combined = choices.combinations(list(learners), list(methods), wanted.methods)
    card_name = slug(prepared.table.name, "table")
    described = files.described(prepared, card_name)
    seed, balanced = balanced_seed(described.dataset.card, described.dataset.y, wanted.splits, asked.seed)
    plan = Plan(learners, methods, combined, wanted.splits, seed, {} if wanted.learners else left_out)
    name = f"try-{card_name}-{slug(prepared.target.name, 'target')}"
    folder = wanted.output or Path("results") / name
    path, title = folder / "input" / f"{name}.yaml", f"{prepared.table.name}: {prepared.target.name}"
    heading = f"{cleaned(prepared.table.place)}, target {prepared.target.name}"
    files.refuse_unsound(described, plan, name)
    if wanted.save:
        files.refuse_others(wanted.save, card_name)
    Store(folder).refuse_others(name)
    _refuse_another_table(path, heading)
    taken = [*describe.table_lines(prepared), "", *describe.plan_lines(prepared, plan, balanced)]
    for line in taken:
        say(line)
    if wanted.dry_run:
        return 0
    files.write(described, plan, path, title, heading)
    if wanted.save:
        made = f"{cleaned(Path(prepared.table.place).name)} as probcal try took it; probcal run {wanted.save.name}"
        written = files.write(described, plan, wanted.save, title, made)
        say(f"saved, with the rows: {written[-1]}, {written[0].parent}")
    experiment = read_experiment(path)
    options = RunOptions(folder, jobs=wanted.jobs, retry_failed=wanted.retry_failed)
    code = run_experiment(experiment, experiment, options, progress)
    from probcal.reporting.html import write_report  # draws, which takes a second to import

    store = Store(folder)
    ranked = ranking(Outline.of(store), store.results())
    found, lines = sentence(ranked), list(ranked_lines(ranked))
    for line in ["", *lines, "", *describe.wrapped(found, hang=0), ""]:
        say(line)
    page = write_report([store], folder / "report.html", found, "\n".join([*lines, "", *taken]))
    say(f"report: {page}")
    if prepared.table.has_changed():
        again = f"{wanted.again} (with another file after --save)" if wanted.save else wanted.again
        progress(
            f"warning: {prepared.table.place} changed while the run was going on, and these results are of what was "
            f"read before; to run what it holds now, type: {again}"
        )
    return code


def _refuse_another_table(path: Path, heading: str) -> None:
    there = files.heading_of(path)
    if there is not None and there != heading:
        folder = path.parents[1]
        raise ProbcalError(f"{folder} holds what came of another table ({there}); choose another with -o")
