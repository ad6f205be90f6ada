"""How long each map takes on one million scores: python benchmarks/maps_speed.py [--map MAP] [-o FILE]

Every calibrator is fitted to a million predictions and labels and maps a million others. Every figure is CPU seconds,
the median of several fresh processes with one BLAS thread. Compiling is not timed. Takes two minutes.

    python benchmarks/maps_speed.py --map venn_abers --rows 10000 --runs 1 -o -
"""

from __future__ import annotations

import statistics
import sys
import time

import numpy as np
import speed

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
    speed.report(args.out, "maps_speed.py", description, ["map", "fit", "map", "both", "aim", "", "peak, MB"], rows)
    sys.exit(0)


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
