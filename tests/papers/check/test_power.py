"""Test the power of the check against hand calculations, and ``probcal check --power``."""

import json

import pytest

from probcal.papers.check.checked_experiment import check
from probcal.papers.check.findings import CheckedResults
from probcal.papers.deviations import Deviation
from tests.commands import probcal
from tests.papers.check.four_columns import four_columns  # noqa: F401

BANDS, TOLERANCE = "band of random splits", "tolerance on one fixed split"
DIGITS = "one unit of the last digit, exact columns on published splits"


@pytest.fixture
def gates(four_columns):  # noqa: F811
    def gates(*known):
        return {one.name: one for one in check(CheckedResults.of(four_columns()), known).gates}

    return gates


def test_power_of_the_tolerance_agrees_with_hand_calculation(gates):
    gate = gates()[TOLERANCE]
    assert (gate.numbers, gate.excused, gate.ours) == (4, 0, 3 / 4)
    assert gate.wrong == 2 / 4, "Log is near ProbNB too"
    assert gate.shuffled == pytest.approx((2 + 2 + 1 + 1) / 16, abs=0.03), "NB and SigNB may change places"


def test_one_unit_accepts_less_than_the_tolerance(gates):
    gate = gates()[DIGITS]
    assert (gate.numbers, gate.excused, gate.ours) == (3, 0, 1), "ProbNB is drawn"
    assert gate.wrong == pytest.approx(1 / 3)
    assert gate.shuffled == pytest.approx(1 / 4, abs=0.03)
    assert BANDS not in gates(), "no split is random"


def test_excused_number_is_accepted_with_any_value(gates):
    why = Deviation(
        kind=["number"], datasets=["adult"], learner="NB", method="probing", metrics="rms", reason="because"
    )
    gate = gates(why)[TOLERANCE]
    assert (gate.numbers, gate.excused, gate.ours, gate.wrong) == (4, 1, 1, 2 / 4)
    assert gate.shuffled == pytest.approx((2 + 2 + 4 + 1) / 16, abs=0.03)
    assert gates(why)[DIGITS].excused == 0


def test_random_splits_are_judged_by_their_band(small):
    # The published numbers are .474 and .410. Ours differ from them by .0002, so the band is a few times as wide.
    store = small(
        paper="langford-zadrozny-2005", columns=("j48.direct", "log.direct"), datasets={"diabetes": 10},
        splits={"diabetes": "holdout"}, metrics=("rms",),
    ).write({
        ("diabetes", f"{learner}.direct"): [{"rms": centre + (-1) ** split * 0.0002} for split in range(10)]
        for learner, centre in (("j48", 0.474), ("log", 0.410))
    })  # fmt: skip
    [gate] = check(CheckedResults.of(store), []).gates
    assert (gate.name, gate.numbers, gate.ours, gate.wrong) == (BANDS, 2, 1, 1 / 2)
    assert gate.shuffled == pytest.approx(1 / 2, abs=0.05)


def test_power_is_printed_and_exits_with_0(four_columns):  # noqa: F811
    store = four_columns()
    assert probcal("check", store.folder).exit_code == 1, "ProbNB is new"
    result = probcal("check", store.folder, "--power")
    assert result.exit_code == 0
    lines = {" ".join(line.split()) for line in result.stdout.splitlines()}
    assert "agreement with 4 published numbers: ours shuffled Log everywhere" in lines
    assert any(line.startswith("digits identical 50 %") and line.endswith("25 %") for line in lines)
    assert any(line.startswith(f"{TOLERANCE} 4 0 75 %") and line.endswith("50 %") for line in lines)
    assert "drift" not in result.stdout


def test_power_as_json_is_part_of_the_whole_json(four_columns):  # noqa: F811
    [power] = json.loads(probcal("check", four_columns().folder, "--power", "-f", "json").stdout)
    assert power["agreement"]["ours"]["identical"] == 0.5
    assert [one["name"] for one in power["passes"]] == [TOLERANCE, DIGITS]
    [whole] = json.loads(probcal("check", four_columns().folder, "-f", "json").stdout)
    assert {name: whole[name] for name in power} == power


def test_power_without_a_paper_says_nothing_can_be_compared(small, cxe):
    store = small(columns=("log.direct",)).write({("adult", "log.direct"): cxe(0.5)})
    result = probcal("check", store.folder, "--power")
    assert result.exit_code == 0
    assert "no published number to compare with our results" in result.stdout
