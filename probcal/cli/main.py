"""The command line: the group of all commands, and how errors and interruptions end it."""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
from importlib import import_module
from typing import Any

import click

from probcal._io import visible
from probcal.cli.options import manual, versions_text
from probcal.config.components import trusting
from probcal.errors import ProbcalError
from probcal.runner.interruption import (
    EXIT_CODE,
    MESSAGE,
    end,
    ending_once,
    handle_signals,
    interrupted,
    prepare_streams,
)

_SYSTEM_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Errors of a system that has run out of something. They name no file."""
_HELP = ("-h", "--help")


class _Commands(click.Group):
    """Run the commands. A user's mistake ends with one message and exit code 2, an interruption with 130."""

    def main(self, *args: Any, **options: Any) -> Any:
        if not args and "args" not in options:  # this is the program itself, not a caller with arguments
            prepare_streams()
            handle_signals()
        return super().main(*args, **options)

    def invoke(self, context: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):  # print a character that the terminal lacks as its number
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            if not set(context.args) & {*_HELP}:  # help needs no folder
                _refuse_removed_folder()
            context.with_resource(trusting())
            with ending_once():
                return super().invoke(context)
        except ProbcalError as error:
            click.echo(f"error: {visible(str(error))}", err=True)
            sys.exit(2)
        except OSError as error:
            if error.filename is None and error.errno not in _SYSTEM_FAULTS:
                _refuse_removed_folder()
                _refuse_missing_temporary_folder()
                raise
            click.echo(f"error: {error.filename or 'the system'}: {error.strerror}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            if interrupted():
                end()
            click.echo(f"\n{MESSAGE}", err=True)
            sys.exit(EXIT_CODE)


def _refuse_removed_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        click.echo("error: the current folder was removed; cd to another folder and run the command again", err=True)
        sys.exit(2)


def _refuse_missing_temporary_folder() -> None:
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        click.echo("error: no temporary folder is writable; set TMPDIR to a folder that is", err=True)
        sys.exit(2)


def _print_versions(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(versions_text())
        context.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": [*_HELP]},
    epilog=manual(
        "probcal run quickstart\nprobcal table results/quickstart",
        files={"results/NAME/": "results of an experiment, below the folder of the call"},
        exits={
            0: "done",
            1: "a cell failed, a check found a fault, or data are missing",
            2: "a mistake in the call, a file or the data; one message explains it",
            130: "interrupted; the same command continues",
        },
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Show the versions of probcal, Python and its packages.",
)
def main() -> None:
    """Class probability estimation: run experiments and compare the results with published tables.

    An experiment is a YAML file that names data sets, base learners and probability methods. probcal runs every
    combination on the same splits and stores the results. It prints the tables of four papers with the published
    numbers beside ours. For the help of a command, type probcal COMMAND --help.
    """


_COMMANDS = (
    *("run", "try_", "table", "check", "verify", "plot", "status", "audit", "fetch", "validate", "test", "list_"),
    *("schema", "completion", "compare", "report", "help_", "version"),
)
"""Modules of this package. Each has a command of the same name."""
for name in _COMMANDS:
    main.add_command(getattr(import_module(f"probcal.cli.{name}"), name))
