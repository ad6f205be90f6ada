"""Test what a map says about itself, and the scores that get a wanted probability."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit

import probcal
from probcal import PriorCalibrator, SigmoidCalibrator, TemperatureCalibrator
from probcal.methods.calibrators.beta import Beta
from probcal.methods.calibrators.histogram import Histogram
from probcal.methods.calibrators.isotonic import Isotonic

RNG = np.random.default_rng(1)
P = RNG.beta(0.4, 0.6, 500)
Y = (RNG.random(500) < P**1.4).astype(int)
MAPS = [name for name in probcal.__all__ if name.endswith("Calibrator")]
RISING = [name for name in MAPS if getattr(probcal, name).is_rising]
OTHER = [name for name in MAPS if name not in RISING]


def fitted(name, kind="probability", **parameters):
    parameters |= {"base_rate": 0.1} if name == "PriorCalibrator" else {}
    return getattr(probcal, name)(input=kind, **parameters).fit(P if kind == "probability" else 8 * P - 4, Y)


@pytest.mark.parametrize("kind", ["probability", "score"])
@pytest.mark.parametrize("name", RISING)
def test_inverse_gives_the_score_of_a_probability(name, kind):
    calibrator = fitted(name, kind, **({"centered": True} if name == "IsotonicCalibrator" else {}))
    ends = np.array([0, 1] if kind == "probability" else [-1e9, 1e9])
    low, high = calibrator.predict_proba(ends)[:, 1]
    wanted = np.linspace(low, high, 50)
    found = calibrator.predict_proba(calibrator.inverse(wanted))[:, 1]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    with pytest.raises(ValueError, match=r"the map gives probabilities from .* and never"):
        calibrator.inverse([high + 1e-3 if high < 0.999 else 2])


def test_inverse_of_a_temperature_is_its_reciprocal():
    calibrator = TemperatureCalibrator("score").fit(8 * P - 4, Y)
    wanted = np.array([0.02, 0.3, 0.5, 0.99])
    np.testing.assert_allclose(calibrator.inverse(wanted), logit(wanted) * calibrator.temperature_, atol=1e-9)


def test_inverse_of_a_flat_is_its_middle_and_of_an_endless_flat_its_end():
    calibrator = probcal.IsotonicCalibrator("score").fit(8 * P - 4, Y)
    calibrator.maps_ = [Isotonic(np.array([-2.0, -1, 1, 2, 3]), np.array([0.1, 0.3, 0.3, 0.8, 0.8]), (0.0, 1.0))]
    np.testing.assert_allclose(calibrator.inverse([0.1, 0.3, 0.8, 0.2]), [-2, 0, 2, -1.5], atol=1e-12)


def test_inverse_of_two_columns_is_the_probability_of_the_second_class():
    calibrator = SigmoidCalibrator().fit(np.column_stack([1 - P, P]), Y)
    score = calibrator.inverse([0.3])[0]
    assert calibrator.predict_proba([[1 - score, score]])[0, 1] == pytest.approx(0.3)


@pytest.mark.parametrize("name", OTHER)
def test_maps_with_steps_or_falls_have_no_inverse(name):
    with pytest.raises(ValueError, match=f"this {name} can have steps or fall, so it has no inverse"):
        fitted(name).inverse([0.5])


def test_falling_fit_has_no_inverse():
    with pytest.raises(ValueError, match="the map does not rise"):
        SigmoidCalibrator().fit(P, 1 - Y).inverse([0.5])


def test_interpretation_names_slope_shift_and_both_sides():
    calibrator = fitted("BetaCalibrator")
    calibrator.maps_ = [Beta(a=0.5, b=0.5, c=0.0, least=1e-9)]
    # at p = .0005: expit(logit(.0005) / 2) = .0219; the largest lift is where d/dp [expit(logit(p) / 2) - p] = 0
    grid = np.arange(1, 200) / 200
    most = grid[np.argmax(expit(logit(grid) / 2) - grid)]
    assert calibrator.interpret() == (
        "Around .5 the map multiplies log-odds by 0.50 and adds 0.00, so predictions become less extreme. It lifts "
        f"probabilities below 0.5, at most from {most:.2g} to {expit(logit(most) / 2):.2g}, and lowers probabilities "
        f"above 0.5, at most from {1 - most:.2g} to {1 - expit(logit(most) / 2):.2g}."
    )


@pytest.mark.parametrize("temperature", [0.99, 1.004, 1.01])
def test_a_map_near_the_identity_is_told_on_both_sides(temperature):
    content = json.loads(TemperatureCalibrator().fit(P, Y).to_json())
    content["fitted"]["temperature"] = temperature
    text = TemperatureCalibrator.from_json(json.dumps(content)).interpret()
    assert "It lifts probabilities " in text and " lowers probabilities " in text


def test_interpretation_tells_of_falling_and_constant_maps():
    assert "so a higher prediction gets a lower probability." in SigmoidCalibrator().fit(P, 1 - Y).interpret()
    constant = probcal.IsotonicCalibrator().fit(P, np.arange(500) % 2 == 0)
    constant.maps_ = [Isotonic(np.array([0.0]), np.array([0.3]), (0.0, 1.0))]
    assert constant.interpret() == "The map predicts 0.3 for every row. The scores do not matter."


def test_interpretation_of_scores_names_no_limit_that_every_score_reaches():
    calibrator = probcal.HistogramBinningCalibrator("score").fit(8 * P - 4, Y)
    calibrator.maps_ = [Histogram(expit(np.array([-1.0, 2.0])), np.array([0.2, 0.6, 0.55]))]
    assert calibrator.interpret() == (
        "Scores get probabilities from 0.2 to 0.6; at least 0.5 first at -1. "
        "A higher score can have a lower probability."
    )


def test_interpretation_of_a_prior_is_its_shift():
    y = np.arange(1000) % 2
    text = PriorCalibrator(base_rate=0.1).fit(np.where(y, 0.7, 0.3), y).interpret()
    assert text.startswith(f"Around .5 the map multiplies log-odds by 1.00 and adds {logit(0.1):.2f}, so the spread")
    assert "It lowers probabilities everywhere" in text


@pytest.mark.parametrize("kind", ["probability", "score"])
@pytest.mark.parametrize("name", RISING + OTHER)
def test_each_map_says_two_sentences(name, kind):
    assert fitted(name, kind).interpret().count(". ") == 1
    p = RNG.dirichlet(np.ones(7), 400)
    calibrator = getattr(probcal, name)(input=kind).fit(p if kind == "probability" else np.log(p), np.arange(400) % 7)
    assert "at least and at most, of 7 classes. Of equal probabilities" in calibrator.interpret()
