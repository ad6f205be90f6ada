"""The table of best methods with how sure each first place is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from probcal.compare.drawn import Drawn
from probcal.compare.ranks import labels_of
from probcal.show.best import best_of, in_the_order_of_table_4
from probcal.show.grid import DECIMALS
from probcal.show.metric_names import metric_name
from probcal.show.outline import Column, Row
from probcal.show.summary import summarise

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FirstPlace:
    """Of one data set and metric. ``first``: (n_draws, n_columns), who has, or shares, the first place in each draw."""

    row: Row
    metric: str
    columns: tuple[Column, ...]
    labels: tuple[str, ...]
    """Of the columns."""
    winners: tuple[str, ...]
    """Labels of the best by our means, as ``probcal table`` has them."""
    printed: str | None
    """The paper's entry."""
    first: Flags
    drawn: bool
    """False where a column has one split and nothing to draw of: the shares are 0 and 1 and say nothing."""

    @property
    def shares(self) -> dict[str, float]:
        """Label -> in how many of the draws it is among the best, the surest first."""
        shares = self.first.mean(axis=0)
        order = sorted(range(len(self.labels)), key=lambda one: -shares[one])
        return {self.labels[one]: float(shares[one]) for one in order if shares[one] > 0}


def first_places(drawn: Drawn) -> list[FirstPlace]:
    """One a data set and metric with a better end, where all columns have numbers and there are two or more."""
    checked = drawn.checked
    outline, columns = checked.outline, checked.outline.columns
    found = []
    for row in outline.datasets if len(columns) > 1 else ():
        for metric in in_the_order_of_table_4(outline.metrics):
            courses = [drawn.course(row, column, metric) for column in columns]
            known = [one for one in courses if one is not None]
            if len(known) < len(columns):
                continue
            means = [summarise(outline, checked.results, row, column, metric).mean for column in columns]
            best = best_of(dict(enumerate(means)), metric)
            labels = labels_of(outline)
            found.append(
                FirstPlace(
                    row, metric, tuple(columns), tuple(labels), tuple(labels[one] for one in sorted(best)),
                    checked.published.best(row.published, metric) if checked.published else None,
                    _first(np.array([one.means for one in known]).T, metric),
                    all(drawn.is_drawn(row, column, metric) for column in columns),
                )
            )  # fmt: skip
    return found


def _first(means: npt.NDArray[np.float64], metric: str) -> Flags:
    """``means``: (n_draws, n_columns). Equal in the printed decimals is a shared place; ∞ has none."""
    rounded = np.round(-means if metric_name(metric).larger_is_better else means, DECIMALS)
    return np.asarray((rounded == rounded.min(axis=1, keepdims=True)) & np.isfinite(rounded))
