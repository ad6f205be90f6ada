"""Everything that is compared in one results folder."""

from __future__ import annotations

from dataclasses import dataclass, replace

from probcal.check.experiment import Checked
from probcal.compare.best import FirstPlace, first_places
from probcal.compare.drawn import Drawn
from probcal.compare.kept import Kept, kept
from probcal.compare.pairs import Pair, pairs
from probcal.compare.ranks import Ranks, ranks
from probcal.compare.survive import Survival, survives
from probcal.errors import ProbcalError
from probcal.show.order import in_order
from probcal.show.summary import Results
from probcal.store import Store

CLIPPED = "cxe_clipped"


class NothingToCompare(ProbcalError):
    """There are no two methods with numbers of one data set, and no claims."""


@dataclass(frozen=True)
class Comparison:
    """``ranks`` and ``pairs`` by metric, in the order of the tables; a metric without any is not there."""

    checked: Checked
    kept: Kept
    ranks: dict[str, Ranks]
    pairs: dict[str, list[Pair]]
    places: list[FirstPlace]
    claims: list[Survival]


def compare(store: Store) -> Comparison:
    """Raises StoreError and UnknownPaper as ``probcal table`` does, and NothingToCompare."""
    checked = Checked.of(store)
    outline = checked.outline
    small = kept(store, outline, checked.results)
    checked = replace(checked, results=_with_clipped(checked.results, small))
    drawn = Drawn(checked, small)
    metrics = in_order([*outline.metrics, *([CLIPPED] if small.clipped else [])])
    every_rank = {metric: ranks(outline, checked.results, metric) for metric in metrics}
    every_pair = {metric: pairs(drawn, metric) for metric in metrics}
    places = first_places(drawn)
    claims = survives(drawn, [one for found in every_pair.values() for one in found], places)
    if not places and not claims and not any(every_pair.values()):
        raise NothingToCompare(
            f"{store.folder}: nothing to compare: no two methods have results of one data set; probcal run makes them"
        )
    return Comparison(
        checked, small,
        {metric: one for metric, one in every_rank.items() if one},
        {metric: found for metric, found in every_pair.items() if found},
        places, claims,
    )  # fmt: skip


def _with_clipped(results: Results, small: Kept) -> Results:
    return {
        name: replace(cell, metrics={**cell.metrics, CLIPPED: small.clipped[name]}) if name in small.clipped else cell
        for name, cell in results.items()
    }
