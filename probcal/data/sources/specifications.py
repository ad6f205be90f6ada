"""Models of the sources on a card: original files, OpenML, scikit-learn, and generators with their changes in time."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

Real = Annotated[float, Field(allow_inf_nan=False)]
TestRows = Annotated[int, Field(ge=0, strict=True)]


class CardPart(BaseModel):
    """Refuse unknown keys and changes, and read numbers where a text is expected."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True, use_attribute_docstrings=True)


class _Change(CardPart):
    at: TestRows
    """Number of test rows before the change."""


class _OtherLaw(_Change):
    """Hold the second law, once the change is complete: log-odds of intercept + slope w'x. The first slope is 1."""

    intercept: Real
    """Intercept of the log-odds."""
    slope: Real
    """Factor of the weighted sum w'x."""


class NoChange(CardPart):
    """Keep the law of the training rows to the end."""

    kind: Literal["none"]
    """The law stays as it is."""


class Sudden(_OtherLaw):
    """Switch to the other law from one row on."""

    kind: Literal["sudden"]
    """The other law holds from one row on."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """Return the share of the other law in the law of each of the test ``rows``, (n_rows,) numbers in [0, 1].

        ``rows`` are (n_rows,) numbers below ``n``, the number of test rows.
        """
        return (rows >= self.at).astype(np.float64)


class Drift(_OtherLaw):
    """Move towards the other law in equal steps, which is reached at the last row."""

    kind: Literal["drift"]
    """The law moves to the other one in equal steps."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """Return the share of the other law, as ``Sudden.share`` does."""
        return np.clip((rows + 1 - self.at) / (n - self.at), 0, 1)


class Recurring(_OtherLaw):
    """Switch between the two laws after every ``every`` rows, starting with the other one."""

    kind: Literal["recurring"]
    """The two laws take turns."""
    every: Annotated[int, Field(ge=1, strict=True)]
    """Number of rows for which each law holds."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """Return the share of the other law, as ``Sudden.share`` does."""
        share: np.ndarray = ((rows >= self.at) & ((rows - self.at) // self.every % 2 == 0)).astype(np.float64)
        return share


class Adversary(_Change):
    """Give every row the label that is less likely under the law of the training rows."""

    kind: Literal["adversarial"]
    """Every label is the less likely one under the law of the training rows."""


Change = Annotated[NoChange | Sudden | Drift | Recurring | Adversary, Field(discriminator="kind")]


Item = TypeVar("Item")
Some = Annotated[list[Item], Field(min_length=1)]
Count = Annotated[int, Field(gt=0, strict=True)]
ColumnNames = dict[str, str] | Literal["by position"]
"""Name in a source -> name on the card, where they differ. ``by position`` takes the card's names in order."""

_MOST_DRAWN = 100_000_000
"""Most numbers that may be drawn, some gigabytes in the worst case. The paper's documents take 4 million."""
_LONGEST = 200
"""Most bytes in the name of a file. Systems allow some more, and packing adds a few."""
_SEPARATORS = frozenset("!#$%&*+,-./:;<=>?@^_|~ \t\\")


def _separator(separator: str) -> str:
    if separator != "whitespace" and separator not in _SEPARATORS:
        raise ValueError(f'separator: "{separator}" is not one of {"".join(sorted(_SEPARATORS))!r}, nor "whitespace"')
    return separator


def _below(name: str) -> str:
    """Return a path below the folder of original files. Raises ValueError for one that could lead out of it."""
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


class DocumentsSource(CardPart):
    """Describe documents drawn from topics, anew in every repetition (see ``probcal.data.sources.generated``)."""

    task: ClassVar[str] = "multilabel"
    why_task: ClassVar[str] = "documents have any number of topics"
    kind: Literal["documents"]
    """Word counts of documents, drawn from topics."""
    documents: Count
    """Number of rows."""
    topics: Annotated[int, Field(ge=2, strict=True)]
    """Number of labels, each predicted separately."""
    words: Count
    """Number of words in the dictionary."""
    mean_length: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    """Mean number of words of a document, Poisson distributed."""
    exponent: Annotated[float, Field(ge=0, le=10)]
    """In each topic the word of rank r has a probability proportional to r to the power of minus this."""
    labels_drawn: Count
    """Number of topics drawn for each document, with replacement. The topics drawn are its labels."""

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
        """Raise ValueError unless the rows can be split in this way."""
        if kind not in ("same", "holdout"):
            raise ValueError(f"drawn rows have no order for a {kind} split; write same or holdout")


class GaussiansSource(CardPart):
    """Describe two Gaussian classes of one covariance, drawn anew in every repetition."""

    task: ClassVar[str] = "binary"
    why_task: ClassVar[str] = "a row is of one of two Gaussians"
    kind: Literal["gaussians"]
    """Two Gaussian classes of one covariance."""
    rows_per_class: Count
    """Number of training rows of each class. They come first."""
    test_rows_per_class: Count
    """Number of test rows of each class."""
    means: Annotated[list[Some[Real]], Field(min_length=2, max_length=2)]
    """Means of the negative and of the positive class, each with one number per column."""
    covariance: Some[Some[Real]]
    """Covariance matrix, one list per column."""

    @model_validator(mode="after")
    def _is_a_distribution(self) -> GaussiansSource:
        size = len(self.means[0])
        if len(self.means[1]) != size:
            raise ValueError(f"means: one has {size} numbers, the other {len(self.means[1])}")
        if {len(self.covariance), *map(len, self.covariance)} != {size}:
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
        """Raise ValueError unless the rows can be split in this way."""
        if kind != "standard" or train != self.n_train:
            raise ValueError(
                f"the first {self.n_train} rows are drawn to train on; write split: {{kind: standard, train: "
                f"{self.n_train}}}"
            )


class StreamSource(CardPart):
    """Describe rows in order of time whose law changes, drawn anew in every repetition."""

    task: ClassVar[str] = "binary"
    why_task: ClassVar[str] = "a row of a stream is of one of two classes"
    kind: Literal["stream"]
    """Rows in order of time, whose law changes."""
    train_rows: Count
    """Number of training rows. They come first."""
    test_rows: Count
    """Number of test rows. They follow the training rows."""
    weights: Some[Real]
    """Weights w of the columns in the log-odds."""
    intercept: Real
    """Intercept of the log-odds before the change."""
    correlation: Annotated[float, Field(ge=0, lt=1)]
    """Correlation of any two columns."""
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
        """Raise ValueError unless the rows can be split in this way."""
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
