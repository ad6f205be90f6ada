"""How long each map takes on one million scores: python benchmarks/maps_speed.py [--map MAP] [-o FILE]

Every calibrator is fitted to a million predictions and labels and maps a million others. Every figure is CPU seconds,
the median of several fresh processes with one BLAS thread. Compiling is not timed. Takes two minutes.

    python benchmarks/maps_speed.py --map venn_abers --rows 10000 --runs 1 -o -
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial
from typing import Any

import numpy as np
import speed
from scipy.optimize import isotonic_regression
from scipy.special import expit, softmax
from threadpoolctl import threadpool_limits
from venn_abers import VennAbers

import probcal

MAPS = {
    "isotonic": "IsotonicCalibrator",
    "venn_abers": "VennAbersCalibrator",
    "sigmoid": "SigmoidCalibrator",
    "beta": "BetaCalibrator",
    "quadratic": "QuadraticCalibrator",
    "spline": "SplineCalibrator",
    "histogram": "HistogramBinningCalibrator",
    "temperature": "TemperatureCalibrator",
    "vector": "VectorScalingCalibrator",
    "matrix": "MatrixScalingCalibrator",
    "dirichlet": "DirichletCalibrator",
}
TARGETS = {"venn_abers": 1.0}
"""CPU seconds of fit and prediction together, and .5 for the others."""


def main() -> None:
    parser = speed.parser(__doc__, "maps")
    parser.add_argument("--map", action="append", choices=MAPS, help="all unless given")
    parser.add_argument("--rows", type=int, default=1_000_000, help="(%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="medians of (%(default)s)")
    parser.add_argument("--once", choices=MAPS, help="measure one map in this process")
    args = parser.parse_args()
    if args.once:
        measure(args.once, args.rows)
        return
    with threadpool_limits(1):
        beside = [speed.line_cells(line, max(args.runs, 3)) for line in lines(args.rows)]
    rows = []
    for name in args.map or MAPS:
        results = [speed.script_cost("maps_speed.py", "--once", name, "--rows", args.rows) for _ in range(args.runs)]
        total, aim = speed.median([cost for cost, _ in results]), TARGETS.get(name, 0.5)
        fit = statistics.median(extra["fit"] for _, extra in results)
        cells = [speed.seconds(value) for value in (fit, total.cpu - fit, total.cpu, aim)]
        rows.append([name, *cells, "" if total.cpu <= aim else "ABOVE", f"{total.peak:.0f}"])
    description = (
        f"{args.rows:,} rows to fit and as many to map, no two scores equal, medians of {args.runs} fresh processes."
    )
    before = speed.lines_text(
        f"{args.rows:,} rows unless said, beside NumPy and SciPy as an expert writes it. CPU seconds, medians in turn.",
        beside,
    )
    headers = ["map", "fit", "map", "both", "aim", "", "peak, MB"]
    speed.report(args.out, "maps_speed.py", description, headers, rows, before=before)
    sys.exit(0)


def lines(n_rows: int) -> list[speed.Line]:
    """Each map beside the formula of its own fitted numbers, which checks nothing and returns one column."""
    p, y, p_test = predictions(n_rows)
    made = []

    def add(
        name: str, own: Any, peer_name: str, peer: Any, goal: float | str, n: int = n_rows, bound: Any = 1e-9
    ) -> None:
        made.append(speed.Line(name, own, peer_name, peer, goal, n, bound))

    def centered() -> Any:
        return probcal.IsotonicCalibrator(centered=True).fit(p, y)

    add("isotonic, centered fit", centered, "SciPy's PAVA and argsort", lambda: scipy_isotonic(p, y), 1.5, bound=None)
    isotonic = centered()
    knots, values = isotonic.maps_[0].scores, isotonic.maps_[0].probabilities
    add("isotonic map", lambda: isotonic.predict_proba(p_test)[:, 1], "np.interp of p",
        lambda: np.clip(np.interp(p_test, expit(knots), values), *isotonic.maps_[0].clip), 0.93,
        bound=None)  # fmt: skip
    sigmoid = probcal.SigmoidCalibrator().fit(p, y)
    a, b = sigmoid.maps_[0].slope, sigmoid.maps_[0].intercept
    add("sigmoid map", lambda: sigmoid.predict_proba(p_test)[:, 1], "expit(a s + b)",
        lambda: expit(-a * np.log(p_test / (1 - p_test)) - b), 1.5)  # fmt: skip
    beta = probcal.BetaCalibrator().fit(p, y)
    m = beta.maps_[0]
    add("beta map", lambda: beta.predict_proba(p_test)[:, 1], "expit(a ln p - b ln(1 - p) + c)",
        lambda: expit(m.a * np.log(p_test) - m.b * np.log1p(-p_test) + m.c), 1.5)  # fmt: skip
    add("histogram fit", lambda: probcal.HistogramBinningCalibrator(bins="quantile").fit(p, y),
        "np.quantile, np.histogram", lambda: numpy_histogram(p, y), 1.5, bound=None)  # fmt: skip
    add("histogram fit, balanced", lambda: probcal.HistogramBinningCalibrator().fit(p, y),
        "np.quantile, np.histogram", lambda: numpy_histogram(p, y), 1.5, bound=None)  # fmt: skip
    rng, n = np.random.default_rng(0), max(n_rows // 10, 3000)
    z, labels = rng.dirichlet(np.full(100, 0.3), n), rng.integers(100, size=n)
    temperature = probcal.TemperatureCalibrator().fit(z[:3000], labels[:3000])
    bound, t, least = temperature.bound_, temperature.temperature_, temperature.smallest_
    add(f"temperature map, k = 100, {n:,} rows", lambda: temperature.predict_proba(z), "softmax(ln p / T)",
        lambda: floored(softmax(np.log(np.maximum(z, bound)) / t, axis=1), least), 1.2, n)  # fmt: skip
    few, few_y, test = p[:1000], y[:1000], p_test[:1000]
    venn = probcal.VennAbersCalibrator().fit(p, y)
    for name, fitted in (("isotonic", isotonic), ("sigmoid", sigmoid), ("beta", beta), ("Venn-Abers", venn)):
        add(f"{name} map, 1,000 rows", partial(fitted.predict_proba, test), "np.interp",
            lambda: np.interp(test, knots, values), "1e-4", 1000, None)  # fmt: skip
    add("Venn-Abers fit, 1,000 rows", lambda: probcal.VennAbersCalibrator().fit(few, few_y), "venn-abers",
        lambda: VennAbers().fit(np.column_stack([1 - few, few]), few_y), "1e-3", 1000, None)  # fmt: skip
    add(f"Venn-Abers, one row after {n_rows:,}", lambda: venn.predict_proba(test[:1]), "np.searchsorted",
        lambda: np.searchsorted(venn.maps_[0].scores, test[:1]), "2e-4", 1, None)  # fmt: skip
    return made


def scipy_isotonic(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return isotonic_regression(y[np.argsort(p)]).x


def numpy_histogram(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    edges = np.quantile(p, np.linspace(0, 1, 16))
    return np.histogram(p, edges, weights=y)[0] / np.histogram(p, edges)[0]


def floored(p: np.ndarray, least: float) -> np.ndarray:
    p = np.maximum(p, least)
    return p / p.sum(axis=1, keepdims=True)


def measure(name: str, n_rows: int) -> None:
    p, y, p_test = predictions(n_rows)
    kind = getattr(probcal, MAPS[name])
    kind().fit(p[:100], y[:100]).predict_proba(p_test[:100])  # compiles what is compiled
    start = time.process_time()
    calibrator = kind().fit(p, y)
    fit = time.process_time() - start
    _, cost = speed.costs_of(lambda: calibrator.predict_proba(p_test))
    speed.print_cost(speed.Cost(cost.wall, fit + cost.cpu, cost.peak), fit=fit)


def predictions(n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(predictions that are not sure enough, their labels, other predictions)."""
    rng = np.random.default_rng(2005)
    score, test_score = rng.normal(size=(2, n_rows))
    y = rng.random(n_rows) < 1 / (1 + np.exp(-1.5 * score - 0.2))
    return 1 / (1 + np.exp(-score)), y.astype(int), 1 / (1 + np.exp(-test_score))


if __name__ == "__main__":
    main()
