"""Test the generator of streams whose law changes over time, and test its cards and its seeds."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from probcal.config.experiment import read_experiment
from probcal.data.card import Card, find_card, read_card
from probcal.data.dataset import generated
from probcal.data.load import find
from probcal.data.splits import split_rows
from probcal.errors import FileProblems

KINDS = ("none", "sudden", "drift", "recurring", "turned", "adversarial")
N_TRAIN, N_TEST, WEIGHTS = 100, 60, [1, -0.5]
OTHER = {"intercept": 2, "slope": -1}


def card(change=None, rows=160, columns=2, split=None, task="binary", **generator):
    parameters = {"train_rows": N_TRAIN, "test_rows": N_TEST, "weights": WEIGHTS, "intercept": 0.5, "correlation": 0.3}
    return Card(
        name="small",
        title="Small",
        task=task,
        columns={"a": "numeric", "b": "numeric", "label": "target"},
        split=split or {"kind": "chronological", "train": N_TRAIN},
        expect={"rows": rows, "columns": columns},
        generator={"kind": "stream", **parameters, "change": change or {"kind": "none"}, **generator},
        **({"positive": "1"} if task == "binary" else {}),
    )


def shipped(kind):
    return read_card(find_card(f"stream-{kind}"))


def law(change):
    """Return the signal and the log-odds of each test row."""
    made = generated(card(change), seed=3)
    signal = made.X.to_numpy() @ WEIGHTS
    log_odds = logit(made.truth)
    assert log_odds[:N_TRAIN] == pytest.approx(0.5 + signal[:N_TRAIN], abs=1e-9)  # unchanged
    return signal[N_TRAIN:], log_odds[N_TRAIN:]


@pytest.mark.parametrize("kind", KINDS)
def test_label_frequencies_match_true_probabilities_in_each_time_block(kind):
    made = generated(shipped(kind), seed=1)
    of_low = made.truth < np.median(made.truth)
    for part in np.array_split(np.arange(len(made.y)), 24):  # 500 rows each
        for rows in (part[of_low[part]], part[~of_low[part]]):
            spread = np.sqrt((made.truth[rows] * (1 - made.truth[rows])).sum())
            assert abs(made.y[rows].sum() - made.truth[rows].sum()) <= 4.5 * spread


def test_inputs_have_the_stated_law_at_all_times():
    made = generated(shipped("sudden"), seed=1)
    for part in np.array_split(made.X.to_numpy(), 4):  # 3,000 rows: means have an sd of .018
        assert part.mean(axis=0) == pytest.approx(0, abs=0.08)
        assert np.cov(part.T) == pytest.approx(np.full((4, 4), 0.6) + 0.4 * np.eye(4), abs=0.11)


def test_without_a_change_the_law_stays_the_same():
    signal, log_odds = law({"kind": "none"})
    assert log_odds == pytest.approx(0.5 + signal, abs=1e-9)


def test_a_sudden_change_is_complete_at_its_row():
    signal, log_odds = law({"kind": "sudden", "at": 20, **OTHER})
    assert log_odds[:20] == pytest.approx(0.5 + signal[:20], abs=1e-9)
    assert log_odds[20:] == pytest.approx(2 - signal[20:], abs=1e-9)


def test_a_drift_has_equal_steps_to_the_last_row():
    signal, log_odds = law({"kind": "drift", "at": 20, **OTHER})
    assert log_odds[:20] == pytest.approx(0.5 + signal[:20], abs=1e-9)
    assert log_odds[39] == pytest.approx(1.25, abs=1e-9)  # half of the 40 rows of the drift: intercept 1.25, slope 0
    assert log_odds[-1] == pytest.approx(2 - signal[-1], abs=1e-9)
    share = np.arange(1, 41) / 40
    assert log_odds[20:] == pytest.approx(0.5 + 1.5 * share + (1 - 2 * share) * signal[20:], abs=1e-9)


def test_a_recurring_change_alternates_between_two_laws():
    signal, log_odds = law({"kind": "recurring", "at": 5, "every": 10, **OTHER})
    other = np.isin(np.arange(N_TEST), [*range(5, 15), *range(25, 35), *range(45, 55)])
    assert log_odds == pytest.approx(np.where(other, 2 - signal, 0.5 + signal), abs=1e-9)


def test_the_adversary_gives_the_less_likely_label():
    made = generated(card({"kind": "adversarial", "at": 20}), seed=3)
    likelier = 0.5 + made.X.to_numpy() @ WEIGHTS > 0
    later = slice(N_TRAIN + 20, None)
    assert np.array_equal(made.y[later], ~likelier[later])
    assert np.array_equal(made.truth[later], made.y[later])
    assert made.truth[: N_TRAIN + 20].min() > 0 and made.truth[: N_TRAIN + 20].max() < 1


def test_a_change_does_not_affect_earlier_rows():
    changes = ({"kind": "none"}, {"kind": "sudden", "at": 20, **OTHER}, {"kind": "adversarial", "at": 20})
    first, *others = (generated(card(change), seed=5) for change in changes)
    for other in others:
        pd.testing.assert_frame_equal(first.X, other.X, check_exact=True)
        assert np.array_equal(first.y[: N_TRAIN + 20], other.y[: N_TRAIN + 20])
        assert not np.array_equal(first.y, other.y)


def test_rows_of_a_seed_never_change():
    # With other rows, every stored result would belong to other rows. The last bits depend on the machine.
    made = generated(card({"kind": "drift", "at": 0, **OTHER}), seed=7)
    digest = hashlib.sha256(made.X.to_numpy().round(9).tobytes() + made.y.tobytes())
    assert digest.hexdigest()[:16] == "ca5021d95b9119c2"


def test_shipped_streams_differ_only_in_their_change():
    first = shipped("none")
    for kind in KINDS[1:]:
        other = shipped(kind)
        assert other.generator.model_copy(update={"change": first.generator.change}) == first.generator
        assert (other.columns, other.split, other.expect) == (first.columns, first.split, first.expect)
    train, test = split_rows(first, 12_000, 3, 0)
    assert (train[0], train[-1], test[0], test[-1]) == (0, 1999, 2000, 11_999)


def test_every_repetition_draws_a_new_stream():
    experiment = read_experiment(Path(__file__).parents[2] / "configs" / "protection-simulated.yaml")
    assert {experiment.repetitions_of(card) for card in experiment.cards} == {20}
    assert find(shipped("none")).source == "generated"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "multilabel"}, 'a row of a stream is of one of two classes; write "task: binary"'),
        ({"rows": 150}, "makes 160 rows, the card expects 150"),
        ({"columns": 1}, "makes 2 columns, the card expects 1"),
        ({"split": {"kind": "chronological", "train": 90}}, "write split: {kind: chronological, train: 100}"),
        ({"split": {"kind": "holdout", "train_fraction": 0.5}}, "write split: {kind: chronological, train: 100}"),
        ({"change": {"kind": "adversarial", "at": 60}}, "change: at must be below test_rows, 60, not 60"),
        ({"test_rows": 10**9}, r"rows x columns is 2e\+09, and more than"),
    ],
)
def test_a_card_that_contradicts_its_stream_is_rejected(changes, message):
    with pytest.raises(ValueError, match=message):
        card(**changes)


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("kind: sudden", "kind: suden", 14, "generator.change.kind must be"),
        ("at: 2500", "at: 2500, evry: 3", 14, 'unknown key "evry" (known here: at, intercept, kind, slope)'),
        ("at: 2500", "at: 2.5", 14, "generator.change.at must be a whole number"),
        ("at: 2500, ", "", 14, 'the key "generator.change.at" is missing'),
        ("slope: 1", "slope: steep", 14, "generator.change.slope must be a number"),
        ("at: 2500", "at: 10000", 7, "change: at must be below test_rows, 10000, not 10000"),
        ("correlation: 0.6", "correlation: 1", 13, "generator.correlation must be"),
        ("kind: stream", "kind: steam", 7, "generator.kind must be"),
    ],
)
def test_message_names_the_line_of_a_wrong_key(tmp_path, old, new, line, message):
    text = find_card("stream-sudden").read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = tmp_path / "stream-sudden.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(FileProblems) as caught:
        read_card(path)
    [problem] = caught.value.problems
    assert problem.line == line and problem.message.startswith(message)
