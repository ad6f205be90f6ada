"""A card: one YAML file that says where a data set comes from and what must come out."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from probcal._io import shipped
from probcal.config.yaml_file import YamlFile, validated
from probcal.data.sources.specifications import Below, BundledSource, Count, FileSource, GeneratorSource, OpenMLSource
from probcal.errors import DataError, FileProblems, Problem, did_you_mean

ColumnKind = Literal["numeric", "nominal", "infer", "ignore", "target"]
Label = Annotated[str, Field(coerce_numbers_to_str=True)]

_RANGE = re.compile(r"(.*?)([0-9]{1,9})\.\.\1([0-9]{1,9})")
_MOST_COLUMNS = 100_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""What a number looks like on a card and in its files."""
_NAME_POSITIVE = '; name the labels that make y = 1, or say "task: multiclass"'
SOURCES = ("files", "openml", "bundled", "generator")
FOR_TWO = 'for two, leave out "task" and name the positive one'


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


def _name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f'name: "{name}" may hold only small letters, digits, - and _, at most 100')
    return name


class Split(_Part):
    """How rows are divided. ``standard`` and ``chronological`` train on the first ``train`` rows, ``same`` on all."""

    kind: Literal["standard", "holdout", "chronological", "same"]
    """``holdout`` is random and seeded; the others are always the same."""
    train: Count | None = None
    """So many rows from the top train; of a standard or chronological split."""
    train_fraction: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The share of rows that train; of a holdout."""

    @model_validator(mode="after")
    def _needs_its_own_size(self) -> Split:
        if self.kind == "same":
            if self.train is not None or self.train_fraction is not None:
                raise ValueError('a same split trains and tests on all rows: no "train" and no "train_fraction"')
            return self
        wanted, unwanted = "train", "train_fraction"
        if self.kind == "holdout":
            wanted, unwanted = unwanted, wanted
        if getattr(self, wanted) is None or getattr(self, unwanted) is not None:
            raise ValueError(f'a {self.kind} split takes "{wanted}" and not "{unwanted}"')
        return self

    def n_train(self, n_rows: int) -> int:
        """The number of training rows among ``n_rows``; the paper's 66 % is rounded to the nearest row."""
        if self.kind == "same":
            return n_rows
        return self.train if self.train is not None else round(self.train_fraction * n_rows)  # type: ignore[operator]  # it has one of the two


class Expectation(_Part):
    """What must come out: checked before a data set is used."""

    rows: Count
    """Training and test rows together."""
    columns: Count
    """Inputs: neither the target nor what is ignored."""
    classes: dict[str, int] | None = None
    """Label -> rows that have it. Left out where nobody could count them."""
    fingerprint: str | None = None
    """sha256 of the finished Dataset (see ``Dataset.fingerprint``): every source must give these bytes."""


class Card(_Part):
    """Everything that probcal knows about one data set."""

    name: Annotated[str, AfterValidator(_name)]
    """What the data set is called, as the file is: small letters, digits, - and _, at most 100."""
    like: str | None = None
    """The shipped card whose keys this one has too, but for those that it gives itself."""
    reading_of: str | None = None
    """The shipped card of the data set that this is another reading of: its published numbers are this one's."""
    title: str
    """What tables and lists call it."""
    about: str = ""
    """Where it comes from and what a user should know, in a sentence or two."""
    columns: dict[str, ColumnKind]
    """In file order. ``f1..f78`` stands for a range; ``*`` for all other columns of the header."""
    task: Literal["binary", "multiclass", "multilabel"] = "binary"
    """``multiclass`` makes every label a class of its own; ``binary`` tells positive labels from the others. In a
    ``multilabel`` set, which only a generator makes, a row has any number of labels, each estimated by itself."""
    positive: list[Label] = []
    """The labels that make y = 1; all others make y = 0. Of a binary card only."""
    split: Split
    """Which rows train and which test."""
    drop_unlabelled: bool = False
    """Whether rows without a label are left out; otherwise they are an error."""
    expect: Expectation
    """What must come out: checked before the data set is used."""
    missing_codes: dict[str, list[str]] = {}
    """Column -> numbers that mean missing there (999 in KDD Cup 2004 Physics)."""
    folder: Below | None = None
    """Folder of the original files inside the data directory; the card's name unless given."""
    files: list[FileSource] = []
    """The ways to read it from original files; the first whose files are all there is taken."""
    openml: OpenMLSource | None = None
    """Where it is on OpenML."""
    no_openml: str = ""
    """Why OpenML cannot serve this set; shown to a user who lacks the files."""
    bundled: BundledSource | None = None
    """Of a data set that comes with scikit-learn."""
    generator: GeneratorSource | None = None
    """Of rows that are drawn anew in every repetition."""
    _beside: Path | None = PrivateAttr(None)
    _values: str | None = PrivateAttr(None)

    @field_validator("positive", mode="before")
    @classmethod
    def _one_label_or_many(cls, value: object) -> object:
        return value if isinstance(value, list) else [value]

    @field_validator("positive")
    @classmethod
    def _fits_the_task(cls, positive: list[str], info: ValidationInfo) -> list[str]:
        task = info.data.get("task")
        if task == "binary" and not positive:
            raise ValueError(f"positive must not be empty{_NAME_POSITIVE}")
        if task != "binary" and positive:
            raise ValueError(f'positive: with "task: {task}" every label is a class of its own; remove this key')
        return positive

    @field_validator("columns")
    @classmethod
    def _expand_ranges(cls, columns: dict[str, str]) -> dict[str, str]:
        expanded = {one: kind for name, kind in columns.items() for one in _range(name)}
        if expanded.get("*") == "target":
            raise ValueError('columns: "*" stands for all columns not named here and cannot be the target')
        targets = [name for name, kind in expanded.items() if kind == "target"]
        if len(targets) != 1:
            raise ValueError(f"columns: exactly one must be the target, {len(targets)} are")
        return expanded

    @field_validator("expect")
    @classmethod
    def _counts_agree(cls, expect: Expectation, info: ValidationInfo) -> Expectation:
        classes, split = expect.classes, info.data.get("split")
        if classes is not None:
            if sum(classes.values()) != expect.rows:
                raise ValueError(f"expect: the classes add up to {sum(classes.values())} of {expect.rows} rows")
            _check_classes(list(classes), info.data.get("task"), info.data.get("positive", []))
        n_train = split.n_train(expect.rows) if split is not None else 1
        if n_train < 1:
            raise ValueError(f"expect: of {expect.rows} rows, the split leaves none to train on")
        if n_train >= expect.rows and split.kind != "same":  # type: ignore[union-attr]  # without a split one row trains
            raise ValueError(f"expect: {n_train} training rows of {expect.rows} leave none to test on")
        return expect

    @field_validator("missing_codes")
    @classmethod
    def _codes_have_columns(cls, codes: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        _known("missing_codes", codes, info)
        for name, code in ((name, code) for name, of_column in codes.items() for code in of_column):
            if not NUMBER.fullmatch(code):
                raise ValueError(f'missing_codes: "{code}" of {name} is not a number')
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

    @field_validator("generator")
    @classmethod
    def _generates_what_is_expected(
        cls, generator: GeneratorSource | None, info: ValidationInfo
    ) -> GeneratorSource | None:
        expect, split = info.data.get("expect"), info.data.get("split")
        if generator is None or expect is None or split is None:
            return generator
        if info.data.get("task") != generator.task:
            raise ValueError(f'generator: {generator.why_task}; write "task: {generator.task}"')
        for what, made, wanted in (
            ("rows", generator.n_rows, expect.rows),
            ("columns", generator.n_columns, expect.columns),
        ):
            if made != wanted:
                raise ValueError(f"generator: makes {made} {what}, the card expects {wanted}")
        if expect.fingerprint or expect.classes:
            raise ValueError("generator: draws other rows every time; remove fingerprint and classes of expect")
        try:
            generator.refuse_split(split.kind, split.train)
        except ValueError as error:
            raise ValueError(f"generator: {error}") from None
        return generator

    @property
    def beside(self) -> Path | None:
        """The folder that a card of the user's own lies in: its files may lie there too. None of a shipped card."""
        return self._beside

    @property
    def values(self) -> str | None:
        """The full fingerprint of the data set that this card was bound to; None of a card as it was read."""
        return self._values

    def bound_to(self, fingerprint: str | None) -> Card:
        """Return the same card, which from now on stands for the data set of that ``fingerprint`` and for no other.

        Cards that are bound to different data sets are not equal, so what is cached for one is never taken for the
        other.
        """
        card = self.model_copy()
        card._values = fingerprint
        return card

    @property
    def target(self) -> str:
        return next(name for name, kind in self.columns.items() if kind == "target")

    @cached_property
    def digest(self) -> str:
        """A hash of all on the card that can change the data, for the cache and for staleness."""
        unsaid = {"like", "reading_of", "title", "about", "no_openml"}
        if self.task == "binary":  # as it was before there were others: what is in a cache stays good
            unsaid.add("task")
        if self.generator is None:
            unsaid.add("generator")
        said = self.model_dump_json(exclude=unsaid)
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @cached_property
    def reading(self) -> str:
        """A hash of what the card makes of the rows: its columns and labels, not where the rows are to be had."""
        unsaid = {"like", "reading_of", "title", "about", "no_openml", "expect", "folder", "files", "openml"}
        said = self.model_dump_json(exclude=unsaid)
        parsed = [source.model_dump_json(exclude={"files"}) for source in self.files]
        return hashlib.sha256("\n".join([said, *parsed]).encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[Any, Any]:
        """For another process, which may be on another machine, where ``beside`` says nothing."""
        return {**super().__getstate__(), "__pydantic_private__": {"_beside": None, "_values": self._values}}


def _check_classes(classes: list[str], task: str | None, positive: list[str]) -> None:
    for label in positive:
        if label not in classes:
            raise ValueError(f'expect: the positive label "{label}" is not among {classes}')
    if task == "multiclass":
        if len(classes) < 3:
            raise ValueError(f"expect: a multiclass card needs three labels, the classes are {classes}; {FOR_TWO}")
    elif len(classes) < 2 or set(classes) <= set(positive):
        raise ValueError(f"expect: a positive and a negative label are needed, the classes are {classes}")


def _range(name: str) -> list[str]:
    """``f1..f3`` as f1, f2, f3; any other name as it is. Raises ValueError for a range of too many."""
    ends = _RANGE.fullmatch(name)
    if ends is None:
        return [name]
    stem, first, last = ends.groups()
    numbers = range(int(first), int(last) + 1)
    if not 1 <= len(numbers) <= _MOST_COLUMNS:
        raise ValueError(f'columns: the range "{name}" must rise, and hold at most {_MOST_COLUMNS:,} columns')
    return [f"{stem}{number:0{len(first)}}" for number in numbers]


def _source_fits(where: str, source: FileSource | OpenMLSource, info: ValidationInfo) -> None:
    """Raises ValueError when the source renames what the card does not have."""
    _known(f"{where}: rename", source.rename, info)
    if isinstance(source.column_names, dict):
        names = list(source.column_names.values())
        _known(f"{where}: column_names", names, info)
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f'{where}: column_names: two columns would be called "{twice[0]}"')


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
    if name not in card_names():
        raise DataError(
            f'there is no data set "{name}"{did_you_mean(name, card_names())}'
            ' ("probcal list datasets" shows them; a path to a card of your own ends in .yaml)'
        )
    return shipped("datasets") / f"{name}.yaml"


def read_card(path: Path) -> Card:
    """The card in ``path``; raises FileProblems with every fault, each with its line."""
    file = YamlFile.read(path)
    if unlike := list(_unknown_card(file, "like")):
        raise FileProblems(file.path, [*file.problems, *unlike])  # what it would give cannot be missed
    if like := file.data.get("like"):
        inherited = _inherited(str(like))
        if file.data.get("task", "binary") != "binary":
            inherited.pop("positive", None)
        file.data = {**inherited, **file.data}
    card = validated(Card, file, more=[*_unknown_card(file, "reading_of"), *_faults_between_keys(file)])
    if path.parent.resolve() != shipped("datasets").resolve():
        card._beside = path.parent
    return card


def _inherited(like: str) -> dict[str, Any]:
    """All keys of a card but those that only it can have; its files lie in its folder."""
    base = YamlFile.read(find_card(like)).data
    return {"folder": like, **{key: value for key, value in base.items() if key not in ("name", "like", "reading_of")}}


def _unknown_card(file: YamlFile, key: str) -> Iterator[Problem]:
    """What is wrong with the name of another card under ``key``."""
    name = file.data.get(key)
    if name is None:
        return
    if name not in card_names() or name == file.path.stem:
        near = did_you_mean(str(name), card_names())
        yield Problem(file.line((key,)), f'{key}: there is no other shipped data set "{name}"{near}')
    elif further := YamlFile.read(find_card(name)).data.get(key):
        yield Problem(file.line((key,)), f'{key}: "{name}" has this key itself; write "{key}: {further}"')


def _faults_between_keys(file: YamlFile) -> Iterator[Problem]:
    """Faults that lie in no single key, so that they are told even where a key has a fault of its own."""
    name = file.data.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name) and name != file.path.stem:
        yield Problem(file.line(("name",)), f'the name must be that of the file, "{file.path.stem}"')
    if "positive" not in file.data and file.data.get("task", "binary") == "binary":
        yield Problem(1, f'the key "positive" is missing{_NAME_POSITIVE}')
    columns = file.data.get("columns")
    if isinstance(columns, dict) and all(kind in ("ignore", "target") for kind in columns.values()):
        yield Problem(file.line(("columns",)), "columns: none is numeric, nominal or infer: nothing to learn from")
    if not any(map(file.data.get, SOURCES)) and file.data.get("files", []) is not None:
        yield Problem(1, 'a card needs a source: "files", "openml" or "bundled"')
    if file.data.get("task") == "multilabel" and not file.data.get("generator"):
        yield Problem(file.line(("task",)), 'task: only a "generator" makes rows of several labels')
    if file.data.get("openml") and file.data.get("no_openml"):
        yield Problem(file.line(("no_openml",)), 'a card has "openml" or "no_openml", not both')
