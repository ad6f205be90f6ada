"""C45Classifier against Weka's J48: python benchmarks/c45.py [agreement|speed] [--dataset NAME ...] [-o FILE]

Agreement: on each data set of SETS that is at hand, J48 and C45Classifier are fitted on the training rows of the first
split, under class weights as Probing has them, and on bags (--fits of each). The table counts trees that differ in a
node, test rows with another label, and the largest difference of a probability. Exit code 1 where a node or label
differs, or a probability by more than 1e-9. Speed: a hundred probes on Adult, fit and labels of the training rows, by
the shortcut of C45Classifier, by a loop of its fits, and by J48 through Java (every tenth, multiplied). Exit code 1
where a label differs. The speed goes to results/speed/c45.md, and the agreement to c45-agreement.md.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import speed
from sklearn.base import clone
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
STEP = 10
NOTE = (
    "J48 of Weka and C45Classifier on the training rows of the first split of configs/uci-random.yaml: under class"
    " weights as Probing has them, and on bags. A tree differs if its columns, cuts or class weights do. Labels and"
    " probabilities are of the test rows."
)
SPEED_NOTE = (
    "Fit and labels of the 32,561 training rows of Adult in one thread, 14 numeric and nominal columns, for 100 even"
    " thresholds. Ratio: CPU seconds over those of the first line."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["agreement", "speed"])
    parser.add_argument(
        "--dataset", action="append", metavar="NAME", help="all of configs/uci-random.yaml unless given"
    )
    parser.add_argument("--fits", type=int, default=100, help="of each kind (%(default)s)")
    parser.add_argument("--options", choices=[*OPTIONS], default="", help="of J48 (its defaults)")
    parser.add_argument("-o", "--out", metavar="FILE", help="of one part; - for none")
    args = parser.parse_args()
    has_difference = False
    if args.part != "speed":
        rows = []
        for card in cards(args.dataset):
            for row, is_same in agreement(card, args.options, args.fits):
                has_difference |= not is_same
                rows.append(list(row.values()))
                print(" | ".join(rows[-1]), flush=True)
                headers = list(row)
        if rows:
            out = args.out or str(speed.RESULTS / "c45-agreement.md")
            speed.report(out, "c45.py agreement", NOTE, headers, rows)
    if args.part != "agreement":
        rows = list(speeds())
        has_difference |= any(row[-1] not in ("", "0") for row in rows)
        headers = ["way", "CPU", "wall", "ratio of CPU", "labels that differ"]
        speed.report(args.out or str(speed.RESULTS / "c45.md"), "c45.py speed", SPEED_NOTE, headers, rows)
    sys.exit(1 if has_difference else 0)


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
    for kind, sample in kinds.items():
        trees = labels = nodes = 0
        largest, seconds = 0.0, np.zeros(2)
        for fit in range(n_fits):
            rows, y_rows, weights = sample(fit)
            start = time.process_time()
            weka = WekaClassifier("trees.J48", options).fit(rows, y_rows, sample_weight=weights)
            p_weka = weka.predict_proba(X_test)
            middle = time.process_time()
            native = C45Classifier(**OPTIONS[options]).fit(rows, y_rows, sample_weight=weights)
            p_native = native.predict_proba(X_test)
            seconds += middle - start, time.process_time() - middle
            trees += not are_equal_trees(native_tree(native), weka_tree(weka))
            nodes += len(native.tree_[0])
            labels += int((p_native.argmax(axis=1) != p_weka.argmax(axis=1)).sum())
            largest = max(largest, float(np.abs(p_native - p_weka).max()))
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


def are_equal_trees(first: list[Any], second: list[Any]) -> bool:
    """Whether nested trees have the same nodes. Weights of missing values may differ by rounding."""
    if isinstance(first[-1], list) != isinstance(second[-1], list):
        return False
    if not isinstance(first[-1], list):
        return bool(np.allclose(first, second, rtol=1e-6, atol=1e-6))
    if first[:-1] != second[:-1] or len(first[-1]) != len(second[-1]):
        return False
    return all(are_equal_trees(*pair) for pair in zip(first[-1], second[-1], strict=True))


def speeds() -> Iterator[list[str]]:
    """Rows of the table of speed. The shortcut is the first, and labels are compared with its labels."""
    X, y, _ = split(next(cards(["adult"])))
    thresholds = even_thresholds(N_PROBES)
    weights = np.column_stack([np.ones(N_PROBES), (1 - thresholds) / thresholds])
    second = (y == np.unique(y)[1]).astype(int)
    tree = C45Classifier()
    tree.fit(X, y).predict(X)  # compiled, if it was not yet
    WekaClassifier("trees.J48").fit(X, y)  # Java is started

    def probes(weight_pairs: np.ndarray) -> np.ndarray:
        shortcut = tree.class_weight_shortcut()
        answers: np.ndarray = shortcut.margins(shortcut.fit(tree, X, y, weight_pairs, None), X)[0] > 0
        return answers

    def loop(learner: Any, weight_pairs: np.ndarray) -> np.ndarray:
        predicted = [clone(learner).fit(X, y, sample_weight=pair[second]).predict(X) for pair in weight_pairs]
        return np.column_stack(predicted) == np.unique(y)[1]

    kinds: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
        "C45Classifier, 100 probes together": (probes, 1),
        "C45Classifier, loop": (lambda weight_pairs: loop(tree, weight_pairs), 1),
        f"J48 through Java, loop; every {STEP}th, multiplied": (
            lambda weight_pairs: loop(WekaClassifier("trees.J48"), weight_pairs),
            STEP,
        ),
    }
    base_cpu, labels = 0.0, np.empty(0)
    for name, (work, step) in kinds.items():
        part = slice(step // 2, None, step)
        with threadpool_limits(1):
            answers, cost = speed.costs_of(lambda work=work, part=part: work(weights[part]))
        base_cpu, labels = base_cpu or cost.cpu, labels if len(labels) else answers
        n_differ = int((answers != labels[:, part]).sum())
        row = [name, speed.seconds(cost.cpu * step), speed.seconds(cost.wall * step)]
        row += [speed.times(cost.cpu * step, base_cpu), f"{n_differ}"]
        print(" | ".join(row), flush=True)
        yield row


if __name__ == "__main__":
    main()
