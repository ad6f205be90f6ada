"""The command line: what all commands share; each has a file of its own in ``commands``."""

from __future__ import annotations

import errno
import io
import signal
import sys
from typing import Any, NoReturn

import click

from probcal import __version__
from probcal.commands.audit import audit
from probcal.commands.check import check
from probcal.commands.compare import compare
from probcal.commands.fetch import fetch
from probcal.commands.list import list_
from probcal.commands.options import example
from probcal.commands.plot import plot
from probcal.commands.report import report
from probcal.commands.run import run
from probcal.commands.status import status
from probcal.commands.table import table
from probcal.commands.test import test
from probcal.commands.try_ import try_
from probcal.commands.validate import validate
from probcal.errors import ProbcalError
from probcal.trust import trusting
from probcal.visible import visible

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


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example("probcal run quickstart\nprobcal table results/quickstart"),
)
@click.version_option(__version__, prog_name="probcal")
def main() -> None:
    """Class probability estimation: run experiments from YAML files, print tables beside the papers'."""


for command in (run, try_, table, check, compare, plot, report, status, audit, fetch, validate, test, list_):
    main.add_command(command)
