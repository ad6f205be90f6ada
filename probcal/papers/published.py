"""The numbers that a paper printed, looked up by our names.

What a paper says of its results in words, as data that can be held against numbers.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from probcal.errors import ProbcalError, did_you_mean

_COLUMNS = {
    **dict.fromkeys(("beats", "even", "same", "gains_most", "gains"), 2),
    **dict.fromkeys(("infinite", "finite", "converges", "saves", "grows_most"), 1),
    "printed_best": 0,
}
"""How many columns each kind takes; those not listed take any number."""


class Claim(BaseModel):
    """One statement. ``kind`` says what is counted, over data sets and for each of ``metrics`` by itself:

    ``beats``         the first of ``columns`` is better than the second
    ``even``          neither of two columns is better in significantly more data sets (sign test, 5 %)
    ``same``          two columns are no further apart than ``within``
    ``gains_most``    the first column beats the second with more wins less losses by the first of ``metrics``
                      than by any other of them
    ``infinite``      the column gives ∞ on at least half of the splits
    ``finite``        the column gives ∞ on no split
    ``best``          one of ``columns`` is the best of all, or shares that place; entries of all metrics together
    ``printed_best``  the best of all, or one that shares that place, is the method that the paper names
    ``converges``     the column is, ``after`` so many stages, no further than ``within`` from where it ends
    ``saves``         1 less the column's loss ratio, averaged over the data sets, is no further than ``within`` from
                      the range ``between``
    ``gains``         the first column's log10 loss less that of the second, which protects it, is the second's log10 S,
                      give or take the share ``within`` of it, on every split
    ``grows_most``    the tenth of the stream in which the column's log10 S grows most begins in the range ``between``
                      of the stream

    ``beats`` and ``same`` with ``after`` speak of the numbers at that stage.
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
    ]
    columns: tuple[str, ...] = ()
    """Titles of published columns."""
    metrics: tuple[str, ...] = ()
    at_least: int | Literal["most", "all"] = "all"
    """So many of the data sets (of the entries, where all metrics count together)."""
    all_but: tuple[str, ...] = ()
    """Data sets that are left out."""
    datasets: tuple[str, ...] = ()
    """Only these data sets; all of the paper's unless given."""
    within: float = 0.0005
    after: int = 0
    between: tuple[float, float] = (0.0, 0.0)

    @model_validator(mode="after")
    def _as_many_columns_as_its_kind_takes(self) -> Claim:
        if len(self.columns) != _COLUMNS.get(self.kind, len(self.columns)):
            raise ValueError(f"{self.label}: {self.kind} takes {_COLUMNS[self.kind]} columns")
        return self

    def needed(self, entries: int) -> int:
        """How many of ``entries`` have to be as the claim says."""
        if isinstance(self.at_least, int):
            return self.at_least
        return entries // 2 + 1 if self.at_least == "most" else entries

    def of_a_part(self, datasets: tuple[str, ...], share: float) -> Claim:
        """The same of ``datasets`` alone; of a number that is asked for, its ``share``, rounded up."""
        at_least = self.at_least if isinstance(self.at_least, str) else math.ceil(share * self.at_least - 1e-9)
        return self.model_copy(update={"datasets": datasets, "at_least": at_least})

    def statement(self) -> str:
        """What is evaluated, in words."""
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
            "saves": f"{a} saves {self.range_saved()} of the loss on average, within {100 * self.within:g} points",
            "gains": f"{a} less {b} is log10 S of {b} within {self.within:g} of it on every split",
            "grows_most": f"{a} grows most in a tenth of the rows that begins at {self.range_saved()} of them",
        }
        stages = f" at stage {self.after}" if self.after and self.kind in ("beats", "same") else ""
        return texts[self.kind] + stages + self._how_many()

    def range_saved(self) -> str:
        """``between`` in percent, as a claim of what is saved has it: ``12 %``, ``3 to 5 %``."""
        return f"{' to '.join(dict.fromkeys(f'{100 * share:g}' for share in self.between))} %"

    def _how_many(self) -> str:
        if self.kind in ("even", "gains_most", "saves"):
            return ""
        of = f"all of {', '.join(self.datasets)}" if self.datasets else "all data sets"
        if self.all_but:
            return f", {of} but {', '.join(self.all_but)}"
        what = "entries" if self.kind in ("best", "printed_best") else "data sets"
        known = {"all": f", {of}", "most": f", most {what}"}
        return known.get(str(self.at_least), f", at least {self.at_least} {what}")


def claims_of(raw: dict[str, dict[str, Any]]) -> tuple[Claim, ...]:
    """``label: {quote, kind, ...}`` as claims. Raises pydantic's ValidationError."""
    return tuple(Claim.model_validate({"label": label, **claim}) for label, claim in raw.items())


_FOLDER = Path(__file__).parent
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


DEVIATIONS = "-deviations.yaml"
"""What the name of a file of known deviations ends with."""


class UnknownPaper(ProbcalError):
    """There is no file with the numbers of that paper."""


@dataclass(frozen=True)
class PublishedTable:
    """Printed numbers of one metric: (data set, learner, method) -> number, infinity for a printed ∞."""

    number: int | None
    """Of the paper's table; None where they are printed elsewhere, in ``source``."""
    tolerance: float
    """How near a result on the same split has to come to count as reproduced."""
    numbers: dict[tuple[str, str, str], float]
    spreads: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """The printed standard deviations, where the paper gives them."""
    runs: int = 1
    """Over how many runs the printed numbers are means."""
    source: str = ""
    """Where the numbers are printed, as one writes it in a sentence, if not in a table of the paper."""
    seed: int | None = None
    """Of the printed run, where we can repeat it: only our repetition of the same seed is held against the numbers."""
    decimals: int = 3
    """With how many the paper prints."""

    @property
    def place(self) -> str:
        """Where the numbers are printed: ``Table 1``, or the ``source``."""
        return self.source if self.number is None else f"Table {self.number}"

    @property
    def rounding(self) -> float:
        """How far a printed number may be from what it was."""
        return 0.5 / 10**self.decimals  # type: ignore[no-any-return]  # an int to the power of one is Any


@dataclass(frozen=True)
class Published:
    """A paper's tables. ``titles`` maps our data set names to the paper's row titles."""

    title: str
    citation: str
    short: str
    """Authors and year, as one writes them in a sentence."""
    titles: dict[str, str]
    columns: dict[str, tuple[str, str]]
    """The paper's column titles, in order: title -> (learner, method)."""
    tables: dict[str, PublishedTable]
    """By metric."""
    winners: dict[str, dict[str, str]]
    """The table of best methods as printed: data set -> metric -> entry."""
    winner_columns: dict[str, tuple[str, ...]]
    """The column titles that such an entry stands for, where it is not one itself."""
    claims: tuple[Claim, ...]

    @classmethod
    @functools.cache
    def read(cls, name: str) -> Published:
        """The paper of this ``name``, such as ``langford-zadrozny-2005``; read once per process.

        Raises UnknownPaper.
        """
        known = paper_names()
        if name not in known:  # asked first: a name out of a results folder may be a path
            raise UnknownPaper(
                f'there are no published numbers of a paper "{name}"{did_you_mean(name, known)}'
                f" (there are: {', '.join(known)})"
            )
        return _parsed(yaml.load((_FOLDER / f"{name}.yaml").read_bytes(), Loader=_LOADER))

    def number(self, dataset: str, learner: str, method: str, metric: str) -> float | None:
        """The printed number (``inf`` for ∞), or None where the paper has none."""
        table = self.tables.get(metric)
        return table.numbers.get((dataset, learner, method)) if table else None

    def tells(self, claim: Claim) -> bool:
        """Whether there are printed numbers of what the ``claim`` speaks of, and of each of its columns."""
        tables = [table for metric, table in self.tables.items() if metric in claim.metrics]
        told = {(learner, method) for table in tables for _, learner, method in table.numbers}
        return bool(tables) and all(self.columns[title] in told for title in claim.columns)

    def best(self, dataset: str, metric: str) -> str | None:
        """The best method as printed, such as ``J48/SVM``, or None where the paper names none."""
        return self.winners.get(dataset, {}).get(metric)

    def best_columns(self, dataset: str, metric: str) -> tuple[str, ...]:
        """The column titles that the table of best methods names; empty where it names none."""
        entry = self.best(dataset, metric)
        return () if entry is None else self.winner_columns.get(entry, (entry,))


def paper_names() -> list[str]:
    """The papers whose numbers are here, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml") if not path.name.endswith(DEVIATIONS))


def _parsed(raw: dict[str, Any]) -> Published:
    columns = {title: (column["learner"], column["method"]) for title, column in raw["columns"].items()}
    return Published(
        title=raw["title"],
        citation=raw["citation"],
        short=raw["short"],
        titles=raw["datasets"],
        columns=columns,
        tables={metric: _table(table, list(columns.values())) for metric, table in raw["tables"].items()},
        winners=raw["best"],
        winner_columns={entry: tuple(titles) for entry, titles in raw["best_entries"].items()},
        claims=claims_of(raw["claims"]),
    )


def _table(raw: dict[str, Any], columns: list[tuple[str, str]]) -> PublishedTable:
    more = {name: raw[name] for name in ("runs", "decimals", "seed", "source") if name in raw}
    spreads = _by_column(raw.get("spreads", {}), columns)
    return PublishedTable(raw.get("number"), raw["tolerance"], _by_column(raw["rows"], columns), spreads, **more)


def _by_column(
    rows: dict[str, list[float | None]], columns: list[tuple[str, str]]
) -> dict[tuple[str, str, str], float]:
    return {
        (dataset, learner, method): float(number)
        for dataset, row in rows.items()
        for (learner, method), number in zip(columns, row, strict=True)
        if number is not None
    }
