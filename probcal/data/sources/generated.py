"""Rows drawn from a known distribution, so that the true probability of every label is known.

Two Gaussian classes with means of their own and one covariance: their posterior is known in closed form.

Streams of two classes whose law changes with time, in a way that is known.

The rows of the data sets that come with scikit-learn: no file and no network needed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import sklearn.datasets
from scipy.sparse import csr_matrix
from scipy.special import expit

from probcal.data.card import Card
from probcal.data.dataset import Dataset
from probcal.data.sources.specifications import Adversary, DocumentsSource, GaussiansSource, NoChange, StreamSource
from probcal.errors import DataError


def gaussians(source: GaussiansSource, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(inputs, labels, P(y = 1)) of rows to train on and of those to test on, each part in random order.

    Nalbantov & Ivanov (2019), section 3: as many rows of each class, from Gaussians with other means and the same
    covariance S. The log-odds of the positive class, in nats, are (m1 - m0)' S^-1 (x - (m0 + m1) / 2). Shapes
    (n_rows, n_columns) float64, (n_rows,) int8 and (n_rows,) float64.
    """
    means, covariance = np.array(source.means), np.array(source.covariance)
    root = np.linalg.cholesky(covariance)
    parts = []
    for n in (source.rows_per_class, source.test_rows_per_class):
        labels = rng.permutation(np.repeat(np.array([0, 1], dtype=np.int8), n))
        parts.append((means[labels] + _coloured(rng.standard_normal((2 * n, source.n_columns)), root), labels))
    inputs, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    direction = np.linalg.solve(covariance, means[1] - means[0])
    return inputs, y, expit((inputs - means.mean(axis=0)) @ direction)


def _coloured(white: np.ndarray, root: np.ndarray) -> np.ndarray:
    """``white`` times the transposed ``root``, column by column: a matrix product rounds as the machine likes."""
    return np.column_stack([sum(white[:, k] * row[k] for k in range(white.shape[1])) for row in root])


def stream(source: StreamSource, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(inputs, labels, P(y = 1 | x)) of rows in order of time, those to train on first.

    Inputs are Gaussian with mean 0, variance 1 and one correlation between any two columns, and stay so. The log-odds
    of the positive class, in nats, are b + s w'x: while training b is the ``intercept`` and s is 1, and what becomes of
    them is said by the ``change``. Shapes (n_rows, n_columns) float64, (n_rows,) int8 and (n_rows,) float64.
    """
    drawn = rng.standard_normal((source.n_rows, 1 + source.n_columns))
    common, own = np.sqrt(source.correlation), np.sqrt(1 - source.correlation)
    inputs = common * drawn[:, :1] + own * drawn[:, 1:]
    # column by column: a matrix product rounds as the machine likes
    signal = sum(weight * column for weight, column in zip(source.weights, inputs.T, strict=True))
    truth = _truth(source, signal)
    return inputs, (rng.random(source.n_rows) < truth).astype(np.int8), truth


def _truth(source: StreamSource, signal: np.ndarray) -> np.ndarray:
    """(n_rows,) P(y = 1 | x) of rows whose w'x is ``signal``."""
    change, log_odds = source.change, source.intercept + signal
    if isinstance(change, NoChange):
        return expit(log_odds)
    rows = np.arange(source.n_rows) - source.train_rows  # numbered from the first test row
    if isinstance(change, Adversary):
        return np.where(rows < change.at, expit(log_odds), log_odds <= 0)
    share = change.share(rows, source.test_rows)
    slope = 1 + share * (change.slope - 1)
    return expit(source.intercept + share * (change.intercept - source.intercept) + slope * signal)


_OF_NUMBERS = {GaussiansSource: gaussians, StreamSource: stream}


def generated(card: Card, seed: int) -> Dataset:
    """The data set of a ``card`` with a generator that this ``seed`` draws: equal seeds give equal bits.

    Raises ValueError when the card is not of a generated data set.
    """
    if card.generator is None:
        raise ValueError(f"{card.name}: its card has no generator")
    rng = np.random.default_rng(seed)
    draw = _OF_NUMBERS.get(type(card.generator))
    if draw is not None:
        inputs, y, truth = draw(card.generator, rng)  # type: ignore[operator]
        names = [name for name, kind in card.columns.items() if kind != "target"]
        return Dataset(card, pd.DataFrame(inputs, columns=names), y, truth)
    lengths = rng.poisson(card.generator.mean_length, card.generator.documents)  # type: ignore[union-attr]  # the others are drawn above
    return Dataset(card, *documents(card.generator, lengths, rng))  # type: ignore[arg-type]


def documents(
    source: DocumentsSource, lengths: np.ndarray, rng: np.random.Generator
) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """(word counts, labels, their true probabilities) of documents of these ``lengths``, (documents,).

    Gao, Parameswaran & Peng (2017), Example 1 and its simulation in the appendix. Each document has a mix of topics,
    theta, from a flat Dirichlet distribution, and each of its words comes from a topic of its own, drawn from theta.
    In each topic the words have a random order, and the one of rank r a probability proportional to r to the power of
    ``-exponent``. From theta ``labels_drawn`` topics are drawn with replacement: label k is 1 if k is among them,
    which has probability 1 - (1 - theta_k) ** labels_drawn.
    """
    mixes = rng.dirichlet(np.ones(source.topics), source.documents)
    words = _words(source, rng.multinomial(lengths, mixes), rng)
    labels = (rng.multinomial(source.labels_drawn, mixes) > 0).astype(np.int8)
    return words, labels, 1 - (1 - mixes) ** source.labels_drawn


def _words(source: DocumentsSource, drawn: np.ndarray, rng: np.random.Generator) -> csr_matrix:
    """(documents, words) float64 counts. ``drawn``: (documents, topics), how many words of a document a topic gives."""
    weights = np.arange(1, source.words + 1) ** -source.exponent
    reached = np.cumsum(weights / weights.sum())
    reached[-1] = 1.0  # whatever the rounding of the sum: each draw lies below it
    numbers = np.arange(source.documents)
    in_documents, words = [], []
    for of_topic in drawn.T:
        ranks = np.searchsorted(reached, rng.random(of_topic.sum()), side="right")
        words.append(rng.permutation(source.words)[ranks])
        in_documents.append(np.repeat(numbers, of_topic))
    places = np.concatenate(in_documents), np.concatenate(words)
    return csr_matrix((np.ones(len(places[0])), places), (source.documents, source.words))  # adds up equal places


def bundled_rows(card: Card) -> pd.DataFrame:
    """(n_rows, n_columns) ready for ``assemble``: scikit-learn's column names, class names as the target.

    Raises DataError when the card is not of a bundled data set.
    """
    if card.bundled is None:
        raise DataError(f"{card.name}: does not come with scikit-learn")
    bunch = getattr(sklearn.datasets, card.bundled.loader)(as_frame=True)
    class_names = [str(name) for name in bunch.target_names]
    return bunch.data.assign(**{card.target: [class_names[number] for number in bunch.target]})
