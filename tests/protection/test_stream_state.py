"""Test the state of a stream: labels that arrive, saved numbers, and the capital at the start of each block."""

import math

import numpy as np
import pytest

from probcal.protection.stream_input import number
from probcal.protection.stream_state import Feedback


def test_likelihoods_rounded_above_1_can_be_restored():
    feedback = Feedback()
    feedback.arrivals(np.array([[0.5, 1.0 + 1e-12]]), np.array([1.0]), 3, 1)
    assert Feedback.from_state(feedback.state(), 2).state() == feedback.state()


def test_message_names_the_range_only_where_there_is_one():
    with pytest.raises(ValueError, match=r"^x must be a finite number, not nan$"):
        number(math.nan, "x", -math.inf, math.inf)
    with pytest.raises(ValueError, match=r"^x must be a finite number within \[0, 1\], not 2$"):
        number(2, "x", 0, 1)
