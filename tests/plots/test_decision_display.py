"""Test the lines of ``DecisionCurveDisplay``, also for several models on one axes."""

import numpy as np

from probcal import DecisionCurveDisplay
from probcal.metrics import decision_curve

RNG = np.random.default_rng(0)
P = RNG.random(200)
Y = (RNG.random(200) < P).astype(int)


def test_display_draws_net_benefit_and_both_strategies():
    display = DecisionCurveDisplay.from_predictions(Y, P, name="model", color="green")
    expected = decision_curve(Y, P)
    assert np.array_equal(display.line_.get_ydata(), expected.net_benefit)
    lines = {one.get_label(): one for one in display.ax_.get_lines()}
    assert np.array_equal(lines["Treat all"].get_ydata(), expected.treat_all)
    assert list(lines) == ["Treat all", "Treat none", "model"] and display.line_.get_color() == "green"
    assert display.ax_.get_xlabel() == "Threshold probability"


def test_curves_of_several_models_fit_the_axes():
    first = DecisionCurveDisplay.from_predictions(Y, P**4, name="first")
    second = DecisionCurveDisplay.from_predictions(Y, P, ax=first.ax_, name="second")
    texts = [one.get_text() for one in first.ax_.get_legend().get_texts()]
    assert texts == ["Treat all", "Treat none", "first", "second"]
    top = first.ax_.get_ylim()[1]
    assert top >= max(first.curve.net_benefit.max(), second.curve.net_benefit.max())


def test_display_uses_given_thresholds_and_omits_strategies():
    display = DecisionCurveDisplay.from_predictions(Y, P, thresholds=[0.1, 0.3], name="", ref_line=False)
    assert display.line_.get_xdata().tolist() == [0.1, 0.3] and len(display.ax_.get_lines()) == 1
    assert display.ax_.get_legend() is None
