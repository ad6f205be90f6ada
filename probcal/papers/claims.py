"""Claims of a paper, as data that can be checked: what is counted, on which data sets, and how many must agree."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

_COLUMN_COUNTS = {
    **dict.fromkeys(("beats", "even", "same", "gains_most", "gains"), 2),
    **dict.fromkeys(("infinite", "finite", "converges", "saves", "grows_most"), 1),
    "printed_best": 0,
}
"""Number of columns that each kind takes. Kinds that are not listed take any number."""


class Claim(BaseModel):
    """Describe one claim of a paper.

    ``kind`` says what is counted, over the data sets and separately for each of ``metrics``:

    - ``beats``: the first of ``columns`` is better than the second
    - ``even``: neither of two columns is better in significantly more data sets (sign test, 5 %)
    - ``same``: two columns differ by at most ``within``
    - ``gains_most``: the first column beats the second with more wins less losses by the first of ``metrics`` than by
      any other of them
    - ``infinite``: the column is ∞ on at least half of the splits
    - ``finite``: the column is ∞ on no split
    - ``best``: one of ``columns`` is the best of all, or shares that place. All metrics count together
    - ``printed_best``: the best of all, or one that shares that place, is the method that the paper names
    - ``converges``: the column after ``after`` stages differs from its end by at most ``within``
    - ``saves``: 1 less the column's loss ratio, averaged over the data sets, is in the range ``between``, give or
      take ``within``
    - ``gains``: on every split, the first column's log10 loss less that of the second, which protects it, is the
      second's log10 S, give or take the share ``within`` of it
    - ``ranked``: the mean ranks of ``columns`` over the data sets are in this order, the best one first
    - ``ranks_apart``: by Friedman's and Nemenyi's test at 5 %, the first of ``columns`` ranks better than the second.
      The other columns are ranked with them
    - ``grows_most``: the tenth of the stream in which the column's log10 S grows most begins in the range ``between``
      of the stream

    ``beats`` and ``same`` with ``after`` use the numbers at that stage.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    quote: str
    kind: Literal[
        "beats",
        "even",
        "same",
        "gains_most",
        "infinite",
        "finite",
        "best",
        "printed_best",
        "converges",
        "saves",
        "gains",
        "grows_most",
        "ranked",
        "ranks_apart",
    ]
    columns: tuple[str, ...] = ()
    """Titles of published columns."""
    metrics: tuple[str, ...] = ()
    at_least: int | Literal["most", "all"] = "all"
    """Number of data sets that it must hold for (of entries, where all metrics count together)."""
    all_but: tuple[str, ...] = ()
    """Data sets that are left out."""
    datasets: tuple[str, ...] = ()
    """Data sets that it is about. Default: all of the paper."""
    within: float = 0.0005
    after: int = 0
    between: tuple[float, float] = (0.0, 0.0)

    @model_validator(mode="after")
    def _check_number_of_columns(self) -> Claim:
        if len(self.columns) != _COLUMN_COUNTS.get(self.kind, len(self.columns)):
            raise ValueError(f"{self.label}: {self.kind} takes {_COLUMN_COUNTS[self.kind]} columns")
        if self.kind in ("ranked", "ranks_apart") and len(self.columns) < 2:
            raise ValueError(f"{self.label}: {self.kind} takes two columns or more")
        return self

    def required_count(self, entries: int) -> int:
        """Return how many of ``entries`` must agree with the claim."""
        if isinstance(self.at_least, int):
            return self.at_least
        return entries // 2 + 1 if self.at_least == "most" else entries

    def partial_claim(self, datasets: tuple[str, ...], share: float) -> Claim:
        """Return the claim for ``datasets`` only, with the ``share`` of a required number, rounded up."""
        # Less a little, because a share such as 1/3 times 3 may be rounded above a whole number.
        at_least = self.at_least if isinstance(self.at_least, str) else math.ceil(share * self.at_least - 1e-9)
        return self.model_copy(update={"datasets": datasets, "at_least": at_least})

    def statement(self) -> str:
        """Return in words what is evaluated."""
        a, b = (*self.columns, "", "")[:2]
        texts = {
            "beats": f"{a} better than {b}",
            "even": f"neither {a} nor {b} better by a sign test at 5 %",
            "same": f"{a} and {b} within {self.within:g} of each other",
            "gains_most": f"{a} beats {b} more clearly by {(*self.metrics, '')[0]} than by the other metrics",
            "infinite": f"{a} infinite on half of the splits or more",
            "finite": f"{a} finite on every split",
            "best": f"{' or '.join(self.columns)} best",
            "printed_best": "best as in the paper's table of best methods",
            "converges": f"{a} after {self.after} stages within {self.within:g} of where it ends",
            "saves": f"{a} saves {self.range_text()} of the loss on average, within {100 * self.within:g} points",
            "gains": f"{a} less {b} is log10 S of {b} within {self.within:g} of it on every split",
            "grows_most": f"{a} grows most in a tenth of the rows that begins at {self.range_text()} of them",
            "ranked": f"mean ranks in the order {', '.join(self.columns)}",
            "ranks_apart": f"{a} ranks better than {b} by Nemenyi's test at 5 %, among {', '.join(self.columns)}",
        }
        stages = f" at stage {self.after}" if self.after and self.kind in ("beats", "same") else ""
        return texts[self.kind] + stages + self._scope_text()

    def range_text(self) -> str:
        """Return ``between`` in percent: ``12 %``, ``3 to 5 %``."""
        return f"{' to '.join(dict.fromkeys(f'{100 * share:g}' for share in self.between))} %"

    def _scope_text(self) -> str:
        if self.kind in ("even", "gains_most", "saves"):
            return ""
        scope = f"all of {', '.join(self.datasets)}" if self.datasets else "all data sets"
        if self.all_but:
            return f", {scope} but {', '.join(self.all_but)}"
        unit = "entries" if self.kind in ("best", "printed_best") else "data sets"
        texts = {"all": f", {scope}", "most": f", most {unit}"}
        return texts.get(str(self.at_least), f", at least {self.at_least} {unit}")
