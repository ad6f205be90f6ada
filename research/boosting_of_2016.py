"""How far the AdaBoost columns of Kull, Silva Filho & Flach (2017) come back on their random stream.

    python -m research.boosting_of_2016 --data-dir DIR

Each reading replays the authors' stream on a few data sets. "old sums" is SAMME.R alone, with stumps that add the
weights of rows in the order of scikit-learn 0.17. "no constraint" is our own AdaBoost with beta maps that may fall.
"EJS" is our own AdaBoost in the longer paper, where one classifier of all training rows scores the test rows, and "EJS,
old sums" is SAMME.R alone there. Writes results/boosting-of-2016/table.md. About 20 minutes on two processors.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, Self

import numpy as np
from numba import njit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from tabulate import tabulate

OUT = Path("results/boosting-of-2016/table.md")
AISTATS, EJS = "kull-silva-filho-flach-2017", "kull-silva-filho-flach-2017-ejs"
OLD_SUMS = "iris zoo balance-scale car german diabetes glass heart-statlog ecoli vowel wdbc flare"
NO_CONSTRAINT = (
    "german abalone mushroom mfeat-morphological page-blocks dermatology glass hepatitis heart-statlog horse autos "
    "credit-approval diabetes balance-scale"
)
EJS_NO_CONSTRAINT = (
    "german abalone mushroom mfeat-morphological dermatology heart-statlog autos credit-approval diabetes "
    "balance-scale cleveland wpbc"
)
EJS_OLD_SUMS = "vowel flare"
CONFIG = """\
name: {name}
title: AdaBoost on the random stream of the authors
paper: {paper}
repeats: 10
split: {{kind: legacy_stratified_k_fold, folds: 5}}
datasets: [{datasets}]
learners: {learners}
methods: {methods}
metrics: [log_loss]
"""
_LARGEST_INTEGER = 0x7FFFFFFF
_SMALLEST_GAP = np.float32(1e-7)
_SMALLEST_IMPURITY = 1e-7
"""A node of smaller impurity is not split."""
_EPSILON = float(np.finfo(np.float64).eps)


@njit(error_model="numpy")
def _swap(values, rows, i, j):
    values[i], values[j] = values[j], values[i]
    rows[i], rows[j] = rows[j], rows[i]


@njit(error_model="numpy")
def _sift(values, rows, begin, root, end):
    while True:
        largest = root
        for child in (2 * root + 1, 2 * root + 2):
            if child < end and values[begin + largest] < values[begin + child]:
                largest = child
        if largest == root:
            return
        _swap(values, rows, begin + root, begin + largest)
        root = largest


@njit(error_model="numpy")
def _heap_sort(values, rows, begin, count):
    for start in range((count - 2) // 2, -1, -1):
        _sift(values, rows, begin, start, count)
    for end in range(count - 1, 0, -1):
        _swap(values, rows, begin, begin + end)
        _sift(values, rows, begin, 0, end)


@njit(error_model="numpy")
def _sort(values, rows, begin, count, depth):
    """Sort as scikit-learn's trees did: quicksort in three ways. It decides the order of rows with one value."""
    while count > 1:
        if depth <= 0:
            _heap_sort(values, rows, begin, count)
            return
        depth -= 1
        a, b, c = values[begin], values[begin + count // 2], values[begin + count - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        place = low = 0
        high = count
        while place < high:
            if values[begin + place] < pivot:
                _swap(values, rows, begin + place, begin + low)
                place, low = place + 1, low + 1
            elif values[begin + place] > pivot:
                high -= 1
                _swap(values, rows, begin + place, begin + high)
            else:
                place += 1
        _sort(values, rows, begin, low, depth)
        begin, count = begin + high, count - high


@njit(error_model="numpy")
def old_stump(X, y, weights, state):  # noqa: C901
    """Return column, limit and the weights of both classes on both sides, (2, 2), of the best stump.

    The column is -1 where no split is tried. ``X`` is (n, n_columns) float32, ``y`` (n,) 0 or 1, ``weights`` (n,). The
    generator of the order of columns starts from ``state``.
    """
    rows = np.flatnonzero(weights)
    n, total = len(rows), np.zeros(2)
    weight_sum = 0.0
    for row in rows:
        total[y[row]] += weights[row]
        weight_sum += weights[row]
    sides = np.zeros((2, 2))
    sides[0] = total
    if n < 2 or 1.0 - (total[0] * total[0] + total[1] * total[1]) / (weight_sum * weight_sum) <= _SMALLEST_IMPURITY:
        return -1, np.inf, sides
    columns, values = np.arange(X.shape[1]), np.empty(n, np.float32)
    depth = 2 * int(np.log(n) / np.log(2.0))
    best, best_column, limit = -np.inf, -1, 0.0
    constant, end, bits = 0, X.shape[1], np.uint32(state)
    while end > constant:
        bits ^= np.uint32(bits << np.uint32(13))
        bits ^= np.uint32(bits >> np.uint32(17))
        bits ^= np.uint32(bits << np.uint32(5))
        place = np.int64(bits) % (_LARGEST_INTEGER + 1) % (end - constant) + constant
        column = columns[place]
        for i in range(n):
            values[i] = X[rows[i], column]
        _sort(values, rows, 0, n, depth)
        if values[n - 1] <= values[0] + _SMALLEST_GAP:
            columns[place], columns[constant] = columns[constant], column
            constant += 1
            continue
        end -= 1
        columns[place], columns[end] = columns[end], column
        left, left_sum, last_cut, cut = np.zeros(2), 0.0, 0, 0
        while cut < n:
            while cut + 1 < n and values[cut + 1] <= values[cut] + _SMALLEST_GAP:
                cut += 1
            cut += 1
            if cut == n:
                break
            if cut - last_cut <= n - cut:  # from the nearer side, which decides the last bits
                for i in range(last_cut, cut):
                    left[y[rows[i]]] += weights[rows[i]]
                    left_sum += weights[rows[i]]
            else:
                left[:], left_sum = total, weight_sum
                for i in range(n - 1, cut - 1, -1):
                    left[y[rows[i]]] -= weights[rows[i]]
                    left_sum -= weights[rows[i]]
            last_cut, right_sum = cut, weight_sum - left_sum
            right = total - left
            left_impurity = 1.0 - (left[0] * left[0] + left[1] * left[1]) / (left_sum * left_sum)
            right_impurity = 1.0 - (right[0] * right[0] + right[1] * right[1]) / (right_sum * right_sum)
            gain = -right_sum * right_impurity - left_sum * left_impurity
            if gain > best:
                best, best_column = gain, column
                midpoint = np.float64(np.float32(values[cut - 1] + values[cut])) / 2.0
                limit = np.float64(values[cut - 1]) if midpoint == np.float64(values[cut]) else midpoint
    if best_column < 0:
        return -1, np.inf, sides
    end, i = n, 0
    while i < end:
        if X[rows[i], best_column] <= limit:
            i += 1
        else:
            end -= 1
            rows[i], rows[end] = rows[end], rows[i]
    sides[:] = 0.0
    for i in range(n):
        sides[0 if i < end else 1, y[rows[i]]] += weights[rows[i]]
    return best_column, limit, sides


def _precise_values(function: Any, values: np.ndarray) -> np.ndarray:
    """Return the values of ``function`` from 64 bits of precision, as exact as the system libraries of the time."""
    return np.asarray(function(values.astype(np.longdouble)), dtype=np.float64)


class OldSammeR(ClassifierMixin, BaseEstimator):
    """Boost 200 stumps by SAMME.R with the sums of scikit-learn 0.17."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the stumps."""
        X, random = np.ascontiguousarray(X, np.float32), check_random_state(self.random_state)
        self.classes_, y = np.unique(y, return_inverse=True)
        weights, self.stumps_ = np.full(len(y), 1.0 / len(y)), []
        for _ in range(200):
            column, limit, sides = old_stump(X, y, weights, random.randint(0, _LARGEST_INTEGER))
            sides[1] = sides[0] if column < 0 else sides[1]
            p = sides / sides.sum(axis=1, keepdims=True)
            logs = _precise_values(np.log, np.maximum(p, _EPSILON))
            self.stumps_.append((max(column, 0), limit, logs))
            side = self._side(X, max(column, 0), limit)
            is_error = (p[:, 1] > p[:, 0])[side] != (y == 1)
            if not weights[is_error].any():
                break
            factors = _precise_values(np.exp, np.column_stack([logs[:, 1] - logs[:, 0], logs[:, 0] - logs[:, 1]]) * 0.5)
            weights = weights * factors[side, y]
            weights = weights / np.sum(weights)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return (n, 2) probabilities."""
        X = np.ascontiguousarray(X, np.float32)
        votes = np.zeros((len(X), 2))
        for column, limit, logs in self.stumps_:
            centred = logs - 0.5 * logs.sum(axis=1, keepdims=True)
            votes += centred[self._side(X, column, limit)]
        odds = np.exp(votes / len(self.stumps_))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class, (n,)."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    @staticmethod
    def _side(X: np.ndarray, column: int, limit: float) -> np.ndarray:
        return (X[:, column].astype(np.float64) > limit).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", required=True)
    parser.add_argument("-j", "--jobs", default="2")
    args = parser.parse_args()
    old_learners = {
        "adas": {"type": "boosting_of_2016.OldSammeR", "encoding": "native", "paper": "adas", "label": "AdaS"}
    }
    learners = {
        name: {
            "type": "probcal.papers.kull_silva_filho_flach_2017.stump_boosting.StumpBoosting",
            "params": {"algorithm": form},
            "encoding": "native",
            "paper": name,
            "label": name,
        }
        for name, form in (("adao", "discrete"), ("adas", "real"))
    }
    maps = ("none", "sigmoid", "isotonic", "beta", "beta_am", "beta_ab")
    no_map, ejs_options = ("none",), {"order": "ejs", "one_classifier": True}
    rows = [
        *(["old sums", *row] for row in _differences(AISTATS, OLD_SUMS, old_learners, no_map, {}, args)),
        *(
            ["no constraint", *row]
            for row in _differences(AISTATS, NO_CONSTRAINT, learners, maps, {"constraint": False}, args)
        ),
        *(["EJS, old sums", *row] for row in _differences(EJS, EJS_OLD_SUMS, old_learners, no_map, ejs_options, args)),
        *(["EJS", *row] for row in _differences(EJS, EJS_NO_CONSTRAINT, learners, maps, ejs_options, args)),
    ]
    header = ["reading", "data set", "learner", "method", "published log loss", "ours", "difference"]
    text = (
        "# AdaBoost on the random stream of Kull, Silva Filho & Flach (2017)\n\n`python -m research.boosting_of_2016 "
    )
    text += "--data-dir DIR` writes this table. Log loss in nats, mean of 50 folds.\n\n"
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(
        text + tabulate(rows, header, tablefmt="github", floatfmt=("", "", "", "", ".10f", ".10f", ".1e")) + "\n"
    )


def _differences(
    paper: str, datasets: str, learners: Any, maps: tuple[str, ...], options: dict[str, Any], args: Any
) -> list[list[Any]]:
    """Run a reading with ``options`` of the replay, and return a row for each data set, learner and method."""
    from probcal.papers.published import PublishedPaper
    from probcal.store.folder import Store

    published = PublishedPaper.read(paper)
    methods = {
        name: {
            "type": "probcal.papers.kull_silva_filho_flach_2017.random_stream.LegacyStreamClassifier",
            "params": {"map": name, **options},
            "paper": name,
        }
        for name in maps
    }
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "reading.yaml"
        cards = ", ".join(f"kull-{name}" for name in datasets.split())
        config.write_text(
            CONFIG.format(
                name="reading", paper=paper, datasets=cards, learners=json.dumps(learners), methods=json.dumps(methods)
            )
        )
        words = ["run", str(config), "-o", f"{folder}/out", "-j", args.jobs, "--data-dir", args.data_dir]
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        subprocess.run(
            [sys.executable, "-m", "probcal", *words, "--trust", "boosting_of_2016"],
            check=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        losses = defaultdict(list)
        for cell in Store(Path(folder, "out")).results().values():
            losses[cell.dataset, cell.learner, cell.method].append(cell.metrics["log_loss"])
    rows = []
    for (dataset, learner, method), values in losses.items():
        number, mean = published.number(dataset, learner, method, "log_loss"), float(np.mean(values))
        assert number is not None and len(values) == 50
        rows.append([dataset.removeprefix("kull-"), learner, method, number, mean, mean - number])
    return rows


if __name__ == "__main__":
    main()
