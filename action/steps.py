"""Run the steps of the GitHub Action: validate, run and check an experiment, then report, badge and summary.

Needs an installed probcal. ``action.yml`` sets the variables CONFIG, ARGUMENTS, RESULTS,
DATA_DIR, JOBS and REPORT. GitHub sets GITHUB_STEP_SUMMARY and GITHUB_OUTPUT. Without them, the summary goes to stdout,
so that you can run the same steps on any machine:

    CONFIG=quickstart python action/steps.py

The repository may be a stranger's. So no module in its root is imported, GitHub obeys no line that a name in a file
prints, no name adds Markdown to the summary, and no link is followed.

Exits with 1 if a cell failed or a number drifted, with 2 for a mistake in the experiment or in a variable.
"""

from __future__ import annotations

import html
import json
import os
import secrets
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from probcal._io import printable
from probcal.cli.experiments import run as run_command
from probcal.config.experiment import find_config
from probcal.yaml_file import YamlFile

_LARGEST_PART = 450_000
"""Bytes of each of the two parts of the summary. GitHub takes one megabyte."""
_UPLOADED = ("report.html", "cells.parquet", "cells.jsonl", "runs.jsonl")
_GREEN, _RED = "#2da44e", "#cf222e"


@dataclass(frozen=True)
class Outcome:
    """Hold what one call of probcal printed, and its exit code."""

    code: int
    text: str


class Mistake(Exception):
    """Report a variable that the user has to change."""


def probcal(*words: str, quiet: bool = False) -> Outcome:
    """Call probcal. Its output is shown in a group of the log, unless ``quiet``."""
    command = f"probcal {shlex.join(words)}"
    with _group(command) as stream:
        ended = subprocess.run(
            # -P keeps the current folder from the places of modules, and the variable tells the workers
            [sys.executable, "-P", "-m", "probcal", *words],
            stdout=subprocess.PIPE, stderr=stream, encoding="utf-8", errors="replace",
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONSAFEPATH": "1"},
        )  # fmt: skip
        if ended.stdout and not quiet:
            print(ended.stdout, end="" if ended.stdout.endswith("\n") else "\n", flush=True)
    return Outcome(ended.returncode, ended.stdout)


@contextmanager
def _group(title: str) -> Iterator[IO[str] | None]:
    """Show what is printed as a group of GitHub's log. Until its end, GitHub obeys no line but the one with a token.

    Gives the stream for errors. On GitHub it is that of the output, because GitHub may read two streams out of order.
    """
    if "GITHUB_ACTIONS" not in os.environ:
        print(f"$ {title}", flush=True)
        yield None
        return
    token = secrets.token_hex(16)
    print(f"::group::{_one_line(title)}\n::stop-commands::{token}", flush=True)
    try:
        yield sys.stdout
    finally:
        print(f"::{token}::\n::endgroup::", flush=True)


def _one_line(text: str) -> str:
    """Return ``text`` as the data of a command of GitHub's log, which decodes %0A."""
    return printable(text).replace("%", "%25").replace("\n", "%0A")


@dataclass(frozen=True)
class RunArguments:
    """Hold the words of ARGUMENTS, and what they mean for the other commands."""

    words: list[str]
    trust: list[str]
    """The words that say which modules are trusted."""
    is_quick: bool

    @classmethod
    def parse(cls, text: str) -> RunArguments:
        """Read ARGUMENTS as ``probcal run`` does. Raises Mistake."""
        try:
            words = shlex.split(text)
            context = click.Context(run_command, info_name="probcal run", help_option_names=["-h", "--help"])
            values, others, parameters = run_command.make_parser(context).parse_args(["CONFIG", *words])
        except (ValueError, click.UsageError) as error:
            message = error.format_message() if isinstance(error, click.UsageError) else str(error)
            raise Mistake(f"ARGUMENTS: {message}") from None
        options = {name for parameter in parameters for name in parameter.opts}
        for option, instead in _NOT_HERE.items():
            if option in options:
                raise Mistake(f"ARGUMENTS has {option}; {instead} instead")
        if others:
            raise Mistake(f"ARGUMENTS has {others[0]}, which belongs to no option; write options of probcal run alone")
        trust = [f"--trust={name}" for name in values.get("trust") or ()]
        return cls(words, trust + ["--allow-imports"] * ("--allow-imports" in options), "--quick" in options)


_NOT_HERE = {"-o": "set RESULTS", "--dry-run": "call probcal run", "--help": "call probcal run"}


def variable(name: str) -> str:
    """Return an environment variable that names a file, a folder or a number. Raises Mistake for an unusable value."""
    value = os.environ.get(name, "")
    if "\n" in value or printable(value) != value:
        raise Mistake(f"{name} holds a line break or a character that nobody sees; write it without")
    if value.startswith("-"):
        raise Mistake(f"{name} is {value}, which reads as an option; options of probcal run belong into ARGUMENTS")
    return value


def name_of(config: str) -> str:
    """Return the name that an experiment file gives itself."""
    return str(YamlFile.read(find_config(config)).data["name"])


def set_output(**values: str) -> None:
    """Set outputs of the step. No value has a line break (``variable``), which would set further outputs."""
    path = os.environ.get("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in values.items())


def add_summary(message: str, checked: str, tables: str) -> None:
    """Add the verdict, the output of ``probcal check`` and the tables to the summary of the job.

    ``probcal table`` escapes the names in its Markdown. The output of ``probcal check`` is no Markdown, so it is HTML
    here, which no line of it can end.
    """
    text = f"## probcal: {message}\n\n<pre>{_beginning(html.escape(checked))}</pre>\n\n{_beginning(tables)}\n"
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    else:
        print(text)


def _beginning(text: str) -> str:
    """Return ``text``, or as many of its first lines as the summary takes."""
    encoded = text.encode()
    if len(encoded) <= _LARGEST_PART:
        return text
    return encoded[:_LARGEST_PART].decode(errors="ignore").rpartition("\n")[0] + "\n\n(the rest is left out here)"


def write_file(path: Path, text: str) -> None:
    """Write a file. A link at its place is replaced, and its target stays as it is. Raises Mistake."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    try:
        os.replace(file.name, path)
    except OSError as error:
        os.unlink(file.name)
        raise Mistake(f"{path} cannot be written ({error.strerror}); remove what lies there") from None


def verdict(reports: list[dict[str, Any]], run_code: int) -> str:
    """Return in a few words what the check found: ``120 numbers as accepted``, ``3 numbers drifted``."""
    if not reports:
        return "run failed" if run_code else "check failed"
    drifts = [one["drift"] for one in reports if one.get("drift")]
    out, gone = (sum(len(one[kind]) for one in drifts) for kind in ("out", "gone"))
    failed = sum(len(one["failed"]) for one in reports)
    if failed or run_code:
        return f"{failed} cell{'s' * (failed > 1)} failed" if failed else "run failed"
    if out:
        return f"{out} number{'s' * (out > 1)} drifted"
    if gone:
        return f"{gone} accepted number{'s' * (gone > 1)} not run"
    if unplanned := sum(len(one["unplanned"]) for one in drifts):
        return f"{unplanned} accepted number{'s' * (unplanned > 1)} no longer in the experiment"
    if not all(one["ok"] for one in reports):
        return "nothing to compare" if any(one["nothing_compared"] for one in reports) else "check failed"
    compared = sum(one["compared"] for one in drifts)
    return f"{compared} numbers as accepted" if compared else "agrees with the paper"


def badge(message: str, passed: bool) -> str:
    """Return an SVG of two boxes: ``probcal`` and the message."""
    left, right = 54, 12 + 7 * len(message)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="probcal: {html.escape(message)}"><rect width="{left}" height="20" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_GREEN if passed else _RED}"/>'
        f'<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14">probcal</text><text x="{left + right / 2}" y="14">{html.escape(message)}</text>'
        "</g></svg>\n"
    )


def main() -> int:
    """Run all steps and return the exit code."""
    try:
        return steps()
    except Mistake as mistake:
        print(f"error: {printable(str(mistake))}", file=sys.stderr)
        return 2


def steps() -> int:
    """Run all steps and return the exit code. Raises Mistake."""
    config, data_dir, jobs = variable("CONFIG"), variable("DATA_DIR"), variable("JOBS") or "1"
    if not config:
        raise Mistake("set CONFIG to an experiment: CONFIG=quickstart python action/steps.py")
    with_report = {"": True, "true": True, "false": False}.get(variable("REPORT").lower())
    if with_report is None:
        raise Mistake(f"REPORT is {variable('REPORT')}; write true or false")
    if data_dir:
        os.environ["PROBCAL_DATA_DIR"] = data_dir
    arguments = RunArguments.parse(os.environ.get("ARGUMENTS", ""))
    results = variable("RESULTS")
    if results and Path(results).name in ("", ".."):
        raise Mistake(f"RESULTS is {results}; name a folder of its own, such as results/mine")
    validated = probcal("validate", config, *arguments.trust)
    if validated.code:
        return validated.code
    folder = Path(results or Path("results") / name_of(config))
    if arguments.is_quick:
        folder = folder.with_name(f"{folder.name}-quick")
    for path in (folder / name for name in _UPLOADED):
        if path.is_symlink():
            raise Mistake(f"{path} is a link, and the action uploads what lies there; remove it")
    ran = probcal("run", config, "-o", str(folder), "-j", jobs, *arguments.words)
    if not (folder / "experiment.json").is_file():
        return ran.code or 1
    checked = probcal("check", str(folder))
    as_json = probcal("check", str(folder), "-f", "json", quiet=True)
    reports = json.loads(as_json.text) if as_json.code in (0, 1) else []
    passed = not (ran.code or checked.code)
    message = verdict(reports, ran.code)
    if with_report:
        probcal("report", str(folder))
    path = folder.with_name(f"{folder.name}-badge.svg")
    write_file(path, badge(message, passed))
    add_summary(message, checked.text, probcal("table", str(folder), quiet=True).text)
    set_output(folder=folder.as_posix(), name=folder.name, passed=str(passed).lower(), badge=path.as_posix())
    print(f"probcal: {message}")
    return max(ran.code, checked.code)


if __name__ == "__main__":
    sys.exit(main())
