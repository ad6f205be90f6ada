"""Run the steps of the GitHub Action: validate, run and check an experiment, then report, badge and summary.

Needs an installed probcal. ``action.yml`` sets the variables CONFIG, ARGUMENTS, RESULTS,
DATA_DIR, JOBS and REPORT. GitHub sets GITHUB_STEP_SUMMARY and GITHUB_OUTPUT. Without them, the summary goes to stdout,
so that you can run the same steps on any machine:

    CONFIG=quickstart python action/steps.py

Exits with 1 if a cell failed or a number drifted, with 2 for a mistake in the experiment.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from probcal.config.experiment import find_config
from probcal.config.yaml_file import YamlFile

_LARGEST_SUMMARY = 900_000
"""Characters. GitHub takes one megabyte."""
_GREEN, _RED = "#2da44e", "#cf222e"


@dataclass(frozen=True)
class Outcome:
    """Hold what one call of probcal printed, and its exit code."""

    code: int
    text: str


def probcal(*words: str, quiet: bool = False) -> Outcome:
    """Call probcal. Its output is shown in a group of the log, unless ``quiet``."""
    on_github = "GITHUB_ACTIONS" in os.environ
    print(f"{'::group::' if on_github else '$ '}probcal {shlex.join(words)}", flush=True)
    ended = subprocess.run(
        [sys.executable, "-m", "probcal", *words], stdout=subprocess.PIPE, encoding="utf-8", errors="replace",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    if not quiet:
        print(ended.stdout, end="", flush=True)
    if on_github:
        print("::endgroup::", flush=True)
    return Outcome(ended.returncode, ended.stdout)


def trusting(arguments: list[str]) -> list[str]:
    """Return those of the arguments that say which modules to trust."""
    of_two = (word for at, word in enumerate(arguments) if "--trust" in arguments[max(at - 1, 0) : at + 1])
    return [*of_two, *(word for word in arguments if word == "--allow-imports" or word.startswith("--trust="))]


def name_of(config: str) -> str:
    """Return the name that an experiment file gives itself."""
    return str(YamlFile.read(find_config(config)).data["name"])


def set_output(**values: str) -> None:
    """Set outputs of the step."""
    path = os.environ.get("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in values.items())


def add_summary(text: str) -> None:
    """Add Markdown to the summary of the job."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text[:_LARGEST_SUMMARY])
    else:
        print(text)


def verdict(reports: list[dict[str, Any]], run_code: int) -> str:
    """Return in a few words what the check found: ``120 numbers as accepted``, ``3 numbers drifted``."""
    drifts = [one["drift"] for one in reports if one.get("drift")]
    out, gone = (sum(len(one[kind]) for one in drifts) for kind in ("out", "gone"))
    failed = sum(len(one["failed"]) for one in reports)
    if failed or run_code:
        return f"{failed} cell{'s' * (failed > 1)} failed" if failed else "run failed"
    if out:
        return f"{out} number{'s' * (out > 1)} drifted"
    if gone:
        return f"{gone} accepted number{'s' * (gone > 1)} not run"
    if not all(one["ok"] for one in reports):
        return "nothing to compare" if any(one["nothing_compared"] for one in reports) else "check failed"
    compared = sum(one["compared"] for one in drifts)
    return f"{compared} numbers as accepted" if compared else "agrees with the paper"


def badge(message: str, passed: bool) -> str:
    """Return an SVG of two boxes: ``probcal`` and the message."""
    left, right = 54, 12 + 7 * len(message)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="probcal: {escape(message)}"><rect width="{left}" height="20" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_GREEN if passed else _RED}"/>'
        f'<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{left / 2}" y="14">probcal</text><text x="{left + right / 2}" y="14">{escape(message)}</text>'
        "</g></svg>\n"
    )


def main() -> int:
    """Run all steps and return the exit code."""
    config, data_dir = os.environ.get("CONFIG", ""), os.environ.get("DATA_DIR", "")
    if not config:
        print("error: set CONFIG to an experiment: CONFIG=quickstart python action/steps.py", file=sys.stderr)
        return 2
    if data_dir:
        os.environ["PROBCAL_DATA_DIR"] = data_dir
    arguments = shlex.split(os.environ.get("ARGUMENTS", ""))
    for word, instead in (("-o", "set RESULTS"), ("--output", "set RESULTS"), ("--dry-run", "call probcal run")):
        if word in arguments:
            print(f"error: ARGUMENTS has {word}; {instead} instead", file=sys.stderr)
            return 2
    validated = probcal("validate", config, *trusting(arguments))
    if validated.code:
        return validated.code
    folder = Path(os.environ.get("RESULTS") or Path("results") / name_of(config))
    if "--quick" in arguments:
        folder = folder.with_name(f"{folder.name}-quick")
    ran = probcal("run", config, "-o", str(folder), "-j", os.environ.get("JOBS") or "1", *arguments)
    if not (folder / "experiment.json").is_file():
        return ran.code or 1
    checked = probcal("check", str(folder))
    reports = json.loads(probcal("check", str(folder), "-f", "json", quiet=True).text or "[]")
    passed = not (ran.code or checked.code)
    message = verdict(reports, ran.code)
    if os.environ.get("REPORT", "true") == "true":
        probcal("report", str(folder))
    path = folder.with_name(f"{folder.name}-badge.svg")
    path.write_text(badge(message, passed), encoding="utf-8")
    table = probcal("table", str(folder), quiet=True).text
    heading = f"## probcal: {message}\n\n"
    add_summary(f"{heading}```text\n{checked.text}\n```\n\n{table}\n")
    set_output(folder=folder.as_posix(), name=folder.name, passed=str(passed).lower(), badge=path.as_posix())
    print(f"probcal: {message}")
    return max(ran.code, checked.code)


if __name__ == "__main__":
    sys.exit(main())
