"""The command line: what all commands share; each has a file of its own in ``commands``."""

from __future__ import annotations

import errno
import io
import os
import sys
import tempfile
from typing import Any

import click

from probcal._io import visible
from probcal.cli.audit import audit
from probcal.cli.check import check
from probcal.cli.compare import compare
from probcal.cli.completion import completion
from probcal.cli.fetch import fetch
from probcal.cli.list import list_
from probcal.cli.options import manual
from probcal.cli.plot import plot
from probcal.cli.report import report
from probcal.cli.run import run
from probcal.cli.schema import schema
from probcal.cli.status import status
from probcal.cli.table import table
from probcal.cli.test import test
from probcal.cli.try_ import try_
from probcal.cli.validate import validate
from probcal.cli.verify import verify
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

_NO_FAULT_OF_OURS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""What a system says that has run out of something; said of no file by name."""
_HELP = ("-h", "--help")


class _Commands(click.Group):
    """Prints a user's mistake as one message and ends with 2; an interruption ends with 130."""

    def main(self, *args: Any, **options: Any) -> Any:
        if not args and "args" not in options:  # the program itself, and no caller with words of its own
            prepare_streams()
            handle_signals()
        return super().main(*args, **options)

    def invoke(self, context: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a character shows its number instead
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            if not set(context.args) & {*_HELP}:  # which reads and writes nothing
                _refuse_a_removed_folder()
            context.with_resource(trusting())
            with ending_once():
                return super().invoke(context)
        except ProbcalError as error:
            click.echo(f"error: {visible(str(error))}", err=True)
            sys.exit(2)
        except OSError as error:
            if error.filename is None and error.errno not in _NO_FAULT_OF_OURS:
                _refuse_a_removed_folder()
                _refuse_to_go_without_temporary_files()
                raise
            click.echo(f"error: {error.filename or 'the system'}: {error.strerror}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            if interrupted():
                end()
            click.echo(f"\n{MESSAGE}", err=True)
            sys.exit(EXIT_CODE)


def _refuse_a_removed_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        click.echo("error: the current folder was removed; cd to one that is there and run the command again", err=True)
        sys.exit(2)


def _refuse_to_go_without_temporary_files() -> None:
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        click.echo("error: no folder for temporary files can be written to; set TMPDIR to one that can", err=True)
        sys.exit(2)


def _print_versions(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from probcal.cli.options import versions_text

        click.echo(versions_text())
        context.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": [*_HELP]},
    epilog=manual(
        "probcal run quickstart\nprobcal table results/quickstart",
        files={"results/NAME/": "what an experiment gave, wherever probcal run was started"},
        exits={
            0: "done",
            1: "a cell failed, a check found something, or data are not to be had",
            2: "a mistake in the call, a file or the data, told in one message",
            130: "interrupted; the same command goes on from there",
        },
    ),
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_versions,
    help="Show the version, and those of Python and the packages behind the numbers.",
)
def main() -> None:
    """Class probability estimation: run experiments from YAML files, print tables beside the papers'.

    An experiment names data sets, base learners and probability methods; every combination is run on the same splits,
    what is measured is kept, and the tables of four papers are printed with the published numbers beside ours. Each
    command explains itself: probcal COMMAND --help.
    """


for command in (
    run,
    try_,
    table,
    check,
    verify,
    plot,
    status,
    audit,
    fetch,
    validate,
    test,
    list_,
    schema,
    completion,
    compare,
    report,
):
    main.add_command(command)
