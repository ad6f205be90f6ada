"""Test the generator of documents against its closed form, and test that a seed gives the same documents."""

import hashlib

import numpy as np
import pytest
from scipy.integrate import quad

from probcal.data.card import Card, find_card, read_card
from probcal.data.dataset import generated
from probcal.data.load import find, load, obtain
from probcal.errors import DataError

PAPER = read_card(find_card("documents"))
BASE_RATE = 1 - 19 / 29
"""Of 10 labels drawn with a flat prior over 20 topics none is k with probability
E[(1 - theta_k)^10] = 19/20 * 20/21 * ... * 28/29, where theta_k has the distribution Beta(1, 19)."""


def card(**generator):
    small = {"documents": 200, "words": 50, "topics": 4, "mean_length": 20, "exponent": 1.0, "labels_drawn": 3}
    generator = {"kind": "documents", **small, **generator}
    return Card(
        name="small",
        title="Small",
        task="multilabel",
        columns={"word1..word50": "numeric", "topics": "target"},
        split={"kind": "same"},
        expect={"rows": 200, "columns": 50},
        generator=generator,
    )


@pytest.fixture(scope="module")
def documents():
    return generated(PAPER, seed=1)


def test_documents_have_the_size_and_lengths_of_the_paper(documents):
    assert documents.X.shape == (20_000, 1_000)
    assert documents.y.shape == documents.truth.shape == (20_000, 20)
    # Poisson lengths of mean 200 and variance 200; the mean of 20,000 has an sd of .1
    lengths = np.asarray(documents.X.sum(axis=1)).ravel()
    assert lengths.mean() == pytest.approx(200, abs=0.4)
    assert lengths.var() == pytest.approx(200, rel=0.05)


def test_label_frequency_equals_the_closed_form(documents):
    assert pytest.approx(0.3448, abs=0.00005) == BASE_RATE  # as published
    # The labels of a document are 10 balls in 20 boxes. The number of occupied boxes has an sd of 1.205.
    # The share over 20,000 documents then has an sd of 1.205 / 20 / sqrt(20,000) = .0004.
    assert documents.y.mean() == pytest.approx(BASE_RATE, abs=0.0013)
    assert documents.truth.mean() == pytest.approx(BASE_RATE, abs=0.0013)


def test_error_of_the_base_rate_equals_its_integral(documents):
    density = lambda theta: 19 * (1 - theta) ** 18  # noqa: E731
    truth = lambda theta: 1 - (1 - theta) ** 10  # noqa: E731
    kink = 1 - (1 - BASE_RATE) ** 0.1
    error = quad(lambda theta: abs(truth(theta) - BASE_RATE) * density(theta), 0, 1, points=[kink])[0]
    assert error == pytest.approx(0.2023, abs=0.00005)  # published: .2022 ± .0001
    ours = np.abs(documents.truth - documents.y.mean(axis=0)).mean()
    assert ours == pytest.approx(error, abs=0.001)


def test_label_frequencies_match_true_probabilities(documents):
    of_low = documents.truth < 0.3
    for part in (of_low, ~of_low):
        n = part.sum()
        assert documents.y[part].mean() == pytest.approx(documents.truth[part].mean(), abs=4 * 0.5 / np.sqrt(n))


def test_words_of_one_topic_follow_the_power_law():
    # with two topics, nearly all documents have one topic, and the labels name it
    made = generated(card(topics=2, exponent=1.0, mean_length=5_000), seed=0)
    pure = made.truth[:, 0] > 0.99
    counts = np.sort(np.asarray(made.X[pure].sum(axis=0)).ravel())[::-1]
    share = counts[:3] / counts.sum()
    harmonic = (1 / np.arange(1, 51)).sum()
    # up to a fifth of the words of such a document come from the other topic
    np.testing.assert_allclose(share, 1 / np.arange(1, 4) / harmonic, rtol=0.2)


def test_documents_of_a_seed_never_change():
    # With other documents, every stored result would belong to other documents
    made = generated(card(), seed=7)
    digest = hashlib.sha256()
    for part in (made.X.toarray(), made.y):
        digest.update(np.ascontiguousarray(part).tobytes())
    assert digest.hexdigest()[:16] == "0833b9d1214d55a3"


def test_a_generated_data_set_is_never_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path))
    assert find(PAPER).source == obtain(PAPER) == "generated"
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="drawn from a seed"):
        load(PAPER)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "binary", "positive": ["1"]}, 'write "task: multilabel"'),
        ({"expect": {"rows": 200, "columns": 49}}, "makes 50 columns, the card expects 49"),
        ({"expect": {"rows": 300, "columns": 50}}, "makes 200 rows, the card expects 300"),
        ({"expect": {"rows": 200, "columns": 50, "fingerprint": "00"}}, "draws other rows every time"),
        ({"split": {"kind": "standard", "train": 100}}, "no order for a standard split"),
    ],
)
def test_a_card_that_contradicts_its_generator_is_rejected(changes, message):
    said = {key: value for key, value in card().model_dump(exclude_none=True).items() if key != "positive"}
    with pytest.raises(ValueError, match=message):
        Card.model_validate({**said, **changes})


@pytest.mark.parametrize(
    ("huge", "told"),
    [
        ({"mean_length": 1e9}, "documents x mean_length is"),
        ({"documents": 10**9}, "documents x mean_length is"),
        ({"words": 10**9}, "topics x words is"),
        ({"labels_drawn": 10**9}, "documents x labels_drawn is"),
    ],
)
def test_a_card_larger_than_memory_is_rejected(huge, told):
    with pytest.raises(ValueError, match=told):
        card(**huge)


def test_a_card_without_a_generator_is_rejected():
    with pytest.raises(ValueError, match="has no generator"):
        generated(read_card(find_card("iris")), 0)
