"""Test the logit axes of ``ReliabilityDisplay`` and of the page of ``probcal measure``."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from probcal import ReliabilityDisplay
from probcal.measure.measured_page import reliability_figure
from probcal.measure.measurement import measure_sections
from probcal.metrics import reliability_curve
from tests.measure.prediction_files import read_table

QUICK = {"n_resamples": 20}


def rare(n=4000, seed=0):
    random = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-random.normal(-6, 1.5, n)))
    return (random.random(n) < p).astype(int), p


def labels_of(axis):
    return [one.get_text() for one in axis.get_ticklabels()]


def test_ticks_are_probabilities_at_equal_steps_of_log_odds():
    y, p = rare()
    display = ReliabilityDisplay.from_predictions(y, p, scale="logit", **QUICK)
    axes = display.ax_
    axes.figure.canvas.draw()
    assert axes.get_xscale() == axes.get_yscale() == "logit"
    assert {".001", ".01", ".1", ".5"} <= set(labels_of(axes.xaxis)) & set(labels_of(axes.yaxis))
    places = axes.transData.transform([[0.001, 0.001], [0.01, 0.01], [0.1, 0.1]])
    odds = np.log([0.001 / 0.999, 0.01 / 0.99, 0.1 / 0.9])
    steps = np.diff(places, axis=0) / np.diff(odds)[:, None]
    assert steps == pytest.approx(steps[0, 0], rel=0.01)  # equal along both axes


def test_the_scale_changes_no_number():
    y, p = rare()
    one, other = (ReliabilityDisplay.from_predictions(y, p, scale=scale, **QUICK) for scale in ("linear", "logit"))
    assert np.array_equal(one.prob_true, other.prob_true) and np.array_equal(one.prob_pred, other.prob_pred)
    assert np.array_equal(one.curve.band.high, other.curve.band.high)
    assert np.array_equal(other.line_.get_ydata(), other.prob_true)
    assert one.end_points_ == []


def test_the_histogram_has_bins_of_equal_width_in_log_odds():
    y, p = rare()
    curve = reliability_curve(y, p, scale="logit", bands=None)
    odds = np.log(curve.edges / (1 - curve.edges))
    assert np.diff(odds) == pytest.approx(np.diff(odds)[0])
    assert curve.counts.sum() == pytest.approx(len(p))
    expected = [((p >= low) & (p < high)).sum() for low, high in zip(curve.edges, curve.edges[1:], strict=False)]
    assert np.abs(curve.counts - expected).max() <= 1  # rounding at the ends


def test_frequencies_of_zero_and_one_are_triangles_at_the_ends():
    p = np.repeat([0.001, 0.01, 0.9], 100)
    y = np.concatenate([np.zeros(100), [1], np.zeros(99), np.ones(100)])
    display = ReliabilityDisplay.from_predictions(y, p, scale="logit", n_bins=3, **QUICK)
    low, high = display.end_points_
    assert low.get_xdata() == pytest.approx([0.001]) and high.get_xdata() == pytest.approx([0.9])
    box = display.ax_.get_window_extent()
    bottom = display.ax_.transData.transform([0.5, display.ax_.get_xlim()[0]])[1]
    triangle = low.get_transform().transform(low.get_xydata())[0, 1]
    assert triangle == pytest.approx(bottom, abs=0.5) and triangle > box.y0


def test_bars_from_zero_reach_the_lower_end():
    y, p = rare()
    y[p < 0.001] = 0
    display = ReliabilityDisplay.from_predictions(y, p, scale="logit", **QUICK)
    assert (display.curve.bars.low == 0).any()
    low = display.ax_.get_xlim()[0]
    for lower, bar in zip(display.curve.bars.low, display.bars_.get_segments(), strict=True):
        assert 0 < bar[:, 1].min() < low if lower == 0 else bar[:, 1].min() == lower
    assert (display.band_.get_paths()[0].vertices > 0).all()


def test_predictions_of_zero_and_one_are_drawn():
    y, p = rare()
    p[:5], p[-5:] = 0, 1
    display = ReliabilityDisplay.from_predictions(y, p, scale="logit", **QUICK)
    display.figure_.canvas.draw()
    low, high = display.ax_.get_xlim()
    assert 0 < low < high < 1


def test_the_next_display_widens_the_axes():
    y, p = rare()
    first = ReliabilityDisplay.from_predictions(y, p, scale="logit", name="one", **QUICK)
    narrow = first.ax_.get_xlim()
    second = ReliabilityDisplay.from_predictions(y, p**1.5, scale="logit", name="two", ax=first.ax_, **QUICK)
    wide = second.ax_.get_xlim()
    assert wide[0] < narrow[0] and wide[1] >= narrow[1]
    means = second.prob_pred
    assert wide[0] < means.min() and means.max() < wide[1]
    assert [one.get_text() for one in first.ax_.get_legend().get_texts()] == ["Perfectly calibrated", "one", "two"]


def test_other_scales_are_refused():
    y, p = rare()
    for call in (ReliabilityDisplay.from_predictions, reliability_curve):
        with pytest.raises(ValueError, match='scale must be "linear" or "logit", not \'log\''):
            call(y, p, scale="log")
    first = ReliabilityDisplay.from_predictions(y, p, **QUICK)
    with pytest.raises(ValueError, match="hold a display of another scale"):
        ReliabilityDisplay.from_predictions(y, p, scale="logit", ax=first.ax_, **QUICK)


@pytest.mark.parametrize(("rate", "scale"), [(0.01, "logit"), (0.03, "linear"), (0.97, "linear"), (0.99, "logit")])
def test_the_page_takes_logit_axes_for_rare_classes(tmp_path, rate, scale):
    random = np.random.default_rng(0)
    y = np.arange(2000) < 2000 * rate
    p = np.clip(random.beta(1, 20, 2000), 1e-4, 1) if rate < 0.5 else 1 - random.beta(1, 20, 2000)
    predictions = read_table(pd.DataFrame({"p": p, "y": y.astype(int)}), tmp_path)
    [section] = measure_sections(predictions, None, 20, 0)
    figure = reliability_figure(predictions, section, None)
    assert figure.axes[0].get_xscale() == scale
    plt.close(figure)
