"""Write the table at the head of docs/reliability.md from the other figures: python reliability/summary.py

Every other file of results/reliability has a line that begins with "In all: ". Writes results/reliability/summary.md.
"""

from __future__ import annotations

from pathlib import Path

from tabulate import tabulate

RESULTS = Path(__file__).parents[1] / "results" / "reliability"
WHAT = {
    "kills": "Killed runs",
    "signals": "Signals",
    "environments": "Environments",
    "places": "Full disks and other places",
    "two_hosts": "Two machines on one folder",
    "cells": "Cells that misbehave",
    "bad_inputs": "Bad inputs from a list",
    "weka_routes": "Ways to a file through Weka",
    "fuzz": "Inputs with random changes",
    "data_race": "Data replaced during a run",
    "changed_data": "Changed data and cards",
}


def main() -> None:
    rows = [(WHAT[name], figure, f"`python reliability/{name}.py`") for name, figure in figures().items()]
    table = tabulate(rows, ["", "trials", "command"], tablefmt="github", disable_numparse=True)
    (RESULTS / "summary.md").write_text(f"Written by `python reliability/summary.py`.\n\n{table}\n", encoding="utf-8")
    print(table)


def figures() -> dict[str, str]:
    """Script -> its figures, of those that have been run."""
    return {name: figure_of(RESULTS / f"{name}.md") for name in WHAT if (RESULTS / f"{name}.md").exists()}


def figure_of(file: Path) -> str:
    [line] = [one for one in file.read_text(encoding="utf-8").splitlines() if one.startswith("In all: ")]
    return line.removeprefix("In all: ")


if __name__ == "__main__":
    main()
