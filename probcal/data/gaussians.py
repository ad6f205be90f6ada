"""Two Gaussian classes with means of their own and one covariance: their posterior is known in closed form."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from probcal.data.sources import GaussiansSource


def gaussians(source: GaussiansSource, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(inputs, labels, P(y = 1)) of rows to train on and of those to test on, each part in random order.

    Nalbantov & Ivanov (2019), section 3: as many rows of each class, from Gaussians with other means and the same
    covariance S. The log-odds of the positive class, in nats, are (m1 - m0)' S^-1 (x - (m0 + m1) / 2). Shapes
    (n_rows, n_columns) float64, (n_rows,) int8 and (n_rows,) float64.
    """
    parts = (source.rows_per_class, source.test_rows_per_class)
    y = np.concatenate([rng.permutation(np.repeat(np.array([0, 1], dtype=np.int8), n)) for n in parts])
    means, covariance = np.array(source.means), np.array(source.covariance)
    inputs = means[y] + _coloured(rng.standard_normal((len(y), source.n_columns)), np.linalg.cholesky(covariance))
    direction = np.linalg.solve(covariance, means[1] - means[0])
    return inputs, y, expit((inputs - means.mean(axis=0)) @ direction)


def _coloured(white: np.ndarray, root: np.ndarray) -> np.ndarray:
    """``white`` times the transposed ``root``, column by column: a matrix product rounds as the machine likes."""
    return np.column_stack([sum(white[:, k] * row[k] for k in range(white.shape[1])) for row in root])
