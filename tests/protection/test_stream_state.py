"""Test the state of a stream: labels that arrive, saved numbers, and the capital at the start of each block."""

import numpy as np

from probcal.protection.stream_state import Feedback


def test_likelihoods_rounded_above_1_can_be_restored():
    feedback = Feedback()
    feedback.arrivals(np.array([[0.5, 1.0 + 1e-12]]), np.array([1.0]), 3, 1)
    assert Feedback.from_state(feedback.state(), 2).state() == feedback.state()
