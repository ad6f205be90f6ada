"""Quick cells get one worker, whatever -j says, and the same numbers."""

import json

import pytest

from probcal.runner import run as module


@pytest.fixture
def workers(monkeypatch):
    """How many workers each run had."""
    seen, outcomes = [], module.outcomes

    def counting(planned, run, jobs, **more):
        seen.append(jobs)
        return outcomes(planned, run, jobs, **more)

    monkeypatch.setattr(module, "outcomes", counting)
    return seen


@pytest.mark.slow
def test_cells_known_to_be_quick_are_run_by_one_worker_with_the_same_numbers(bench, workers):
    bench.run("-j", "2")
    two = bench.numbers()
    quick = [json.dumps(row | {"seconds": 0.01}) + "\n" for row in bench.rows()]  # on a machine that does nothing else
    (bench.results / "cells.jsonl").write_text("".join(quick))
    bench.config(seed=2)
    bench.run("-j", "2")
    one = bench.numbers()
    assert workers == [2, 1]
    bench.run("-j", "2", "-o", "elsewhere")
    assert workers == [2, 1, 2]
    assert bench.numbers(bench.folder / "elsewhere") == one != two
