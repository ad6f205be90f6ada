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
    of one length, all blocks done side by side on the unit vectors, which gives the matrix of each; their products
    give the capital at the start of every block, and from there all are done once more, side by side.
    """
    n, n_calibrators = likelihoods.shape
    if not n:
        return start[None]
    length = max(-(-n // _BLOCKS), _SHORTEST)
    blocks = -(-n // length)
    # in one piece: large pieces that come and go are handed back to the system each time, which costs a quarter more
    padded, steps = np.empty((2, n_calibrators * blocks * length))
    padded = padded.reshape(n_calibrators, -1)
    padded[:, n:] = 1
    # only ratios within a row matter here; with 1 the largest, no sum of capitals falls below J / |E|
    np.divide(likelihoods.T, likelihoods.max(axis=1), out=padded[:, :n])
    steps = steps.reshape(length, n_calibrators, blocks)
    steps[...] = padded.reshape(n_calibrators, blocks, length).transpose(2, 0, 1)
    starts = _starts(start, _matrices(steps, jump_rate))
    return _states(starts, steps, jump_rate)[: n + 1]


def _matrices(steps: np.ndarray, jump_rate: float) -> np.ndarray:
    """(n_blocks, n_calibrators, n_calibrators): what each block makes of the unit vectors, up to a factor."""
    _, n_calibrators, blocks = steps.shape
    capital, total = np.repeat(np.eye(n_calibrators)[:, :, None], blocks, axis=2), np.empty((n_calibrators, blocks))
    for likelihoods in steps:
        np.add.reduce(capital, axis=0, out=total)
        # one factor for all unit vectors: jumps keep them within |E| / J of each other, so that none is lost
        most = total.max(axis=0)
        capital *= (1 - jump_rate) / most
        total *= jump_rate / n_calibrators / most
        capital += total
        capital *= likelihoods[:, None, :]
    return capital.transpose(2, 0, 1)


def _starts(start: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """(n_calibrators, n_blocks) normalised capital at the start of each block."""
    reach = 1
    so_far = matrices[:-1].copy()  # of block i and of those before it, twice as many each time round
    while reach < len(matrices) - 1:
        so_far[reach:] = so_far[reach:] @ so_far[:-reach]
        so_far /= so_far.max(axis=(1, 2), keepdims=True)
        reach *= 2
    starts = np.vstack([start, so_far @ start]).T
    return starts / starts.sum(axis=0)


def _states(starts: np.ndarray, steps: np.ndarray, jump_rate: float) -> np.ndarray:
    """(n_steps + 1, n_calibrators) normalised capital before each step and after the last."""
    length, n_calibrators, blocks = steps.shape
    states = np.empty((n_calibrators, blocks * length + 1))
    before = states[:, :-1].reshape(n_calibrators, blocks, length)
    capital, total = starts.copy(), np.empty(blocks)
    for step, likelihoods in enumerate(steps):
        np.add.reduce(capital, axis=0, out=total)
        capital /= total
        before[:, :, step] = capital
        capital *= 1 - jump_rate
        capital += jump_rate / n_calibrators
        capital *= likelihoods
    states[:, -1] = capital[:, -1] / capital[:, -1].sum()
    return states.T
