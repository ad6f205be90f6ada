"""Test the plan: how many labels an alarm takes, and how many a new map."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit

from probcal.watch import plan as simulation
from probcal.watch.plan import CHANGES, ROWS, plan
from tests.commands import probcal, refused

P = expit(np.random.default_rng(0).normal(-1, 1.5, 4000))


@pytest.fixture(autouse=True, scope="module")
def few_draws():
    """Simulate a third of the streams, which takes a third of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "_STREAMS", 11)
        patch.setattr(simulation, "_DRAWS", 20)
        yield


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
    assert shifts[2].rows_to_alarm < 1000  # rows before the change do not count
    assert shifts[0].rows_to_recalibrate > shifts[1].rows_to_recalibrate >= shifts[2].rows_to_recalibrate


def test_a_map_on_so_many_labels_is_better_and_on_a_tenth_often_worse(planned):
    """Two parameters cost about 2 / (2 n ln 2) bits. A map pays where this is clearly below the loss of the change."""
    for line in planned.values():
        assert line.rows_to_recalibrate in ROWS
        assert 1 / (line.rows_to_recalibrate * np.log(2)) < line.loss


def test_a_stricter_monitor_needs_more_labels(planned, monkeypatch):
    monkeypatch.setattr(simulation, "CHANGES", ((1.0, 1.0),))
    [strict] = plan(P, false_alarm_rate=1e-6)
    assert strict.rows_to_alarm > planned[1.0, 1.0].rows_to_alarm


def test_command_plans_without_times_and_labels(tmp_path, monkeypatch):
    changes = ((1.0, 1.0), (0.0, 1.5))
    monkeypatch.setattr(simulation, "CHANGES", changes)
    (tmp_path / "log.csv").write_text("p\n" + "".join(f"{p!r}\n" for p in P[:500].tolist()))
    options = ("watch", tmp_path / "log.csv", "-p", "p")
    text = probcal(*options, "--plan").stdout
    assert "labels for a new map" in text and "times 1.5, plus 0" in text
    lines = list(map(json.loads, probcal(*options, "--plan", "-f", "json").stdout.splitlines()))
    assert [(line["shift"], line["slope"]) for line in lines] == list(changes)
    assert f"{lines[-1]['rows_to_alarm']:,}" in text  # the same seed gives the same plan
    assert "Missing option '--time'" in refused(*options)
