"""Kuiper's statistic where predictions are equal: python -m research.kuiper_ties [-n DRAWS] [-o FILE]

Rows with equal predictions have no order. A running sum that is read between them depends on the order in which they
happen to stand, and is too large on average. probcal reads it at the end of each run of equal predictions only. The
table has both, next to the functions of MAPIE and MCGrad where these are installed (pip install mapie mcgrad). Takes a
minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from tabulate import tabulate

from probcal.metrics import empirical_calibration_error

Statistic = Callable[[np.ndarray, np.ndarray], float]
ROWS = 1000
"""Rows to train on, to calibrate on and to test on, each."""
NOTE = """# Kuiper's statistic where predictions are equal

Kuiper's statistic of {rows} test rows, mean of {draws} draws of data. `pooled` is
`empirical_calibration_error`. `unpooled` is the same running sum, read after every row, with the rows in random
order. The percentages say how much larger than `pooled` a value is. `orders` has the smallest and the largest
unpooled value of the first draw over 100 orders of its rows.

`KuiperCalibrationMetric` of probmetrics, which the benchmark CalArena uses, and `ecce` of MCGrad are
`unpooled`. MAPIE's `kuiper_statistic` (times its scale) breaks ties by noise and leaves out the sum before the
first row. Written by `python -m research.kuiper_ties`.
"""


def unpooled_range(y: np.ndarray, p: np.ndarray) -> float:
    """Return the range of the running sums, read after every row."""
    order = np.argsort(p, kind="stable")
    return float(np.ptp(np.append(0, np.cumsum((y - p)[order])))) / len(y)


def peer_statistics() -> dict[str, Statistic]:
    """Return the functions of other packages that are installed."""
    functions: dict[str, Statistic] = {}
    try:
        from mcgrad.metrics import ecce
    except ImportError:
        pass
    else:
        functions["MCGrad"] = ecce
    try:
        from mapie.metrics.calibration import kuiper_statistic, length_scale
    except ImportError:
        pass
    else:
        functions["MAPIE"] = lambda y, p: kuiper_statistic(y, p) * length_scale(p)
    return functions


def predictions(seed: int) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the labels of the test rows, and several predictions for them."""
    X, y = make_classification(3 * ROWS, n_informative=4, flip_y=0.3, random_state=seed)
    train, calibration, test = (slice(start, start + ROWS) for start in range(0, 3 * ROWS, ROWS))
    model = LogisticRegression().fit(X[train], y[train])
    p = model.predict_proba(X)[:, 1]
    edges = np.quantile(p[calibration], np.arange(1, 10) / 10)
    bins = np.digitize(p, edges)
    frequency = np.array([y[calibration][bins[calibration] == number].mean() for number in range(10)])
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(p[calibration], y[calibration])
    tree = DecisionTreeClassifier(max_leaf_nodes=10, random_state=0).fit(X[train], y[train])
    return y[test], {
        "logistic regression": p[test],
        "rounded to .01": p[test].round(2),
        "rounded to .1": p[test].round(1),
        "isotonic regression": isotonic.predict(p[test]),
        "histogram binning, 10 bins": frequency[bins[test]],
        "tree of 10 leaves": tree.predict_proba(X[test])[:, 1],
        "base rate of the training rows": np.full(ROWS, y[train].mean()),
        "true base rate": np.full(ROWS, 0.5),
    }


def lines(n_draws: int) -> list[list[str]]:
    """Return the lines of the table: prediction, distinct values, statistics, percentages."""
    peers = peer_statistics()
    draws = [predictions(seed) for seed in range(n_draws)]
    rows = []
    for name in draws[0][1]:
        pairs = [(y, p[name]) for y, p in draws]
        pooled = np.mean([empirical_calibration_error(y, p) for y, p in pairs])
        means = {
            peer: np.mean([statistic(y, p) for y, p in pairs])
            for peer, statistic in ({"unpooled": unpooled_range} | peers).items()
        }
        rng, (y, p) = np.random.default_rng(0), pairs[0]
        orders = [unpooled_range(y[order], p[order]) for order in (rng.permutation(ROWS) for _ in range(100))]
        distinct = np.mean([len(np.unique(p)) for _, p in pairs])
        cells = [f"{mean:.4f} ({100 * (mean / pooled - 1):+.0f} %)" for mean in means.values()]
        span = f"{min(orders):.4f} to {max(orders):.4f}"
        rows.append([name, f"{distinct:.0f}", f"{pooled:.4f}", *cells, span])
    return [["predictions", "distinct", "pooled", "unpooled", *peers, "orders"], *rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", "--draws", type=int, default=100, metavar="DRAWS")
    parser.add_argument("-o", "--out", default="results/kuiper-ties/table.md", metavar="FILE", help="- for none")
    args = parser.parse_args()
    header, *body = lines(args.draws)
    text = tabulate(body, header, "github", disable_numparse=True)
    print(text)
    if args.out != "-":
        path = Path(args.out)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{NOTE.format(rows=f'{ROWS:,}', draws=args.draws)}\n{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
