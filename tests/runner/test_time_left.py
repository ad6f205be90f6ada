"""Test the predicted time of a run: what it follows from, and when there is none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planned import planned

from probcal.runner.time_left import RunningCell, TimeEstimates, seconds_left, useful_worker_count


def ids(plan):
    return [one.cell.id for one in plan]


def test_without_times_no_duration_is_predicted():
    plan = planned(None, None)
    assert TimeEstimates(plan).expected_seconds(ids(plan)[0]) is None
    assert seconds_left([], None, 0.0, 2) is None
    assert seconds_left([RunningCell("a", 3600.0, None)], 0.0, 0.0, 2) is None


def test_predicted_times_adapt_to_a_slower_machine():
    plan = planned(90.0, 100.0)
    estimates = TimeEstimates(plan)
    estimates.record_end(ids(plan)[0], 190.0)
    assert estimates.expected_seconds(ids(plan)[1]) == 100.0 * (190 + 10) / (90 + 10)


def test_time_scales_with_rows_and_prefers_similar_cells():
    wine, digits = planned(None), planned(None, dataset="digits-odd")
    bayes, sigmoid = planned(None, learner="gaussian_nb"), planned(None, method="sigmoid")
    estimates = TimeEstimates([*wine, *digits, *bayes, *sigmoid])
    rows = wine[0].cell.card.expect.rows
    estimates.record_end(*ids(bayes), rows * 1.0)
    assert estimates.expected_seconds(*ids(wine)) == pytest.approx(rows)
    assert estimates.expected_seconds(*ids(sigmoid)) == pytest.approx(rows)
    estimates.record_end(*ids(wine), rows * 3.0)
    assert estimates.expected_seconds(*ids(digits)) == pytest.approx(3.0 * digits[0].cell.card.expect.rows)


def test_work_is_divided_among_workers_except_the_longest_cell():
    running = [RunningCell("a", 5.0, 15.0), RunningCell("b", 5.0, 15.0)]
    assert seconds_left(running, 100.0, 20.0, 2) == 60.0
    assert seconds_left(running, 100.0, 90.0, 2) == 90.0
    assert seconds_left([RunningCell("a", 10.0, 3600.0)], 0.0, 0.0, 4) == 3590.0


def test_overdue_cell_is_not_predicted_to_end_at_once():
    assert seconds_left([RunningCell("a", 3600.0, 10.0)], 0.0, 0.0, 2) == 3600.0


@given(
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=4),
    st.lists(st.floats(0, 1e6), max_size=5),
    st.integers(1, 8),
)
@settings(derandomize=True, deadline=None)
def test_time_left_covers_the_longest_cell(running, waiting, workers):
    under = [RunningCell(str(n), *times) for n, times in enumerate(running)]
    left = seconds_left(under, sum(waiting), max(waiting, default=0.0), workers)
    assert left >= max([*waiting, *(one.remaining_seconds for one in under)], default=0.0)


@pytest.mark.parametrize(
    ("expected", "jobs", "workers"),
    [
        ([0.1] * 8, 4, 1),
        ([0.5] * 3, 4, 2),
        ([30.0] * 3, 2, 2),
        ([30.0], 2, 1),
        ([None, 0.1], 2, 2),
        ([None], 2, 1),
    ],
)
def test_worker_count_follows_the_predicted_work(expected, jobs, workers):
    assert useful_worker_count(planned(*expected), jobs) == workers
