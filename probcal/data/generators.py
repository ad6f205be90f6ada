"""Rows drawn from a known distribution, so that the true probability of every label is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from probcal.data.card import Card
from probcal.data.dataset import Dataset
from probcal.data.gaussians import gaussians
from probcal.data.sources import DocumentsSource, GaussiansSource, StreamSource
from probcal.data.streams import stream

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
