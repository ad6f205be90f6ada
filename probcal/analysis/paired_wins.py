"""Wins of methods over each other: win rates, Bradley-Terry strengths and their Elo ratings. Arrays in, numbers out.

R. Bradley and M. Terry, Rank analysis of incomplete block designs: I, Biometrika 39 (1952).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

ELO_MEAN = 1000.0
ELO_SCALE = 400 / math.log(10)
"""Elo points of one unit of log odds. A difference of 400 points means odds of 10 to 1."""
PRIOR_WINS = 0.05
"""Wins that each side of a pair has from the start, in tables. Without them a method that always wins has no rating."""
_MOST_STEPS = 200
_LONGEST_STEP = 2.0
# Added to the diagonal, because the row of a method without any comparison is singular.
_RIDGE = 1e-9
# A shorter step is the last. Newton's next step would be about its square.
_STEP_TOLERANCE = 1e-6


def pairwise_wins(losses: Floats) -> Floats:
    """Return the wins of row methods over column methods, (..., k, k), from ``losses``, (..., k).

    A win counts 1 and a tie 1/2. It is NaN on the diagonal and where one of the two has no number (NaN).
    """
    first, second = losses[..., :, None], losses[..., None, :]
    outcomes = np.where(first < second, 1.0, np.where(first == second, 0.5, 0.0))
    outcomes[np.isnan(first) | np.isnan(second)] = np.nan
    diagonal = np.arange(losses.shape[-1])
    outcomes[..., diagonal, diagonal] = np.nan
    return outcomes


def mean_of_known(values: Floats, axis: int) -> Floats:
    """Return the mean over ``axis`` without NaN, or NaN where nothing is known."""
    mask = ~np.isnan(values)
    # 0 / 0 is the NaN of what nobody knows
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(mask, values, 0.0).sum(axis=axis) / mask.sum(axis=axis))


def weighted_mean(weights: Floats, values: Floats) -> Floats:
    """Return the mean of ``values``, (n, ...), for each row of ``weights``, (draws, n), as (draws, ...).

    NaN is left out, with its weight.
    """
    mask = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(
            np.tensordot(weights, np.where(mask, values, 0.0), 1) / np.tensordot(weights, mask.astype(float), 1)
        )


def bradley_terry(win_counts: Floats, start: Floats | None = None) -> Floats:
    """Return the log strengths of maximum likelihood, (..., k), with mean 0.

    ``win_counts[..., i, j]`` is how often i beat j. The probability of it is the logistic function of the difference of
    their strengths. Newton's method maximises the likelihood, from ``start``, (k,), or from 0. A method without any
    comparison has strength 0.
    """
    k = win_counts.shape[-1]
    meetings = (win_counts + np.swapaxes(win_counts, -1, -2)).reshape(-1, k, k)
    total = win_counts.sum(axis=-1).reshape(-1, k)
    strengths = np.zeros_like(total) if start is None else np.tile(start, (len(total), 1))
    active = np.arange(len(total))  # a draw that is done takes no part in further steps
    diagonal = np.arange(k)
    for _ in range(_MOST_STEPS):
        power = np.exp(strengths[active] - strengths[active].max(axis=-1, keepdims=True))
        probability = power[:, :, None] / (power[:, :, None] + power[:, None, :])
        expected = meetings[active] * probability
        gradient = total[active] - expected.sum(axis=-1)
        expected *= probability - 1  # the negative curvature
        spread = -expected.sum(axis=-1)
        expected += 1 / k  # fixes the mean, which changes no probability
        expected[:, diagonal, diagonal] += spread + _RIDGE
        step = np.linalg.solve(expected, gradient[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        strengths[active] += step * np.minimum(1.0, _LONGEST_STEP / np.maximum(longest, _LONGEST_STEP))
        active = active[longest[:, 0] >= _STEP_TOLERANCE]
        if not len(active):
            break
    strengths = strengths.reshape(win_counts.shape[:-1])
    return np.asarray(strengths - strengths.mean(axis=-1, keepdims=True))


def elo(win_counts: Floats, anchor: int | None = None) -> Floats:
    """Return the Elo ratings, (..., k). The method ``anchor`` has 1000, or the mean of all has where there is none.

    ``win_counts`` is as in ``bradley_terry``. Each pair that met begins with a drawn tenth of a table. A method that
    met no other has NaN.
    """
    is_met = (win_counts + np.swapaxes(win_counts, -1, -2)) > 0
    counts = win_counts + PRIOR_WINS * is_met
    start = bradley_terry(counts.mean(axis=0)) if win_counts.ndim == 3 else None  # draws of the same tables are alike
    ratings = ELO_SCALE * bradley_terry(counts, start)
    ratings = np.where(is_met.any(axis=-1), ratings, np.nan)
    zero = np.nanmean(ratings, axis=-1, keepdims=True) if anchor is None else ratings[..., anchor : anchor + 1]
    return np.asarray(ratings - zero + ELO_MEAN)
