"""How fast the metrics are at one million rows, against other packages: python benchmarks/metrics_speed.py [-o FILE]

Every figure is CPU seconds, the median of several runs in turn, with the checks of input that each package does; the
values are held against each other. One that is not installed is left out by name (pip install mapie netcal mcgrad
relplot, in an environment of its own, because netcal brings torch).
Exit code 1 where a value is not the same. Takes a minute.

    python benchmarks/metrics_speed.py --rows 100000 -o -
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import speed
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from threadpoolctl import threadpool_limits

from probcal.metrics import (
    all_metrics,
    brier_score,
    cross_entropy,
    empirical_calibration_error,
    expected_calibration_error,
    roc_auc,
    smooth_expected_calibration_error,
)

BINS = 15
TOLERANCE = 1e-9
JITTER_TOLERANCE = 1e-6
"""MAPIE moves every estimate by up to 1e-8 of itself, to have no ties."""


@dataclass(frozen=True)
class PeerMetric:
    """A metric of ``package``: ``of(y, p)`` with ``module``; ``bound``: how far it may be from ours."""

    package: str
    module: str
    function: str
    own_metric: str
    of: Callable[[Any, np.ndarray, np.ndarray], float]
    bound: float = TOLERANCE


OWN_METRICS: dict[str, Callable[[np.ndarray, np.ndarray], Any]] = {
    "c_emp": empirical_calibration_error,
    "ECE, 15 bins": lambda y, p: expected_calibration_error(y, p, n_bins=BINS),
    "log loss": lambda y, p: cross_entropy(y, p, base=np.e),
    "Brier score": brier_score,
    "AUC": roc_auc,
    "all seven": all_metrics,
}
PEER_METRICS = [
    PeerMetric("scikit-learn", "sklearn", "log_loss", "log loss", lambda _, y, p: log_loss(y, p)),
    PeerMetric("scikit-learn", "sklearn", "brier_score_loss", "Brier score", lambda _, y, p: brier_score_loss(y, p)),
    PeerMetric("scikit-learn", "sklearn", "roc_auc_score", "AUC", lambda _, y, p: roc_auc_score(y, p)),
    PeerMetric(
        "mapie",
        "mapie.metrics.calibration",
        "kuiper_statistic",
        "c_emp",
        lambda module, y, p: module.kuiper_statistic(y, p) * module.length_scale(p),
        JITTER_TOLERANCE,
    ),
    PeerMetric("mcgrad", "mcgrad.metrics", "ecce", "c_emp", lambda module, y, p: module.ecce(y, p)),
    PeerMetric("netcal", "netcal.metrics", "ECE", "ECE, 15 bins", lambda module, y, p: module.ECE(BINS).measure(p, y)),
]


def main() -> None:
    parser = speed.parser(__doc__, "metrics")
    parser.add_argument("--rows", type=int, default=1_000_000, help="(%(default)s)")
    parser.add_argument("--runs", type=int, default=7, help="(%(default)s)")
    args = parser.parse_args()
    y, p = estimates(args.rows)
    modules = {peer.package: import_peer(peer.module) for peer in PEER_METRICS}
    peers = [peer for peer in PEER_METRICS if modules[peer.package] is not None]
    calls = {name: (lambda function=function: function(y, p)) for name, function in OWN_METRICS.items()}
    calls |= {peer.function: (lambda peer=peer: peer.of(modules[peer.package], y, p)) for peer in peers}
    with threadpool_limits(1):
        taken, results = speed.in_turn(calls, args.runs)
        seconds, values = dict(zip(calls, taken, strict=True)), dict(zip(calls, results, strict=True))
        cells = [speed.line_cells(line, args.runs) for line in [*lines(y, p), *lines_of_many(10 * args.rows)]]
    rows, ok = table(peers, seconds, values)
    missing = [
        [name, "", "", "", "", f"not installed: pip install {name}"] for name, module in modules.items() if not module
    ]
    description = f"{args.rows:,} predictions, no two equal, CPU seconds, medians of {args.runs} runs in turn."
    headers = ["theirs", "", "ours", "", "theirs / ours", "values"]
    packages = [name for name, module in modules.items() if module and name not in speed.PACKAGES]
    before = speed.lines_text(
        f"{args.rows:,} predictions beside NumPy as an expert writes it, without a check. CPU seconds, medians of "
        f"{args.runs} runs in turn.",
        cells,
    )
    speed.report(args.out, "metrics_speed.py", description, headers, [*rows, *missing], *packages, before=before)
    sys.exit(0 if ok else 1)


def lines(y: np.ndarray, p: np.ndarray) -> list[speed.Line]:
    numpy = {
        "log loss": numpy_log_loss,
        "Brier score": lambda y, p: np.mean((y - p) ** 2),
        "AUC": numpy_auc,
        "ECE, 15 bins": numpy_ece,
    }
    made = [
        speed.Line(name, partial(OWN_METRICS[name], y, p), "NumPy", partial(peer, y, p), 1.5, len(y))
        for name, peer in numpy.items()
    ]
    smooth, seven = partial(smooth_expected_calibration_error, y, p), partial(all_metrics, y, p)
    five = partial(lambda *given: [peer(*given) for peer in (*numpy.values(), numpy_kuiper)], y, p)
    if relplot := import_peer("relplot"):
        made.append(speed.Line("smooth ECE", smooth, "relplot", partial(relplot.smECE, p, y), 1.1, len(y), None))
    made.append(speed.Line("all seven", seven, "NumPy, five of them", five, 1.1, len(y), None))
    return made


def lines_of_many(n: int) -> list[speed.Line]:
    y, p = estimates(n)
    return [replace(line, name=f"{line.name}, {n:.0e} rows", goal=2.0) for line in lines(y, p)[:4]]


def numpy_log_loss(y: np.ndarray, p: np.ndarray) -> float:
    return -np.mean(np.log(np.where(y == 1, p, 1 - p)))


def numpy_auc(y: np.ndarray, p: np.ndarray) -> float:
    """From the ranks of the positive rows; wrong where predictions are equal."""
    n1 = np.count_nonzero(y)
    positions = np.flatnonzero(y[np.argsort(p)])
    return (positions.sum() - n1 * (n1 - 1) / 2) / (n1 * (len(y) - n1))


def numpy_ece(y: np.ndarray, p: np.ndarray) -> float:
    """Bins that hold their lower edge."""
    return np.abs(np.bincount((p * BINS).astype(int), y - p)).sum() / len(y)


def numpy_kuiper(y: np.ndarray, p: np.ndarray) -> float:
    order = np.argsort(p)
    return np.ptp(np.cumsum(y[order] - p[order])) / len(y)


def estimates(n: int) -> tuple[np.ndarray, np.ndarray]:
    """(y, p): estimates somewhat too sure, between .01 and .99."""
    rng = np.random.default_rng(2005)
    p = rng.uniform(0.01, 0.99, n)
    return (rng.random(n) < 0.1 + 0.8 * p).astype(int), p


def import_peer(module: str) -> Any:
    """None where it is not installed, or cannot be imported."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


def table(peers: list[PeerMetric], seconds: dict[str, float], values: dict[str, Any]) -> tuple[list[list[str]], bool]:
    rows, ok = [], True
    for peer in peers:
        difference = abs(values[peer.function] - values[peer.own_metric])
        ok &= difference <= peer.bound
        label = f"{peer.package} {peer.function}"
        rows.append(
            [*pair(label, seconds[peer.function], peer.own_metric, seconds[peer.own_metric]), f"{difference:.1e} apart"]
        )
    names = [peer.function for peer in peers if peer.package == "scikit-learn"]
    sk_seconds = sum(seconds[name] for name in names)
    rows.append([*pair("scikit-learn, these three", sk_seconds, "all_metrics, all seven", seconds["all seven"]), ""])
    total = sum(seconds[peer.function] for peer in peers)
    rows.append([*pair("all of the above", total, "all_metrics, all seven", seconds["all seven"]), ""])
    return rows, ok


def pair(peer: str, slow: float, name: str, fast: float) -> list[str]:
    return [peer, speed.seconds(slow), name, speed.seconds(fast), speed.times(slow, fast)]


if __name__ == "__main__":
    main()
