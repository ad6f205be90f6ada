"""Models of the parts of a card: original files, OpenML, scikit-learn, and how the columns are prepared."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

if TYPE_CHECKING:
    import pandas as pd


class CardPart(BaseModel):
    """Refuse unknown keys and changes, and read numbers where a text is expected."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


Item = TypeVar("Item")
Some = Annotated[list[Item], Field(min_length=1)]
Count = Annotated[int, Field(gt=0, strict=True)]
ColumnNames = dict[str, str] | Literal["by position"]
"""Name in a source -> name on the card, where they differ. ``by position`` takes the card's names in order."""

_LONGEST = 200
"""Most bytes in the name of a file. Systems allow some more, and packing adds a few."""
_SEPARATORS = frozenset("!#$%&*+,-./:;<=>?@^_|~ \t\\")


def _separator(separator: str) -> str:
    if separator != "whitespace" and separator not in _SEPARATORS:
        raise ValueError(f'separator: "{separator}" is not one of {"".join(sorted(_SEPARATORS))!r}, nor "whitespace"')
    return separator


def _below(name: str) -> str:
    """Return a path below the folder of original files. Raises ValueError for one that could lead out of it."""
    # as either system reads it, because a card that is harmless on one must be so on the other
    ways = PurePosixPath(name), PureWindowsPath(name)
    if "\0" in name or any(way.anchor or ".." in way.parts for way in ways):
        raise ValueError(f'"{name}" must lie below the folder of original files: no path from the root, and no ".."')
    if any(len(part.encode("utf-8", "replace")) > _LONGEST for part in ways[0].parts):
        raise ValueError(f'"{name[:40]}…" is too long for the name of a file')
    return name


FileFormat = Literal["delimited", "arff", "mat"]
Below = Annotated[str, Field(min_length=1), AfterValidator(_below)]


class LabelFile(CardPart):
    """Describe a file that holds the labels of another file's rows."""

    name: Below
    """Path below the folder of the data set."""
    sha256: str | None = None
    """sha256 of the content, unpacked if the file is kept as .gz or .xz."""
    key: str | None = None
    """Column in both files that links a label to its row. Default: line by line."""


class DataFile(CardPart):
    """Describe one original file."""

    name: Below
    """Path below the folder of the data set. The file may also be kept as .gz or .xz."""
    sha256: str | None = None
    """sha256 of the content, unpacked if the file is kept as .gz or .xz."""
    labels: LabelFile | None = None
    """File that holds the labels of these rows, if they are in another file."""
    skip_lines: list[Count] = []
    """Numbers of malformed lines to skip, counted from 1."""
    format: FileFormat | None = None
    """The format of this file, where it is not that of the others."""

    @model_serializer(mode="wrap")
    def _without_unused(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The key is newer than many caches, which must stay valid.
        return {key: value for key, value in dump(self).items() if key != "format" or value is not None}


class FileSource(CardPart):
    """Describe one complete set of original files, whose rows follow one another in this order."""

    format: FileFormat
    """``delimited`` text, such as CSV, Weka's ``arff``, or ``mat``, a MATLAB file of mldata.org."""
    files: Some[DataFile]
    """The files, whose rows follow one another in this order."""
    separator: Annotated[str, AfterValidator(_separator)] = ","
    """The character between two fields. ``whitespace`` stands for any run of blanks and tabs."""
    header: bool = False
    """Whether the first line names the columns. Without it they are the card's, in the card's order."""
    missing: list[str] = ["?", ""]
    """Texts that mean a missing value. For delimited text and MATLAB files."""
    comment: str | None = None
    """Lines that start with this text are not data."""
    label_until: str | None = None
    """The label ends before the first of these characters: adult's ``>50K.``, sick's ``sick.|2059``."""
    rename: dict[str, dict[str, str]] = {}
    """Column -> value in this source -> value as in the original file."""
    column_names: ColumnNames = {}
    """Name in the files -> name on the card, where they differ. Or ``by position``."""
    first_rows: Count | None = None
    """Number of rows from the top that belong to this data set (Weka's sick.arff holds the test file too)."""


class OpenMLSource(CardPart):
    """Describe the data set on OpenML, and how its rows and values differ from the original file."""

    id: int
    """Number of the data set on OpenML."""
    version: int
    """Its version there, which is checked."""
    name: str
    """Its name there, which is checked. Upper and lower case do not matter, since OpenML's own pages mix them."""
    target: str
    """OpenML's name of the card's target. ``column_names`` is about the other columns."""
    column_names: ColumnNames = {}
    """Name on OpenML -> name on the card, where they differ. Or ``by position``."""
    rename: dict[str, dict[str, str]] = {}
    """Column of the card -> value on OpenML -> value as in the original file. A column of true and false
    arrives as ``"true"`` and ``"false"``, however OpenML spells them.
    """
    first_rows: Count | None = None
    """Number of rows from the top that belong to this data set (sick is merged on OpenML)."""
    test_rows_first: Count | None = None
    """Number of rows at the top that are the test part. They move behind the others (adult)."""


class BundledSource(CardPart):
    """Describe a data set that comes with scikit-learn."""

    loader: Literal["load_breast_cancer", "load_digits", "load_iris", "load_wine"]
    """The function of sklearn.datasets that loads it."""

    def rows(self, target: str) -> pd.DataFrame:
        """Return (n_rows, n_columns) ready for ``assemble``: scikit-learn's column names, and class names as target."""
        import sklearn.datasets  # imports the half of scikit-learn, and most commands read no such data

        bunch = getattr(sklearn.datasets, self.loader)(as_frame=True)
        class_names = [str(name) for name in bunch.target_names]
        return bunch.data.assign(**{target: [class_names[number] for number in bunch.target]})


class Preparation(CardPart):
    """Say how the columns of all rows are prepared before any split. What is not named stays as it is.

    Some papers did so. It looks at the rows that test later, so it is not how you would prepare your own data. Missing
    values, codes and scales that are learned from training rows alone belong to a learner (``encoding`` in an
    experiment).
    """

    nominal: Literal["codes"] | None = None
    """``codes`` makes a nominal column numeric: the place 0, 1, 2, ... of its level, in the order of the levels."""
    missing: Literal["drop_rows", "column_mean"] | None = None
    """``drop_rows`` leaves out each row that lacks an input. ``column_mean`` fills in the mean of the column."""
    scale: Literal["all_rows"] | None = None
    """``all_rows`` takes the mean of all rows from each column, and divides by their standard deviation."""
