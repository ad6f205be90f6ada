"""ProbJ48 and ProbLog of Langford & Zadrozny (2005) with one random stream for all probes, on the published splits.

PROBCAL_WEKA_JAR=.../weka-3.4.1/weka.jar python -m research.one_stream --data-dir DIR [--seeds N] [-o FOLDER]

A program that makes a new ``java.util.Random(seed)`` for each probe draws the same numbers for each. Seed 1 is that of
Weka. results/drawn-columns has the other reading, a stream of its own for each probe. Each draw is a line of draws.csv,
which is written as soon as it is known; what the file has already is not drawn again. table.md is written at the end,
and with --seeds 0 from the file alone. A draw takes a second or two, and seeds are drawn evenly over columns and sets.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.drawn_columns import Draws, page
from probcal import ProbingClassifier
from probcal._io import csv_text
from probcal.data.card import find_card, read_card
from probcal.data.dataset import assemble
from probcal.data.load import data_folder
from probcal.data.sources.files import read_original_files
from probcal.data.splits import split_rows
from probcal.errors import ProbcalError
from probcal.learners.registry import LEARNERS
from probcal.learners.weka.classifier import Header, make
from probcal.learners.weka.jvm import java_class, named_version
from probcal.metrics import cross_entropy, rms_error, roc_auc

DATASETS = ("australian", "breast", "diabetes", "echocardiogram", "hepatitis")
COLUMNS = {"ProbJ48": "j48", "ProbLog": "weka_logistic"}
"""Column of the paper -> learner."""
METRICS = {"rms": rms_error, "cxe": cross_entropy, "auc": roc_auc}
RELEASE = "3.4.1"
FOLDER = Path(__file__).parents[1] / "results" / "one-stream"


@dataclass(frozen=True)
class Draw:
    """Hold the numbers of one seed. ``cxe`` is in bits."""

    column: str
    dataset: str
    seed: int
    rms: float
    cxe: float
    auc: float

    @property
    def name(self) -> tuple[str, str, int]:
        return self.column, self.dataset, self.seed


class Table:
    """Hold the rows of a data set in Java. Making them anew for each classifier would take most of the time.

    ``y``: (n_rows,) labels, 0 or 1. ``train`` and ``test``: (n, 1) numbers of rows.
    """

    def __init__(self, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> None:
        self.y, self.train, self.test = y, train[:, None], test[:, None]
        self.rows = Header.of(X, np.unique(y)).instances(X, y.astype(np.float64))
        self.instances = [self.rows.instance(place) for place in range(len(y))]

    def part(self, numbers: np.ndarray) -> Any:
        """Return the Instances of these rows."""
        instances = java_class("weka.core.Instances")(self.rows, len(numbers))
        for number in numbers.tolist():
            instances.add(self.instances[number])  # adds a copy
        return instances


def uniform_numbers(n: int, seed: int) -> np.ndarray:
    """Return n numbers of Java's own generator, as a program that makes a new ``Random(seed)`` for each probe has."""
    random = java_class("java.util.Random")(seed)
    return np.array([random.nextDouble() for _ in range(n)])


class OneStreamRows(ClassifierMixin, BaseEstimator):
    """Fit on the rows whose number of ``uniform`` is below weight / largest weight: rejection sampling with one stream.

    The samples of two thresholds then share nearly all rows, so that the votes of their classifiers err together.
    Predict as ``WekaClassifier`` does, on numbers of rows of a ``Table``: X is (n_rows, 1) int.
    """

    def __init__(self, table: Table, classifier: str, options: str = "", uniform: np.ndarray | None = None) -> None:
        self.table = table
        self.classifier = classifier
        self.options = options
        self.uniform = uniform

    def __sklearn_clone__(self) -> OneStreamRows:
        return OneStreamRows(self.table, self.classifier, self.options, self.uniform)  # with the same table

    def fit(self, X: np.ndarray, y: np.ndarray, sample_weight: np.ndarray | None = None) -> OneStreamRows:
        self.classes_ = np.unique(y)
        weights = np.ones(len(y)) if sample_weight is None else sample_weight
        mask = np.ones(len(y), bool) if self.uniform is None else self.uniform * weights.max() < weights
        self.only_class_ = y[mask][0] if (y[mask] == y[mask][0]).all() else None
        if self.only_class_ is None:
            self.java_ = make(self.classifier, self.options)
            self.java_.buildClassifier(self.table.part(X[mask, 0]))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predicted labels, 0 or 1."""
        if self.only_class_ is not None:
            return np.full(len(X), self.only_class_)
        distributions = [
            self.java_.distributionForInstance(self.table.instances[number]) for number in X[:, 0].tolist()
        ]
        return np.array([int(p[1] > p[0]) for p in distributions])


def main() -> None:
    args = arguments()
    draws = args.out / "draws.csv"
    names = [
        (column, dataset, seed)
        for seed in range(args.seeds)
        for dataset in args.dataset or DATASETS
        for column in args.column or COLUMNS
    ]
    old_names = {draw.name for draw in read(draws)}
    new_names = [name for name in names if name not in old_names]
    try:
        if new_names:
            require_release()
            for draw in progress(draw_numbers(new_names, original_files(args.data_dir)), len(new_names)):
                append(draws, draw)
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    all_draws = read(draws)
    if not all_draws:
        sys.exit(f"error: {draws} has no draws; name at least one seed: --seeds 20")
    text = table(all_draws)
    (args.out / "table.md").write_text(text, encoding="utf-8")
    print(text, end="")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="ProbJ48 and ProbLog with one random stream for all probes.")
    parser.add_argument("--seeds", type=int, default=20, metavar="N", help="0 to N - 1 (%(default)s)")
    parser.add_argument("-d", "--dataset", action="append", choices=DATASETS, help="all unless given; may be repeated")
    parser.add_argument("--column", action="append", choices=COLUMNS, help="all unless given; may be repeated")
    parser.add_argument("--data-dir", metavar="DIR", help="original data files ($PROBCAL_DATA_DIR)")
    parser.add_argument("-o", "--out", type=Path, default=FOLDER, metavar="FOLDER", help="results/one-stream")
    return parser.parse_args()


def original_files(name: str | None) -> Path:
    """Return the folder of original data files. Raises ProbcalError without one."""
    folder = data_folder(name)
    if folder is None:
        raise ProbcalError("name the folder of original data files: --data-dir DIR, or PROBCAL_DATA_DIR")
    return folder


def require_release() -> None:
    """Raise ProbcalError unless ``PROBCAL_WEKA_JAR`` names Weka 3.4.1, and speed Java up."""
    if not (named_version() or "").startswith(RELEASE):
        raise ProbcalError(
            f"PROBCAL_WEKA_JAR must name the jar file of Weka {RELEASE}; it names {named_version() or 'nothing'}"
        )
    # Logistic of 3.4.1 asks for a garbage collection in each iteration, which takes nearly all of its time
    os.environ["JAVA_TOOL_OPTIONS"] = f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} -XX:+DisableExplicitGC".strip()


def draw_numbers(names: Iterable[tuple[str, str, int]], folder: Path) -> Iterator[Draw]:
    tables: dict[str, Table] = {}
    for column, dataset, seed in names:
        if dataset not in tables:
            tables[dataset] = published_table(dataset, folder)
        p = probabilities(column, seed, tables[dataset])
        y = tables[dataset].y[tables[dataset].test[:, 0]]
        yield Draw(column, dataset, seed, *(round(float(metric(y, p)), 6) for metric in METRICS.values()))


def published_table(dataset: str, folder: Path) -> Table:
    card = read_card(find_card(f"{dataset}-published"))
    data = assemble(card, read_original_files(card, folder))
    return Table(data.X, data.y, *split_rows(card, len(data.y), 0, 0))


def probabilities(column: str, seed: int, table: Table) -> np.ndarray:
    """Return the predicted probability of the positive class for each test row."""
    y = table.y[table.train[:, 0]]
    learner = OneStreamRows(table, **LEARNERS[COLUMNS[column]].params, uniform=uniform_numbers(len(y), seed))
    # the learner itself draws by the weights
    method = ProbingClassifier(learner, 98, weighting="weight", discretisation="transductive", clip=(0, 1))
    method.fit(table.train, y, None, table.test)
    return np.asarray(method.predict_proba(table.test)[:, 1])


def progress(draws: Iterator[Draw], total: int) -> Iterator[Draw]:
    begin = time.perf_counter()
    for number, draw in enumerate(draws, 1):
        yield draw
        seconds_left = (time.perf_counter() - begin) / number * (total - number)
        numbers = " / ".join(f"{getattr(draw, metric):.4f}" for metric in METRICS)
        label = f"{draw.column} {draw.dataset} seed {draw.seed}"
        print(f"{number}/{total} {label}: {numbers}; {seconds_left / 60:.0f} minutes left", file=sys.stderr, flush=True)


def append(path: Path, draw: Draw) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    header = [] if path.exists() else [[field.name for field in fields(Draw)]]
    with path.open("a", newline="", encoding="utf-8") as file:
        file.write(csv_text([*header, asdict(draw).values()]))


def read(path: Path) -> list[Draw]:
    """Return the draws of the file, or none without it. A last line that was cut off is left out."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        lines = [line for line in csv.DictReader(file) if all(line.values())]
    return [
        Draw(line["column"], line["dataset"], int(line["seed"]), *(float(line[metric]) for metric in METRICS))
        for line in lines
    ]


def table(draws: list[Draw]) -> str:
    """Return the page with the place of each published number among the draws."""
    values: Draws = {}
    for draw in draws:
        for metric in METRICS:
            values.setdefault((draw.column, draw.dataset, metric), []).append(getattr(draw, metric))
    return page("One random stream for all probes, on the published splits", HEAD, values)


HEAD = """\
Written by `research/one_stream.py` from [draws.csv](draws.csv), with the numbers of each seed. Each probe draws the
same numbers, one for each row, of `java.util.Random(seed)`. In `results/drawn-columns` each probe has its own."""


if __name__ == "__main__":
    main()
