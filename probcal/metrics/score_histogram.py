"""Histograms of the predictions of each class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.metrics.checked_rows import checked_two_classes, is_count

Array = npt.NDArray[np.float64]


class ScoreHistogram(NamedTuple):
    """Hold how often each prediction occurs in each class.

    ``probcal.ScoreHistogramDisplay`` draws it.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins.
    negative : ndarray of shape (n_bins,)
        Number of negative rows in each bin. With ``sample_weight``, their weight in units of the mean weight.
    positive : ndarray of shape (n_bins,)
        Number of positive rows in each bin. With ``sample_weight``, their weight in units of the mean weight.
    """

    edges: Array
    negative: Array
    positive: Array


def score_histogram(
    y: Any, p: Any, n_bins: int = 20, sample_weight: Any = None, *, pos_label: Any = None, labels: Any = None
) -> ScoreHistogram:
    """Return how many negative and positive rows have their prediction in each bin of equal width.

    Bin i holds (i-1)/m <= p < i/m, and the last bin also holds 1.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels of two classes.
    p : array-like of shape (n_rows,) or (n_rows, 2)
        Predicted P(y = 1), or predicted probabilities of both classes.
    n_bins : int, default=20
        Number of bins, m.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    pos_label : int, float, bool or str, default=None
        Label of the positive class.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    ScoreHistogram
        Edges of the bins, and the number of rows of each class in each bin.

    Raises
    ------
    ValueError
        If ``n_bins`` is no whole number of at least 1, or another argument is invalid (see ``probcal.metrics``).
    """
    if not is_count(n_bins):
        raise ValueError(f"n_bins must be a whole number of at least 1, not {n_bins!r}")
    rows = checked_two_classes(y, p, sample_weight, pos_label, labels)
    edges = np.linspace(0, 1, n_bins + 1)
    weight = rows.weight / rows.weight.mean()
    negative, positive = (np.histogram(rows.p[of], edges, weights=weight[of])[0] for of in (rows.y == 0, rows.y == 1))
    return ScoreHistogram(edges, negative, positive)
