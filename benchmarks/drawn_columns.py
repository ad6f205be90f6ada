"""Where the published numbers of drawn columns lie among a hundred draws: python benchmarks/drawn_columns.py

ProbJ48 and ProbLog of Langford & Zadrozny (2005) train on rejection samples, so that each seed gives other numbers.
ProbSVM draws nothing, but the votes of SMO depend on the last bits of its weights: a draw multiplies each weight by
1 + 1e-12 u. The published number must lie within the distribution of the draws. The script reads results/drawn-columns
(probcal run drawn-columns), writes placement.md there, and writes the distributions beside the paper's numbers. There
``probcal check`` reads them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.special import stdtrit
from tabulate import tabulate

from probcal._io import csv_text
from probcal.errors import ProbcalError
from probcal.papers.published import PublishedPaper, folder_of
from probcal.store.folder import Store

PAPER = "langford-zadrozny-2005"
FOLDER = Path(__file__).parents[1] / "results" / "drawn-columns"
LEARNERS = {"j48": "ProbJ48", "smo": "ProbSVM", "log": "ProbLog"}
"""Learner of the experiment -> column of the paper."""
METRICS = ("rms", "cxe", "auc")
TAILS = (2.5, 97.5)
FEW_DRAWS = 40
"""With fewer draws, the 2.5 % point is the smallest draw or next to it."""
DISTRIBUTIONS = folder_of(PAPER) / f"{PAPER}-drawn.csv"
Draws = dict[tuple[str, str, str], list[float]]
"""(column, data set, metric) -> the numbers of all draws."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Place published numbers among a hundred draws.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="results of drawn-columns")
    folder = parser.parse_args().folder
    try:
        draws = read(folder)
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    text = page("DrawDistribution columns on the published splits", HEAD, draws)
    (folder / "placement.md").write_text(text, encoding="utf-8")
    print(text, end="")
    if folder == FOLDER:
        DISTRIBUTIONS.write_text(distributions(draws), encoding="utf-8")


def read(folder: Path) -> Draws:
    """Return the draws of a results folder. Raises ProbcalError for a folder without results."""
    draws: Draws = {}
    for cell in Store(folder).results().values():
        if cell.status == "done":
            for metric in METRICS:
                name = (LEARNERS[cell.learner], cell.dataset.removesuffix("-published"), metric)
                draws.setdefault(name, []).append(cell.metrics[metric])
    return draws


@dataclass(frozen=True)
class Place:
    """Hold where a published number lies among the draws of it."""

    draws: int
    mean: float
    sd: float
    low: float
    high: float
    """The middle 95 % of the draws reach from ``low`` to ``high``."""
    published: float
    decimals: int
    """Number of decimals of the published number, as printed."""
    below: float
    """Share of the draws below the published number. Draws with its printed digits count half."""
    inside: bool
    """Whether the published number is between low and high or in the interval of one more draw, within rounding."""


def place_of(values: np.ndarray, published: float, decimals: int) -> Place:
    """Place a published number among at least two draws.

    The percentiles of few draws are too near each other. So with fewer than ``FEW_DRAWS`` draws the prediction
    interval of one more draw counts, too: t sd sqrt(1 + 1/n) to each side of the mean, by Student's t. It misses 5 % of
    the draws.
    """
    low, high = np.percentile(values, TAILS)
    n, mean, sd, half = len(values), values.mean(), values.std(ddof=1), 0.5 / 10**decimals
    margin = float(stdtrit(n - 1, TAILS[1] / 100)) * sd * np.sqrt(1 + 1 / n) if n < FEW_DRAWS else 0.0
    is_equal = np.abs(values - published) <= half
    quantile = float(np.mean((values < published) & ~is_equal) + np.mean(is_equal) / 2)
    is_inside = bool(min(low, mean - margin) - half <= published <= max(high, mean + margin) + half)
    return Place(n, mean, sd, low, high, published, decimals, quantile, is_inside)


def places(draws: Draws) -> dict[tuple[str, str, str], Place]:
    """Return (column, data set, metric) -> place of the published number, in the order of the paper."""
    paper = PublishedPaper.read(PAPER)
    result = {}
    for column in sorted({name[0] for name in draws}, key=list(paper.columns).index):
        for dataset in sorted({name[1] for name in draws if name[0] == column}):
            for metric in METRICS:
                table, key = paper.tables[metric], (dataset, *paper.columns[column])
                values = np.array(draws[column, dataset, metric])
                if len(values) > 1:
                    result[column, dataset, metric] = place_of(values, table.numbers[key], table.printed_decimals[key])
    return result


HEADER = ["", "", "draws", "mean", "sd", "2.5 %", "97.5 %", "published", "share below", ""]


def page(title: str, head: str, draws: Draws) -> str:
    """Return the page of a table for each column, with the place of each published number."""
    all_places = places(draws)
    blocks = [f"# {title}", head, NOTE]
    for column in dict.fromkeys(name[0] for name in all_places):
        column_places = {name: place for name, place in all_places.items() if name[0] == column}
        n_inside = sum(place.inside for place in column_places.values())
        blocks.append(f"## {column}\n\n{n_inside} of {len(column_places)} published numbers are inside.")
        blocks.append(tabulate(_lines(column_places), HEADER, tablefmt="github", disable_numparse=True))
    return "\n\n".join(blocks) + "\n"


HEAD = """\
Written by `benchmarks/drawn_columns.py` from the results in this folder. `configs/drawn-columns.yaml` has the settings:
Weka 3.4.1, the five published splits, a random stream of its own for each probe, and |S_a| counted on the test rows.
ProbSVM draws nothing. Its draws differ by weights that differ in the twelfth digit only."""
NOTE = """\
CXE is in bits. A published number is inside if it lies between the 2.5 % and 97.5 % points of the draws, within its
rounding. With fewer than 40 draws it may also lie in the 95 % prediction interval of one more draw. One in twenty
numbers of the right reading is outside by chance, and the three numbers of a data set err together."""


DISTRIBUTIONS_HEAD = """\
# Distributions of the columns of Langford & Zadrozny (2005) that draw, on five of the paper's own splits.
# Written by benchmarks/drawn_columns.py from results/drawn-columns (configs/drawn-columns.yaml, Weka 3.4.1): one draw
# for each of {draws} seeds. CXE is in bits. low and high are the 2.5 % and 97.5 % points. Names are the paper's.
"""


def distributions(draws: Draws) -> str:
    """Return the text of the file of distributions: the quantiles of each number over its draws."""
    columns = PublishedPaper.read(PAPER).columns
    lines = [["dataset", "learner", "method", "metric", "draws", "smallest", "low", "median", "high", "largest"]]
    for (column, dataset, metric), values in sorted(draws.items()):
        quantiles = [f"{number:.9f}" for number in np.percentile(values, (0, TAILS[0], 50, TAILS[1], 100))]
        lines.append([dataset, *columns[column], metric, str(len(values)), *quantiles])
    counts = sorted({len(values) for values in draws.values()})
    return DISTRIBUTIONS_HEAD.format(draws=" or ".join(map(str, counts))) + csv_text(lines)


def _lines(places: dict[tuple[str, str, str], Place]) -> Iterator[list[str]]:
    for (_, dataset, metric), place in places.items():
        numbers = [f"{number:.4f}" for number in (place.mean, place.sd, place.low, place.high)]
        share, verdict = f"{place.below:.0%}", "inside" if place.inside else "**outside**"
        yield [
            dataset,
            metric.upper(),
            str(place.draws),
            *numbers,
            f"{place.published:.{place.decimals}f}",
            share,
            verdict,
        ]


if __name__ == "__main__":
    main()
