"""The penalty of `try`'s logistic regression: python benchmarks/logistic_defaults.py [-o FILE]

Takes at most 3,000 rows of each table of the experiment arena-ensembles and two of five folds, with columns scaled to
[0, 1] as in `try`. Compares log losses in bits (probabilities in [.001, .999]) of fixed penalties and of a search.
PROBCAL_DATA_DIR names the folder of original files. Takes a minute.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from tabulate import tabulate
from threadpoolctl import threadpool_limits

from probcal import TunedClassifier
from probcal.config.experiment import find_config, read_experiment
from probcal.data.encode import NumericEncoder
from probcal.data.load import load

ROOT = Path(__file__).parents[1]
ROWS, SPLITS, DRAWS = 3_000, 2, 2_000
GRID = [0.01, 0.1, 1, 10, 100]
WAYS: dict[str, Callable[[], Any]] = {
    "C = 1": lambda: LogisticRegression(max_iter=2000),
    "C = 10": lambda: LogisticRegression(max_iter=2000, C=10),
    "C = 100": lambda: LogisticRegression(max_iter=2000, C=100),
    "TunedClassifier": lambda: TunedClassifier(LogisticRegression(max_iter=2000), {"C": GRID}, random_state=0),
    "LogisticRegressionCV, cv=3": lambda: LogisticRegressionCV(
        Cs=GRID, cv=3, scoring="neg_log_loss", l1_ratios=(0,), use_legacy_attributes=False, max_iter=2000
    ),
}
PAGE = """# The penalty of logistic regression in `try`

Written by `python benchmarks/logistic_defaults.py`, whose docstring has the protocol. Log loss in bits less that of the
penalty C = 1, means over tables with 95 % intervals by bootstrap. Below 0 is a gain. CPU seconds are those of all fits.
The search takes C from .01 to 100, by three folds. LogisticRegressionCV takes folds in the order of the file, and its
loss is not bounded.

{table}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "results/defaults/logistic.md", help="(%(default)s)")
    out = parser.parse_args().out
    warnings.simplefilter("ignore", ConvergenceWarning)
    with threadpool_limits(1):
        tables = [losses(card) for card in read_experiment(find_config("arena-ensembles")).cards]
    rows = []
    for kind, is_meant in (("two", lambda n: n == 2), ("several", lambda n: n > 2)):
        chosen = [(loss, seconds) for n_classes, loss, seconds in tables if is_meant(n_classes)]
        for way in WAYS:
            gains = np.array([loss[way] - loss["C = 1"] for loss, _ in chosen])
            draws = np.random.default_rng(0).choice(gains, (DRAWS, len(gains))).mean(axis=1)
            low, high = np.quantile(draws, [0.025, 0.975])
            text = "" if way == "C = 1" else f"{gains.mean():+.4f} ({low:+.4f} to {high:+.4f})"
            cpu = sum(seconds[way] for _, seconds in chosen)
            rows.append([kind, len(gains), way, text, int((gains < 0).sum()), f"{gains.max():+.3f}", f"{cpu:.0f}"])
    headers = ["classes", "tables", "way", "less than C = 1, bits", "better on", "at worst", "CPU s"]
    out.write_text(PAGE.format(table=tabulate(rows, headers, tablefmt="pipe", disable_numparse=True)), encoding="utf-8")
    print(out.read_text(encoding="utf-8"))


def losses(card: Any) -> tuple[int, dict[str, float], dict[str, float]]:
    """Return the number of classes of a table, and way -> mean log loss in bits and CPU seconds of its fits."""
    data = load(card)
    rows = np.sort(np.random.default_rng(0).permutation(len(data.y))[:ROWS])
    X, y = data.X.iloc[rows], np.asarray(data.y)[rows]
    loss, seconds = dict.fromkeys(WAYS, 0.0), dict.fromkeys(WAYS, 0.0)
    for train, test in [*StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)][:SPLITS]:
        encoder = NumericEncoder().fit(X.iloc[train])
        X_train, X_test = encoder.transform(X.iloc[train]), encoder.transform(X.iloc[test])
        for way, model_of in WAYS.items():
            start = time.process_time()
            model = model_of().fit(X_train, y[train])
            seconds[way] += time.process_time() - start
            p = model.predict_proba(X_test)[np.arange(len(test)), np.searchsorted(model.classes_, y[test])]
            loss[way] -= float(np.log2(np.clip(p, 0.001, 0.999)).mean()) / SPLITS
    return len(set(y.tolist())), loss, seconds


if __name__ == "__main__":
    main()
