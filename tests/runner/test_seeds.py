"""Test the seeds of repetitions and learners with shared seeds and repeated fixed splits."""

import numpy as np
import pytest

from probcal.config.experiment import read_experiment
from probcal.data.card import find_card, read_card
from probcal.data.splits import stream_seed
from probcal.store.folder import Store

FOREST = {"forest": {"type": "sklearn.ensemble.RandomForestClassifier", "params": {"n_estimators": 5}}}
SHARED = {"forest": {**FOREST["forest"], "shared_seed": True}}
DIRECT = {"direct": {}, "clipped": {"type": "direct", "params": {"clip": [0.1, 0.9]}}}


def estimates(bench):
    store = Store(bench.results)
    return {cell: store.predictions(result)[1][:, 1] for cell, result in store.results().items()}


def repetitions(bench, card, **parts):
    bench.config(repeats=10, **parts)
    return read_experiment(bench.folder / "small.yaml").repetitions_of(read_card(find_card(card)))


def test_only_a_random_split_is_repeated(bench):
    assert [repetitions(bench, card) for card in ("wine-first", "adult", "bank-marketing")] == [10, 1, 1]


def test_fixed_split_is_repeated_on_request(bench):
    assert repetitions(bench, "bank-marketing", repeat_fixed_splits=True) == 10


def test_learner_with_shared_seed_draws_alike_under_every_method(bench):
    bench.config(learners=SHARED, methods=DIRECT)
    assert bench.run().code == 0
    found = estimates(bench)
    for repetition in (0, 1):
        one, other = (found[f"wine-first/{repetition}/forest/{method}"] for method in DIRECT)
        assert np.clip(one, 0.1, 0.9).tolist() == other.tolist()
        assert one.tolist() != other.tolist()


@pytest.mark.slow
def test_learner_without_shared_seed_draws_anew_per_method(bench):
    bench.config(learners=FOREST, methods=DIRECT)
    bench.run()
    found = estimates(bench)
    one, other = (found[f"wine-first/0/forest/{method}"] for method in DIRECT)
    assert np.clip(one, 0.1, 0.9).tolist() != other.tolist()


def test_shared_seed_is_experiment_seed_plus_repetition(bench):
    seen = """
        from sklearn.dummy import DummyClassifier
        class Seeded(DummyClassifier):
            def predict_proba(self, X):
                p = super().predict_proba(X)
                p[:, 1] = self.random_state / 1000
                p[:, 0] = 1 - p[:, 1]
                return p
    """
    bench.module("seeded", seen)
    bench.config(seed=20, learners={"seeded": {"type": "seeded.Seeded", "shared_seed": True}}, methods=["direct"])
    assert bench.run().code == 0
    found = estimates(bench)
    assert [found[f"wine-first/{repetition}/seeded/direct"][0] for repetition in (0, 1)] == [0.020, 0.021]
    assert stream_seed(20, "fit") > 1000, "or the test could not fail"


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        ({"logistic": {"type": "gaussian_nb", "shared_seed": True}}, "GaussianNB has no random_state to share"),
        ({"forest": {**SHARED["forest"], "params": {"random_state": 1}}}, "forest has a random_state of its own"),
        ({"forest": {**FOREST["forest"], "shared_seed": "yes please"}}, "shared_seed"),
    ],
)
def test_invalid_shared_seed_is_rejected(bench, learners, message):
    bench.config(learners=learners)
    finished = bench.run()
    assert finished.code == 2 and message in finished.said


@pytest.mark.slow
def test_sharing_a_seed_makes_results_stale(bench):
    bench.config(learners=FOREST, methods=["direct"])
    bench.run()
    bench.config(learners=SHARED, methods=["direct"])
    assert "the settings of forest changed" in bench.run("--dry-run").said
