"""Test ``all_metrics`` against the single metrics, and the names, descriptions and storage of metrics."""

import math

import numpy as np
import pytest
from hypothesis import given
from metric_rows import has_both, quick, weighted_rows

import probcal.metrics
from probcal.config.listing import listing
from probcal.metrics import (
    ASKED_METRICS,
    DEFAULT_METRICS,
    METHOD_METRICS,
    METRICS,
    all_metrics,
    l1_error,
    means_over_labels,
)
from probcal.metrics.registry import metric_named

OF_THE_TRUTH = ("l1", "l1_trivial", "frequency")
ALONE = {
    "rms": probcal.metrics.rms_error,
    "cxe": probcal.metrics.cross_entropy,
    "auc": probcal.metrics.roc_auc,
    "c_emp": probcal.metrics.empirical_calibration_error,
    "ece": probcal.metrics.expected_calibration_error,
    "ks": probcal.metrics.kolmogorov_smirnov_error,
    "c_emp_p": probcal.metrics.calibration_p_value,
}


@quick
@given(weighted_rows.filter(has_both))
def test_all_metrics_agrees_with_each_single_metric(rows):
    y, p, weight = zip(*rows, strict=True)
    assert all_metrics(y, p) == {name: metric(y, p) for name, metric in ALONE.items()}
    assert all_metrics(y, p, weight) == {name: metric(y, p, sample_weight=weight) for name, metric in ALONE.items()}


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_all_metrics_sorts_once_or_once_for_each_class(monkeypatch, n_classes):
    sorts = []
    for name in ("sort", "argsort"):
        own = getattr(np, name)
        monkeypatch.setattr(np, name, lambda values, own=own: sorts.append(1) or own(values))
    all_metrics(np.arange(60) % n_classes, np.random.default_rng(0).dirichlet(np.ones(n_classes), 60))
    assert len(sorts) == (1 if n_classes == 2 else n_classes)


def test_certain_correct_predictions_have_no_loss():
    found = all_metrics([0, 1], [0, 1])
    assert found == {"rms": 0, "cxe": 0, "auc": 1, "c_emp": 0, "ece": 0, "ks": 0, "c_emp_p": 1}
    assert math.copysign(1, found["cxe"]) == 1, "and not minus nothing"


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_leaves_only_auc_undefined(label):
    y, p = [label] * 3, [0.1, 0.5, 0.9]
    found = all_metrics(y, p)
    assert math.isnan(found.pop("auc"))
    assert found == {name: metric(y, p) for name, metric in ALONE.items() if name != "auc"}


def test_all_metrics_with_true_p_returns_every_registered_metric():
    assert set(all_metrics([0, 1], [0.1, 0.9], true_p=[0.2, 0.7])) == set(METRICS)
    assert DEFAULT_METRICS == ("cxe", "rms", "auc", "c_emp")


@pytest.mark.parametrize("metric", METRICS)
def test_metric_description_ends_with_its_direction(metric):
    name = metric_named(metric)
    assert name.long != metric
    ends = {"of the data, whatever the predictions": "of the data"}
    assert name.help.endswith(ends.get(name.good_end, name.good_end))


def test_metrics_listing_names_every_metric_and_its_direction():
    lines = listing("metrics").splitlines()[2:]
    assert [line.split()[0] for line in lines] == [*METRICS, *ASKED_METRICS, "cost(p)", *METHOD_METRICS]
    ends = ("of the data", "of methods that protect", "of methods with thresholds", "classes only", "are calibrated")
    assert all("is better" in line or line.endswith(ends) for line in lines)


def test_l1_is_reported_beside_l1_of_the_base_rate():
    found = all_metrics([0, 0, 0, 1], [0.5, 0.5, 0.5, 0.5], true_p=[0.0, 0.5, 0.25, 0.75])
    # the base rate is 1/4; its distances from the true probabilities are 1/4, 1/4, 0 and 1/2
    assert [found[name] for name in OF_THE_TRUTH] == [0.25, 0.25, 0.25]
    assert found["l1"] == l1_error([0.0, 0.5, 0.25, 0.75], [0.5] * 4)


def test_metrics_of_several_labels_are_means_over_labels():
    rng = np.random.default_rng(0)
    y, p, truth = rng.integers(0, 2, (50, 3)), rng.random((50, 3)), rng.random((50, 3))
    each = [all_metrics(y[:, k], p[:, k], true_p=truth[:, k]) for k in range(3)]
    found = means_over_labels(y, p, truth)
    assert found == {name: pytest.approx(np.mean([one[name] for one in each])) for name in METRICS}
    assert set(means_over_labels(y, p)) == set(METRICS) - set(OF_THE_TRUTH)


def test_requested_metrics_are_computed_only_on_request():
    y, p, truth = [1, 0, 1, 0], [0.5, 0.1, 0.9, 0.6], [0.5, 0.1, 0.6, 0.2]
    assert not set(ASKED_METRICS) & set(all_metrics(y, p, true_p=truth))
    found = all_metrics(y, p, true_p=truth, also=ASKED_METRICS)
    assert found["errors"] == 2, "the first row is a draw, and the class that comes first is called; the last is wrong"
    assert found["log10_loss"] == pytest.approx(-math.log10(0.5 * 0.9 * 0.9 * 0.4), rel=1e-14)
    # the distances are 0, 0, .3 and .4
    assert found["l2"] == pytest.approx(math.sqrt((0.09 + 0.16) / 4), rel=1e-14)
    assert found["l_max"] == pytest.approx(0.4, rel=1e-14)


def test_errors_of_several_classes_use_the_largest_prediction():
    p = [[0.5, 0.3, 0.2], [0.2, 0.4, 0.4], [0.2, 0.2, 0.6]]
    assert all_metrics([0, 2, 2], p, also=["errors"])["errors"] == 1
    assert all_metrics([0, 2, 2], p, also=["log10_loss"])["log10_loss"] == pytest.approx(-math.log10(0.5 * 0.4 * 0.6))


def test_errors_count_row_weights():
    assert all_metrics([1, 0, 1], [0.2, 0.2, 0.8], [2, 1, 1], also=["errors"])["errors"] == pytest.approx(3 * 2 / 4)
