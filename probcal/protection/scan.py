"""The capital of a Simple Jumper after every label of an array, many steps side by side."""

from __future__ import annotations

import numpy as np

_BLOCKS = 256
_SHORTEST = 16


def capitals(start: np.ndarray, likelihoods: np.ndarray, jump_rate: float) -> np.ndarray:
    """(n + 1, n_calibrators) normalised capital before the first label, after it, and so on.

    start : (n_calibrators,) normalised capital.
    likelihoods : (n, n_calibrators) of the labels under each calibrator, not all 0 in a row.

    A step is linear: capital -> diag(likelihoods) ((1 - J) I + J / |E| 1 1^T) capital. The steps are cut into blocks
    of one length, all blocks done side by side on the unit vectors, which gives the matrix of each; the matrices
    applied in turn give the capital at the start of every block, and from there all are done once more, side by side.
    """
    n, n_calibrators = likelihoods.shape
    if not n:
        return start[None]
    length = max(-(-n // _BLOCKS), _SHORTEST)
    blocks = -(-n // length)
    # only ratios within a row matter here; with 1 the largest, no sum of capitals falls below J / |E|
    steps = np.ones((blocks * length, n_calibrators))
    steps[:n] = likelihoods / likelihoods.max(axis=1, keepdims=True)
    steps = np.ascontiguousarray(steps.reshape(blocks, length, n_calibrators).transpose(1, 2, 0))
    starts = _starts(start, _matrices(steps, jump_rate))
    return _states(starts, steps, jump_rate)[: n + 1]


def _matrices(steps: np.ndarray, jump_rate: float) -> np.ndarray:
    """(n_blocks, n_calibrators, n_calibrators): what each block makes of the unit vectors, up to a factor."""
    length, n_calibrators, blocks = steps.shape
    capital = np.repeat(np.eye(n_calibrators)[:, :, None], blocks, axis=2)
    sums = np.empty((length, n_calibrators, blocks))
    for likelihoods, total in zip(steps, sums, strict=True):
        np.add.reduce(capital, axis=0, out=total)
        capital *= (1 - jump_rate) / total
        capital += jump_rate / n_calibrators
        capital *= likelihoods[:, None, :]
    # jumps keep these within log(|E| / J) of each other, so that none is lost
    scale = np.log(sums).sum(axis=0)
    return (capital * np.exp(scale - scale.max(axis=0))).transpose(2, 0, 1)


def _starts(start: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """(n_calibrators, n_blocks) normalised capital at the start of each block."""
    starts = np.empty((len(matrices), len(start)))
    for number, matrix in enumerate(matrices):
        starts[number] = start
        start = matrix @ start
        start = start / start.sum()
    return starts.T


def _states(starts: np.ndarray, steps: np.ndarray, jump_rate: float) -> np.ndarray:
    """(n_steps + 1, n_calibrators) normalised capital before each step and after the last."""
    n_calibrators = len(starts)
    capital = starts.copy()
    before = np.empty_like(steps)
    for likelihoods, kept in zip(steps, before, strict=True):
        kept[...] = capital
        capital *= 1 - jump_rate
        capital += jump_rate / n_calibrators
        capital *= likelihoods
        capital /= capital.sum(axis=0)
    return np.concatenate([before.transpose(2, 0, 1).reshape(-1, n_calibrators), capital[None, :, -1]])
