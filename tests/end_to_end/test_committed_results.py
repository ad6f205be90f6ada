"""Test committed results: Table 1 of Gao, Parameswaran & Peng (2017), and simulated protected streams."""

import re
import statistics
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
GAINS = (SIMULATED / "gains.md").read_text(encoding="utf-8")
LEARNERS = {"Log": "logistic", "NB": "nb"}


def of_gains(title):
    """Return a mapping: row name -> its cells, for the table with the heading ``title``."""
    table = GAINS.split(f"**{title}**\n\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {row[0]: row[1:] for row in rows[2:]}


@pytest.mark.parametrize("label", LEARNERS)
def test_the_gains_match_the_committed_cells(label):
    results = Store(SIMULATED).results()
    for title, row in of_gains(f"{label}, all test rows").items():
        names = {"ranking turned": "turned", "adversarial labels": "adversarial", "no change": "none"}
        stream = "stream-" + names.get(title, re.split(" change", title)[0].removeprefix("slow "))
        for method, told in zip(("jumper", "composite", "retrained"), row, strict=False):
            losses = [
                [results[cell_id(stream, repetition, LEARNERS[label], one)].metrics["log10_loss"] / 10
                 for repetition in range(20)]
                for one in ("base", method)
            ]  # fmt: skip
            gains = [base - loss for base, loss in zip(*losses, strict=True)]
            assert told == f"{statistics.fmean(gains):+.1f} ± {statistics.stdev(gains):.1f}"


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
