"""Which numbers of a table rest on too few rows for an interval, a star or a p-value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal._io import counted
from probcal.metrics.checked_rows import cluster_sums, effective_rows

Floats = npt.NDArray[np.float64]

FEWEST_ROWS = 20
"""Fewest rows of an interval. A bootstrap interval of the mean of n normal numbers is shorter than Student's by the
factor ``1.96 sqrt(1 - 1 / n) / t``. It covers the mean in 93 % of samples of 20 rows, in 90 % of 10 and in 85 % of 5.
At one row all draws are equal, and it never does.
"""
FEWEST_CLASS_ROWS = 5
"""Fewest rows of each class. Of 5 rows a draw has none with probability .7 %, and of 3 with 5 %: more than the tail
beyond an interval of 95 %, which then ends where the class is absent.
"""
# Least variance of the number of positive rows if the predictions are right, for a p-value from the normal limit. It is
# that of 20 rows of probability .5. With 20 rows of probability .001 one positive row would give p = 1e-11.
_LEAST_VARIANCE = 5.0


@dataclass(frozen=True)
class RowSupport:
    """Say which numbers the rows of a table support."""

    has_losses: bool
    """Whether the means over the rows, such as the log loss, have an interval."""
    has_all: bool
    """Whether the numbers that compare classes have an interval, too."""
    has_p_value: bool
    reason: str
    """What is too few, empty where nothing is."""


def row_support(
    y: npt.NDArray[np.int64], p: Floats, weight: Floats, classes: tuple[str, ...], squares: Floats | None = None,
    counts: Sequence[int] | None = None, cluster: npt.NDArray[np.intp] | None = None, unit: str = "cluster",
) -> RowSupport:  # fmt: skip
    """Return what the rows of one table support. All weights are above 0.

    With ``squares``, (n_rows,), each row stands for many, with this sum of squared weights, and ``counts`` are the rows
    of each class.

    Rows count as Kish's effective number: as many rows of equal weight as have the same variance of a mean. Two classes
    need rows of both. The losses of several classes need rows outside the most frequent class.

    With ``cluster``, (n_rows,), clusters count in place of rows, and none support a p-value. ``unit`` is the word for
    a cluster.
    """
    unit = "row" if cluster is None else unit
    counts = np.bincount(y, minlength=len(classes)).tolist() if counts is None else counts
    largest = weight.max(initial=0.0) or 1.0
    weight = weight / largest
    squares = weight**2 if squares is None else squares / largest**2

    def effective(chosen: npt.NDArray[np.bool_]) -> float:
        if cluster is None:
            return effective_rows(weight[chosen], squares[chosen])
        weights = cluster_sums(weight[chosen], cluster[chosen])
        return effective_rows(weights, weights**2)

    n_rows = effective(np.ones(len(y), dtype=bool))
    class_rows = [effective(y == label) for label in range(len(classes))]
    rarest = int(np.argmin(class_rows))
    others = effective(y != np.bincount(y, weight).argmax())
    has_losses = n_rows >= FEWEST_ROWS and others >= FEWEST_CLASS_ROWS
    has_all = n_rows >= FEWEST_ROWS and class_rows[rarest] >= FEWEST_CLASS_ROWS
    if n_rows < FEWEST_ROWS:
        n = sum(counts) if cluster is None else len(np.unique(cluster))
        reason = _rows_text(n, n_rows, unit)
    elif not has_all:
        n = counts[rarest] if cluster is None else len(np.unique(cluster[y == rarest]))
        reason = f'{_rows_text(n, class_rows[rarest], unit)} of "{classes[rarest]}"'
    else:
        reason = ""
    has_p_value = False
    if n_rows >= FEWEST_ROWS and cluster is None:
        columns = p[:, None] if p.ndim == 1 else p
        variance = (weight / weight.max()) ** 2 @ (columns * (1 - columns))
        # where every prediction is 0 or 1, the p-value is exact
        has_p_value = bool(((variance == 0) | (variance >= _LEAST_VARIANCE * (1 - 1e-12))).all())
    return RowSupport(has_losses, has_all, has_p_value, reason)


def _rows_text(n: int, effective: float, unit: str) -> str:
    text = counted(n, unit)
    return text if n - effective < 0.5 else f"{text} with the weight of {effective:.1f} equal ones"
