"""The command line: parse, call one function, print. Everything heavy is imported inside a command."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from probcal import __version__
from probcal.errors import ProbcalError
from probcal.trust import EVERYTHING, trusting
from probcal.visible import visible

_FORMATS = ("markdown", "latex", "csv", "html")

_LONGEST = 20 * 24 * 3600
"""Seconds; beyond 24 days the system's calls that wait take no number of milliseconds."""

_NO_FAULT_OF_OURS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""What a system says that has run out of something; said of no file by name."""


class _Commands(click.Group):
    """Prints a user's mistake as one message and ends with 2; an interruption ends with 130."""

    def invoke(self, context: click.Context) -> Any:
        signal.signal(signal.SIGTERM, _as_interruption)
        for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a character shows its number instead
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            context.with_resource(trusting())
            return super().invoke(context)
        except ProbcalError as error:
            click.echo(f"error: {visible(str(error))}", err=True)
            sys.exit(2)
        except OSError as error:
            if error.filename is None and error.errno not in _NO_FAULT_OF_OURS:
                raise
            click.echo(f"error: {error.filename or 'the system'}: {error.strerror}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("\ninterrupted; finished cells are kept, the same command goes on from there", err=True)
            sys.exit(130)


def _as_interruption(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _example(text: str) -> str:
    """An epilog that click does not re-wrap."""
    return "\b\nExample:\n  " + text.strip().replace("\n", "\n  ")


class _Seconds(click.ParamType):
    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        units = {"s": 1, "m": 60, "h": 3600}
        number, unit = (value[:-1], value[-1]) if value and value[-1] in units else (value, "s")
        try:
            seconds = float(number) * units[unit]
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _LONGEST:
            self.fail(f"{value!r} is not a time of at most 20 days; write 90, 90s, 10m or 2h", param, context)
        return seconds


def _selection(command: Any) -> Any:
    for flags, what in (
        (("-m", "--method", "methods"), "method"),
        (("-l", "--learner", "learners"), "learner"),
        (("-d", "--dataset", "datasets"), "data set"),
    ):
        command = click.option(*flags, multiple=True, metavar="NAME", help=f"Only this {what}; may be repeated.")(
            command
        )
    return command


def _trusting(command: Any) -> Any:
    """``--trust`` and ``--allow-imports``, in force until the command has ended."""

    def trust(context: click.Context, _: click.Parameter, given: tuple[str, ...] | bool) -> None:
        context.with_resource(trusting(*((EVERYTHING,) if given is True else given or ())))

    everything = click.option(
        "--allow-imports", is_flag=True, expose_value=False, callback=trust, help="Trust every import path."
    )
    return click.option(
        "--trust",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=trust,
        help="Import what the config names below NAME, such as my_module (also: $PROBCAL_TRUSTED); may be repeated.",
    )(everything(command))


_data_dir = click.option(
    "--data-dir", metavar="DIR", help="Folder of original data files (default: $PROBCAL_DATA_DIR)."
)


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_example("probcal run quickstart\nprobcal table results/quickstart"),
)
@click.version_option(__version__, prog_name="probcal")
def main() -> None:
    """Class probability estimation: run experiments from YAML files, print tables beside the papers'."""


@main.command(epilog=_example("probcal run uci -d adult -l svm -j 2\nprobcal run uci --scheduler tcp://10.0.0.1:8786"))
@click.argument("config")
@_selection
@click.option("-j", "--jobs", type=click.IntRange(1), show_default="1", help="Cells at a time.")
@click.option("--scheduler", metavar="ADDRESS", help="Run cells on the Dask cluster at this address: tcp://host:8786.")
@click.option("--workers", type=click.IntRange(1), help="Run cells on a Dask cluster of so many processes here.")
@click.option("--seed", type=click.IntRange(0), help="Seed of splits and fits, instead of the file's.")
@click.option("-o", "--output", metavar="DIR", help="Results folder (default: results/NAME).")
@_data_dir
@click.option("--dry-run", is_flag=True, help="Show the plan and run nothing.")
@click.option(
    "--quick",
    "in_small",
    is_flag=True,
    help="In small: one repetition, 1,000 rows, 10 probes or bags; into results/NAME-quick.",
)
@click.option("--retry-failed", is_flag=True, help="Run cells that failed before once more.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first cell that fails.")
@click.option("--timeout", type=_Seconds(), help="End a cell that takes longer: 90s, 10m, 2h.")
@_trusting
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
    fail_fast: bool,
    timeout: float | None,
) -> None:
    """Run the experiment CONFIG: a YAML file, or the name of a shipped one.

    Cells that are done are kept; what is missing or stale is run. Exit code 0: all done, 1: a cell
    failed or has no data, 2: a mistake in the call, the file or the data, 130: interrupted.
    """
    from dataclasses import replace

    from probcal.config import find_config, read_experiment
    from probcal.data.load import data_folder
    from probcal.run.dask_cluster import Cluster
    from probcal.run.data_step import not_to_be_had
    from probcal.run.plan import make_plan, without_data
    from probcal.run.plan_text import plan_lines
    from probcal.run.run import RunOptions, quick, run_experiment
    from probcal.store import Store

    experiment, originals = read_experiment(find_config(config)), data_folder(data_dir)
    if seed is not None:
        experiment = replace(experiment, seed=seed)
    if in_small:
        experiment = quick(experiment)
    selection = experiment.selected(datasets, learners, methods)
    folder = Path(output) if output else Path("results") / experiment.name
    if dry_run:
        store = Store(folder)
        store.refuse_others(experiment.name)
        plan = make_plan(selection, store, retry_failed=retry_failed)
        plan = without_data(plan, not_to_be_had(selection.cards_read(), originals))
        click.echo(visible("\n".join(plan_lines(plan, every_cell=True))))
        return
    cluster = Cluster.asked_for(scheduler, workers, jobs)
    options = RunOptions(folder, originals, jobs or 1, timeout, retry_failed, fail_fast, cluster)
    sys.exit(run_experiment(experiment, selection, options, lambda line: click.echo(visible(line), err=True)))


@main.command(epilog=_example("probcal fetch configs/uci.yaml\nprobcal fetch uci -d adult --data-dir ~/uci"))
@click.argument("config")
@click.option("-d", "--dataset", "datasets", multiple=True, metavar="NAME", help="Only this data set; may be repeated.")
@_data_dir
@_trusting
def fetch(config: str, datasets: tuple[str, ...], data_dir: str | None) -> None:
    """Bring the data sets of CONFIG into the cache, and check them; runs nothing."""
    from probcal.config import find_config, read_experiment
    from probcal.data.load import data_folder
    from probcal.run.data_step import obtain_all

    selection = read_experiment(find_config(config)).selected(datasets)
    step = obtain_all(selection.cards_read(), data_folder(data_dir), lambda line: None)
    for name, source in step.sources.items():
        click.echo(visible(f"{name}: {source}"))
    for why in step.missing.values():
        click.echo(visible(f"no data: {why}"), err=True)
    sys.exit(1 if step.missing else 0)


@main.command(
    epilog=_example(
        "probcal table results/uci\nprobcal table results/uci --format latex > tables.tex\nprobcal table results/\n"
        "probcal table results/uci results/uci-native --together"
    )
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-f", "--format", "format_", type=click.Choice(_FORMATS), default="markdown", show_default=True)
@click.option("--together", is_flag=True, help="Experiments of one paper side by side, in one set of tables.")
def table(folders: tuple[Path, ...], format_: str, together: bool) -> None:
    """Print the tables of each results FOLDER, or of every experiment below it."""
    from probcal.show.tables import tables_text

    stores = [store for folder in folders for store in _stores(folder)]
    click.echo(tables_text(*stores, format=format_, side_by_side=together), nl=False)


@main.command(
    epilog=_example("probcal check results/uci\nprobcal check results/uci --accept\nprobcal check results/ -f json")
)
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@click.option("--accept", is_flag=True, help="First take the numbers there are as ours: writes FOLDER/accepted.csv.")
@click.option("-f", "--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
def check(folders: tuple[Path, ...], accept: bool, format_: str) -> None:
    """Hold the results in each FOLDER against the paper's numbers and claims, and against our own accepted ones.

    Exit code 0: nothing new; 1: a deviation or claim without a known reason, drift, an impossible number, a failed
    cell, or nothing to compare.
    """
    from probcal.check.accepted import accept as take
    from probcal.check.accepted import accepted_path
    from probcal.check.experiment import Checked
    from probcal.check.json_text import json_text
    from probcal.check.report import check as check_one
    from probcal.check.text import text

    every = [Checked.of(store) for folder in folders for store in _stores(folder)]
    for one in every if accept else ():
        click.echo(f"accepted {take(one)} numbers: {accepted_path(one)}", err=True)
    reports = [check_one(one) for one in every]
    click.echo(json_text(reports) if format_ == "json" else visible("\n".join(map(text, reports))), nl=False)
    sys.exit(0 if all(report.ok for report in reports) else 1)


@main.command(epilog=_example("probcal plot results/figure1"))
@click.argument("folder", type=click.Path(path_type=Path))
def plot(folder: Path) -> None:
    """Draw the figures of the results FOLDER, or of every experiment below it, as PNG and SVG into its figures/."""
    from probcal.show.figures import plot

    for path in plot(_stores(folder), warn=lambda line: click.echo(f"note: {visible(line)}", err=True)):
        click.echo(path)


@main.command(epilog=_example("probcal status results/uci"))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--cells", is_flag=True, help="One line a cell.")
@_trusting
def status(folder: Path, cells: bool) -> None:
    """Say what is done, failed, stale (and why) or still to run in the results FOLDER, and what runs there now.

    The experiment is the one that was run last; where its file has changed since, that is said.
    """
    from probcal.run.status import status_lines

    for store in _stores(folder):
        for line in status_lines(store, every_cell=cells):
            click.echo(visible(line))


@main.command(
    epilog=_example(
        "probcal audit results/audit\nprobcal audit results/audit results/uci --cells\n"
        "probcal audit results/audit -f csv > audit.csv"
    )
)
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-f", "--format", "format_", type=click.Choice(("markdown", "csv")), default="markdown", show_default=True
)
@click.option("-v", "--cells", is_flag=True, help="Show the single numbers too.")
def audit(folders: tuple[Path, ...], format_: str, cells: bool) -> None:
    """Rank variants by their agreement with the published numbers, over all results FOLDERs together.

    Rivals are all columns that stand beside the same published column (variants of a learner or a method,
    or columns of several folders), and all readings of one data set.
    """
    from probcal.check.audit_text import audit_text

    stores = [store for folder in folders for store in _stores(folder)]
    click.echo(audit_text(*stores, format=format_, cells=cells), nl=False)


@main.command(epilog=_example("probcal validate configs/uci.yaml"))
@click.argument("config")
@_trusting
def validate(config: str) -> None:
    """Check the experiment CONFIG without running anything; all faults are reported at once."""
    from probcal.config import find_config, read_experiment
    from probcal.run.plan import cells_of

    experiment = read_experiment(find_config(config))
    click.echo(
        f"{experiment.path} is fine; data sets: {len(experiment.cards)}, columns: {len(experiment.columns)}, "
        f"cells: {len(cells_of(experiment))}"
    )


@main.command(epilog=_example("probcal test probing\nprobcal test my_module.MyMethod -l tree -p share=0.2"))
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("-l", "--learner", metavar="NAME", help="What a method is built around (default: logistic).")
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option("-v", "--verbose", is_flag=True, help="Show where a check failed.")
def test(names: tuple[str, ...], learner: str | None, params: tuple[str, ...], verbose: bool) -> None:
    """Run each learner or method NAME, a short name or an import path, through the checks that all must pass.

    Exit code 0: none failed, 1: one did, 2: a mistake in the call.
    """
    from probcal.contract.command import test_components

    click.get_current_context().with_resource(trusting(*names))  # typed by the user, so trusted
    sys.exit(0 if test_components(names, learner, params, click.echo, tracebacks=verbose) else 1)


@main.command("list", epilog=_example("probcal list datasets"))
@click.argument("kind", type=click.Choice(["datasets", "learners", "methods", "metrics", "configs"]))
def list_(kind: str) -> None:
    """List what a config can name."""
    from probcal.listing import listing

    click.echo(listing(kind))


def _stores(folder: Path) -> list[Any]:
    """The results folders at or below ``folder``; raises ProbcalError when there is none."""
    from probcal.store import find_stores

    if not os.path.isdir(folder):
        fault = "is a file" if os.path.exists(folder) else "is not there"
        raise ProbcalError(f"{folder} {fault}; give a folder of results, as probcal run makes them")
    stores = list(find_stores(folder))
    if not stores and (folder / "cells.jsonl").exists():
        raise ProbcalError(
            f"{folder} has lost its experiment.json; the same probcal run writes it anew and runs nothing"
        )
    if not stores:
        raise ProbcalError(f"{folder} holds no results; probcal run puts them there")
    return stores
