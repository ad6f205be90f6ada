"""Test the steps that refinement expects, on which it fits classifiers ahead of time."""

from itertools import islice, pairwise

import pytest

from probcal.methods.refinement import ThresholdLoss, _expected_steps


def steps_by_plain_loops(threshold_loss, edges, counts, n_steps):
    """Return (threshold, whether a vote was guessed) of each step. Half of an interval's rows fall into each half."""
    intervals = [
        (threshold_loss.interval(*ends), count, False) for ends, count in zip(pairwise(edges), counts, strict=True)
    ]
    found = []
    for _ in range(n_steps):
        gains = [count * one.gain for one, count, _ in intervals]
        place = min(k for k, gain in enumerate(gains) if gain >= max(gains) * (1 - 1e-9))
        one, count, guessed = intervals.pop(place)
        found.append((one.p, guessed))
        intervals[place:place] = [(half, count / 2, True) for half in threshold_loss.split(one)]
    return found


@pytest.mark.parametrize(
    "threshold_loss",
    [ThresholdLoss(), ThresholdLoss("squared_error"), ThresholdLoss("squared_error", "true_drop")],
    ids=str,
)
@pytest.mark.parametrize("counts", [[1.0, 90.0, 40.0], [50.0, 50.0, 1.0]], ids=str)
def test_expected_steps_halve_the_rows_of_each_interval(threshold_loss, counts):
    edges = [0.0, 0.25, 0.5, 1.0]
    intervals = [threshold_loss.interval(a, b) for a, b in pairwise(edges)]
    steps = _expected_steps(intervals, counts, threshold_loss, 30)
    assert [tuple(step) for step in islice(steps, 31)] == steps_by_plain_loops(threshold_loss, edges, counts, 30)
