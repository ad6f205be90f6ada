"""Generators: sources on a card whose rows are drawn from a known distribution, anew in every repetition.

Each knows the true probability of every label that it draws. None needs a file or a network. scipy is imported only
where rows are drawn, because most commands only read cards.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from probcal.data.sources.specifications import CardPart, Count, Some

Real = Annotated[float, Field(allow_inf_nan=False)]
TestRows = Annotated[int, Field(ge=0, strict=True)]
Drawn = tuple[Any, np.ndarray, np.ndarray]
"""Inputs, labels, and the true probability of each label: (n_rows, n_columns) float64, (n_rows,) int8 and (n_rows,)
float64. Documents have a sparse matrix, and a column of the others for each label.
"""
_MOST_DRAWN = 100_000_000
"""Most numbers that may be drawn, some gigabytes in the worst case. The paper's documents take 4 million."""


def _refuse_too_many(*drawn: tuple[str, float]) -> None:
    for what, number in drawn:
        if number > _MOST_DRAWN:
            raise ValueError(f"{what} is {number:g}, and more than {_MOST_DRAWN:,} numbers are too many to draw")


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

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Draw training rows and then test rows, each part in random order.

        Nalbantov & Ivanov (2019), section 3: both classes have the same number of rows. They are Gaussians with
        different means m0 and m1 and the same covariance S. The log-odds of the positive class, in nats, are
        (m1 - m0)' S^-1 (x - (m0 + m1) / 2).
        """
        from scipy.special import expit

        means, covariance = np.array(self.means), np.array(self.covariance)
        root = np.linalg.cholesky(covariance)
        parts = []
        for n in (self.rows_per_class, self.test_rows_per_class):
            labels = rng.permutation(np.repeat(np.array([0, 1], dtype=np.int8), n))
            white = rng.standard_normal((2 * n, self.n_columns))
            # Column by column, because the rounding of a matrix product depends on the machine.
            coloured = [sum(white[:, k] * row[k] for k in range(self.n_columns)) for row in root]
            parts.append((means[labels] + np.column_stack(coloured), labels))
        inputs, y = (np.concatenate(part) for part in zip(*parts, strict=True))
        direction = np.linalg.solve(covariance, means[1] - means[0])
        return inputs, y, expit((inputs - means.mean(axis=0)) @ direction)


class NoChange(CardPart):
    """Keep the law of the training rows to the end."""

    kind: Literal["none"]
    """The law stays as it is."""

    def truth(self, intercept: float, signal: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
        """Return P(y = 1 | x) of rows whose w'x is ``signal``, (n_rows,).

        ``intercept`` is that of the training rows. ``rows`` are (n_rows,) numbers below ``n``, the number of test rows.
        Those of training rows are negative.
        """
        from scipy.special import expit

        truth: np.ndarray = expit(intercept + signal)
        return truth


class _Change(CardPart):
    at: TestRows
    """Number of test rows before the change."""


class _OtherLaw(_Change):
    """Hold the second law, once the change is complete: log-odds of intercept + slope w'x. The first slope is 1."""

    intercept: Real
    """Intercept of the log-odds."""
    slope: Real
    """Factor of the weighted sum w'x."""

    def truth(self, intercept: float, signal: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
        """Return P(y = 1 | x), as ``NoChange.truth`` does."""
        from scipy.special import expit

        share = self.share(rows, n)
        slope = 1 + share * (self.slope - 1)
        truth: np.ndarray = expit(intercept + share * (self.intercept - intercept) + slope * signal)
        return truth

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        """Return the share of the second law in the law of each row, (n_rows,) numbers in [0, 1]."""
        raise NotImplementedError


class Sudden(_OtherLaw):
    """Switch to the other law from one row on."""

    kind: Literal["sudden"]
    """The other law holds from one row on."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        return (rows >= self.at).astype(np.float64)


class Drift(_OtherLaw):
    """Move towards the other law in equal steps, which is reached at the last row."""

    kind: Literal["drift"]
    """The law moves to the other one in equal steps."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        return np.clip((rows + 1 - self.at) / (n - self.at), 0, 1)


class Recurring(_OtherLaw):
    """Switch between the two laws after every ``every`` rows, starting with the other one."""

    kind: Literal["recurring"]
    """The two laws take turns."""
    every: Annotated[int, Field(ge=1, strict=True)]
    """Number of rows for which each law holds."""

    def share(self, rows: np.ndarray, n: int) -> np.ndarray:
        is_other = (rows >= self.at) & ((rows - self.at) // self.every % 2 == 0)
        return np.asarray(is_other, dtype=np.float64)


class Adversary(_Change):
    """Give every row the label that is less likely under the law of the training rows."""

    kind: Literal["adversarial"]
    """Every label is the less likely one under the law of the training rows."""

    def truth(self, intercept: float, signal: np.ndarray, rows: np.ndarray, n: int) -> np.ndarray:
        """Return P(y = 1 | x), as ``NoChange.truth`` does."""
        from scipy.special import expit

        log_odds = intercept + signal
        return np.where(rows < self.at, expit(log_odds), log_odds <= 0)


Change = Annotated[NoChange | Sudden | Drift | Recurring | Adversary, Field(discriminator="kind")]


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

    def draw(self, rng: np.random.Generator) -> Drawn:
        """Draw rows in order of time, with the training rows first.

        Inputs are Gaussian with mean 0, variance 1 and the same correlation between any two columns throughout. The
        log-odds of the positive class, in nats, are b + s w'x. In training b is the ``intercept`` and s is 1. The
        ``change`` says how they change afterwards.
        """
        drawn = rng.standard_normal((self.n_rows, 1 + self.n_columns))
        common, own = np.sqrt(self.correlation), np.sqrt(1 - self.correlation)
        inputs = common * drawn[:, :1] + own * drawn[:, 1:]
        # column by column, since the rounding of a matrix product depends on the machine
        signal = np.asarray(sum(weight * column for weight, column in zip(self.weights, inputs.T, strict=True)))
        rows = np.arange(self.n_rows) - self.train_rows  # numbered from the first test row
        truth = self.change.truth(self.intercept, signal, rows, self.test_rows)
        return inputs, (rng.random(self.n_rows) < truth).astype(np.int8), truth


class DocumentsSource(CardPart):
    """Describe documents drawn from topics, anew in every repetition."""

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

    def draw(self, rng: np.random.Generator, lengths: np.ndarray | None = None) -> Drawn:
        """Draw documents with these ``lengths``, (documents,), or with lengths that are drawn first.

        Gao, Parameswaran & Peng (2017), Example 1 and its simulation in the appendix. Each document has a mix of
        topics, theta, drawn from a flat Dirichlet distribution. Each of its words comes from a topic drawn from theta.
        Each topic orders the words at random. The word of rank r has a probability proportional to r to the power of
        ``-exponent``. ``labels_drawn`` topics are drawn from theta with replacement. Label k is 1 if topic k is among
        them, which has probability 1 - (1 - theta_k) ** labels_drawn.
        """
        if lengths is None:
            lengths = rng.poisson(self.mean_length, self.documents)
        mixes = rng.dirichlet(np.ones(self.topics), self.documents)
        words = self._draw_words(rng.multinomial(lengths, mixes), rng)
        labels = (rng.multinomial(self.labels_drawn, mixes) > 0).astype(np.int8)
        return words, labels, 1 - (1 - mixes) ** self.labels_drawn

    def _draw_words(self, drawn: np.ndarray, rng: np.random.Generator) -> Any:
        """Draw a sparse (documents, words) float64 matrix of counts.

        ``drawn`` is (documents, topics): the number of words of a document that come from each topic.
        """
        from scipy.sparse import csr_matrix

        weights = np.arange(1, self.words + 1) ** -self.exponent
        reached = np.cumsum(weights / weights.sum())
        reached[-1] = 1.0  # so that each draw lies below it, however the sum is rounded
        numbers = np.arange(self.documents)
        in_documents, words = [], []
        for of_topic in drawn.T:
            ranks = np.searchsorted(reached, rng.random(of_topic.sum()), side="right")
            words.append(rng.permutation(self.words)[ranks])
            in_documents.append(np.repeat(numbers, of_topic))
        pairs = np.concatenate(in_documents), np.concatenate(words)
        # csr_matrix adds up equal pairs, which makes them counts.
        return csr_matrix((np.ones(len(pairs[0])), pairs), (self.documents, self.words))


GeneratorSource = Annotated[DocumentsSource | GaussiansSource | StreamSource, Field(discriminator="kind")]
