"""Test SMO with weights that differ in their last digits."""

from __future__ import annotations

import numpy as np
import pytest

from probcal import ProbingClassifier

pytest.importorskip("jpype", reason="needs the extra weka")
pytest.importorskip("weka", reason="needs the extra weka")

from probcal.learners import WekaClassifier
from probcal.papers.langford_zadrozny_2005.jittered_smo import JitteredSMO

pytestmark = pytest.mark.java
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(90, 3)).round(1)
Y = (X[:, 0] + RANDOM.normal(size=90) > 0).astype(int)


def test_zero_jitter_equals_smo():
    weights = RANDOM.uniform(0.5, 2, 90)
    ours = JitteredSMO("-M", jitter=0).fit(X, Y, weights).predict_proba(X)
    assert np.array_equal(ours, WekaClassifier("functions.SMO", "-M").fit(X, Y, weights).predict_proba(X))


def test_equal_seeds_repeat_and_other_seeds_differ():
    ours = [JitteredSMO("-M", jitter=0.3, random_state=seed).fit(X, Y).predict_proba(X) for seed in (1, 1, 2)]
    assert np.array_equal(ours[0], ours[1])
    assert not np.array_equal(ours[0], ours[2])


def test_probes_have_different_jitter():
    probing = ProbingClassifier(JitteredSMO(), 5, weighting="weight", random_state=0).fit(X, Y)
    seeds = {probe.random_state for probe in probing.estimators_ if isinstance(probe, JitteredSMO)}
    assert len(seeds) > 1


def test_a_negative_jitter_is_rejected():
    with pytest.raises(ValueError, match="jitter must be at least 0, not -1"):
        JitteredSMO(jitter=-1).fit(X, Y)
