"""Tests of fixed thresholds on held-out rows, which together are wrong at most with a given probability.

Each threshold has an exact binomial p-value. The order of the tests and their levels are fixed before a label is seen.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom

_LOG_ODDS = np.arange(-12, 12.01, 0.05)
_CANDIDATES = expit(_LOG_ODDS)
"""Thresholds that are tested. They lie dense at rare and at sure classes."""
# In log-odds above the target. The precision of calibrated probabilities is above their threshold, and its test is the
# strongest where rows at the threshold are still positive more often than the target.
_FIRST_START = 0.5


def threshold_of_precision(p: np.ndarray, positive: np.ndarray, at_least: float, level: float) -> float:
    """Return the lowest threshold that is shown to have the precision, or infinity.

    Precision need not rise with the threshold. So the tests begin at several thresholds, each with its share of the
    ``level``. One that rejects hands its share down to the next lower threshold, where it adds to the share there. At
    any time the shares of the thresholds that did not reject sum to at most ``level``. So this bounds the probability
    of any wrong one, however the tests depend on each other (Bretz, Maurer, Brannath & Posch 2009, algorithm 1).

    Parameters
    ----------
    p : ndarray of shape (n_rows,)
        Probabilities.
    positive : ndarray of bool of shape (n_rows,)
        Whether each row is positive.
    at_least : float
        The precision.
    level : float
        Largest probability of a threshold with a lower precision.

    Returns
    -------
    float
        The threshold.
    """
    n_chosen, n_hits = _counts(p), _counts(p[positive])
    # if the precision were below at_least, as many hits would have at most this probability
    p_values = np.where(n_chosen > 0, binom.sf(n_hits - 1, n_chosen, at_least), 1.0)
    shares, lowest, handed_down = level * _shares(at_least), np.inf, 0.0
    for threshold, p_value, share in zip(_CANDIDATES[::-1], p_values[::-1], shares[::-1], strict=True):
        handed_down += share
        if p_value < handed_down:  # a p-value of 0 is a rounded one, and shows nothing without a share
            lowest = threshold
        else:
            handed_down = 0.0
    return float(lowest)


def threshold_of_recall(p: np.ndarray, positive: np.ndarray, at_least: float, level: float) -> float:
    """Return the highest threshold that is shown to have the recall, or 0, where every row is decided positive.

    Recall never rises with the threshold. So one sequence of tests from the lowest threshold up needs no correction.
    The parameters are those of ``threshold_of_precision``.
    """
    p_values = binom.sf(_counts(p[positive]) - 1, int(positive.sum()), at_least)
    n_shown = int(np.argmax(np.append(p_values, 1.0) > level))
    return float(_CANDIDATES[n_shown - 1]) if n_shown else 0.0


def _shares(at_least: float) -> np.ndarray:
    """Return the share of each candidate in the level, (n_candidates,). They sum to 1.

    Starts lie one unit of log-odds apart. Their shares fall with the square of the distance, because probabilities are
    calibrated more often than they are far off.
    """
    first = logit(at_least) + _FIRST_START
    starts = np.arange(_LOG_ODDS[0] + first % 1, _LOG_ODDS[-1])
    places = np.abs(_LOG_ODDS[:, None] - starts).argmin(axis=0)
    shares = np.bincount(places, 1 / (1 + np.abs(starts - first)) ** 2, len(_LOG_ODDS))
    return np.asarray(shares / shares.sum())


def _counts(p: np.ndarray) -> np.ndarray:
    """Return how many of the probabilities reach each candidate, (n_candidates,)."""
    return np.asarray(len(p) - np.searchsorted(np.sort(p), _CANDIDATES, side="left"))
