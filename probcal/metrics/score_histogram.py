"""Histograms of the predictions of each class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from probcal.metrics.checked_rows import checked_two_classes, is_count

Array = npt.NDArray[np.float64]


class ScoreHistogram(NamedTuple):
    """Hold how often each prediction occurs. ``probcal.ScoreHistogramDisplay`` draws it."""

    edges: Array
    """Edges of the bins, (n_bins + 1,)."""
    negative: Array
    """Number of negative rows in each bin, or their weight in units of the mean weight, (n_bins,)."""
    positive: Array
    """The same of the positive rows."""


def score_histogram(
    y: Any, p: Any, n_bins: int = 20, sample_weight: Any = None, *, pos_label: Any = None
) -> ScoreHistogram:
    """Return how many negative and positive rows have their prediction in each of ``n_bins`` bins of equal width.

    Bin i holds (i-1)/m <= p < i/m, and the last one also 1.

    Parameters
    ----------
    y : labels, (n,), of two classes.
    p : predicted probabilities, (n,) of the positive class, or (n, 2).
    n_bins : number of bins, m.
    sample_weight : weights of the rows, (n,), or None.
    pos_label : label of the positive class. None if ``y`` holds 0 and 1.

    Returns
    -------
    ScoreHistogram

    Raises
    ------
    ValueError
        For ``n_bins`` below 1 and invalid arguments (see ``probcal.metrics``).
    """
    if not is_count(n_bins):
        raise ValueError(f"n_bins must be a whole number of at least 1, not {n_bins!r}")
    rows = checked_two_classes(y, p, sample_weight, pos_label)
    edges = np.linspace(0, 1, n_bins + 1)
    weight = rows.weight / rows.weight.mean()
    negative, positive = (np.histogram(rows.p[of], edges, weights=weight[of])[0] for of in (rows.y == 0, rows.y == 1))
    return ScoreHistogram(edges, negative, positive)
