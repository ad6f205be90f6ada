"""The numbers that a paper printed, looked up by our names."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from probcal.errors import ProbcalError, did_you_mean
from probcal.paper.claims import Claim, claims_of

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
