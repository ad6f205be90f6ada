"""The ways to get a data set, as its card names them: original files, OpenML, scikit-learn, a generator.

How the law of a generated stream changes along its test rows, as a card says it.
"""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

Real = Annotated[float, Field(allow_inf_nan=False)]
TestRows = Annotated[int, Field(ge=0, strict=True)]


class _Change(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    at: TestRows
    """So many test rows come before it."""


class _OtherLaw(_Change):
    """The law once the change is complete: log-odds of intercept + slope w'x. Before, the slope is 1."""

    intercept: Real
    """Of its log-odds."""
    slope: Real
    """What its weighted sum is multiplied by."""


class NoChange(BaseModel):
    """The law of the training rows holds to the end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["none"]
    """The law stays as it is."""


class Sudden(_OtherLaw):
    """The other law holds from one row on."""

    kind: Literal["sudden"]
    """The other law holds from one row on."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """How far the law of each of the test ``rows``, (n_rows,) numbers below ``n``, is the other one, in [0, 1]."""
        return (rows >= self.at).astype(np.float64)


class Drift(_OtherLaw):
    """The law moves towards the other one in equal steps, and is there at the last row."""

    kind: Literal["drift"]
    """The law moves to the other one in equal steps."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """As that of ``Sudden``."""
        return np.clip((rows + 1 - self.at) / (n - self.at), 0, 1)


class Recurring(_OtherLaw):
    """The other law holds for ``every`` rows, the first one for as many, and so on."""

    kind: Literal["recurring"]
    """The two laws take turns."""
    every: Annotated[int, Field(ge=1, strict=True)]
    """So many rows at a time."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """As that of ``Sudden``."""
        return ((rows >= self.at) & ((rows - self.at) // self.every % 2 == 0)).astype(np.float64)


class Adversary(_Change):
    """Every label is the one that the law of the training rows holds to be less likely."""

    kind: Literal["adversarial"]
    """Labels become those held to be less likely."""


Change = Annotated[NoChange | Sudden | Drift | Recurring | Adversary, Field(discriminator="kind")]


Item = TypeVar("Item")
Some = Annotated[list[Item], Field(min_length=1)]
Count = Annotated[int, Field(gt=0, strict=True)]
ColumnNames = dict[str, str] | Literal["by position"]
"""Name in a source -> name on the card, where they differ; or the card's names in the source's order."""

_MOST_DRAWN = 100_000_000
"""Some gigabytes in the worst case; the paper's documents take 4 million."""
_LONGEST = 200
"""Bytes of the name of a file; systems allow some more, of which packing takes a few."""
_SEPARATORS = frozenset("!#$%&*+,-./:;<=>?@^_|~ \t\\")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


def _separator(separator: str) -> str:
    if separator != "whitespace" and separator not in _SEPARATORS:
        raise ValueError(f'separator: "{separator}" is not one of {"".join(sorted(_SEPARATORS))!r}, nor "whitespace"')
    return separator


def _below(name: str) -> str:
    """A path below the folder of original files. Raises ValueError for one that could lead out of it."""
    ways = PurePosixPath(name), PureWindowsPath(name)
    if "\0" in name or any(way.anchor or ".." in way.parts for way in ways):
        raise ValueError(f'"{name}" must lie below the folder of original files: no path from the root, and no ".."')
    if any(len(part.encode("utf-8", "replace")) > _LONGEST for part in ways[0].parts):
        raise ValueError(f'"{name[:40]}…" is too long for the name of a file')
    return name


Below = Annotated[str, Field(min_length=1), AfterValidator(_below)]


class LabelFile(_Part):
    """A file that holds the target of another file's rows."""

    name: Below
    """Its path below the folder of the data set."""
    sha256: str | None = None
    """Of its content, unpacked if it is kept as .gz or .xz."""
    key: str | None = None
    """The column, in both files, that ties a label to its row; line by line unless given."""


class DataFile(_Part):
    """One original file. ``sha256`` is of the content, unpacked if the file is kept as .gz or .xz."""

    name: Below
    """Its path below the folder of the data set; it may be kept as .gz or .xz too."""
    sha256: str | None = None
    """Of its content, unpacked."""
    labels: LabelFile | None = None
    """The file that holds the target of its rows, where that is another one."""
    skip_lines: list[Count] = []
    """Lines known to be malformed, counted from 1."""


class FileSource(_Part):
    """One complete set of original files, read in this order one after the other."""

    format: Literal["delimited", "arff"]
    """``delimited`` text, such as CSV, or Weka's ``arff``."""
    files: Some[DataFile]
    """The files, read in this order one after the other."""
    separator: Annotated[str, AfterValidator(_separator)] = ","
    """The character between two fields; ``whitespace`` for any run of blanks and tabs."""
    header: bool = False
    """The first line names the columns. Without it they are the card's, in the card's order."""
    missing: list[str] = ["?", ""]
    """What stands for a missing value."""
    comment: str | None = None
    """Lines that start with this are not data."""
    label_until: str | None = None
    """The label ends before the first of these characters: adult's ``>50K.``, sick's ``sick.|2059``."""
    rename: dict[str, dict[str, str]] = {}
    """Column -> value in this source -> value as in the original file."""
    column_names: ColumnNames = {}
    """Name in the files -> name on the card, where they differ; or ``by position``."""
    first_rows: Count | None = None
    """Only so many rows from the top belong to this data set (Weka's sick.arff holds the test file too)."""


class OpenMLSource(_Part):
    """The data set on OpenML, and how its rows and values differ from the original file."""

    id: int
    """The number of the data set on OpenML."""
    version: int
    """Its version there, which is checked."""
    name: str
    """Compared without regard to upper and lower case, which OpenML's own pages mix."""
    target: str
    """What OpenML calls the card's target; ``column_names`` is about the other columns."""
    column_names: ColumnNames = {}
    """Name on OpenML -> name on the card, where they differ; or ``by position``."""
    rename: dict[str, dict[str, str]] = {}
    """Column of the card -> value on OpenML -> value as in the original file. A column that has only
    true and false there, however it spells them, arrives as ``"true"`` and ``"false"``."""
    first_rows: Count | None = None
    """Only so many rows from the top belong to this data set (sick is merged on OpenML)."""
    test_rows_first: Count | None = None
    """So many rows at the top are the test part and move behind the others (adult)."""


class BundledSource(_Part):
    """A data set that comes with scikit-learn, by the name of its loader."""

    loader: Literal["load_breast_cancer", "load_digits", "load_iris", "load_wine"]
    """The function of sklearn.datasets."""


class DocumentsSource(_Part):
    """Documents drawn from topics, anew in every repetition (see ``probcal.data.sources.generated``)."""

    task: ClassVar[str] = "multilabel"
    why_task: ClassVar[str] = "documents have any number of topics"
    kind: Literal["documents"]
    """Word counts of documents, drawn from topics."""
    documents: Count
    """Rows."""
    topics: Annotated[int, Field(ge=2, strict=True)]
    """Labels, each estimated by itself."""
    words: Count
    """How many there are in the dictionary."""
    mean_length: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Words of a document on average, Poisson distributed."""
    exponent: Annotated[float, Field(ge=0, le=10)]
    """In each topic the word of rank r has a probability proportional to r to the power of minus this."""
    labels_drawn: Count
    """So many topics are drawn for each document, with replacement; those drawn are its labels."""

    @model_validator(mode="after")
    def _fits_into_memory(self) -> DocumentsSource:
        _refuse_too_many(
            ("documents x mean_length", self.documents * self.mean_length),
            ("documents x topics", self.documents * self.topics),
            ("documents x labels_drawn", self.documents * self.labels_drawn),
            ("topics x words", self.topics * self.words),
        )
        return self

    @property
    def n_rows(self) -> int:
        return self.documents

    @property
    def n_columns(self) -> int:
        return self.words

    def refuse_split(self, kind: str, train: int | None) -> None:
        """Raises ValueError unless the rows can be divided like this."""
        if kind not in ("same", "holdout"):
            raise ValueError(f"drawn rows have no order for a {kind} split; write same or holdout")


Coordinate = Annotated[float, Field(allow_inf_nan=False)]


class GaussiansSource(_Part):
    """Two Gaussian classes of one covariance, drawn anew in every repetition."""

    task: ClassVar[str] = "binary"
    why_task: ClassVar[str] = "a row is of one of two Gaussians"
    kind: Literal["gaussians"]
    """Two Gaussian classes of one covariance."""
    rows_per_class: Count
    """So many rows of each class to train on; they come first."""
    test_rows_per_class: Count
    """And so many to test on."""
    means: Annotated[list[Some[Coordinate]], Field(min_length=2, max_length=2)]
    """Of the negative class, then of the positive one; a number for each column."""
    covariance: Some[Some[Coordinate]]
    """A list for each column."""

    @model_validator(mode="after")
    def _is_a_distribution(self) -> GaussiansSource:
        size = len(self.means[0])
        if len(self.means[1]) != size:
            raise ValueError(f"means: one has {size} numbers, the other {len(self.means[1])}")
        if any(len(row) != size for row in [self.covariance, *self.covariance]):  # type: ignore[arg-type]  # the list itself is asked too
            raise ValueError(f"covariance: {size} lists of {size} numbers are needed, for {size} columns")
        matrix = np.array(self.covariance)
        if not (matrix == matrix.T).all() or np.linalg.eigvalsh(matrix)[0] <= 0:
            raise ValueError(f"covariance: must be symmetric and positive definite, not {self.covariance}")
        _refuse_too_many(("rows x columns", self.n_rows * self.n_columns))
        return self

    @property
    def n_train(self) -> int:
        return 2 * self.rows_per_class

    @property
    def n_rows(self) -> int:
        return self.n_train + 2 * self.test_rows_per_class

    @property
    def n_columns(self) -> int:
        return len(self.means[0])

    def refuse_split(self, kind: str, train: int | None) -> None:
        """Raises ValueError unless the rows can be divided like this."""
        if kind != "standard" or train != self.n_train:
            raise ValueError(
                f"the first {self.n_train} rows are drawn to train on; write split: {{kind: standard, train: "
                f"{self.n_train}}}"
            )


class StreamSource(_Part):
    """Rows in order of time whose law changes, drawn anew in every repetition."""

    task: ClassVar[str] = "binary"
    why_task: ClassVar[str] = "a row of a stream is of one of two classes"
    kind: Literal["stream"]
    """Rows in order of time, whose law changes."""
    train_rows: Count
    """So many rows train; they come first."""
    test_rows: Count
    """And so many follow."""
    weights: Some[Coordinate]
    """Of the columns, in the log-odds."""
    intercept: Coordinate
    """Of the log-odds, before the change."""
    correlation: Annotated[float, Field(ge=0, lt=1)]
    """Of any two columns."""
    change: Change
    """How the law changes along the test rows."""

    @model_validator(mode="after")
    def _changes_within_the_test_rows(self) -> StreamSource:
        _refuse_too_many(("rows x columns", self.n_rows * self.n_columns))
        at = getattr(self.change, "at", 0)
        if at >= self.test_rows:
            raise ValueError(f"change: at must be below test_rows, {self.test_rows}, not {at}")
        return self

    @property
    def n_rows(self) -> int:
        return self.train_rows + self.test_rows

    @property
    def n_columns(self) -> int:
        return len(self.weights)

    def refuse_split(self, kind: str, train: int | None) -> None:
        """Raises ValueError unless the rows can be divided like this."""
        if kind != "chronological" or train != self.train_rows:
            raise ValueError(
                f"the first {self.train_rows} rows of a stream train; write split: {{kind: chronological, train: "
                f"{self.train_rows}}}"
            )


GeneratorSource = Annotated[DocumentsSource | GaussiansSource | StreamSource, Field(discriminator="kind")]


def _refuse_too_many(*drawn: tuple[str, float]) -> None:
    for what, number in drawn:
        if number > _MOST_DRAWN:
            raise ValueError(f"{what} is {number:g}, and more than {_MOST_DRAWN:,} numbers are too many to draw")
