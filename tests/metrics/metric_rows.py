"""Provide Hypothesis strategies for rows, and every metric under one signature."""

from hypothesis import settings
from hypothesis import strategies as st

from probcal.metrics import (
    all_metrics,
    brier_score,
    calibration_distance_quantile,
    calibration_p_value,
    cross_entropy,
    empirical_calibration_error,
    expected_calibration_error,
    expected_cost,
    integrated_calibration_index,
    kolmogorov_smirnov_error,
    l1_error,
    loss_ratio,
    murphy_decomposition,
    net_benefit,
    rms_error,
    roc_auc,
    score_decomposition,
    smooth_expected_calibration_error,
)

quick = settings(max_examples=35, deadline=None, derandomize=True)
few_levels = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]) | st.floats(0, 1)
rows = st.lists(st.tuples(st.integers(0, 1), few_levels), min_size=1, max_size=25)
"""(label, estimate) pairs, many estimates alike."""
weighted_rows = st.lists(st.tuples(st.integers(0, 1), few_levels, st.integers(1, 4)), min_size=1, max_size=15)

OF_SEVERAL_CLASSES = {
    "rms_error": rms_error,
    "brier_score": brier_score,
    "cross_entropy": cross_entropy,
    "roc_auc": roc_auc,
    "empirical_calibration_error": empirical_calibration_error,
    "kolmogorov_smirnov_error": kolmogorov_smirnov_error,
    "expected_calibration_error": expected_calibration_error,
    "calibration_p_value": calibration_p_value,
    "integrated_calibration_index": integrated_calibration_index,
    "calibration_distance_quantile": calibration_distance_quantile,
    "smooth_expected_calibration_error": smooth_expected_calibration_error,
    "score_decomposition": score_decomposition,
    "all_metrics": all_metrics,
}
OF_TWO_CLASSES = {
    "murphy_decomposition": murphy_decomposition,
    "expected_cost": lambda y, p, sample_weight=None: expected_cost(y, p, 0.3, sample_weight),
    "loss_ratio": lambda y, p, sample_weight=None: loss_ratio(y, p, p, 0.3, sample_weight),
    "net_benefit": lambda y, p, sample_weight=None: net_benefit(y, p, 0.3, sample_weight),
}
OF_LABELS = OF_SEVERAL_CLASSES | OF_TWO_CLASSES
EVERY_METRIC = OF_LABELS | {"l1_error": l1_error}


def has_both(rows):
    return 0 < sum(row[0] for row in rows) < len(rows)


def has_a_value(name, y):
    """Say whether the metric has a value: AUC has none if a class is absent."""
    return name != "roc_auc" or 0 < sum(y) < len(y)


def numbers(found):
    """Return the values of a metric as a plain list."""
    if isinstance(found, dict):
        return list(found.values())
    return list(found) if isinstance(found, tuple) else [found]
