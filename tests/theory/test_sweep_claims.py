"""Test what Nalbantov & Ivanov (2019, sections 3 and 4) say about surfaces, on small draws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from probcal import WeightSweepClassifier
from probcal.data.card import find_card, read_card
from probcal.data.dataset import generated


def test_surfaces_of_a_tree_coincide_in_part():
    # Section 3 about Figure 4: the same splits occur again at other levels.
    draw = generated(read_card(find_card("gaussians-250")), 0)
    tree = DecisionTreeClassifier(ccp_alpha=0.0015, random_state=0)
    sweep = WeightSweepClassifier(tree, [0.25, 0.3, 0.35], random_state=0).fit(draw.X[:500], draw.y[:500])
    splits = [
        {(feature, round(at, 9)) for feature, at in zip(one.tree_.feature, one.tree_.threshold, strict=True)}
        - {(-2, -2.0)}
        for one in sweep.estimators_
    ]
    assert splits[0] & splits[1] and splits[1] & splits[2] and splits[0] != splits[1]


@pytest.mark.parametrize("level", [0.1, 0.5, 0.9])
def test_surface_follows_bayes_rule_not_the_printed_equation(level):
    # This is the true posterior along the surface of logistic regression. The printed equation 5 gives 1 - level.
    draw = generated(read_card(find_card("gaussians-4000")), 0)
    sweep = WeightSweepClassifier(LogisticRegression(C=1e8), [level], random_state=0).fit(draw.X[:8000], draw.y[:8000])
    [line] = sweep.curves(draw.X[8000:])["iso_probability"]
    x, y = (np.interp(np.linspace(0.3, 0.7, 5), [0, 1], line[k]) for k in "xy")
    assert 1 / (1 + np.exp(-(x + 2 * y))) == pytest.approx(np.full(5, level), abs=0.04)
