"""Metrics against scikit-learn, and against definitions taken literally."""

from __future__ import annotations

import numpy as np
from peers_data import Peer, over_estimates
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

from probcal.metrics import (
    brier_score,
    cross_entropy,
    empirical_calibration_error,
    expected_calibration_error,
    kolmogorov_smirnov_error,
    murphy_decomposition,
    rms_error,
    roc_auc,
)

BINS = 15
BRUTE_ROWS = 400


def interval_error(y: np.ndarray, p: np.ndarray) -> float:
    """c_emp by its definition: the largest |sum of (y - p)| / n over rows with p1 < p <= p2, every p1 < p2 tried."""
    ends = [-1.0, *np.unique(p)]
    sums = (abs((y - p)[(low < p) & (p <= high)].sum()) for low in ends for high in ends if low < high)
    return max(sums) / len(y)


def threshold_error(y: np.ndarray, p: np.ndarray) -> float:
    return max(abs((y - p)[p <= high].sum()) for high in np.unique(p)) / len(y)


def binned_error(y: np.ndarray, p: np.ndarray) -> float:
    error = 0.0
    for i in range(BINS):
        in_bin = (p > i / BINS) & (p <= (i + 1) / BINS)
        if in_bin.any():
            error += in_bin.mean() * abs(y[in_bin].mean() - p[in_bin].mean())
    return error


def murphy_sum(y: np.ndarray, p: np.ndarray) -> float:
    parts = murphy_decomposition(y, p)
    return parts.reliability - parts.resolution + parts.uncertainty


PEERS = [
    Peer("roc_auc", "scikit-learn roc_auc_score", 1e-12, over_estimates(roc_auc, roc_auc_score)),
    Peer(
        "cross_entropy, nats",
        "scikit-learn log_loss",
        1e-12,
        over_estimates(lambda y, p: cross_entropy(y, p, base=np.e), log_loss),
    ),
    Peer("brier_score", "scikit-learn brier_score_loss", 1e-12, over_estimates(brier_score, brier_score_loss)),
    Peer(
        "rms_error",
        "scikit-learn, its root",
        1e-12,
        over_estimates(rms_error, lambda y, p: brier_score_loss(y, p) ** 0.5),
    ),
    Peer(
        "empirical_calibration_error",
        "brute force: all p1 < p2",
        1e-12,
        over_estimates(
            lambda y, p: empirical_calibration_error(y[:BRUTE_ROWS], p[:BRUTE_ROWS]),
            lambda y, p: interval_error(y[:BRUTE_ROWS], p[:BRUTE_ROWS]),
        ),
    ),
    Peer(
        "kolmogorov_smirnov_error",
        "brute force: all p2",
        1e-12,
        over_estimates(kolmogorov_smirnov_error, threshold_error),
    ),
    Peer(
        "expected_calibration_error",
        f"bin by bin, {BINS} bins",
        1e-12,
        over_estimates(lambda y, p: expected_calibration_error(y, p, n_bins=BINS), binned_error),
    ),
    Peer(
        "murphy_decomposition, summed",
        "scikit-learn brier_score_loss",
        1e-12,
        over_estimates(murphy_sum, brier_score_loss),
    ),
]
