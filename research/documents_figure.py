"""Draws what research.documents_search wrote: python -m research.documents_figure."""

from __future__ import annotations

import csv
from pathlib import Path

from matplotlib.figure import Figure

from probcal.papers.published import PublishedPaper
from probcal.reporting.drawing import drawing_style, save_figure

FOLDER = Path("results/documents")
_METRICS = ("l1", "c_emp")


def main() -> None:
    """A line for each reading, a point for each exponent, and the published pair with its spread."""
    with (FOLDER / "surface.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["topics"] != "20"]
    with drawing_style(**{"font.size": 8}):
        save_figure(_figure(rows), FOLDER / "surface")


def _figure(rows: list[dict[str, str]]) -> Figure:
    exponents = dict.fromkeys(row["exponent"] for row in rows)
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for number, reading in enumerate(dict.fromkeys(row["reading"] for row in rows)):
        l1, c_emp = ([float(row[metric]) for row in rows if row["reading"] == reading] for metric in _METRICS)
        axes.plot(l1, c_emp, "-" if number < 10 else "--", marker=".", color=f"C{number % 10}", label=reading)
    tables = PublishedPaper.read("gao-parameswaran-peng-2017-documents").tables
    (x, dx), (y, dy) = ((*tables[metric].numbers.values(), *tables[metric].spreads.values()) for metric in _METRICS)
    axes.errorbar([x], [y], [dy], [dx], fmt="k*", markersize=10, label="published, ± sd")
    axes.set(xlabel="l1 error", ylabel="c_emp", yscale="log")
    figure.legend(loc="outside right upper", title=f"reading, exponents {' '.join(exponents)} right to left")
    return figure


if __name__ == "__main__":
    main()
