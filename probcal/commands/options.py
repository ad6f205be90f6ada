"""What several commands take."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from probcal.commands import complete
from probcal.errors import ProbcalError
from probcal.trust import EVERYTHING, trusting

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


def stores_at(folder: Path) -> list[Any]:
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
