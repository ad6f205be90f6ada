"""Test the generator of two Gaussian classes against its closed form, and test its cards and its seeds."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from probcal.data.card import Card, find_card, read_card
from probcal.data.dataset import generated
from probcal.data.splits import split_rows
from probcal.errors import FileProblems

TOY = read_card(find_card("gaussians"))
PARAMETERS = {
    "kind": "gaussians",
    "rows_per_class": 30,
    "test_rows_per_class": 20,
    "means": [[0, 0, 1], [1, 2, 3]],
    "covariance": [[2, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 3]],
}


def card(split=None, rows=100, columns=3, task="binary", **generator):
    return Card(
        name="small",
        title="Small",
        task=task,
        columns={"a": "numeric", "class": "target", "b": "numeric", "c": "numeric"},
        split=split or {"kind": "standard", "train": 60},
        expect={"rows": rows, "columns": columns},
        generator={**PARAMETERS, **generator},
        **({"positive": "yes"} if task == "binary" else {}),
    )


@pytest.fixture(scope="module")
def toy():
    return generated(TOY, seed=1)


def test_training_rows_come_first_with_equal_class_counts(toy):
    train, test = split_rows(TOY, len(toy.y), 0, 0)
    assert toy.X.shape == (4000, 2) and list(toy.X) == ["x1", "x2"]
    for part in (train, test):
        assert np.bincount(toy.y[part]).tolist() == [1000, 1000]
        assert 0.4 < toy.y[part][:200].mean() < 0.6  # in random order, so that the first rows hold both classes
    assert toy.y.dtype == np.int8


def test_means_and_covariance_are_those_of_the_card(toy):
    for label in (0, 1):
        rows = toy.X[toy.y == label]
        # the means of 2,000 rows have sds of sqrt(3 / 2000) = .04 and .02
        assert rows.mean().tolist() == pytest.approx(TOY.generator.means[label], abs=0.12)
        assert rows.cov().to_numpy() == pytest.approx(np.array(TOY.generator.covariance), abs=0.3)


def test_the_true_probability_is_the_ratio_of_the_densities():
    made = generated(card(), seed=0)
    assert list(made.X) == ["a", "b", "c"]
    f0, f1 = (multivariate_normal(mean, PARAMETERS["covariance"]).pdf(made.X) for mean in PARAMETERS["means"])
    assert made.truth == pytest.approx(f1 / (f0 + f1), rel=1e-9)


def test_the_log_odds_of_the_toy_match_its_card(toy):
    assert np.log(toy.truth / (1 - toy.truth)) == pytest.approx((toy.X["x1"] + 2 * toy.X["x2"]).to_numpy(), abs=1e-9)
    # means -2 and 2 and an sd of 2 in each class: the best classifier errs with probability Phi(-1) = .159
    assert np.mean((toy.truth > 0.5) != toy.y) == pytest.approx(norm.cdf(-1), abs=4 * np.sqrt(0.159 * 0.841 / 4000))
    # all levels of the paper lie among the rows
    assert np.mean(toy.truth < 0.05) > 0.1 and np.mean(toy.truth > 0.95) > 0.1


def test_rows_of_a_seed_never_change():
    # With other rows, every stored result would belong to other rows. The last bits depend on the machine.
    made = generated(card(), seed=7)
    digest = hashlib.sha256(made.X.to_numpy().round(9).tobytes() + made.y.tobytes())
    assert digest.hexdigest()[:16] == "71f25e69cddbd75d"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "multilabel"}, 'a row is of one of two Gaussians; write "task: binary"'),
        ({"rows": 90}, "makes 100 rows, the card expects 90"),
        ({"columns": 2}, "makes 3 columns, the card expects 2"),
        ({"split": {"kind": "standard", "train": 50}}, "the first 60 rows are drawn to train on; write split"),
        ({"split": {"kind": "holdout", "train_fraction": 0.6}}, "the first 60 rows are drawn to train on; write split"),
        ({"means": [[0, 0, 1], [1, 2]]}, "means: one has 3 numbers, the other 2"),
        ({"covariance": [[1, 0], [0, 1]]}, "covariance: 3 lists of 3 numbers are needed, for 3 columns"),
        ({"covariance": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]}, "symmetric and positive definite"),
        ({"covariance": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]}, "symmetric and positive definite"),
        ({"rows_per_class": 10**9}, "rows x columns is 6e.09, and more than"),
    ],
)
def test_a_card_that_contradicts_its_generator_is_rejected(changes, message):
    with pytest.raises(ValueError, match=message):
        card(**changes)


@pytest.mark.parametrize(
    ("generator", "message"),
    [
        ("{kind: gausians}", 'must be "documents" or "gaussians" or "stream", not \'gausians\'; did you mean'),
        ("{rows_per_class: 3}", 'the key "generator.kind" is missing'),
        ("{kind: gaussians, rows_of_class: 4}", 'unknown key "rows_of_class"; did you mean "rows_per_class"?'),
        ("{kind: documents, rows: 4}", 'unknown key "rows" (known here: documents, exponent, kind'),
        ("3", "generator must be a mapping, as in {a: b}, not 3"),
    ],
)
def test_message_names_the_line_of_a_wrong_generator(tmp_path, generator, message):
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: mine\nlike: gaussians\ntitle: Mine\ngenerator: {generator}\n")
    with pytest.raises(FileProblems) as caught:
        read_card(path)
    told = {problem.message: problem.line for problem in caught.value.problems}
    assert any(message in text and line == 4 for text, line in told.items()), told
