"""Test the steps that refinement expects, on which it fits classifiers ahead of time."""

from itertools import islice, pairwise

import pytest

from probcal.methods.refinement import Goal, _expected_steps


def steps_by_plain_loops(goal, edges, counts, n_steps):
    """Return (threshold, whether a vote was guessed) of each step. Half of an interval's rows fall into each half."""
    intervals = [(goal.interval(*ends), count, False) for ends, count in zip(pairwise(edges), counts, strict=True)]
    found = []
    for _ in range(n_steps):
        gains = [count * one.gain for one, count, _ in intervals]
        place = min(k for k, gain in enumerate(gains) if gain >= max(gains) * (1 - 1e-9))
        one, count, guessed = intervals.pop(place)
        found.append((one.p, guessed))
        intervals[place:place] = [(half, count / 2, True) for half in goal.split(one)]
    return found


@pytest.mark.parametrize("goal", [Goal(), Goal("squared_error"), Goal("squared_error", "true_drop")], ids=str)
@pytest.mark.parametrize("counts", [[1.0, 90.0, 40.0], [50.0, 50.0, 1.0]], ids=str)
def test_expected_steps_halve_the_rows_of_each_interval(goal, counts):
    edges = [0.0, 0.25, 0.5, 1.0]
    intervals = [goal.interval(a, b) for a, b in pairwise(edges)]
    steps = _expected_steps(intervals, counts, goal, 30)
    assert [tuple(step) for step in islice(steps, 31)] == steps_by_plain_loops(goal, edges, counts, 30)
