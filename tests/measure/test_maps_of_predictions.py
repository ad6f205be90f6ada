"""Test the calibration of given probabilities, the separation of training and test rows, and the names of maps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from probcal.errors import DataError, ProbcalError
from probcal.measure import maps
from probcal.measure.measurement import measure_sections
from probcal.methods.registry import FAMILIES
from tests.measure.prediction_files import read_table, three_classes, two_classes


class Recorder:
    """Predict the given scores, and store in ``seen`` the rows of each call."""

    def __init__(self, seen):
        self.seen = seen

    def fit(self, scores, y, sample_weight=None):
        self.rows = set(scores.tolist())
        return self

    def predict_proba(self, scores):
        self.seen.append((self.rows, set(scores.tolist())))
        return np.column_stack([1 - scores, scores])


def test_training_and_test_rows_never_mix(tmp_path, monkeypatch):
    frame = two_classes(100).assign(p=np.linspace(0.001, 0.999, 100))
    predictions = read_table(frame, tmp_path)
    seen = []
    monkeypatch.setattr(maps, "new_map", lambda name, base_rates: Recorder(seen))
    p = maps.cross_fit("recorder", predictions, 0)
    np.testing.assert_allclose(p[:, 1], frame.p)
    assert len(seen) == 5
    assert all(len(train) == 80 and not train & test for train, test in seen)
    assert set().union(*(test for _, test in seen)) == set(predictions.p.tolist())


def test_every_map_has_a_name():
    paths = maps.map_paths()
    assert set(paths) >= {"sigmoid", "isotonic", "beta", "quadratic", "spline", "venn_abers", "temperature"}
    map_classes = {path for path, family in FAMILIES.items() if family == "maps"}
    assert map_classes == set(paths.values())


SLOW = {"venn_abers": pytest.mark.slow}  # numba compiles it


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in maps.map_paths()])
def test_every_map_calibrates_two_and_three_classes(tmp_path, name):
    for frame, columns in ((two_classes(60), ("p",)), (three_classes(60), ("p_*",))):
        predictions = read_table(frame, tmp_path, *columns)
        n = len(predictions.classes)
        rates = [1 / n] * n if name == maps.PRIOR else None
        for p in (
            maps.cross_fit(name, predictions, 0, rates),
            maps.fit_all_rows(name, predictions, rates).predict_proba(predictions.p),
        ):
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-9)
            assert p.shape == (60, len(predictions.classes))


@pytest.mark.parametrize(("n_classes", "cluster"), [(2, "sex"), (3, None)])
def test_a_change_without_draws_has_the_interval_of_paired_rows(tmp_path, n_classes, cluster):
    frame = two_classes() if n_classes == 2 else three_classes().assign(w=np.arange(150) % 3 + 1)
    frame = frame.assign(sex=np.arange(len(frame)) % 40)
    predictions = read_table(frame, tmp_path, "p" if n_classes == 2 else "p_*", weight="w", cluster=cluster)
    calibrated = maps.cross_fit("beta", predictions, 0)
    after = calibrated[:, 1] if n_classes == 2 else calibrated
    sections = [measure_sections(predictions, after, draws, 0)[0] for draws in (0, 200)]
    exact, drawn = (section.line("log_loss_nats").change for section in sections)
    before = np.column_stack([1 - predictions.p, predictions.p]) if n_classes == 2 else predictions.p
    rows = np.arange(len(frame))
    change = np.log(before[rows, predictions.y]) - np.log(calibrated[rows, predictions.y])
    mean = np.average(change, weights=frame.w)
    sums = pd.Series(frame.w * (change - mean)).groupby(frame.sex if cluster else rows).sum()
    weights = frame.w.groupby(frame.sex if cluster else rows).sum()
    n = weights.sum() ** 2 / (weights**2).sum()
    half = 1.959963984540054 * np.sqrt((sums**2).sum() / weights.sum() ** 2 * n / (n - 1))
    assert (exact.value, exact.low, exact.high) == pytest.approx((mean, mean - half, mean + half), rel=1e-9)
    assert drawn.value == pytest.approx(mean, rel=1e-9)
    # the ends of 200 draws vary by some 12 % of the half
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.4 * half)


def test_the_map_of_all_rows_equals_the_library(tmp_path):
    from probcal import BetaCalibrator

    frame = two_classes()
    predictions = read_table(frame, tmp_path, weight="w")
    by_hand = BetaCalibrator().fit(frame.p, frame.y, sample_weight=frame.w).predict_proba(frame.p)
    np.testing.assert_array_equal(maps.fit_all_rows("beta", predictions).predict_proba(predictions.p), by_hand)


def test_classes_with_few_rows_are_rejected(tmp_path):
    frame = two_classes(60)
    frame["y"] = (frame.index < 4).astype(int)
    with pytest.raises(DataError, match='there are 4 of "1"; give more rows, or measure without --calibrate'):
        maps.cross_fit("beta", read_table(frame, tmp_path), 0)


def test_message_for_an_unknown_map_suggests_the_nearest():
    with pytest.raises(ProbcalError, match='there is no map "betta"; did you mean "beta"'):
        maps.new_map("betta")
    with pytest.raises(ProbcalError, match="name it with --base-rate"):
        maps.refuse_map("prior", has_base_rate=False)
