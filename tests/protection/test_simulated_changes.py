"""Check the gains of protection in docs/protection-simulated.md, on streams with known probabilities."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from probcal.data.card import Card, find_card, read_card
from probcal.data.sources.generated import generated
from probcal.methods.protected import RetrainedClassifier
from probcal.metrics import roc_auc
from probcal.protection import CompositeJumper, Quadratic, SimpleJumper, regret_bound

CLIP = (0.01, 0.99)
SEEDS = (1, 2, 3)
AT, N_TEST = 1000, 5000
OTHER = {"intercept": 0.5, "slope": 1}
CHANGES = {
    "none": {"kind": "none"},
    "sudden": {"kind": "sudden", "at": AT, **OTHER},
    "drift": {"kind": "drift", "at": 0, **OTHER},
    "recurring": {"kind": "recurring", "at": 500, "every": 500, **OTHER},
    "turned": {"kind": "sudden", "at": AT, "intercept": -1, "slope": -1},
    "adversarial": {"kind": "adversarial", "at": AT},
    "fast": {"kind": "recurring", "at": 5, "every": 5, **OTHER},
}


class Stream(NamedTuple):
    """Hold test rows: ``base`` has the probabilities before the change, ``truth`` the true probabilities."""

    y: np.ndarray
    base: np.ndarray
    truth: np.ndarray
    retrained: np.ndarray


@cache
def stream(kind: str, seed: int, intercept: float = -1) -> Stream:
    first, card = (_card(CHANGES[one], intercept) for one in ("none", kind))
    n_train = card.split.train
    made, unchanged = generated(card, seed), generated(first, seed)
    learner = RetrainedClassifier(LogisticRegression(), every=1000, clip=CLIP)
    learner.fit(made.X[:n_train], made.y[:n_train])
    retrained = learner.predict_proba_online(made.X[n_train:], made.y[n_train:])[:, 1]
    return Stream(made.y[n_train:], unchanged.truth[n_train:].clip(*CLIP), made.truth[n_train:], retrained)


def _card(change: dict, intercept: float) -> Card:
    said = read_card(find_card("stream-none")).model_dump(exclude_none=True)
    said["generator"] |= {"change": change, "intercept": intercept, "test_rows": N_TEST}
    return Card.model_validate(said | {"expect": {"rows": 2000 + N_TEST, "columns": 4}})


def gained(one: Stream, p: np.ndarray, rows: slice = slice(None)) -> float:
    """Return the log10 loss of the base minus that of ``p``."""
    likelihoods = [np.where(one.y == 1, q, 1 - q)[rows] for q in (p, one.base)]
    return float(np.log10(likelihoods[0]).sum() - np.log10(likelihoods[1]).sum())


def protected(one: Stream, jumper: type = SimpleJumper) -> np.ndarray:
    return jumper().protect(one.base, one.y)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_protection_without_change_costs_less_than_the_bound(seed):
    one = stream("none", seed)
    assert -regret_bound(N_TEST, 5, 0.01) < gained(one, protected(one)) < 0
    assert -np.log10(2) < gained(one, protected(one, CompositeJumper)) < 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["sudden", "drift", "recurring"])
def test_protection_recovers_half_of_the_loss_and_beats_retraining(kind, seed):
    one = stream(kind, seed)
    best = gained(one, one.truth)
    for jumper in (SimpleJumper, CompositeJumper):
        assert best / 2 < gained(one, protected(one, jumper)) < best
        assert gained(one, one.retrained) < gained(one, protected(one, jumper))


@pytest.mark.parametrize("seed", SEEDS)
def test_only_retraining_repairs_a_reversed_ranking(seed):
    one, late = stream("turned", seed), slice(-1000, None)
    assert gained(one, protected(one)) < 0
    assert gained(one, protected(one, CompositeJumper), late) < gained(one, one.retrained, late)
    assert roc_auc(one.y[late], one.retrained[late]) > 0.5
    for jumper in (SimpleJumper, CompositeJumper):
        # the Composite Jumper gains here by less certain predictions, and their order is still wrong
        assert roc_auc(one.y[late], protected(one, jumper)[late]) < 0.4


@pytest.mark.parametrize("seed", SEEDS)
def test_quadratic_calibrators_gain_only_from_changed_adversarial_base_rate(seed):
    rare, even = stream("adversarial", seed), stream("adversarial", seed, intercept=0)
    assert gained(rare, protected(rare)) > 50  # 71 % of the labels are positive now, and 33 % were before
    assert gained(even, protected(even)) < 0  # half of the labels are positive, now and before
    for one in (rare, even):
        simple, composite = (gained(one, protected(one, jumper)) for jumper in (SimpleJumper, CompositeJumper))
        assert simple < composite
        late = slice(-1000, None)  # by now more than half of all rows have adversarial labels
        assert gained(one, protected(one, CompositeJumper), late) < gained(one, one.retrained, late)


@pytest.mark.parametrize("seed", SEEDS)
def test_protection_cannot_follow_changes_every_few_rows(seed):
    best = {kind: max(gained(one, p) for p in Quadratic().apply(one.base).T)
            for kind in ("fast", "recurring") for one in [stream(kind, seed)]}  # fmt: skip
    assert gained(stream("fast", seed), protected(stream("fast", seed))) < best["fast"]
    assert gained(stream("recurring", seed), protected(stream("recurring", seed))) > 1.3 * best["recurring"]


@pytest.mark.parametrize("seed", SEEDS)
def test_only_cox_calibrators_repair_overconfidence(seed):
    # the base has twice the true log-odds; b = 1/2 of Cox corrects this; a quadratic calibrator moves all predictions
    # in the same direction
    one = stream("none", seed)
    one = one._replace(base=expit(2 * logit(one.truth)).clip(1e-6, 1 - 1e-6))
    best = gained(one, one.truth)
    assert gained(one, protected(one)) < 0.1 * best
    assert gained(one, protected(one, CompositeJumper)) > 0.9 * best


@pytest.mark.parametrize(
    ("jumper", "most"), [(SimpleJumper, regret_bound(3000, 5, 0.01)), (CompositeJumper, np.log10(2))]
)
def test_labels_against_the_protection_cost_nearly_the_bound(jumper, most):
    base, one, lost = stream("none", 1).base[:3000], jumper(), []
    for p in base.tolist():
        one.learn_one(p, int(one.predict_one(p) < p))  # the label that gets less probability than from the base
        lost.append(-one.log10_martingale)
    assert 0.6 * most < max(lost) <= most


@pytest.mark.parametrize("seed", SEEDS)
def test_auc_grows_only_across_times(seed):
    one = stream("sudden", seed)
    p, late = protected(one), slice(-1000, None)
    assert roc_auc(one.y, p) > roc_auc(one.y, one.base) + 0.01
    assert roc_auc(one.y[late], p[late]) == pytest.approx(roc_auc(one.y[late], one.base[late]), abs=0.004)
