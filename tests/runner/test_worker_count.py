"""Test that quick cells get one worker, whatever -j says, and give the same numbers."""

import pytest

from probcal.runner import run as module
from tests.stored_rows import write_rows


@pytest.fixture
def workers(monkeypatch):
    """Return a list that gets the number of workers of each run."""
    seen, outcomes = [], module.outcomes

    def counting(planned, run, jobs, **more):
        seen.append(jobs)
        return outcomes(planned, run, jobs, **more)

    monkeypatch.setattr(module, "outcomes", counting)
    return seen


@pytest.mark.slow
def test_quick_cells_get_one_worker_and_the_same_numbers(bench, workers):
    bench.run("-j", "2")
    two = bench.numbers()
    write_rows(bench.results, [row | {"seconds": 0.01} for row in bench.rows()])  # as on an idle machine
    bench.config(seed=2)
    bench.run("-j", "2")
    one = bench.numbers()
    assert workers == [2, 1]
    bench.run("-j", "2", "-o", "elsewhere")
    assert workers == [2, 1, 2]
    assert bench.numbers(bench.folder / "elsewhere") == one != two
