"""What ``probcal compare`` says of the results, for a page: its tables, numbered on from those of the metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace

from probcal.compare.comparison import NothingToCompare, compare
from probcal.compare.tables import grids
from probcal.errors import StoreError
from probcal.report.tables import Table, laid_out
from probcal.store import Store


@dataclass(frozen=True)
class Statistics:
    tables: list[Table]
    fault: str = ""
    """Why there are none, where something is broken."""


def statistics(store: Store, first: int, of: str) -> Statistics:
    """``first``: the number of the first table. ``of``: what their ids begin with."""
    try:
        found = grids(compare(store))
    except NothingToCompare:
        return Statistics([])
    except StoreError as error:
        return Statistics([], str(error))
    return Statistics(laid_out([replace(one, number=number) for number, one in enumerate(found, first)], of))
