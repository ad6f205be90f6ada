"""Card: one YAML file that says where a data set comes from and what its rows must look like."""

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
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from probcal._io import shipped
from probcal.data.sources.generators import GeneratorSource
from probcal.data.sources.specifications import Below, BundledSource, Count, FileSource, OpenMLSource, Preparation
from probcal.data.splits import Split, read_row_numbers
from probcal.data.text_values import MAJORITY, NUMBER, most_frequent_label
from probcal.errors import DataError, FileProblems, Problem, did_you_mean
from probcal.yaml_file import YamlFile, as_list
from probcal.yaml_validation import validate_file

ColumnKind = Literal["numeric", "nominal", "infer", "ignore", "target", "weight"]
NO_INPUTS: tuple[ColumnKind, ...] = ("ignore", "target", "weight")
"""The kinds of columns that learners do not get."""
Label = Annotated[str, Field(coerce_numbers_to_str=True)]

_RANGE = re.compile(r"(.*?)([0-9]{1,9})\.\.\1([0-9]{1,9})")
_MOST_COLUMNS = 100_000
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
_NAME_POSITIVE = '; name the labels that make y = 1, or say "task: multiclass"'
_FILE_PATH = TypeAdapter[str](Below)
SOURCES = ("files", "openml", "bundled", "generator")
FOR_TWO = 'for two, leave out "task" and name the positive one'


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f'name: "{name}" may hold only small letters, digits, - and _, at most 100')
    return name


class _CardPart(BaseModel):  # as CardPart, but the linter must see that the defaults below are pydantic's
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Expectation(_CardPart):
    """Hold what is checked before a data set is used."""

    rows: Count
    """Number of training and test rows together."""
    columns: Count
    """Number of input columns, without the target and the ignored columns."""
    classes: dict[str, int] | None = None
    """Label -> number of its rows. Left out where nobody could count them."""
    fingerprint: str | None = None
    """sha256 of the finished Dataset (see ``Dataset.fingerprint``). Every source must give exactly these values."""


class Card(_CardPart):
    """Describe one data set: its source, columns, labels, split and expected counts."""

    name: Annotated[str, AfterValidator(_check_name)]
    """Name of the data set, which must be the name of the file: small letters, digits, - and _, at most 100."""
    like: str | None = None
    """Shipped card whose keys this card inherits. Keys given here replace them."""
    reading_of: str | None = None
    """Shipped card of the same data set read in another way. Its published numbers apply to this card too."""
    title: str
    """Title in tables and lists."""
    about: str = ""
    """One or two sentences about the origin of the data and what a user should know."""
    columns: dict[str, ColumnKind]
    """Column name -> kind, in file order. ``weight`` is that of the weights of the rows, not negative. Only their
    ratios count. ``f1..f78`` stands for a range, ``*`` for all other columns of the header."""
    task: Literal["binary", "multiclass", "multilabel"] = "binary"
    """``binary`` separates the positive labels from all others. ``multiclass`` makes every label a class.
    In a ``multilabel`` set a row has any number of labels, each predicted separately. Only a generator makes one.
    """
    positive: Annotated[list[Label], BeforeValidator(as_list, json_schema_input_type=Label | list[Label])] = []
    """The labels that make y = 1. All other labels make y = 0. For a binary card only. ``majority`` is the most
    frequent label, the first in order of several. Stratified folds then keep the shares of all labels, not of two.
    """
    split: Split
    """Which rows train and which test."""
    drop_unlabelled: bool = False
    """Whether rows without a label are left out. Otherwise they are an error."""
    expect: Expectation
    """Counts and fingerprint that are checked before the data set is used."""
    missing_codes: dict[str, list[str]] = {}
    """Column -> numbers that mean missing there (999 in KDD Cup 2004 Physics)."""
    levels: dict[str, Annotated[list[Label], Field(min_length=1)]] = {}
    """Nominal column -> all its levels in order, also those that no row has. Default: those that occur, sorted."""
    prepare: Preparation | None = None
    """How all rows are prepared before any split. For the readings of papers that did so. Default: not at all."""
    sample: Count | None = None
    """Number of rows of a large table that are drawn at random, always the same ones. Default: all rows."""
    seed_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    """Text that seeds splits and fits in place of the name, so that a renamed card keeps them. Default: the name."""
    folder: Below | None = None
    """Folder of the original files inside the data directory. Default: the name of the card."""
    files: list[FileSource] = []
    """Ways to read the data from original files. The first one whose files are all present is used."""
    openml: OpenMLSource | None = None
    """Location of the data set on OpenML."""
    no_openml: str = ""
    """Reason why OpenML cannot serve this data set. A user who lacks the files sees it."""
    bundled: BundledSource | None = None
    """Loader of a data set that comes with scikit-learn."""
    generator: GeneratorSource | None = None
    """Distribution that the rows are drawn from, anew in every repetition."""
    _beside: Path | None = PrivateAttr(None)
    _values: str | None = PrivateAttr(None)
    _original: Card | None = PrivateAttr(None)

    # Pydantic checks the fields in their order. So a check may look at the fields above its own, which are not there
    # if they are wrong themselves. Checks of single fields report all faults of a card at once.
    @field_validator("positive")
    @classmethod
    def _check_positive(cls, positive: list[str], info: ValidationInfo) -> list[str]:
        task = info.data.get("task")
        if task == "binary" and not positive:
            raise ValueError(f"positive must not be empty{_NAME_POSITIVE}")
        if task != "binary" and positive:
            raise ValueError(f'positive: with "task: {task}" every label is a class of its own; remove this key')
        return positive

    @field_validator("columns")
    @classmethod
    def _expand_ranges(cls, columns: dict[str, str]) -> dict[str, str]:
        kinds = {column: kind for name, kind in columns.items() for column in _range(name)}
        if kinds.get("*") == "target":
            raise ValueError('columns: "*" stands for all columns not named here and cannot be the target')
        targets = [name for name, kind in kinds.items() if kind == "target"]
        if len(targets) != 1:
            raise ValueError(f"columns: exactly one must be the target, {len(targets)} are")
        if (n_weights := list(kinds.values()).count("weight")) > 1 or kinds.get("*") == "weight":
            raise ValueError(f"columns: at most one holds the weights, {n_weights} do")
        return kinds

    @field_validator("expect")
    @classmethod
    def _check_counts(cls, expect: Expectation, info: ValidationInfo) -> Expectation:
        classes, split = expect.classes, info.data.get("split")
        if classes is not None:
            if sum(classes.values()) != expect.rows:
                raise ValueError(f"expect: the classes add up to {sum(classes.values())} of {expect.rows} rows")
            labels = info.data.get("positive", [])
            _check_classes(
                list(classes),
                info.data.get("task"),
                [most_frequent_label(classes)] if _is_majority(labels, expect) else labels,
            )
        elif _is_majority(info.data.get("positive", []), expect):
            raise ValueError('expect: "positive: majority" needs "classes", the number of rows of each label')
        if split is not None and split.rows and (n_rows := len(split.rows.in_order)) != expect.rows:
            raise ValueError(
                f"expect: {split.file} has {n_rows} training and test rows, the card expects {expect.rows}"
            )
        # faults of the split that need the number of rows, which stands below it
        columns = info.data.get("columns")
        if split is not None and columns is not None and (fault := split.fault(columns, expect.rows)):
            raise ValueError(f"split: {fault}")
        n_train = split.n_train(expect.rows) if split is not None else 1
        if n_train < 1:
            raise ValueError(f"expect: of {expect.rows} rows, the split leaves none to train on")
        if split is not None and n_train >= expect.rows and split.kind != "same":
            raise ValueError(f"expect: {n_train} training rows of {expect.rows} leave none to test on")
        return expect

    @field_validator("missing_codes")
    @classmethod
    def _check_codes(cls, codes: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        _check_known_columns("missing_codes", codes, info)
        for name, code in ((name, code) for name, column_codes in codes.items() for code in column_codes):
            if not NUMBER.fullmatch(code):
                raise ValueError(f'missing_codes: "{code}" of {name} is not a number')
        return codes

    @field_validator("levels")
    @classmethod
    def _check_levels(cls, levels: dict[str, list[str]], info: ValidationInfo) -> dict[str, list[str]]:
        _check_known_columns("levels", levels, info)
        for name, column_levels in levels.items():
            if (kind := info.data.get("columns", {}).get(name, "nominal")) != "nominal":
                raise ValueError(f"levels: {name} is {kind}; only a nominal column has levels")
            if duplicates := [level for level in column_levels if column_levels.count(level) > 1]:
                raise ValueError(f'levels: {name} has "{duplicates[0]}" twice')
        return levels

    @field_validator("prepare")
    @classmethod
    def _check_split_rows(cls, prepare: Preparation | None, info: ValidationInfo) -> Preparation | None:
        split = info.data.get("split")
        if prepare and prepare.missing == "drop_rows" and split is not None and split.kind == "rows":
            raise ValueError("prepare: drop_rows would take rows from the split of a file; leave them out there")
        return prepare

    @field_validator("sample")
    @classmethod
    def _check_sample(cls, sample: int | None, info: ValidationInfo) -> int | None:
        expect, split = info.data.get("expect"), info.data.get("split")
        if sample and split is not None and split.kind == "rows":
            raise ValueError("sample: would take rows from the split of a file; leave them out there")
        if sample and expect is not None and expect.rows != sample:
            raise ValueError(f"sample: draws {sample} rows, and the card expects {expect.rows}; write the same number")
        return sample

    @field_validator("files")
    @classmethod
    def _check_files(cls, files: list[FileSource], info: ValidationInfo) -> list[FileSource]:
        for source in files:
            _check_source("files", source, info)
            is_delimited = "delimited" in {file.format or source.format for file in source.files}
            if is_delimited and not source.header and "*" in info.data.get("columns", {}):
                raise ValueError('files: the column "*" needs a file with a header')
        return files

    @field_validator("openml")
    @classmethod
    def _check_openml(cls, openml: OpenMLSource | None, info: ValidationInfo) -> OpenMLSource | None:
        if openml is not None:
            _check_source("openml", openml, info)
        return openml

    @field_validator("generator")
    @classmethod
    def _check_generator(cls, generator: GeneratorSource | None, info: ValidationInfo) -> GeneratorSource | None:
        expect, split = info.data.get("expect"), info.data.get("split")
        if generator is None or expect is None or split is None:
            return generator
        if info.data.get("task") != generator.task:
            raise ValueError(f'generator: {generator.why_task}; write "task: {generator.task}"')
        for key, count, expected_count in (
            ("rows", generator.n_rows, expect.rows),
            ("columns", generator.n_columns, expect.columns),
        ):
            if count != expected_count:
                raise ValueError(f"generator: makes {count} {key}, the card expects {expected_count}")
        if expect.fingerprint or expect.classes:
            raise ValueError("generator: draws other rows every time; remove fingerprint and classes of expect")
        try:
            generator.refuse_split(split.kind, split.train)
        except ValueError as error:
            raise ValueError(f"generator: {error}") from None
        return generator

    @property
    def own_folder(self) -> Path | None:
        """Return the folder of a user's own card, where its files may lie too. None for a shipped card."""
        return self._beside

    @property
    def values(self) -> str | None:
        """Return the full fingerprint of the data set that this card is bound to. None for a card as it was read."""
        return self._values

    def bind(self, fingerprint: str | None) -> Card:
        """Return a copy of the card that stands only for the data set with this ``fingerprint``.

        Cards that are bound to different data sets are not equal, so a cache never mixes them up.
        """
        card = self.model_copy()
        card._values = fingerprint
        return card

    @property
    def by_majority(self) -> bool:
        """Return whether the most frequent label is the positive one, so that folds keep the shares of all labels."""
        return _is_majority(self.positive, self.expect)

    @property
    def positive_labels(self) -> list[str]:
        """Return the labels that make y = 1, with the most frequent one for the word ``majority``."""
        return [most_frequent_label(self.expect.classes or {})] if self.by_majority else self.positive

    @property
    def target(self) -> str:
        return next(name for name, kind in self.columns.items() if kind == "target")

    @property
    def weight(self) -> str | None:
        """Return the column of the weights of the rows."""
        return next((name for name, kind in self.columns.items() if kind == "weight"), None)

    @property
    def seeding_name(self) -> str:
        """Return the text that seeds the splits."""
        return self.seed_name or self.name

    def as_seeded(self) -> Card:
        """Return a copy under the name that seeds the splits, for the code that draws them. See ``original``."""
        if self.seed_name is None:
            return self
        card = self.model_copy(update={"name": self.seed_name})
        card._original = self
        return card

    @property
    def original(self) -> Card:
        """Return the card that ``as_seeded`` copied, or else the card itself."""
        return self._original or self

    @cached_property
    def digest(self) -> str:
        """Return a hash of the keys that can change the data, for the cache and for fingerprints of results."""
        # These keys are newer than many caches, which must stay valid.
        newer = {key for key in ("generator", "levels", "prepare", "sample") if not getattr(self, key)}
        return self._hash_without(newer | ({"task"} if self.task == "binary" else set()))

    @cached_property
    def reading(self) -> str:
        """Return a hash of how the card reads rows (columns and labels), but not of where the rows come from."""
        newer = {key for key in ("levels", "prepare", "sample") if not getattr(self, key)}
        sources = [source.model_dump_json(exclude={"files"}) for source in self.files]
        return self._hash_without(newer | {"expect", "folder", "files", "openml"}, *sources)

    def _hash_without(self, keys: set[str], *texts: str) -> str:
        """Return a hash of ``texts`` and of the card without ``keys``, and without those that change no data."""
        prose = {"like", "reading_of", "title", "about", "no_openml", "seed_name"}
        content = self.model_dump_json(exclude=keys | prose)
        return hashlib.sha256("\n".join([content, *texts]).encode()).hexdigest()[:16]

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[Any, Any]:
        """Return the state for another process, without ``own_folder``: it may run on another machine."""
        private = {"_beside": None, "_values": self._values, "_original": None}
        return {**super().__getstate__(), "__pydantic_private__": private}


def _is_majority(positive: list[str], expect: Expectation) -> bool:
    """Return whether ``positive`` is the word ``majority``, and not a label of that name."""
    return positive == [MAJORITY] and MAJORITY not in (expect.classes or {})


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
    """Expand ``f1..f3`` to f1, f2, f3. Other names stay as they are. Raises ValueError for too large a range."""
    match = _RANGE.fullmatch(name)
    if match is None:
        return [name]
    stem, first, last = match.groups()
    numbers = range(int(first), int(last) + 1)
    if not 1 <= len(numbers) <= _MOST_COLUMNS:
        raise ValueError(f'columns: the range "{name}" must rise, and hold at most {_MOST_COLUMNS:,} columns')
    return [f"{stem}{number:0{len(first)}}" for number in numbers]


def _check_source(key: str, source: FileSource | OpenMLSource, info: ValidationInfo) -> None:
    """Raise ValueError when the source renames a column that the card does not have."""
    _check_known_columns(f"{key}: rename", source.rename, info)
    if isinstance(source.column_names, dict):
        names = list(source.column_names.values())
        _check_known_columns(f"{key}: column_names", names, info)
        if duplicates := [name for name in names if names.count(name) > 1]:
            raise ValueError(f'{key}: column_names: two columns would be called "{duplicates[0]}"')


def _check_known_columns(key: str, names: Iterable[str], info: ValidationInfo) -> None:
    columns = info.data.get("columns", {})
    for name in names:
        if columns and "*" not in columns and name not in columns:
            raise ValueError(f'{key}: the card has no column "{name}"{did_you_mean(name, columns)}')


def card_names() -> list[str]:
    """Return the names of the shipped cards, sorted."""
    return sorted(path.stem for path in shipped("datasets").glob("*.yaml"))


def find_card(name: str, folder: Path | None = None) -> Path:
    """Return the path of the card ``name``: a shipped card, or a path ending in .yaml (relative to ``folder``).

    Raises DataError for an unknown name.
    """
    if name.endswith((".yaml", ".yml")):
        return (folder or Path()) / name
    if name not in card_names():
        raise DataError(
            f'there is no data set "{name}"{did_you_mean(name, card_names())}'
            ' ("probcal list datasets" shows them; a path to a card of your own ends in .yaml)'
        )
    return shipped("datasets") / f"{name}.yaml"


def read_card(path: Path) -> Card:
    """Read the card in ``path``.

    Raises FileProblems with every fault and its line.
    """
    file = YamlFile.read(path)
    if problems := list(_unknown_card_faults(file, "like")):
        # Without the inherited keys the card is not valid, so nothing else can be checked.
        raise FileProblems(file.path, [*file.problems, *problems])
    if like := file.data.get("like"):
        inherited_keys = _inherited_keys(str(like))
        if file.data.get("task", "binary") != "binary":
            # Only a binary card has this key, and the inherited one would be a fault that nobody wrote.
            inherited_keys.pop("positive", None)
        file.data = {**inherited_keys, **file.data}
    if faults := list(_put_row_numbers(file)):
        raise FileProblems(file.path, [*file.problems, *faults])  # the card is not valid without the row numbers
    file.problems += [*_unknown_card_faults(file, "reading_of"), *_faults_between_keys(file)]
    card = validate_file(Card, file)
    if path.parent.resolve() != shipped("datasets").resolve():
        card._beside = path.parent
    return card


def _inherited_keys(like: str) -> dict[str, Any]:
    """Return the keys that a card passes on, with ``folder`` set to the folder of its files."""
    base = YamlFile.read(find_card(like)).data
    return {"folder": like, **{key: value for key, value in base.items() if key not in ("name", "like", "reading_of")}}


def _put_row_numbers(file: YamlFile) -> Iterator[Problem]:
    """Put the row numbers of a split beside the name of their file. Yield what is wrong with them."""
    split = file.data.get("split")
    if not isinstance(split, dict):
        return
    if "rows" in split:
        yield Problem(file.line(("split", "rows")), 'split: row numbers stand in a file of their own; name it: "file"')
    if split.get("file") is None:
        return
    try:
        numbers = read_row_numbers(file.path.parent / _FILE_PATH.validate_python(str(split["file"])))
    except ValidationError:
        return  # Split refuses the path and says why
    except DataError as error:
        yield Problem(file.line(("split", "file")), f"split: {error}")
    else:
        file.data["split"] = {**split, "rows": numbers.model_dump()}


def _unknown_card_faults(file: YamlFile, key: str) -> Iterator[Problem]:
    """Yield what is wrong with the name of another card under ``key``."""
    name = file.data.get(key)
    if name is None:
        return
    if name not in card_names() or name == file.path.stem:
        suggestion = did_you_mean(str(name), card_names())
        yield Problem(file.line((key,)), f'{key}: there is no other shipped data set "{name}"{suggestion}')
    elif original := YamlFile.read(find_card(name)).data.get(key):
        yield Problem(file.line((key,)), f'{key}: "{name}" has this key itself; write "{key}: {original}"')


def _faults_between_keys(file: YamlFile) -> Iterator[Problem]:
    """Yield faults between several keys. They are reported even where one of the keys has a fault of its own."""
    name = file.data.get("name")
    if isinstance(name, str) and _NAME.fullmatch(name) and name != file.path.stem:
        yield Problem(file.line(("name",)), f'the name must be that of the file, "{file.path.stem}"')
    if "positive" not in file.data and file.data.get("task", "binary") == "binary":
        yield Problem(1, f'the key "positive" is missing{_NAME_POSITIVE}')
    columns = file.data.get("columns")
    if isinstance(columns, dict) and all(kind in NO_INPUTS for kind in columns.values()):
        yield Problem(file.line(("columns",)), "columns: none is numeric, nominal or infer: nothing to learn from")
    if not any(map(file.data.get, SOURCES)) and file.data.get("files", []) is not None:
        yield Problem(1, 'a card needs a source: "files", "openml" or "bundled"')
    if file.data.get("task") == "multilabel" and not file.data.get("generator"):
        yield Problem(file.line(("task",)), 'task: only a "generator" makes rows of several labels')
    if file.data.get("openml") and file.data.get("no_openml"):
        yield Problem(file.line(("no_openml",)), 'a card has "openml" or "no_openml", not both')
