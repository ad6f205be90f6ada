"""Test maps of decision scores at any finite scale: huge, tiny, of every dtype and memory order."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import probcal
from probcal.methods.calibrators._calibrator import Calibrator
from probcal.methods.registry import PUBLIC_CLASSES

MAPS = sorted(name for name in PUBLIC_CLASSES if name.endswith("Calibrator"))
VARIANTS = {
    **{name: lambda kind: kind(input="score") for name in MAPS},
    "VectorScalingCalibrator, none": lambda kind: kind(input="score", penalty="none"),
    "MatrixScalingCalibrator, none": lambda kind: kind(input="score", penalty="none"),
}
MANY = st.floats(min_value=-900, max_value=900)


def made(variant):
    return VARIANTS[variant](getattr(probcal, variant.partition(",")[0]))


def is_scale_free(variant):
    return made(variant).is_scale_free


def problem(n_classes, seed=0):
    random = np.random.default_rng(seed)
    y = random.integers(n_classes, size=150)
    if n_classes == 2:
        return random.normal(size=150) + y, y
    return random.normal(size=(150, n_classes)) + np.eye(n_classes)[y], y


def predicted(variant, scores, y, new):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = made(variant).fit(scores, y).predict_proba(new)
    assert np.isfinite(p).all() and (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1)
    return p


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("variant", [name for name in VARIANTS if is_scale_free(name)])
@settings(max_examples=8, deadline=None)
@given(power=MANY)
def test_scores_times_a_constant_give_the_same_probabilities(variant, n_classes, power):
    scores, y = problem(n_classes)
    factor = 2.0**power
    expected = predicted(variant, scores, y, scores)
    np.testing.assert_allclose(predicted(variant, scores * factor, y, scores * factor), expected, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("variant", VARIANTS)
@settings(max_examples=8, deadline=None)
@given(power=st.floats(min_value=-1070, max_value=1020), new_power=st.floats(min_value=-1070, max_value=1020))
def test_every_map_gives_probabilities_at_any_finite_scale(variant, n_classes, power, new_power):
    scores, y = problem(n_classes)
    predicted(variant, scores * 2.0**power, y, scores * 2.0**new_power)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_dtype_and_memory_order_gives_the_same_probabilities(variant, n_classes):
    scores, y = problem(n_classes)
    scores = scores.astype("float16")
    expected = predicted(variant, scores.astype(float), y, scores.astype(float))
    strided = np.repeat(scores, 2, axis=0)[::2]
    for array in (*map(scores.astype, ("float16", "float32", ">f8", ">f4")), strided, np.asfortranarray(scores)):
        np.testing.assert_array_equal(predicted(variant, array, y, array), expected)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scores", ["one value", "separated", "two values", "largest floats"])
def test_odd_scores_give_probabilities(variant, scores):
    y = np.arange(60) % 2
    values = {
        "one value": np.full(60, 1e200),
        "separated": np.where(y == 1, 3e-200, -1e-200) * (1 + np.arange(60)),
        "two values": np.where(np.arange(60) % 3, 1e15, -1e15),
        "largest floats": np.where(np.arange(60) % 3, np.finfo(float).max, -np.finfo(float).max),
    }[scores]
    predicted(variant, values, y, np.concatenate([values, [0.0, 1.0, -1e300, 5e-324]]))
    if scores == "largest floats":
        predicted(variant, np.column_stack([-values, values]), y, np.column_stack([values, -values]))


def log_loss(y, p):
    return -np.log2(p[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize("factor", [1, 1e2, 1e3, 1e6, 1e12])
@pytest.mark.parametrize("name", ["TemperatureCalibrator", "DirichletCalibrator", "MatrixScalingCalibrator"])
def test_large_scores_are_calibrated_as_well_as_small_ones(name, factor):
    scores, y = problem(2, seed=1)
    small, large = (
        getattr(probcal, name)(input="score").fit(scores * one, y).predict_proba(scores * one) for one in (1, factor)
    )
    assert log_loss(y, large) < log_loss(y, small) + 0.005


def test_ordinary_scores_are_used_as_they_are():
    scores, y = problem(2)
    for name in MAPS:
        kind = getattr(probcal, name)
        assert issubclass(kind, Calibrator)
        assert kind(input="score").fit(scores, y)._exponent == 0
