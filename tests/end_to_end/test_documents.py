"""Test the committed results for Table 1 of Gao, Parameswaran & Peng (2017)."""

from pathlib import Path

from probcal.store.folder import Store
from tests.commands import probcal

RESULTS = Path(__file__).parents[2] / "results" / "documents"


def test_all_four_published_numbers_are_in_band():
    done = probcal("check", RESULTS)
    assert done.exit_code == 0
    assert "cells: 4 in band, 0 known deviations, 0 new, 0 not run (of 4)" in done.stdout


def test_five_runs_drew_five_data_sets():
    assert len({result.metrics["frequency"] for result in Store(RESULTS).results().values()}) == 5
