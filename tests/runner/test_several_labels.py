"""Test runs on drawn rows with several labels: predictions, metrics and storage."""

from dataclasses import replace

import numpy as np
import pytest

from probcal.config.experiment import read_experiment
from probcal.data.dataset import generated
from probcal.data.splits import stream_seed
from probcal.metrics import means_over_labels
from probcal.runner.execute import remeasure
from probcal.runner.plan import make_plan
from probcal.store.folder import Store

CARD = """
name: letters
title: Letters
task: multilabel
columns: {word1..word50: numeric, topics: target}
split: {kind: same}
expect: {rows: 300, columns: 50}
generator: {kind: documents, documents: 300, topics: 4, words: 50, mean_length: 20, exponent: 1, labels_drawn: 3}
"""
LOGISTIC = {"type": "sklearn.linear_model.LogisticRegression", "encoding": "native"}

OF_THE_TRUTH = ("l1", "l1_trivial", "frequency")


@pytest.fixture
def letters(bench):
    (bench.folder / "letters.yaml").write_text(CARD)
    bench.config(
        datasets=["letters.yaml"],
        learners={"log": LOGISTIC},
        methods=["direct"],
        metrics=["rms", *OF_THE_TRUTH],
    )
    return bench


def test_predictions_match_scikit_learn_label_by_label(letters):
    from sklearn.linear_model import LogisticRegression

    assert letters.run().code == 0
    first, second = letters.numbers().values()
    assert all(first[name] != second[name] for name in ("rms", *OF_THE_TRUTH)), "each repetition draws its own"
    store, card = Store(letters.results), read_experiment(letters.folder / "small.yaml").cards[0]
    for repetition in range(2):
        made = generated(card, stream_seed(1, "draw", "letters", repetition))
        columns = [LogisticRegression().fit(made.X, one).predict_proba(made.X) for one in made.y.T]
        expected = means_over_labels(made.y, np.stack(columns, axis=1), made.truth)
        result = store.results()[f"letters/{repetition}/log/direct"]
        assert result.metrics == pytest.approx(expected, rel=1e-6)
        y, p = store.predictions(result)
        np.testing.assert_array_equal(y, made.y)
        np.testing.assert_allclose(p, np.stack(columns, axis=1), rtol=1e-6)
    said = letters.probcal("table", "results/small").said
    assert "of the data, whatever the predictions; mean ± sd over 2 drawn data sets." in said


@pytest.mark.slow
def test_drawn_documents_depend_on_seed_and_card_and_not_on_process_count(letters):
    letters.run("-o", "one")
    letters.run("-o", "two", "-j", "2")
    letters.run("-o", "other", "--seed", "2")
    one, two, other = (letters.numbers(letters.folder / name) for name in ("one", "two", "other"))
    assert one == two
    assert all(one[cell]["frequency"] != other[cell]["frequency"] for cell in one)
    card = letters.folder / "letters.yaml"
    card.write_text(card.read_text().replace("exponent: 1,", "exponent: 1.1,"))
    assert "the card changed" in letters.run("-o", "one", "--dry-run").said
    card.write_text(card.read_text().replace("kind: same", "kind: holdout, train_fraction: 0.5"))
    letters.run()
    assert {(row["n_train"], row["n_test"]) for row in letters.rows()} == {(150, 150)}


@pytest.mark.slow
def test_stored_predictions_are_measured_again_with_the_truth(letters):
    letters.run()
    store, experiment = Store(letters.results), read_experiment(letters.folder / "small.yaml")
    for planned in make_plan(experiment, store):
        kept = store.results()[planned.cell.id]
        again = remeasure(replace(planned, old_result=replace(kept, metrics={})), store, "later")
        assert again.result.metrics == kept.metrics


@pytest.mark.slow
def test_the_generator_is_a_component_of_drawn_rows_only(letters):
    letters.run()
    assert "generated rows" in letters.runs()[-1]["numerics"]
    letters.config()
    letters.run("-o", "wine", "-l", "tree", "-m", "direct")
    assert "generated rows" not in Store(letters.folder / "wine").runs().popitem()[1]["numerics"]


@pytest.mark.slow
def test_sparse_counts_need_native_encoding(letters):
    letters.config(datasets=["letters.yaml"], learners={"log": {**LOGISTIC, "encoding": "numeric"}}, methods=["direct"])
    assert letters.run().code == 1
    assert 'write "encoding: native" for the learner' in letters.rows()[0]["message"]


@pytest.mark.slow
def test_probing_predicts_each_label(letters):
    letters.config(
        datasets=["letters.yaml"], learners={"log": LOGISTIC}, methods={"probing": {"params": {"n_probes": 3}}}
    )
    assert letters.run().code == 0
    assert all(0 < numbers["l1"] < 0.5 for numbers in letters.numbers().values())


@pytest.mark.slow
def test_metric_without_known_truth_has_no_value(letters):
    letters.config(metrics=["rms", "l1"], stages=["l1"], learners={"tree": {"params": {"max_depth": 2}}})
    assert letters.run().code == 0
    said = letters.probcal("table", "results/small").said
    assert "n/a: the metric has no value (4 done cells)." in said


def test_a_metric_that_fails_in_remeasuring_leaves_the_cell_to_a_worker(monkeypatch, tmp_path):
    from types import SimpleNamespace

    from probcal.runner import execute

    def broken(*_):
        raise TypeError("a plugin's fault")

    store = SimpleNamespace(predictions=lambda result: (None, None))
    entry = SimpleNamespace(
        old_result=SimpleNamespace(metrics={}), missing_metrics=frozenset(), cell=SimpleNamespace(extra_metrics=())
    )
    monkeypatch.setattr(execute, "load_truth", lambda cell: None)
    for value in (broken, lambda *_: {"rms": 7.0}):
        monkeypatch.setattr(execute, "measure", value)
        assert remeasure(entry, store, "run") is None
