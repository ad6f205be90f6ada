"""Test the plan: how many labels an alarm takes, and how many a new map."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import expit, logit

from probcal.cli.main import main
from probcal.watch.plan import CHANGES, ROWS, plan

P = expit(np.random.default_rng(0).normal(-1, 1.5, 4000))


@pytest.fixture(scope="module")
def planned():
    return {(line.shift, line.slope): line for line in plan(P)}


def test_every_change_has_a_line_in_order(planned):
    assert tuple(planned) == CHANGES


def test_loss_is_the_divergence_between_truth_and_prediction(planned):
    for (shift, slope), line in planned.items():
        q = expit(shift + slope * logit(P))
        divergence = q * np.log2(q / P) + (1 - q) * np.log2((1 - q) / (1 - P))
        assert line.loss == pytest.approx(divergence.mean(), rel=0.01)
        assert line.base_rate == pytest.approx(q.mean(), abs=0.002)


def test_larger_shifts_take_fewer_labels(planned):
    shifts = [planned[shift, 1.0] for shift in (0.25, 0.5, 1.0)]
    assert shifts[0].rows_to_alarm > shifts[1].rows_to_alarm > shifts[2].rows_to_alarm > 0
    assert shifts[0].rows_to_recalibrate > shifts[1].rows_to_recalibrate >= shifts[2].rows_to_recalibrate


def test_a_map_on_so_many_labels_is_better_and_on_a_tenth_often_worse(planned):
    """Two parameters cost about 2 / (2 n ln 2) bits. A map pays where this is clearly below the loss of the change."""
    for line in planned.values():
        assert line.rows_to_recalibrate in ROWS
        assert 1 / (line.rows_to_recalibrate * np.log(2)) < line.loss


def test_a_stricter_monitor_needs_more_labels(planned):
    strict = plan(P, false_alarm_rate=1e-6)[2]
    assert strict.rows_to_alarm > planned[1.0, 1.0].rows_to_alarm


def test_command_plans_for_a_log_without_labels(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("day,p,y\n" + "".join(f"2026-11-01,{p!r},\n" for p in P[:500].tolist()))
    options = ["watch", str(log), "--time", "day", "-p", "p", "-t", "y", "--plan"]
    text = CliRunner().invoke(main, options)
    assert text.exit_code == 0, text.output
    assert "labels for a new map" in text.output and "times 0.7, plus 0" in text.output
    lines = list(map(json.loads, CliRunner().invoke(main, [*options, "-f", "json"]).output.splitlines()))
    assert [(line["shift"], line["slope"]) for line in lines] == list(CHANGES)
    assert f"{lines[-1]['rows_to_alarm']:,}" in text.output  # the same seed gives the same plan
