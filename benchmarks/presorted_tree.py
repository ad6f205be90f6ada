"""The presorted tree beside scikit-learn's: python benchmarks/presorted_tree.py [quality|speed] [-o FILE]

Quality: RMS, CXE and AUC of both on random splits of the sets of Langford & Zadrozny (2005), by themselves, in bags and
in probes, as mean and standard deviation over the splits; the differences are from scikit-learn's tree, of ours and of
its own under another seed, for it draws one of equally pure splits; they go to a file too. Speed: CPU time of 100
probes grown and asked about their training rows, on Adult and on Gaussians of 100 columns; a part of the slow ones is
timed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import speed
from sklearn.tree import DecisionTreeClassifier

from probcal import BaggedVoteClassifier, ProbingClassifier
from probcal.data.card import find_card, read_card
from probcal.data.encode import NumericEncoder
from probcal.data.load import load, obtain
from probcal.data.splits import split_rows
from probcal.learners import PresortedTreeClassifier
from probcal.methods.direct import DirectClassifier
from probcal.methods.importance import importance_weights
from probcal.methods.refinement import even_thresholds
from probcal.metrics import cross_entropy, rms_error, roc_auc

SETS = (
    "adult-random", "australian", "breast", "coil-random", "diabetes", "echocardiogram-still-alive", "hepatitis",
    "ionosphere", "kr-vs-kp", "liver", "mushroom", "sick",
)  # fmt: skip
PARAMETERS = {"criterion": "entropy", "min_samples_leaf": 2}
TREES = {
    "scikit-learn": (DecisionTreeClassifier(**PARAMETERS), 0),
    "presorted": (PresortedTreeClassifier(**PARAMETERS), 0),
    "again": (DecisionTreeClassifier(**PARAMETERS), 1000),
}
"""A tree and what is added to the seed. The other seed tells how far scikit-learn's tree is from itself."""
METHODS: dict[str, Callable[..., Any]] = {
    "direct": DirectClassifier,
    "30 bags": lambda tree, **rest: BaggedVoteClassifier(tree, 30, voting="means", **rest),
    "30 probes": lambda tree, **rest: ProbingClassifier(tree, 30, weighting="weight", **rest),
}
ABOUT = (
    "The presorted tree and scikit-learn's, both with entropy and at least two rows in a leaf. The table has the mean ±"
    " standard deviation over random splits. It also has the differences of the presorted tree, and of scikit-learn's"
    " tree with another seed, from scikit-learn's tree."
)
CLIP = (0.001, 0.999)
SPLITS = 5
BIG, SPLITS_OF_BIG = 5000, 3
N_PROBES = 100
TIMED = {"adult": (100, 10), "gaussians": (20, 2)}
"""How many of the probes are timed, of ours and of scikit-learn's; evenly spread, and counted up to all."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["quality", "speed"])
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("PROBCAL_DATA_DIR"), help="of original files")
    where = speed.RESULTS / "presorted-tree.md"
    parser.add_argument("-o", "--out", default=str(where), metavar="FILE", help="of the quality; - for none")
    given = parser.parse_args()
    for name in ("adult", *(SETS if given.part != "speed" else ())):
        obtain(read_card(find_card(name)), given.data_dir and Path(given.data_dir))
    if given.part != "speed":
        rows = list(show(quality()))
        told_of = [list(row.values()) for row in rows]
        speed.report(given.out, "presorted_tree.py quality", ABOUT, list(rows[0]), told_of)
    if given.part != "quality":
        list(show(speeds()))


def show(rows: Iterator[dict[str, str]]) -> Iterator[dict[str, str]]:
    """The rows, which appear on the screen as they are measured."""
    for number, row in enumerate(rows):
        if not number:
            print("", *row, "", sep=" | ", end="\n" + "|---" * len(row) + "|\n")
        print("", *row.values(), "", sep=" | ", flush=True)
        yield row
    print()


def quality() -> Iterator[dict[str, str]]:
    for name in SETS:
        for method in METHODS:
            found = {tree: scores(name, METHODS[method], *TREES[tree]) for tree in TREES}
            row = {"set": name, "method": method}
            for place, metric in enumerate(("RMS", "CXE", "AUC")):
                peer = found["scikit-learn"][:, place]
                for tree in ("scikit-learn", "presorted"):
                    row[f"{metric} {tree}"] = told(found[tree][:, place])
                row[f"{metric} difference"] = told(found["presorted"][:, place] - peer, "+.3f")
                row[f"{metric} of another seed"] = told(found["again"][:, place] - peer, "+.3f")
            yield row


def told(numbers: np.ndarray, form: str = ".3f") -> str:
    return f"{numbers.mean():{form}} ± {numbers.std():.3f}"


def scores(name: str, method: Callable[..., Any], tree: Any, seed: int) -> np.ndarray:
    """(n_splits, 3) RMS, CXE and AUC on the test rows."""
    card = read_card(find_card(name))
    data = load(card)
    found = []
    for split in range(SPLITS_OF_BIG if len(data.y) > BIG else SPLITS):
        train, test = split_rows(card, len(data.y), split, 0)
        encoder = NumericEncoder().fit(data.X.iloc[train])
        fitted = method(tree, clip=CLIP, random_state=seed + split)
        fitted.fit(encoder.transform(data.X.iloc[train]), data.y[train])
        p, y = fitted.predict_proba(encoder.transform(data.X.iloc[test]))[:, 1], data.y[test]
        found.append((rms_error(y, p), cross_entropy(y, p), roc_auc(y, p)))
    return np.array(found)


def speeds() -> Iterator[dict[str, str]]:
    PresortedTreeClassifier().fit([[0.0], [1.0]], [0, 1])  # compiled, if it was not yet
    for name, (X, y) in {"adult": adult(), "gaussians": gaussians()}.items():
        for criterion in ("gini", "entropy"):
            tree = PresortedTreeClassifier(criterion, min_samples_leaf=2)
            peer = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=2, random_state=0)
            ours, naive = (
                cpu_seconds(work, tree, X, y, some(n)) * N_PROBES / n
                for work, tree, n in zip((grown_together, grown_one_by_one), (tree, peer), TIMED[name], strict=True)
            )
            yield {
                "table": f"{name}, {X.shape[0]} x {X.shape[1]}",
                "criterion": criterion,
                "naive loop": f"{naive:.1f} s",
                "presorted": f"{ours:.1f} s",
                "ratio": f"{naive / ours:.1f}",
            }


def grown_together(tree: Any, X: np.ndarray, y: np.ndarray, thresholds: np.ndarray) -> None:
    shortcut = tree.class_weight_shortcut()
    weights = np.column_stack([np.ones(len(thresholds)), (1 - thresholds) / thresholds])
    for start in range(0, len(thresholds), 5):
        shortcut.margins(shortcut.fit(tree, X, y, weights[start : start + 5], None), X)


def grown_one_by_one(tree: Any, X: np.ndarray, y: np.ndarray, thresholds: np.ndarray) -> None:
    for p in thresholds:
        tree.fit(X, y, sample_weight=importance_weights(y == 1, p)).predict(X)


def some(n: int) -> np.ndarray:
    """(n,) of the thresholds, evenly spread."""
    return even_thresholds(N_PROBES)[N_PROBES // n // 2 :: N_PROBES // n]


def cpu_seconds(work: Callable[..., None], *given: Any) -> float:
    start = time.process_time()
    work(*given)
    return time.process_time() - start


def adult() -> tuple[np.ndarray, np.ndarray]:
    card = read_card(find_card("adult"))
    data = load(card)
    train, _ = split_rows(card, len(data.y), 0, 0)
    return NumericEncoder().fit(data.X.iloc[train]).transform(data.X.iloc[train]), data.y[train]


def gaussians() -> tuple[np.ndarray, np.ndarray]:
    """(32,000, 100) columns that each say a little of the class."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 32_000)
    return random.normal(size=(32_000, 100)) + y[:, None] * random.normal(size=100) * 0.15, y


if __name__ == "__main__":
    main()
