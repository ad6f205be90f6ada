"""In which order the tables stand, and their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from probcal.show.grid import Grid
from probcal.show.metric_names import TABLES_1_TO_3


def in_order(metrics: Iterable[str]) -> list[str]:
    """Those of Tables 1 to 3 first, as they are there; each once."""
    every = list(dict.fromkeys(metrics))
    first = [metric for metric in TABLES_1_TO_3 if metric in every]
    return first + [metric for metric in every if metric not in first]


def numbered(
    metrics: Iterable[str], of_metric: Callable[[int, str], Grid], best: Callable[[int], Grid] | None
) -> list[Grid]:
    """CXE, RMS, AUC, then the ``best`` methods unless None, then the other metrics; each is given its number."""
    ordered = in_order(metrics)
    first = [metric for metric in ordered if metric in TABLES_1_TO_3]
    grids = [of_metric(number, metric) for number, metric in enumerate(first, 1)]
    if best:
        grids.append(best(len(grids) + 1))
    for metric in ordered[len(first):]:
        grids.append(of_metric(len(grids) + 1, metric))
    return grids
