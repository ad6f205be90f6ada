"""Write the published numbers of the beta calibration papers as probcal reads them: one CSV per paper.

The authors' result files are in their repositories, REFRAME/betacal and betacal/post-aistats2017 on GitHub. For each
learner there are ``PAPER_LEARNER_main_results.csv`` (accuracy and log loss) and ``PAPER_LEARNER_main_brier.csv``, as
renamed here. Each number keeps its characters. Their tables in TeX are not read: those of AISTATS are shifted by a row.

    python -m research.beta_calibration_numbers FOLDER

writes ``kull-silva-filho-flach-2017.csv`` and ``kull-silva-filho-flach-2017-ejs.csv`` beside the papers' files.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from probcal.papers.published import folder_of

PAPER_FILES = {
    "kull-silva-filho-flach-2017": (
        "aistats",
        {"nbayes": "nbayes", "adao": "standard", "adas": "scikit", "logistic": "logistic"},
    ),
    "kull-silva-filho-flach-2017-ejs": (
        "ejs",
        {name: name for name in ("nbayes", "adao", "adas", "logistic", "forest", "mlp", "svm")},
    ),
}
"""Name of a paper -> start of its files' names, and learner -> its name there."""
METHODS = {
    "None": "none",
    "sigmoid": "sigmoid",
    "isotonic": "isotonic",
    "beta": "beta",
    "beta2": "beta_am",
    "beta_am": "beta_am",
    "beta05": "beta_ab",
    "beta_ab": "beta_ab",
}
"""Name of a method in the authors' files -> our name of it."""
METRICS = {"acc": "accuracy", "loss": "log_loss", "brier": "brier"}

Cell = tuple[str, str, str]
"""(data set, method, metric)"""


def main_results(path: Path) -> Iterator[tuple[Cell, tuple[str, str]]]:
    """Yield cell -> (mean, sd) of a file with a row for each data set and method. Its Brier scores are left out."""
    with path.open(encoding="utf-8", newline="") as file:
        kinds, metrics, _, *rows = csv.reader(file)
    place = {column: number for number, column in enumerate(zip(kinds, metrics, strict=True)) if number > 1}
    for row in rows:
        for metric in ("acc", "loss"):
            yield (row[0], METHODS[row[1]], METRICS[metric]), (row[place["mean", metric]], row[place["std", metric]])


def main_brier(path: Path) -> Iterator[tuple[Cell, tuple[str, str]]]:
    """Yield cell -> (mean, sd) of a file with a row for each data set."""
    with path.open(encoding="utf-8", newline="") as file:
        kinds, _, methods, _, *rows = csv.reader(file)
    place = {column: number for number, column in enumerate(zip(kinds, methods, strict=True)) if number > 0}
    for row in rows:
        for method in methods[1:7]:
            yield (row[0], METHODS[method], "brier"), (row[place["mean", method]], row[place["std", method]])


def write_numbers(folder: Path, paper: str, out_folder: Path) -> Path:
    """Write the CSV of a paper into the folder ``out_folder`` and return its path."""
    start, learners = PAPER_FILES[paper]
    path = out_folder / f"{paper}.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("dataset", "learner", "method", "metric", "mean", "sd"))
        for learner, name in learners.items():
            cells = dict(main_results(folder / f"{start}_{name}_main_results.csv"))
            cells |= main_brier(folder / f"{start}_{name}_main_brier.csv")
            for (dataset, method, metric), numbers in cells.items():
                writer.writerow((dataset, learner, method, metric, *numbers))
    return path


if __name__ == "__main__":
    for paper in PAPER_FILES:
        print(write_numbers(Path(sys.argv[1]), paper, folder_of(paper)))
