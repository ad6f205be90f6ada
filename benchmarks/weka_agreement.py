"""Native learners against Weka's, row by row: python benchmarks/weka_agreement.py [DATASET ...] [--pair PAIR ...]

For every data set of configs/uci-random.yaml that is at hand: the share of test rows that both learners give the
same label, and how far apart their estimates are, on the experiment's own splits. One line a data set and
pair goes to a CSV file as soon as it is known; what is there already is not run again. SMO takes minutes on
coil and adult: ``coil --pair log --pair nb`` leaves it out there.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from probcal._io import csv_text
from probcal.components.classes import import_class
from probcal.components.registry import Builtin
from probcal.config.experiment import find_config, read_experiment
from probcal.data.card import Card, find_card, read_card
from probcal.data.dataset import Dataset
from probcal.data.encode import NumericEncoder
from probcal.data.load import data_folder, load, obtain
from probcal.data.splits import repetitions_of, split_rows
from probcal.errors import ProbcalError
from probcal.learners.registry import LEARNERS
from probcal.methods._base import fresh_copy

PAIRS = {
    "svm": ("linear_svm", "smo"),
    "hinge": ("hinge_svm", "smo"),
    "log": ("logistic", "weka_logistic"),
    "nb": ("kernel_nb", "weka_nb"),
}
SEED = 2005  # as in configs/uci-random.yaml
LEAST_SHARE = 0.995


@dataclass(frozen=True)
class Line:
    """One data set and pair. Differences are of estimates of the positive class; empty where one gives none."""

    dataset: str
    pair: str
    splits: int
    rows: int
    same: int
    largest_difference: float | None
    mean_difference: float | None
    native_seconds: float
    weka_seconds: float


def main() -> None:
    args = arguments()
    try:
        for name in args.datasets or [card.name for card in read_experiment(find_config("uci-random")).cards]:
            card = read_card(find_card(name))
            pairs = [pair for pair in args.pair or PAIRS if args.again or (name, pair) not in read_lines(args.out)]
            if not pairs:
                continue
            try:
                obtain(card, data_folder())
            except ProbcalError as error:
                print(error, file=sys.stderr)
                continue
            for pair in pairs:
                write(args.out, compare(card, pair, args.splits))
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    print(table(read_lines(args.out).values()))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Do the native learners predict what Weka's do?")
    parser.add_argument("datasets", nargs="*", metavar="DATASET", help="all of configs/uci-random.yaml unless given")
    parser.add_argument("--pair", action="append", choices=PAIRS, help="all four unless given; may be repeated")
    parser.add_argument("--splits", type=int, default=3, help="of data sets that are split at random (3)")
    parser.add_argument("--out", type=Path, default=Path("results/weka-agreement.csv"), help="(%(default)s)")
    parser.add_argument("--again", action="store_true", help="run what is in the file already once more")
    return parser.parse_args()


def compare(card: Card, pair: str, splits: int) -> Line:
    """Both learners of a pair on the same rows of every split."""
    dataset, splits = load(card), repetitions_of(card, splits)
    n_same, rows, differences, seconds = 0, 0, [], np.zeros(2)
    for repetition in range(splits):
        train, test = split_rows(card, len(dataset.y), repetition, SEED)
        labels, estimates = [], []
        for place, name in enumerate(PAIRS[pair]):
            start = time.perf_counter()
            learner, X_test = fit_learner(LEARNERS[name], dataset, train, test)
            labels.append(learner.predict(X_test))
            seconds[place] += time.perf_counter() - start
            if hasattr(learner, "predict_proba"):
                estimates.append(learner.predict_proba(X_test)[:, 1])
        n_same += int((labels[0] == labels[1]).sum())
        rows += len(test)
        if len(estimates) == 2:
            differences.append(np.abs(estimates[0] - estimates[1]))
    gaps = np.concatenate(differences) if differences else None
    largest, mean = (None, None) if gaps is None else (float(gaps.max()), float(gaps.mean()))
    return Line(card.name, pair, splits, rows, n_same, largest, mean, *np.round(seconds / splits, 3).tolist())


def fit_learner(builtin: Builtin, dataset: Dataset, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
    """(a learner trained as an experiment trains it, the test rows in its encoding)."""
    X_train, X_test = dataset.X.iloc[train], dataset.X.iloc[test]
    if builtin.encoding == "numeric":
        encoder = NumericEncoder().fit(X_train)
        X_train, X_test = encoder.transform(X_train), encoder.transform(X_test)
    learner = import_class(builtin.path)(**builtin.params)
    return fresh_copy(learner, np.random.default_rng(SEED)).fit(X_train, dataset.y[train]), X_test


def write(path: Path, line: Line) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        header = [[field.name for field in fields(Line)]] if is_new else []
        file.write(csv_text([*header, asdict(line).values()]))


def read_lines(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """(data set, pair) -> its last line in the file."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(line["dataset"], line["pair"]): line for line in csv.DictReader(file)}


def table(lines: Any) -> str:
    headers = ["data set", "native", "Weka", "rows", "same label", "", "largest", "mean", "native, s", "Weka, s"]
    return tabulate(list(rows_of(lines)), headers=headers, tablefmt="github", disable_numparse=True)


def rows_of(lines: Any) -> Iterator[list[str]]:
    for line in lines:
        share = int(line["same"]) / int(line["rows"])
        gaps = [f"{float(line[key]):.1e}" if line[key] else "" for key in ("largest_difference", "mean_difference")]
        yield [
            line["dataset"],
            *PAIRS[line["pair"]],
            f"{int(line['rows']):,}",
            f"{share:.2%}",
            "" if share >= LEAST_SHARE else f"BELOW {LEAST_SHARE:.1%}",
            *gaps,
            line["native_seconds"],
            line["weka_seconds"],
        ]


if __name__ == "__main__":
    main()
