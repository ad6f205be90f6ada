"""Rows drawn from known distributions (Gaussians, streams, documents), and the data sets that come with scikit-learn.

The true probability of every drawn label is known. None of these sources needs a file or a network.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.special import expit

from probcal.data.card import Card
from probcal.data.dataset import Dataset
from probcal.data.sources.specifications import Adversary, DocumentsSource, GaussiansSource, NoChange, StreamSource
from probcal.errors import DataError


def gaussians(source: GaussiansSource, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw inputs, labels and P(y = 1) of training rows and then of test rows, each part in random order.

    Nalbantov & Ivanov (2019), section 3: both classes have the same number of rows. They are Gaussians with
    different means m0 and m1 and the same covariance S. The log-odds of the positive class, in nats, are
    (m1 - m0)' S^-1 (x - (m0 + m1) / 2). Shapes (n_rows, n_columns) float64, (n_rows,) int8 and (n_rows,) float64.
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
    # Column by column, because the rounding of a matrix product depends on the machine.
    return np.column_stack([sum(white[:, k] * row[k] for k in range(white.shape[1])) for row in root])


def stream(source: StreamSource, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw inputs, labels and P(y = 1 | x) of rows in order of time, with the training rows first.

    Inputs are Gaussian with mean 0, variance 1 and the same correlation between any two columns throughout. The
    log-odds of the positive class, in nats, are b + s w'x. In training b is the ``intercept`` and s is 1. The
    ``change`` says how they change afterwards. Shapes (n_rows, n_columns) float64, (n_rows,) int8, (n_rows,) float64.
    """
    drawn = rng.standard_normal((source.n_rows, 1 + source.n_columns))
    common, own = np.sqrt(source.correlation), np.sqrt(1 - source.correlation)
    inputs = common * drawn[:, :1] + own * drawn[:, 1:]
    # column by column, since the rounding of a matrix product depends on the machine
    signal = sum(weight * column for weight, column in zip(source.weights, inputs.T, strict=True))
    truth = _truth(source, signal)
    return inputs, (rng.random(source.n_rows) < truth).astype(np.int8), truth


def _truth(source: StreamSource, signal: np.ndarray) -> np.ndarray:
    """Return (n_rows,) P(y = 1 | x) of rows whose w'x is ``signal``."""
    change, log_odds = source.change, source.intercept + signal
    if isinstance(change, NoChange):
        unchanged: np.ndarray = expit(log_odds)
        return unchanged
    rows = np.arange(source.n_rows) - source.train_rows  # numbered from the first test row
    if isinstance(change, Adversary):
        return np.where(rows < change.at, expit(log_odds), log_odds <= 0)
    share = change.share(rows, source.test_rows)
    slope = 1 + share * (change.slope - 1)
    changed: np.ndarray = expit(source.intercept + share * (change.intercept - source.intercept) + slope * signal)
    return changed


_OF_NUMBERS: dict[type, Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray]]] = {
    GaussiansSource: gaussians,
    StreamSource: stream,
}


def generated(card: Card, seed: int) -> Dataset:
    """Draw the data set of a ``card`` with a generator. Equal seeds give equal bits.

    Raises ValueError when the card has no generator.
    """
    if card.generator is None:
        raise ValueError(f"{card.name}: its card has no generator")
    rng = np.random.default_rng(seed)
    draw = _OF_NUMBERS.get(type(card.generator))
    if draw is not None:
        inputs, y, truth = draw(card.generator, rng)
        names = [name for name, kind in card.columns.items() if kind != "target"]
        return Dataset(card, pd.DataFrame(inputs, columns=names), y, truth)
    lengths = rng.poisson(card.generator.mean_length, card.generator.documents)  # type: ignore[union-attr]  # only documents are left
    return Dataset(card, *documents(card.generator, lengths, rng))  # type: ignore[arg-type]  # as above


def documents(
    source: DocumentsSource, lengths: np.ndarray, rng: np.random.Generator
) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """Draw word counts, labels and the labels' true probabilities of documents with these ``lengths``, (documents,).

    Gao, Parameswaran & Peng (2017), Example 1 and its simulation in the appendix. Each document has a mix of topics,
    theta, drawn from a flat Dirichlet distribution. Each of its words comes from a topic drawn from theta. Each topic
    orders the words at random. The word of rank r has a probability proportional to r to the power of ``-exponent``.
    ``labels_drawn`` topics are drawn from theta with replacement. Label k is 1 if topic k is among them, which has
    probability 1 - (1 - theta_k) ** labels_drawn.
    """
    mixes = rng.dirichlet(np.ones(source.topics), source.documents)
    words = _words(source, rng.multinomial(lengths, mixes), rng)
    labels = (rng.multinomial(source.labels_drawn, mixes) > 0).astype(np.int8)
    return words, labels, 1 - (1 - mixes) ** source.labels_drawn


def _words(source: DocumentsSource, drawn: np.ndarray, rng: np.random.Generator) -> csr_matrix:
    """Draw (documents, words) float64 counts.

    ``drawn`` is (documents, topics): the number of words of a document that come from each topic.
    """
    weights = np.arange(1, source.words + 1) ** -source.exponent
    reached = np.cumsum(weights / weights.sum())
    reached[-1] = 1.0  # so that each draw lies below it, however the sum is rounded
    numbers = np.arange(source.documents)
    in_documents, words = [], []
    for of_topic in drawn.T:
        ranks = np.searchsorted(reached, rng.random(of_topic.sum()), side="right")
        words.append(rng.permutation(source.words)[ranks])
        in_documents.append(np.repeat(numbers, of_topic))
    pairs = np.concatenate(in_documents), np.concatenate(words)
    # csr_matrix adds up equal pairs, which makes them counts.
    return csr_matrix((np.ones(len(pairs[0])), pairs), (source.documents, source.words))


def bundled_rows(card: Card) -> pd.DataFrame:
    """Return (n_rows, n_columns) ready for ``assemble``: scikit-learn's column names, with class names as the target.

    Raises DataError when the card has no bundled data set.
    """
    if card.bundled is None:
        raise DataError(f"{card.name}: does not come with scikit-learn")
    import sklearn.datasets  # imports the half of scikit-learn, and most commands read no such data

    bunch = getattr(sklearn.datasets, card.bundled.loader)(as_frame=True)
    class_names = [str(name) for name in bunch.target_names]
    return bunch.data.assign(**{card.target: [class_names[number] for number in bunch.target]})
