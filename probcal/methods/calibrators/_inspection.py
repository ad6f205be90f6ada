"""What a fitted map does, in two sentences, and the score that gets a given probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logit


def lowest_float(low: float, high: float, n: int, is_high_enough: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the lowest float64 from ``low`` to ``high`` for each row that is high enough, or ``high``."""
    below, above = (np.full(n, _rank(np.float64(end))) for end in (low, high))
    below -= 1
    while (below + 1 < above).any():
        # the sum of two ranks could overflow, and a row that is done must stay within the ends
        middle = np.maximum(below // 2 + above // 2 + (below % 2 + above % 2) // 2, _rank(np.float64(low)))
        reached = is_high_enough(_of_rank(middle))
        below, above = np.where(reached, below, middle), np.where(reached, middle, above)
    return _of_rank(above)


def _rank(value: np.float64) -> int:
    """Return a whole number that is the higher, the higher a float is, and differs by 1 for neighbouring floats."""
    bits = int(np.abs(value).view(np.int64))
    return -bits if value < 0 else bits


def _of_rank(rank: np.ndarray) -> np.ndarray:
    return np.asarray(np.sign(rank) * np.abs(rank).view(np.float64))


_LARGEST_SCORE = 1e300
_MOST_CLASSES = 5
_WINDOW = 2.0
"""Log-odds around 0, which are probabilities of .12 to .88."""
_TINY_CHANGE = 0.0005
"""A change of a probability that two digits do not show."""


def scores_with_probability(calibrator: Any, wanted: np.ndarray) -> np.ndarray:
    """Return the scores, (n,), that a rising map of two classes gives the probabilities ``wanted``, (n,).

    Raises ValueError for a probability that the map gives no score.
    """
    low, high = (0.0, 1.0) if calibrator.input == "probability" else (-_LARGEST_SCORE, _LARGEST_SCORE)
    least, most = _predicted(calibrator, np.array([low, high]))
    if not least < most:
        raise ValueError(f"the map does not rise: it gives {least:.4g} to the lowest score, {most:.4g} to the highest")
    if len(outside := wanted[~((wanted >= least) & (wanted <= most))]):
        raise ValueError(f"the map gives probabilities from {least:.6g} to {most:.6g}, and never {outside[0]:.6g}")
    first = lowest_float(low, high, len(wanted), lambda x: _predicted(calibrator, x) >= wanted)
    after = lowest_float(low, high, len(wanted), lambda x: _predicted(calibrator, x) > wanted)
    # of a flat piece it is the middle, unless the piece goes on for ever
    middle = first / 2 + after / 2
    return np.where(wanted >= most, first, np.where(wanted <= least, after, middle))


def _predicted(calibrator: Any, scores: np.ndarray) -> np.ndarray:
    """Return the probability of the second of two classes. ``scores``, (n,), are its scores alone."""
    if calibrator.n_features_in_ == 1:
        columns = scores
    elif calibrator.input == "probability":
        columns = np.column_stack([1 - scores, scores])
    else:
        columns = np.column_stack([np.zeros(len(scores)), scores])
    return np.asarray(calibrator._calibrated(calibrator._read(columns.reshape(len(scores), -1)))[:, 1])


def interpretation(calibrator: Any) -> str:
    """Return two sentences on what the map does."""
    if len(calibrator.classes_) > 2:
        return _of_several_classes(calibrator)
    return _of_probabilities(calibrator) if calibrator.input == "probability" else _of_scores(calibrator)


def _of_probabilities(calibrator: Any) -> str:
    z = np.array([-_WINDOW, 0.0, _WINDOW])
    predicted = _predicted(calibrator, expit(z))
    if np.ptp(_predicted(calibrator, np.linspace(0, 1, 201))) < _TINY_CHANGE:
        return f"The map predicts {predicted[1]:.3g} for every row. The scores do not matter."
    low, shift, high = logit(predicted)
    slope = (high - low) / (2 * _WINDOW)
    effect = (
        "a higher prediction gets a lower probability" if slope < 0 else
        "predictions become less extreme" if slope < 0.995 else
        "predictions become more extreme" if slope > 1.005 else "the spread of the predictions stays"
    )  # fmt: skip
    first = f"Around .5 the map multiplies log-odds by {slope:.2f} and adds {round(shift, 2) + 0.0:.2f}, so {effect}."
    if not np.isfinite([slope, shift]).all():
        first = f"The map takes .12 to {predicted[0]:.3g}, .5 to {predicted[1]:.3g} and .88 to {predicted[2]:.3g}."
    p = np.concatenate([[0.0005, 0.002], np.arange(1, 200) / 200, [0.998, 0.9995]])
    change = _predicted(calibrator, p) - p
    if not (is_clear := np.abs(change) >= _TINY_CHANGE).any():
        return f"{first} It changes no probability by more than .0005."
    # near 0, 1 and a crossing the change is too small for a sign of its own
    nearest = np.flatnonzero(is_clear)[np.abs(np.flatnonzero(is_clear) - np.arange(len(p))[:, None]).argmin(axis=1)]
    lifts = change[nearest] > 0
    parts = []
    for verb, holds, most in (("lifts", lifts, np.argmax(change)), ("lowers", ~lifts, np.argmin(change))):
        before, after = _digits(p[most]), _digits(p[most] + change[most])
        if holds.any():
            extent = f"at most from {before} to {after}" if before != after else f"by at most {abs(change[most]):.1g}"
            parts.append(f"{verb} probabilities {_where(p, holds)}, {extent}")
    return f"{first} It {', and '.join(parts)}."


def _where(p: np.ndarray, holds: np.ndarray) -> str:
    """Return the intervals of ``p`` where ``holds`` is true, as words, or their share if there are many."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], holds, [False]]).astype(int))).reshape(-1, 2)
    if len(ends) > 2:
        return f"in {holds.mean():.0%} of the range from 0 to 1"
    between = [_digits(one) for one in (p[1:] + p[:-1]) / 2]
    words = []
    for start, stop in ends:
        if start == 0:
            words.append("everywhere" if stop == len(p) else f"below {between[stop - 1]}")
        elif stop == len(p):
            words.append(f"above {between[start - 1]}")
        else:
            words.append(f"from {between[start - 1]} to {between[stop - 1]}")
    return " and ".join(words)


def _digits(p: float) -> str:
    """Return a probability with two digits of its distance from the nearer end."""
    return f"{p:.2g}" if p < 0.9 else f"{p:.{max(2, 1 - int(np.floor(np.log10(max(1 - p, 1e-9)))))}f}"


def _of_scores(calibrator: Any) -> str:
    grid = np.sort(np.concatenate([s := np.logspace(-6, 6, 2001), -s, [0.0]]))
    predicted = _predicted(calibrator, grid)
    falls = (np.diff(predicted) < -1e-12).any()
    # what the lowest score has already is no limit that a score reaches
    limits = [wanted for wanted in (0.1, 0.5, 0.9) if predicted[0] < wanted <= predicted.max()]
    first = f"Scores get probabilities from {predicted.min():.3g} to {predicted.max():.3g}"
    first += "".join(f"; at least {limit} first at {grid[np.argmax(predicted >= limit)]:.3g}" for limit in limits)
    return f"{first}." + (
        " A higher score can have a lower probability." if falls else " A higher score never has a lower probability."
    )


def _of_several_classes(calibrator: Any) -> str:
    n_classes = len(calibrator.classes_)
    rows = np.full((n_classes + 1, n_classes), 0.1 / (n_classes - 1))
    rows[np.arange(n_classes), np.arange(n_classes)] = 0.9
    rows[-1] = 1 / n_classes
    scores = rows if calibrator.input == "probability" else np.log(rows)
    predicted = calibrator._calibrated(calibrator._read(scores))
    of_own, equal = predicted.diagonal(), predicted[-1]
    names = [str(label) for label in calibrator.classes_]
    order = np.argsort(of_own)
    shown = order if n_classes <= _MOST_CLASSES else order[[0, -1]]
    extent = "" if len(shown) == n_classes else f" at least and at most, of {n_classes} classes"
    first = ", ".join(f"{of_own[place]:.2g} for {names[place]}" for place in shown)
    least, most = np.argmin(equal), np.argmax(equal)
    second = (
        f"{names[least]} gets the least, {equal[least]:.2g}, and {names[most]} the most, {equal[most]:.2g}"
        if equal[most] - equal[least] >= _TINY_CHANGE
        else "all classes keep the same"
    )
    return (
        f"A class predicted with .9, while the others share the rest, gets {first}{extent}. Of equal probabilities, "
        f"{second}."
    )
