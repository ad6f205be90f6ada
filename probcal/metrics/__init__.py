"""Measure predicted probabilities.

With two classes, ``y`` of shape (n_rows,) holds 0 and 1 (or False and True). ``p`` has shape (n_rows, 2), the columns
of ``predict_proba``, or shape (n_rows,), the predicted P(y = 1). Two columns keep a small P(y = 0) exact. This matters
for the log loss, the calibration slope and the calibration intercept (see ``cross_entropy``). With several classes,
where a metric supports them, ``y`` holds the whole numbers 0 to n_classes - 1, and ``p`` has shape (n_rows, n_classes).

The rows of ``p`` sum to 1 within 1e-6. ``sample_weight``, of shape (n_rows,), is not negative and not all 0. Only the
ratios of the weights count, and a row of weight 0 is left out. In ``calibration_p_value`` and the limits of
``reliability_curve``, a row of weight two is one draw of a label that counts double. If it stands for two rows, repeat
it (``np.repeat``). Other metrics do not change if the row is repeated, but for the sums ``errors`` and ``log10_loss``.

With two classes, the labels may be of any kind, such as texts, if ``pos_label`` names the positive label. With a column
for each class, the labels may be texts. The columns are then in the sorted order of the labels, as in scikit-learn.

Where ``p`` is a DataFrame whose columns are named after the labels, names decide which column belongs to which label.
The columns may then be in any order, the labels may be any numbers, and rows of some classes may be missing. Without
names, labels such as 1 and 2 beside three columns raise ValueError, because they may count them from 0 or from 1. So
does a ``pos_label`` that is not the last label in sorted order beside two columns.

``labels`` names all classes where the rows may lack one. With it, ``pos_label`` compares one class with the others.

Log losses are in bits unless ``base="nats"`` says otherwise. The metric ``log_loss`` of an experiment is in nats.

No function changes its arguments. The order of the rows changes only the last digits. All functions raise ValueError
for invalid arguments: missing values, probabilities outside [0, 1], other labels, unequal lengths, and no rows.
"""

from __future__ import annotations

from probcal.metrics.calibration import (
    asymptotic_calibration_bound,
    calibration_bound,
    calibration_p_value,
    empirical_calibration_error,
    expected_calibration_error,
    kolmogorov_smirnov_error,
)
from probcal.metrics.calibration_tests import CalibrationTests, calibration_tests
from probcal.metrics.curves import BinnedCurve, Curve, binned_curve, isotonic_curve, loess_curve
from probcal.metrics.decisions import DecisionCurve, decision_curve, excess_cost_bound, net_benefit
from probcal.metrics.decomposition import ScoreDecomposition, score_decomposition, sharpness
from probcal.metrics.losses import (
    MurphyDecomposition,
    brier_score,
    cross_entropy,
    expected_cost,
    l1_error,
    loss_ratio,
    murphy_decomposition,
    rms_error,
)
from probcal.metrics.metric import Metric
from probcal.metrics.metric_values import all_metrics, means_over_labels, metrics_by_group
from probcal.metrics.ranking import roc_auc, roc_curve
from probcal.metrics.recalibration import calibration_intercept, calibration_slope
from probcal.metrics.registry import (
    ABOUT_COST,
    ASKED_METRICS,
    COST,
    DEFAULT_METRICS,
    METHOD_METRICS,
    METRICS,
    NAMED,
    find_metric,
    loss_parameter,
    metric_named,
    nearest_cost,
)
from probcal.metrics.reliability import Band, ReliabilityCurve, ScoreHistogram, reliability_curve, score_histogram
from probcal.metrics.smooth_errors import (
    calibration_distance_quantile,
    integrated_calibration_index,
    smooth_expected_calibration_error,
)

__all__ = [
    "ABOUT_COST",
    "ASKED_METRICS",
    "COST",
    "DEFAULT_METRICS",
    "METHOD_METRICS",
    "METRICS",
    "NAMED",
    "Band",
    "BinnedCurve",
    "CalibrationTests",
    "Curve",
    "DecisionCurve",
    "Metric",
    "MurphyDecomposition",
    "ReliabilityCurve",
    "ScoreDecomposition",
    "ScoreHistogram",
    "all_metrics",
    "asymptotic_calibration_bound",
    "binned_curve",
    "brier_score",
    "calibration_bound",
    "calibration_distance_quantile",
    "calibration_intercept",
    "calibration_p_value",
    "calibration_slope",
    "calibration_tests",
    "cross_entropy",
    "decision_curve",
    "empirical_calibration_error",
    "excess_cost_bound",
    "expected_calibration_error",
    "expected_cost",
    "find_metric",
    "integrated_calibration_index",
    "isotonic_curve",
    "kolmogorov_smirnov_error",
    "l1_error",
    "loess_curve",
    "loss_parameter",
    "loss_ratio",
    "means_over_labels",
    "metric_named",
    "metrics_by_group",
    "murphy_decomposition",
    "nearest_cost",
    "net_benefit",
    "reliability_curve",
    "rms_error",
    "roc_auc",
    "roc_curve",
    "score_decomposition",
    "score_histogram",
    "sharpness",
    "smooth_expected_calibration_error",
]
