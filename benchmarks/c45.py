"""C45Classifier against Weka's J48: python benchmarks/c45.py [agreement|speed] [--dataset NAME ...] [-o FILE]

Agreement: on each data set of SETS that is at hand, J48 and C45Classifier are fitted on the training rows of the first
split, under class weights as Probing has them, and on bags (--fits of each). The table counts trees that differ in a
node, test rows with another label, and the largest difference of a probability. Exit code 1 where a node or label
differs, or a probability by more than 1e-9. Speed: a hundred probes on Adult, fit and labels of the training rows, by
the shortcut of C45Classifier in one thread and in all, and by J48 through Java (every tenth, multiplied).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import speed
from threadpoolctl import threadpool_limits

from probcal.data.card import Card, find_card, read_card
from probcal.data.load import data_folder, load, obtain
from probcal.data.splits import split_rows
from probcal.errors import ProbcalError
from probcal.learners import C45Classifier, WekaClassifier
from probcal.methods.refinement import even_thresholds

sys.path.append(str(speed.ROOT))
from tests.learners.j48_trees import OPTIONS, native_tree, weka_tree

SETS = (
    "adult", "australian", "breast", "coil", "coil-nominal", "diabetes", "echocardiogram-still-alive", "hepatitis",
    "ionosphere", "kr-vs-kp", "liver", "mushroom", "sick",
)  # fmt: skip
SEED = 2005  # as in configs/uci-random.yaml
N_PROBES = 100
EVERY = 10
ABOUT = (
    "J48 of Weka and C45Classifier on the training rows of the first split of configs/uci-random.yaml: under class"
    " weights as Probing has them, and on bags. A tree differs if its columns, cuts or class weights do. Labels and"
    " probabilities are of the test rows."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["agreement", "speed"])
    parser.add_argument(
        "--dataset", action="append", metavar="NAME", help="all of configs/uci-random.yaml unless given"
    )
    parser.add_argument("--fits", type=int, default=100, help="of each kind (%(default)s)")
    parser.add_argument("--options", choices=[*OPTIONS], default="", help="of J48 (its defaults)")
    out = speed.RESULTS / "c45.md"
    parser.add_argument("-o", "--out", default=str(out), metavar="FILE", help="of the agreement; - for none")
    asked = parser.parse_args()
    wrong = False
    if asked.part != "speed":
        rows = []
        for card in cards(asked.dataset):
            for row, same in agreement(card, asked.options, asked.fits):
                wrong |= not same
                rows.append(list(row.values()))
                print(" | ".join(rows[-1]), flush=True)
                headers = list(row)
        if rows:
            speed.report(asked.out, "c45.py agreement", ABOUT, headers, rows)
    if asked.part != "agreement":
        for text in speeds():
            print(text, flush=True)
    sys.exit(1 if wrong else 0)


def cards(names: list[str] | None) -> Iterator[Card]:
    """The cards whose data are at hand."""
    for name in names or SETS:
        card = read_card(find_card(name))
        try:
            obtain(card, data_folder())
        except ProbcalError as error:
            print(error, file=sys.stderr)
            continue
        yield card


def agreement(card: Card, options: str, n_fits: int) -> Iterator[tuple[dict[str, str], bool]]:
    X, y, X_test = split(card)
    second = y == np.unique(y)[1]
    thresholds = even_thresholds(n_fits)
    kinds: dict[str, Callable[[int], tuple[Any, np.ndarray, Any]]] = {
        "class weights": lambda fit: (X, y, np.where(second, (1 - thresholds[fit]) / thresholds[fit], 1.0)),
        "bags": lambda fit: bag(X, y, fit),
    }
    for kind, drawn in kinds.items():
        trees = labels = nodes = 0
        largest, seconds = 0.0, np.zeros(2)
        for fit in range(n_fits):
            rows, of_rows, weights = drawn(fit)
            start = time.process_time()
            weka = WekaClassifier("trees.J48", options).fit(rows, of_rows, sample_weight=weights)
            theirs = weka.predict_proba(X_test)
            middle = time.process_time()
            native = C45Classifier(**OPTIONS[options]).fit(rows, of_rows, sample_weight=weights)
            ours = native.predict_proba(X_test)
            seconds += middle - start, time.process_time() - middle
            trees += not same_trees(native_tree(native), weka_tree(weka))
            nodes += len(native.tree_[0])
            labels += int((ours.argmax(axis=1) != theirs.argmax(axis=1)).sum())
            largest = max(largest, float(np.abs(ours - theirs).max()))
        row = {
            "data set": card.name,
            "options": options or "defaults",
            "fits": f"{n_fits} {kind}",
            "nodes": f"{nodes:,}",
            "trees that differ": str(trees),
            "labels that differ": f"{labels} of {n_fits * len(X_test):,}",
            "largest difference": f"{largest:.0e}",
            "J48, CPU s": f"{seconds[0]:.1f}",
            "C45Classifier, CPU s": f"{seconds[1]:.1f}",
        }
        yield row, not trees and not labels and largest <= 1e-9


def split(card: Card) -> tuple[Any, np.ndarray, Any]:
    """(training rows, their labels, test rows) of the first split."""
    data = load(card)
    train, test = split_rows(card, len(data.y), 0, SEED)
    return data.X.iloc[train].reset_index(drop=True), np.asarray(data.y)[train], data.X.iloc[test]


def bag(X: Any, y: np.ndarray, seed: int) -> tuple[Any, np.ndarray, None]:
    rows = np.random.default_rng(seed).integers(0, len(y), len(y))
    return X.iloc[rows], y[rows], None


def same_trees(one: list[Any], other: list[Any]) -> bool:
    """Whether nested trees have the same nodes. Weights of missing values may differ by rounding."""
    if isinstance(one[-1], list) != isinstance(other[-1], list):
        return False
    if not isinstance(one[-1], list):
        return bool(np.allclose(one, other, rtol=1e-6, atol=1e-6))
    if one[:-1] != other[:-1] or len(one[-1]) != len(other[-1]):
        return False
    return all(same_trees(*pair) for pair in zip(one[-1], other[-1], strict=True))


def speeds() -> Iterator[str]:
    X, y, _ = split(next(cards(["adult"])))
    thresholds = even_thresholds(N_PROBES)
    weights = np.column_stack([np.ones(N_PROBES), (1 - thresholds) / thresholds])
    tree = C45Classifier()
    tree.fit(X, y).predict(X)  # compiled, if it was not yet
    shortcut = tree.class_weight_shortcut()
    shortcut.fit(tree, X, y, weights[:1], None)  # the columns are sorted once

    def probes(of: np.ndarray) -> None:
        shortcut.margins(shortcut.fit(tree, X, y, of, None), X)

    def through_java(of: np.ndarray) -> None:
        second = y == np.unique(y)[1]
        for pair in of:
            WekaClassifier("trees.J48").fit(X, y, sample_weight=pair[second.astype(int)]).predict(X)

    def in_one_thread(of: np.ndarray) -> None:
        with threadpool_limits(1):
            probes(of)

    through_java(weights[50:51])  # Java is started
    kinds = (("one thread", in_one_thread, 1), ("all threads", probes, 1), ("J48 through Java", through_java, EVERY))
    for name, work, every in kinds:
        wall, cpu = time.perf_counter(), time.process_time()
        work(weights[every // 2 :: every])
        took = np.array([time.perf_counter() - wall, time.process_time() - cpu]) * every
        yield f"{N_PROBES} probes on Adult, {name}: {took[0]:.1f} s, CPU {took[1]:.1f} s"


if __name__ == "__main__":
    main()
