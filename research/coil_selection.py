"""Which inputs of COIL did Langford & Zadrozny (2005) use? Many subsets tried, and what the trying is worth.

    PROBCAL_WEKA_JAR=.../weka-3.4.1/weka.jar python -m research.coil_selection --data-dir DIR

Each candidate is a subset of the 85 inputs. The six columns of the paper that draw nothing are computed with Weka for
each of them and appended to results/coil-selection/numbers.csv, so that an ended run goes on where it was. Three of the
six columns choose a candidate, and the other three confirm it. With --drawn, the four columns that draw are computed
for the best candidate and for the default. They choose nothing. The tables are in results/coil-selection/table.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probcal import ProbingClassifier, SigmoidClassifier
from probcal._io import csv_text
from probcal.data.card import find_card, read_card
from probcal.data.load import data_folder, load, obtain
from probcal.errors import ProbcalError
from probcal.learners import WekaClassifier
from probcal.learners.weka.classifier import Header
from probcal.learners.weka.jvm import java_class
from probcal.metrics import cross_entropy, rms_error, roc_auc
from research.cfs import entropy, levels_of, symmetrical_uncertainty
from research.coil_selection_tables import EXACT_COLUMNS, RANDOM_COLUMNS, Numbers, best_candidate, tables

OUT = Path("results/coil-selection")
SEED = 2005
CODES = ("MOSTYPE", "MOSHOOFD")
"""The two inputs whose numbers are codes without an order."""
DEFAULT_SELECTION = "CFS, codes nominal"
NEAREST_INPUT = "PBYSTAND"
"""The input without which the default came nearest, so that the neighbours of this candidate were tried too."""
RANDOM = 8
"""Number of random subsets, which show how near chance comes."""


def main() -> None:
    args = arguments()
    try:
        card = read_card(find_card("coil"))
        obtain(card, data_folder(args.data_dir))
        data = load(card)
        n_train = card.split.n_train(len(data.y))
        path = args.out / "numbers.csv"
        input_sets = subsets(args.out / "subsets.json", data.X, data.y, n_train)
        for name, inputs in input_sets.items():
            measure(path, name, data.X[inputs], data.y, n_train, EXACT_COLUMNS)
        if args.drawn:
            for name in dict.fromkeys([DEFAULT_SELECTION, best_candidate(read_numbers(path), input_sets)]):
                measure(path, name, data.X[input_sets[name]], data.y, n_train, RANDOM_COLUMNS)
        text = tables(read_numbers(path), input_sets, DEFAULT_SELECTION)
        (args.out / "table.md").write_text(text, encoding="utf-8")
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    print(text)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Which inputs of COIL did Langford & Zadrozny (2005) use?")
    parser.add_argument("--data-dir", metavar="DIR", help="folder of original files")
    parser.add_argument("--drawn", action="store_true", help="compute the columns that draw, too: half an hour")
    parser.add_argument("-o", "--out", type=Path, default=OUT, metavar="DIR", help="(%(default)s)")
    return parser.parse_args()


def codings(X: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the three readings of the inputs: which are nominal."""
    return {
        "numeric": X,
        "codes nominal": X.assign(**{name: as_nominal(X[name]) for name in CODES}),
        "all nominal": X.apply(as_nominal),
    }


def as_nominal(column: pd.Series) -> pd.Series:
    return column.astype(int).astype(str).astype("category")


def subsets(path: Path, X: pd.DataFrame, y: np.ndarray, n_train: int) -> dict[str, list[str]]:
    """Return the candidates with their inputs, from the file if it is there, for they take minutes to select."""
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dict(candidates(X, y, n_train)), indent=1) + "\n", encoding="utf-8")
    input_sets: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return input_sets


def candidates(X: pd.DataFrame, y: np.ndarray, n_train: int) -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the inputs of each candidate. The same inputs occur once."""
    sets = set()
    for name, inputs in _candidates(X, y, n_train):
        if frozenset(inputs) not in sets:
            sets.add(frozenset(inputs))
            yield name, [column for column in X if column in inputs]


def _candidates(X: pd.DataFrame, y: np.ndarray, n_train: int) -> Iterator[tuple[str, list[str]]]:
    readings = codings(X)
    default = select_with_weka(readings["codes nominal"][:n_train], y[:n_train])
    yield DEFAULT_SELECTION, default
    for coding, data in readings.items():
        X_train, classes = data[:n_train], y[:n_train]
        yield f"CFS, {coding}", select_with_weka(X_train, classes)
        yield f"CFS, {coding}, all rows", select_with_weka(data, y)
        yield f"CFS, {coding}, backward", select_with_weka(X_train, classes, search="BestFirst -D 0")
        for ranking, order in rankings(X_train, classes).items():
            yield f"first ten by {ranking}, {coding}", order[:10]
    for name in default:
        yield f"{DEFAULT_SELECTION}, without {name}", [column for column in default if column != name]
    for name in default:
        if name != NEAREST_INPUT:
            yield (
                f"{DEFAULT_SELECTION}, without {NEAREST_INPUT} and {name}",
                [column for column in default if column not in (NEAREST_INPUT, name)],
            )
    random = np.random.default_rng(SEED)
    for number in range(RANDOM):
        yield f"random {number + 1}", list(random.choice(np.array(X.columns), len(default), replace=False))


def rankings(X: pd.DataFrame, y: np.ndarray) -> dict[str, list[str]]:
    """Return the inputs by what each tells about the class, the most first. Equal ones keep their order."""
    levels = levels_of(X, y)
    values = [(symmetrical_uncertainty(column, y), float(entropy(np.bincount(column)))) for column in levels.T]
    class_entropy = float(entropy(np.bincount(y)))
    gains = [uncertainty * (class_entropy + column_entropy) / 2 for uncertainty, column_entropy in values]
    scores = {
        "symmetrical uncertainty": [uncertainty for uncertainty, _ in values],
        "information gain": gains,
        "gain ratio": [
            gain / max(column_entropy, 1e-9) for gain, (_, column_entropy) in zip(gains, values, strict=True)
        ],
    }
    return {name: [str(X.columns[place]) for place in np.argsort(-np.array(score), kind="stable")]
            for name, score in scores.items()}  # fmt: skip


def select_with_weka(
    X: pd.DataFrame, y: np.ndarray, evaluator: str = "CfsSubsetEval", search: str = "BestFirst"
) -> list[str]:
    """Return the columns that Weka selects, in the order of ``X`` (n_rows, n_columns), for classes ``y`` (n_rows,).

    ``evaluator`` and ``search`` are names in ``weka.attributeSelection`` with their options.
    """
    package = "weka.attributeSelection"
    selection = java_class(f"{package}.AttributeSelection")()
    for kind, scheme, setter in (
        ("ASEvaluation", evaluator, selection.setEvaluator),
        ("ASSearch", search, selection.setSearch),
    ):
        name, *options = scheme.split()
        base = java_class(f"{package}.{kind}")
        setter(java_class("weka.core.Utils").forName(base, f"{package}.{name}", options))
    selection.SelectAttributes(Header.of(X, np.unique(y)).instances(X, y))
    places = {int(place) for place in selection.selectedAttributes()}  # the last is the class
    return [str(name) for place, name in enumerate(X) if place in places]


def learners() -> dict[str, Any]:
    """Return the columns of the paper as configs/uci-2004.yaml has them."""
    j48, log, nb = (
        WekaClassifier(*words) for words in (("trees.J48",), ("functions.Logistic",), ("bayes.NaiveBayes", "-K"))
    )
    smo = "functions.SMO"
    common = {"n_probes": 100, "loss": "log_loss", "random_state": SEED}
    weights = {"weighting": "weight", "total_weight": "n"}
    return {
        "J48": j48,
        "BagJ48": WekaClassifier("meta.Bagging", "-I 100 -S 1 -W weka.classifiers.trees.J48"),
        "ProbJ48": ProbingClassifier(j48, weighting="rejection", **common),
        "SigSVM": WekaClassifier(smo, "-M"),
        "ProbSVM": ProbingClassifier(WekaClassifier(smo), **weights, **common),
        "NB": nb,
        "SigNB": SigmoidClassifier(nb, scores="probability", calibration="train", clip=(0, 1)),
        "ProbNB": ProbingClassifier(nb, **weights, **common),
        "Log": log,
        "ProbLog": ProbingClassifier(log, weighting="rejection", **common),
    }


def measure(path: Path, name: str, X: pd.DataFrame, y: np.ndarray, n_train: int, columns: tuple[str, ...]) -> None:
    """Append the numbers of those ``columns`` of a candidate that the file does not have yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for column in columns:
        if (name, column) in read_numbers(path):
            continue
        model = learners()[column].fit(X[:n_train], y[:n_train])
        p, y_test = model.predict_proba(X[n_train:])[:, 1], y[n_train:]
        values = [f"{metric(y_test, p):.6f}" for metric in (rms_error, cross_entropy, roc_auc)]
        with path.open("a", newline="", encoding="utf-8") as file:
            header = [] if path.stat().st_size else [["candidate", "column", "rms", "cxe", "auc"]]
            file.write(csv_text([*header, [name, column, *values]]))


def read_numbers(path: Path) -> Numbers:
    """Return (candidate, column) -> RMS, CXE in bits and AUC."""
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {(row[0], row[1]): tuple(map(float, row[2:])) for row in list(csv.reader(file))[1:]}


if __name__ == "__main__":
    main()
