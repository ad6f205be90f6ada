"""Test committed results: Table 1 of Gao, Parameswaran & Peng (2017), and simulated protected streams."""

from pathlib import Path

import pytest

from probcal.store.folder import Store, cell_id
from tests.commands import probcal

RESULTS = Path(__file__).parents[2] / "results" / "documents"


def test_all_four_published_numbers_are_in_band():
    done = probcal("check", RESULTS)
    assert done.exit_code == 0
    assert "cells: 4 in band, 0 known deviations, 0 new, 0 not run (of 4)" in done.stdout


def test_five_runs_drew_five_data_sets():
    assert len({result.metrics["frequency"] for result in Store(RESULTS).results().values()}) == 5


ROOT = Path(__file__).parents[2]
SIMULATED = ROOT / "results" / "protection-simulated"


def test_the_gain_of_a_jumper_is_its_martingale():
    results = Store(SIMULATED).results()
    protected = [one for one in results.values() if one.method in ("jumper", "composite")]
    assert len(protected) == 480
    for one in protected:
        base = results[cell_id(one.dataset, one.repetition, one.learner, "base")]
        gain = base.metrics["log10_loss"] - one.metrics["log10_loss"]
        assert gain == pytest.approx(one.metrics["log10_martingale"], rel=1e-9, abs=1e-9)


def test_each_curve_ends_at_the_final_martingale():
    drawn = [one for one in Store(SIMULATED).results().values() if one.curves]
    assert len(drawn) == 24  # 6 streams, 2 learners, 2 jumpers
    for one in drawn:
        [line] = one.curves["martingale"]
        assert (line["x"][0], line["x"][-1]) == (0, 10_000)
        assert line["y"][-1] == pytest.approx(one.metrics["log10_martingale"], abs=1e-4)
