"""The commands that read an experiment file: ``run``, ``fetch`` and ``validate``."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete


@options.command(
    "Run an experiment: a YAML file, or a shipped one by its name.",
    "probcal run quickstart\nprobcal run mine.yaml --dry-run\nprobcal run uci -d adult -l svm -j 2\n"
    "probcal run uci --scheduler tcp://10.0.0.1:8786",
    files={
        "results/NAME/": "the experiment, its runs and its results (-o: elsewhere)",
        "results/NAME-quick/": "the same with --quick",
    },
    environment=(*options.DATA, *options.TRUST, *options.JAVA),
    exits={
        0: "all cells are done",
        1: "a cell failed, or has no data",
        2: "a mistake in the call, the file or the data, a missing package, or a full disk; stored results are kept",
    },
    interrupted=options.KEPT_CELLS,
)
@options.config_argument
@options.dataset_option
@options.learner_option
@options.method_option
@click.option("-j", "--jobs", metavar="N", type=click.IntRange(1), show_default="1", help="Number of cells at a time.")
@click.option("--scheduler", metavar="ADDRESS", help="Run cells on the Dask cluster at this address: tcp://host:8786.")
@click.option(
    "--workers", metavar="N", type=click.IntRange(1), help="Run cells on a local Dask cluster of N processes."
)
@click.option("--seed", metavar="N", type=click.IntRange(0), help="Seed of splits and fits; overrides the file's.")
@click.option(
    "-o", "--output", metavar="DIR", shell_complete=complete.folders, help="Results folder (default: results/NAME)."
)
@options.data_dir_option
@click.option("--dry-run", is_flag=True, help="Show the plan and run nothing.")
@click.option(
    "--quick",
    "in_small",
    is_flag=True,
    help="Small run: one repetition, 1,000 rows, 10 probes or bags; results in results/NAME-quick.",
)
@click.option("--retry-failed", is_flag=True, help="Run failed cells again.")
@click.option("--strict", is_flag=True, help="Run cells again that other versions of packages made.")
@click.option("--refit", is_flag=True, help="Run all selected cells again, done ones, too (each time).")
@click.option("--fail-fast", is_flag=True, help="Stop at the first cell that fails.")
@click.option("--timeout", type=options.Seconds(), help="Stop a cell after this time: 90s, 10m, 2h.")
@options.trusted_imports
def run(
    config: str,
    datasets: tuple[str, ...],
    learners: tuple[str, ...],
    methods: tuple[str, ...],
    jobs: int | None,
    scheduler: str | None,
    workers: int | None,
    seed: int | None,
    output: str | None,
    data_dir: str | None,
    dry_run: bool,
    in_small: bool,
    retry_failed: bool,
    strict: bool,
    refit: bool,
    fail_fast: bool,
    timeout: float | None,
) -> None:
    """Run the experiment CONFIG.

    CONFIG is a YAML file, or the name of a shipped experiment (probcal list configs). Every combination of its data
    sets, learners, methods and splits is a cell. Only missing and stale cells run. So the same command continues after
    an interruption, and runs nothing when all cells are done. Missing data sets are fetched first. Required packages,
    such as Weka, are checked before anything is written. If a cell fails when it is run again, its last done
    result stays.
    """
    from dataclasses import replace

    from probcal.config.config_files import find_config
    from probcal.runner.instruction_set import restart_with
    from probcal.yaml_file import YamlFile

    file = YamlFile.read(find_config(config))
    if not dry_run and file.path.is_file():  # and no pipe, which is read once
        restart_with(file.data.get("processor"))

    from probcal.config.experiment import parse_experiment
    from probcal.data.load import data_folder
    from probcal.runner.data_step import current_data
    from probcal.runner.description import other_file_notes, small_experiment
    from probcal.runner.plan import (
        cells_to_fit,
        make_plan,
        mark_missing_data,
        plan_lines,
        refuse_unmet_requirements,
    )
    from probcal.runner.run import run_experiment
    from probcal.runner.run_options import RunOptions
    from probcal.runner.shared_imports import fork_early_server
    from probcal.store.folder import Store

    experiment, originals = parse_experiment(file), data_folder(data_dir)
    if seed is not None:
        experiment = replace(experiment, seed=seed)
    if in_small:
        experiment = small_experiment(experiment)
    subset = experiment.select(datasets, learners, methods)
    folder = Path(output) if output else Path("results") / experiment.name
    command = shlex.join(["probcal", *sys.argv[1:]])
    run_options = RunOptions(
        folder, originals, jobs or 1, timeout, retry_failed, fail_fast, scheduler, workers, command, strict, refit
    )
    if dry_run:
        store = Store(folder)
        store.refuse_other_results(experiment.name)
        data = current_data(subset.used_cards(), originals)
        plan = make_plan(subset, store, data, run_options)
        refuse_unmet_requirements(cells_to_fit(plan), experiment.weka)
        plan = mark_missing_data(plan, data.missing)
        for note in other_file_notes(experiment, store):
            click.echo(printable(note), err=True)
        click.echo(printable("\n".join(plan_lines(plan, every_cell=True))))
        return
    options.refuse_clusters({"-j": jobs, "--workers": workers, "--scheduler": scheduler})
    if workers is None and scheduler is None:
        fork_early_server(subset)
    sys.exit(run_experiment(experiment, subset, run_options, lambda line: click.echo(printable(line), err=True)))


@options.command(
    "Fetch the data sets of an experiment into the cache.",
    "probcal fetch configs/uci.yaml\nprobcal fetch uci -d adult --data-dir ~/uci",
    environment=(*options.DATA, *options.TRUST),
    interrupted="interrupted; data sets that were fetched whole stay in the cache",
    exits={0: "all are in the cache", 1: "a data set is missing; the message says where to get it"},
)
@options.config_argument
@options.dataset_option
@options.data_dir_option
@options.trusted_imports
def fetch(config: str, datasets: tuple[str, ...], data_dir: str | None) -> None:
    """Fetch the data sets of CONFIG into the cache, check them, and run nothing.

    CONFIG is a YAML file, or the name of a shipped experiment. A data set is read from its original files if you have
    them (--data-dir). Otherwise it is downloaded from OpenML. It is then checked against its card. Afterwards probcal
    run needs no network.
    """
    from probcal.config.experiment import find_config, read_experiment
    from probcal.data.load import data_folder
    from probcal.runner.data_step import obtain_all

    selection = read_experiment(find_config(config)).select(datasets)
    step = obtain_all(selection.used_cards(), data_folder(data_dir), lambda line: None)
    for name, source in step.sources.items():
        click.echo(printable(f"{name}: {source}"))
    for card, fingerprint in step.fingerprints.items():
        if card.expect.fingerprint is None:
            click.echo(printable(f"{card.name}: fingerprint {fingerprint}, which its card can name"), err=True)
    for reason in step.missing.values():
        click.echo(printable(f"no data: {reason}"), err=True)
    sys.exit(1 if step.missing else 0)


@options.command(
    "Check an experiment without running anything.",
    "probcal validate configs/uci.yaml\nprobcal validate mine.yaml --trust my_module",
    environment=options.TRUST,
    exits={0: "no fault", 2: "faults, each printed with its line, or a package is not installed"},
)
@options.config_argument
@options.trusted_imports
def validate(config: str) -> None:
    """Check the experiment CONFIG without running anything.

    CONFIG is a YAML file, or the name of a shipped experiment. The command also checks the cards of its data sets, the
    parameters of learners and methods, the published numbers and known deviations of its paper, and required packages
    such as Weka and Java. All wrong keys and types are reported at once, each with its line. If there are none, all
    other faults are. An editor can show most faults while you type: see probcal schema --help.
    """
    from probcal.config.experiment import find_config, read_experiment
    from probcal.config.paper_checks import refuse_paper_faults, unused_tolerances
    from probcal.runner.cell import list_cells
    from probcal.runner.plan import refuse_unmet_requirements

    experiment = read_experiment(find_config(config))
    refuse_paper_faults(experiment)
    refuse_unmet_requirements(list_cells(experiment), experiment.weka)
    click.echo(
        f"{experiment.path} is fine; data sets: {len(experiment.cards)}, columns: {len(experiment.columns)}, "
        f"cells: {len(list_cells(experiment))}"
    )
    for note in unused_tolerances(experiment):
        options.print_note(note)
