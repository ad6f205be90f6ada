"""Test borders traced from predicted labels against lines, circles and rectangles in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from probcal.methods.iso_probability import Box, border

UNIT = Box(np.zeros(2), np.ones(2))
quick = settings(max_examples=40, deadline=None, derandomize=True)


def sampled(line, n=2000):
    """Return evenly spaced points along a polyline."""
    steps = np.r_[0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))]
    at = np.linspace(0, steps[-1], n)
    return np.column_stack([np.interp(at, steps, line[:, k]) for k in (0, 1)])


@quick
@given(st.floats(0, 2 * np.pi), st.floats(-0.4, 0.4))
def test_straight_border_is_given_by_two_points(angle, offset):
    normal = np.array([np.cos(angle), np.sin(angle)])
    (line,) = border(lambda points: (points - 0.5) @ normal > offset, UNIT)
    assert len(line) == 2
    assert np.abs((line - 0.5) @ normal - offset).max() < 1e-6
    assert np.minimum(line, 1 - line).min(axis=1) == pytest.approx([0, 0], abs=1e-9)  # at the sides of the box


def test_border_of_a_circle_follows_the_circle():
    (line,) = border(lambda points: np.linalg.norm(points - 0.5, axis=1) < 0.3, UNIT)
    assert np.array_equal(line[0], line[-1])
    assert len(line) <= 200
    assert np.abs(np.linalg.norm(line - 0.5, axis=1) - 0.3).max() < 1e-6
    # the chords of 200 even points lie r (1 - cos(pi / 200)) = 3.7e-5 inside the circle; our points are not even
    assert np.abs(np.linalg.norm(sampled(line) - 0.5, axis=1) - 0.3).max() < 3e-4


def test_border_of_a_rectangle_has_its_corners():
    low, high = np.array([0.2037, 0.3141]), np.array([0.6181, 0.7071])
    (line,) = border(lambda points: ((points > low) & (points < high)).all(axis=1), UNIT)
    assert np.array_equal(line[0], line[-1])
    for corner in ([low[0], low[1]], [low[0], high[1]], [high[0], low[1]], [high[0], high[1]]):
        assert np.abs(line - corner).max(axis=1).min() < 2e-5
    on_a_side = np.minimum(np.abs(line - low), np.abs(line - high)).min(axis=1)
    assert on_a_side.max() < 1e-6
    assert len(line) <= 20


def test_border_on_two_sides_has_two_lines():
    lines = border(lambda points: np.abs(points[:, 0] - 0.5) > 0.25, UNIT)
    assert sorted(round(float(line[:, 0].mean()), 6) for line in lines) == [0.25, 0.75]


@pytest.mark.parametrize("answer", [True, False])
def test_one_class_everywhere_has_no_border(answer):
    assert border(lambda points: np.full(len(points), answer), UNIT) == []


def test_ragged_border_has_at_most_200_points():
    lines = border(lambda points: points[:, 1] > 0.5 + 0.1 * np.sin(200 * points[:, 0]), UNIT)
    assert 0 < max(map(len, lines)) <= 200


def test_box_is_slightly_wider_than_its_points():
    box = Box.around(np.array([[0.0, 3.0], [10.0, 4.0]]))
    assert box.low.tolist() == [-0.5, 2.95]
    assert box.sides.tolist() == pytest.approx([11, 1.1])
