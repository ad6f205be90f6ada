"""A card: one YAML file that says where a data set comes from and what must come out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from probcal.errors import DataError, FileProblems, Problem, did_you_mean
from probcal.resources import shipped
from probcal.yaml_file import YamlFile, validated

ColumnKind = Literal["numeric", "nominal", "infer", "ignore", "target"]
Label = Annotated[str, Field(coerce_numbers_to_str=True)]
ColumnNames = dict[str, str] | Literal["by position"]
"""Name in a source -> name on the card, where they differ; or the card's names in the source's order."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Split(_Part):
    """How rows are divided. ``standard`` and ``chronological`` train on the first ``train`` rows."""

    kind: Literal["standard", "holdout", "chronological"]
    train: Annotated[int, Field(gt=0)] | None = None
    train_fraction: Annotated[float, Field(gt=0, lt=1)] | None = None

    @model_validator(mode="after")
    def _needs_its_own_size(self) -> Split:
        wanted, unwanted = "train", "train_fraction"
        if self.kind == "holdout":
            wanted, unwanted = unwanted, wanted
        if getattr(self, wanted) is None or getattr(self, unwanted) is not None:
            raise ValueError(f'a {self.kind} split takes "{wanted}" and not "{unwanted}"')
        return self


class Expectation(_Part):
    """What must come out: checked before a data set is used."""

    rows: Annotated[int, Field(gt=0)]
    columns: Annotated[int, Field(gt=0)]
    classes: dict[str, int] | None = None
    """Label -> rows that have it. Left out where nobody could count them."""
    fingerprint: str | None = None
    """sha256 of the finished Dataset (see ``Dataset.fingerprint``): every source must give these bytes."""


class LabelFile(_Part):
    """A file that holds the target of another file's rows."""

    name: str
    sha256: str | None = None
    key: str | None = None
    """The column, in both files, that ties a label to its row; line by line unless given."""


class DataFile(_Part):
    """One original file. ``sha256`` is of the content, unpacked if the file is kept as .gz or .xz."""

    name: str
    sha256: str | None = None
    labels: LabelFile | None = None
    skip_lines: list[int] = []
    """Lines known to be malformed, counted from 1."""


class FileSource(_Part):
    """One complete set of original files, read in this order one after the other."""

    format: Literal["delimited", "arff"]
    files: list[DataFile]
    separator: Annotated[str, Field(pattern=r"^(whitespace|.|\t)$")] = ","
    """The character between two fields; ``whitespace`` for any run of blanks and tabs."""
    header: bool = False
    """The first line names the columns. Without it they are the card's, in the card's order."""
    missing: list[str] = ["?", ""]
    comment: str | None = None
    """Lines that start with this are not data."""
    label_until: str | None = None
    """The label ends before the first of these characters: adult's ``>50K.``, sick's ``sick.|2059``."""
    rename: dict[str, dict[str, str]] = {}
    """Column -> value in this source -> value as in the original file."""
    column_names: ColumnNames = {}
    first_rows: Annotated[int, Field(gt=0)] | None = None
    """Only so many rows from the top belong to this data set (Weka's sick.arff holds the test file too)."""


class OpenMLSource(_Part):
    """The data set on OpenML, and how its rows and values differ from the original file."""

    id: int
    version: int
    name: str
    """Compared without regard to upper and lower case, which OpenML's own pages mix."""
    target: str
    """What OpenML calls the card's target; ``column_names`` is about the other columns."""
    column_names: ColumnNames = {}
    rename: dict[str, dict[str, str]] = {}
    """Column of the card -> value on OpenML -> value as in the original file. A column that has only
    true and false there, however it spells them, arrives as ``"true"`` and ``"false"``."""
    first_rows: int | None = None
    """Only so many rows from the top belong to this data set (sick is merged on OpenML)."""
    test_rows_first: int | None = None
    """So many rows at the top are the test part and move behind the others (adult)."""


class BundledSource(_Part):
    """A data set that comes with scikit-learn, by the name of its loader."""

    loader: Literal["load_breast_cancer", "load_digits", "load_wine"]


class Card(_Part):
    """Everything that probcal knows about one data set."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    title: str
    about: str = ""
    """Where it comes from and what a user should know, in a sentence or two."""
    columns: dict[str, ColumnKind]
    """In file order. ``f1..f78`` stands for a range; ``*`` for all other columns of the header."""
    positive: list[Label]
    """The labels that make y = 1; all others make y = 0."""
    negative_name: str | None = None
    split: Split
    drop_unlabelled: bool = False
    expect: Expectation
    missing_codes: dict[str, list[str]] = {}
    """Column -> numbers that mean missing there (999 in KDD Cup 2004 Physics)."""
    folder: str | None = None
    """Folder of the original files inside the data directory; the card's name unless given."""
    files: list[FileSource] = []
    openml: OpenMLSource | None = None
    no_openml: str = ""
    """Why OpenML cannot serve this set; shown to a user who lacks the files."""
    bundled: BundledSource | None = None

    @field_validator("positive", mode="before")
    @classmethod
    def _one_label_or_many(cls, value: object) -> object:
        return value if isinstance(value, list) else [value]

    @field_validator("columns")
    @classmethod
    def _expand_ranges(cls, columns: dict[str, str]) -> dict[str, str]:
        expanded: dict[str, str] = {}
        for name, kind in columns.items():
            first, dots, last = name.partition("..")
            stem = first.rstrip("0123456789")
            if dots and last.startswith(stem) and last[len(stem) :].isdigit():
                width = len(first) - len(stem)
                numbers = range(int(first[len(stem) :]), int(last[len(stem) :]) + 1)
                expanded.update({f"{stem}{number:0{width}}": kind for number in numbers})
            else:
                expanded[name] = kind
        targets = [name for name, kind in expanded.items() if kind == "target"]
        if len(targets) != 1:
            raise ValueError(f"columns: exactly one must be the target, {len(targets)} are")
        return expanded

    @field_validator("expect")
    @classmethod
    def _counts_agree(cls, expect: Expectation, info: ValidationInfo) -> Expectation:
        classes, split = expect.classes, info.data.get("split")
        if classes is not None and sum(classes.values()) != expect.rows:
            raise ValueError(f"expect: the classes add up to {sum(classes.values())} of {expect.rows} rows")
        for label in info.data.get("positive", []):
            if classes is not None and label not in classes:
                raise ValueError(f'expect: the positive label "{label}" is not among {list(classes)}')
        if split is not None and split.train is not None and split.train >= expect.rows:
            raise ValueError(f"expect: {split.train} training rows of {expect.rows} leave none to test on")
        return expect

    @field_validator("missing_codes")
    @classmethod
    def _codes_have_columns(cls, codes: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        _known("missing_codes", codes, info)
        return codes

    @field_validator("files")
    @classmethod
    def _sources_have_columns(cls, files: list[FileSource], info: ValidationInfo) -> list[FileSource]:
        for source in files:
            _source_fits("files", source, info)
            if source.format == "delimited" and not source.header and "*" in info.data.get("columns", {}):
                raise ValueError('files: the column "*" needs a file with a header')
        return files

    @field_validator("openml")
    @classmethod
    def _openml_has_columns(cls, openml: OpenMLSource | None, info: ValidationInfo) -> OpenMLSource | None:
        if openml is not None:
            _source_fits("openml", openml, info)
        return openml

    @model_validator(mode="after")
    def _comes_from_somewhere(self) -> Card:
        if not (self.files or self.openml or self.bundled):
            raise ValueError('a card needs a source: "files", "openml" or "bundled"')
        if self.openml and self.no_openml:
            raise ValueError('a card has "openml" or "no_openml", not both')
        return self

    @property
    def target(self) -> str:
        return next(name for name, kind in self.columns.items() if kind == "target")

    @cached_property
    def digest(self) -> str:
        """A hash of all that the card says, for the cache and for staleness."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.digest)


def _source_fits(where: str, source: FileSource | OpenMLSource, info: ValidationInfo) -> None:
    """Raises ValueError when the source renames what the card does not have."""
    _known(f"{where}: rename", source.rename, info)
    if isinstance(source.column_names, dict):
        _known(f"{where}: column_names", source.column_names.values(), info)


def _known(where: str, names: Iterable[str], info: ValidationInfo) -> None:
    columns = info.data.get("columns", {})
    for name in names:
        if columns and "*" not in columns and name not in columns:
            raise ValueError(f'{where}: the card has no column "{name}"{did_you_mean(name, columns)}')


def card_names() -> list[str]:
    """The names of the shipped cards, sorted."""
    return sorted(path.stem for path in shipped("datasets").glob("*.yaml"))


def find_card(name: str, beside: Path | None = None) -> Path:
    """The card file of ``name``: a shipped card, or a path ending in .yaml (relative to ``beside``).

    Raises DataError for an unknown name.
    """
    if name.endswith((".yaml", ".yml")):
        return (beside or Path()) / name
    path = shipped("datasets") / f"{name}.yaml"
    if name not in card_names():
        raise DataError(
            f'there is no data set "{name}"{did_you_mean(name, card_names())}'
            ' ("probcal list datasets" shows them; a path to a card of your own ends in .yaml)'
        )
    return path


def read_card(path: Path) -> Card:
    """The card in ``path``; raises FileProblems with every fault, each with its line."""
    file = YamlFile.read(path)
    card = validated(Card, file)
    if card.name != path.stem:
        message = f'the name must be that of the file, "{path.stem}"'
        raise FileProblems(path, [Problem(file.line(("name",)), message)])
    return card
