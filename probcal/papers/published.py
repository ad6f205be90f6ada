"""Numbers that a paper printed, with its claims, read from its YAML file."""

from __future__ import annotations

import csv
import functools
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from probcal._io import refuse_cut_off
from probcal.components.plugins import declarations, paper_folder
from probcal.errors import FileProblems, ProbcalError, Problem, did_you_mean
from probcal.papers.bands import DrawDistribution, read_distributions
from probcal.papers.claims import Claim
from probcal.yaml_file import KeyPath, YamlFile
from probcal.yaml_validation import validate_file


def _with_labels(raw: Any) -> Any:
    """Give each claim of ``label: {quote, kind, ...}`` its label. A value of another form stays, and is refused."""
    if not isinstance(raw, dict):
        return raw
    return {label: {"label": label, **claim} if isinstance(claim, dict) else claim for label, claim in raw.items()}


class _FilePart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _ColumnPart(_FilePart):
    learner: str
    method: str


_Rows = dict[str, list[float | None]]
"""Data set -> a number for each column, or null."""


class _Numbers(NamedTuple):
    """Hold the numbers of one table, their spreads, and ``rows`` as they are written."""

    rows: _Rows
    spreads: _Rows
    texts: dict[str, list[str]]


class _TablePart(_FilePart):
    """Hold the keys of one table. ``PublishedTable`` says what they mean."""

    tolerance: float
    number: int | None = None
    source: str = ""
    runs: int = 1
    seed: int | None = None
    splits: str | None = None
    decimals: int = 3
    rows: _Rows = {}
    spreads: _Rows = {}
    file: str | None = None
    """CSV file that has the rows and spreads instead."""

    @model_validator(mode="after")
    def _check_source_of_numbers(self) -> _TablePart:
        if bool(self.rows) == bool(self.file):
            raise ValueError('a table takes either "rows" or "file", the name of a CSV file beside this one')
        return self


_EMPTY_IF_NONE = {"best": "table of best methods", "best_entries": "entry that stands for several", "claims": "claims"}
"""Keys that no file may leave out, so that nobody forgets them -> what a paper may lack."""


class _PaperFile(_FilePart):
    """Hold the keys of a paper's file, which docs/own-components.md lists. ``PublishedPaper`` says what they mean."""

    title: str
    citation: str
    short: str
    columns: dict[str, _ColumnPart]
    datasets: dict[str, str]
    tables: dict[str, _TablePart]
    best: dict[str, dict[str, str]] = {}
    best_entries: dict[str, tuple[str, ...]] = {}
    claims: Annotated[dict[str, Claim], BeforeValidator(_with_labels)] = {}
    exact: tuple[str, ...] = ()
    drawn: str | None = None
    plain: str | None = None


PAPERS = Path(__file__).parent
"""Folder of the papers. Each has a folder of its own there."""
_TEXT_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads every value as text, so that a printed ``0.460`` keeps its last digit."""


DEVIATIONS_SUFFIX = "-deviations.yaml"
"""End of the name of a file of known deviations."""


class UnknownPaper(ProbcalError):
    """Signal that no file has the numbers of that paper."""


@dataclass(frozen=True)
class PublishedTable:
    """Hold the printed numbers of one metric.

    ``numbers`` is (data set, learner, method) -> number, with infinity for a printed ∞.
    """

    number: int | None
    """Number of the table in the paper. None where the numbers are printed elsewhere, in ``source``."""
    tolerance: float
    """Largest difference of a reproduced result on the same split."""
    numbers: dict[tuple[str, str, str], float]
    spreads: dict[tuple[str, str, str], float] = field(default_factory=dict)
    """Printed standard deviations, where the paper gives them."""
    runs: int = 1
    """Number of runs that a printed number is the mean of."""
    source: str = ""
    """Place of the numbers, as written in a sentence, if they are not in a table of the paper."""
    seed: int | None = None
    """Seed of the printed run, where it can be repeated. Then only our repetition with this seed is compared."""
    splits: str | None = None
    """Kind of the folds that a printed number is the mean of, one for each of ``runs``, if they can be drawn again."""
    decimals: int = 3
    """Number of decimals that our tables print."""
    printed_decimals: dict[tuple[str, str, str], int] = field(default_factory=dict)
    """Number of decimals of each number as the paper prints it: 2 of 1.07, 3 of .460. ∞ has 0."""
    distributions: dict[tuple[str, str, str], DrawDistribution] = field(default_factory=dict)
    """Distributions of our draws on the paper's own splits, of columns that draw."""

    @property
    def place(self) -> str:
        """Return where the numbers are printed: ``Table 1``, or the ``source``."""
        return self.source if self.number is None else f"Table {self.number}"

    def matches_folds(self, split: str | None, n: int) -> bool:
        """Return whether ``n`` results of a kind of ``split`` are those of the paper's own folds, all of them."""
        return self.splits is not None and (split, n) == (self.splits, self.runs)

    @property
    def rounding(self) -> float:
        """Return the largest rounding error of a printed number."""
        return float(0.5 / 10**self.decimals)


@dataclass(frozen=True)
class PublishedPaper:
    """Hold a paper's tables. ``titles`` maps our names of data sets to the row titles of the paper."""

    title: str
    citation: str
    short: str
    """Authors and year, as written in a sentence."""
    titles: dict[str, str]
    columns: dict[str, tuple[str, str]]
    """Column titles of the paper, in order: title -> (learner, method)."""
    tables: dict[str, PublishedTable]
    """Metric -> table."""
    winners: dict[str, dict[str, str]]
    """Printed table of best methods: data set -> metric -> entry."""
    winner_columns: dict[str, tuple[str, ...]]
    """Entry of the table of best methods -> column titles, where the entry is not a column title itself."""
    claims: tuple[Claim, ...]
    exact_columns: frozenset[tuple[str, str]] = frozenset()
    """(learner, method) of the columns that draw nothing, so that the paper's split gives their printed digits."""
    plain_column: tuple[str, str] | None = None
    """(learner, method) of the column that stands in all columns where the power of the check is computed."""

    @classmethod
    @functools.cache
    def read(cls, name: str) -> PublishedPaper:
        """Read the paper of this ``name``, such as ``langford-zadrozny-2005``, once per process.

        Raises UnknownPaper.
        """
        folder = folder_of(name)
        # A fault of our own file is a bug, and its traceback tells more. The file of a plugin may hold anything.
        if PAPERS in folder.parents:
            return _read_paper(folder, name)
        try:
            return _read_paper(folder, name)
        except (KeyError, TypeError, ValueError, AttributeError, OSError, yaml.YAMLError) as error:
            fault = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise ProbcalError(f"{folder / name}.yaml does not hold the numbers of a paper ({fault})") from None

    def number(self, dataset: str, learner: str, method: str, metric: str) -> float | None:
        """Return the printed number (``inf`` for ∞), or None where the paper has none."""
        table = self.tables.get(metric)
        return table.numbers.get((dataset, learner, method)) if table else None

    def covers(self, claim: Claim) -> bool:
        """Return whether there are printed numbers for the metrics of the ``claim`` and for each of its columns."""
        tables = [table for metric, table in self.tables.items() if metric in claim.metrics]
        known_columns = {(learner, method) for table in tables for _, learner, method in table.numbers}
        return bool(tables) and all(self.columns[title] in known_columns for title in claim.columns)

    def best_method(self, dataset: str, metric: str) -> str | None:
        """Return the best method as printed, such as ``J48/SVM``, or None where the paper names none."""
        return self.winners.get(dataset, {}).get(metric)

    def best_columns(self, dataset: str, metric: str) -> tuple[str, ...]:
        """Return the column titles that the table of best methods names, or none where it names none."""
        entry = self.best_method(dataset, metric)
        return () if entry is None else self.winner_columns.get(entry, (entry,))


def paper_names() -> list[str]:
    """Return the names of our papers with published numbers, sorted. Plugins may have more."""
    return sorted(_own_folders())


def _own_folders() -> dict[str, Path]:
    files = PAPERS.glob("*/*.yaml")
    return {path.stem: path.parent for path in files if not path.name.endswith(DEVIATIONS_SUFFIX)}


def folder_of(name: str) -> Path:
    """Return the folder that has the numbers of the paper of this ``name``: ours or that of a plugin.

    Raises UnknownPaper. The name may come from a results folder, so a path is no name.
    """
    own_folders = _own_folders()
    if folder := own_folders.get(name) or paper_folder(name):
        return folder
    names = [*sorted(own_folders), *declarations("papers")]
    hint = did_you_mean(name, names)
    raise UnknownPaper(
        f'there are no published numbers of a paper "{name}"{hint} (there are: {", ".join(names)}); if another package'
        " has them, install it"
    )


def _read_paper(folder: Path, name: str) -> PublishedPaper:
    file = YamlFile.read(folder / f"{name}.yaml")
    for key, what in _EMPTY_IF_NONE.items():
        if key not in file.data:
            file.report((), f'the key "{key}" is missing; write "{key}: {{}}" if the paper has no {what}')
    content = validate_file(_PaperFile, file)
    _refuse_unknown_names(file, content)
    # Read a second time as text, because a float no longer tells with how many decimals it was printed.
    texts = yaml.load(file.text, Loader=_TEXT_LOADER)  # noqa: S506  # a safe loader
    distributions = read_distributions(folder / content.drawn) if content.drawn else {}
    columns = {title: (column.learner, column.method) for title, column in content.columns.items()}
    return PublishedPaper(
        title=content.title,
        citation=content.citation,
        short=content.short,
        titles=content.datasets,
        columns=columns,
        tables={
            metric: _published_table(
                table,
                _csv_numbers(content, metric, folder / table.file)
                if table.file
                else _Numbers(table.rows, table.spreads, texts["tables"][metric]["rows"]),
                list(columns.values()),
                {key[:3]: distribution for key, distribution in distributions.items() if key[3] == metric},
            )
            for metric, table in content.tables.items()
        },
        winners=content.best,
        winner_columns=content.best_entries,
        claims=tuple(content.claims.values()),
        exact_columns=frozenset(columns[title] for title in content.exact),
        plain_column=columns[content.plain] if content.plain else None,
    )


def _refuse_unknown_names(file: YamlFile, content: _PaperFile) -> None:
    """Raise FileProblems for columns and data sets that the file does not list, and for rows of another length."""
    titles: list[tuple[KeyPath, str]] = [(("exact", title), title) for title in content.exact]
    titles += [(("plain",), content.plain)] if content.plain else []
    titles += [(("best_entries", entry), title) for entry, names in content.best_entries.items() for title in names]
    titles += [
        (("claims", label, "columns"), title) for label, claim in content.claims.items() for title in claim.columns
    ]
    rows: list[tuple[KeyPath, str, list[float | None]]] = [
        (("tables", metric, key, dataset), dataset, row)
        for metric, table in content.tables.items()
        for key, numbers in (("rows", table.rows), ("spreads", table.spreads))
        for dataset, row in numbers.items()
    ]
    datasets: list[tuple[KeyPath, str]] = [(key_path, dataset) for key_path, dataset, _ in rows]
    datasets += [(("best", dataset), dataset) for dataset in content.best]
    datasets += [
        (("claims", label, key), dataset)
        for label, claim in content.claims.items()
        for key in ("datasets", "all_but")
        for dataset in getattr(claim, key)
    ]
    for section, names, known in (("columns", titles, content.columns), ("datasets", datasets, content.datasets)):
        for key_path, name in names:
            if name not in known:
                file.report(key_path, f'"{name}" is not under "{section}"{did_you_mean(name, known)}')
    for key_path, dataset, row in rows:
        if len(row) != len(content.columns):
            file.report(
                key_path, f"{dataset} has {len(row)} values; write one for each of the {len(content.columns)} columns"
            )
    if file.problems:
        raise FileProblems(file.path, file.problems)


def _csv_numbers(content: _PaperFile, metric: str, path: Path) -> _Numbers:
    """Return the numbers of a ``metric`` from the CSV file at ``path``.

    The file has the columns dataset (a row title of the paper), learner, method, metric, mean and sd.
    """
    lines = _csv_lines(path)
    entries = {
        (line["dataset"], line["learner"], line["method"]): (line["mean"], line["sd"])
        for line in lines
        if line["metric"] == metric
    }
    columns = [(column.learner, column.method) for column in content.columns.values()]
    wanted = [(title, *column) for title in content.datasets.values() for column in columns]
    if absent := [key for key in wanted if key not in entries]:
        others = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        fault = f"has no line of the metric {metric} for {', '.join(absent[0])}{others}"
        raise FileProblems(path, [Problem(0, fault)])
    entries_by_row = {name: [entries[title, *column] for column in columns] for name, title in content.datasets.items()}
    rows: _Rows = {name: [float(mean) for mean, _ in row] for name, row in entries_by_row.items()}
    spreads: _Rows = {name: [float(sd) for _, sd in row] for name, row in entries_by_row.items()}
    return _Numbers(rows, spreads, {name: [mean for mean, _ in row] for name, row in entries_by_row.items()})


_NAME_COLUMNS = ("dataset", "learner", "method", "metric")
_CSV_COLUMNS = (*_NAME_COLUMNS, "mean", "sd")


@functools.cache
def _csv_lines(path: Path) -> list[dict[str, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}; the key file of a table names it"
        raise FileProblems(path, [Problem(0, fault)]) from None
    refuse_cut_off(path, text)
    reader = csv.DictReader(text.splitlines())
    if absent := [name for name in _CSV_COLUMNS if name not in (reader.fieldnames or ())]:
        raise FileProblems(path, [Problem(1, f"lacks the columns {', '.join(absent)}")])
    lines = list(reader)
    faults = [
        Problem(number, "the columns mean and sd hold numbers")
        for number, line in enumerate(lines, 2)
        if not (_is_number(line["mean"]) and _is_number(line["sd"]))
    ]
    first: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(lines, 2):
        name = tuple(line[column] for column in _NAME_COLUMNS)
        if (earlier := first.setdefault(name, number)) != number:
            faults.append(Problem(number, f"{', '.join(name)} is in line {earlier} already"))
    if faults:
        raise FileProblems(path, faults)
    return lines


def _is_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True


def _count_decimals(text: str) -> int:
    """Return the number of decimals of a number as it is written: 2 of 1.07, 7 of 1.25e-05."""
    digits, _, exponent = text.lower().partition("e")
    return max(len(digits.partition(".")[2]) - int(exponent or 0), 0)


def _published_table(
    table: _TablePart,
    numbers: _Numbers,
    columns: list[tuple[str, str]],
    distributions: dict[tuple[str, str, str], DrawDistribution],
) -> PublishedTable:
    decimals = {
        (dataset, *column): _count_decimals(text) if math.isfinite(number) else 0
        for dataset, row in numbers.rows.items()
        for column, number, text in zip(columns, row, numbers.texts[dataset], strict=True)
        if number is not None
    }
    return PublishedTable(
        numbers=_column_numbers(numbers.rows, columns),
        spreads=_column_numbers(numbers.spreads, columns),
        printed_decimals=decimals,
        distributions=distributions,
        **table.model_dump(exclude={"rows", "spreads", "file"}),
    )


def _column_numbers(rows: _Rows, columns: list[tuple[str, str]]) -> dict[tuple[str, str, str], float]:
    return {
        (dataset, learner, method): number
        for dataset, row in rows.items()
        for (learner, method), number in zip(columns, row, strict=True)
        if number is not None
    }
