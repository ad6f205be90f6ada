"""Which rows train and which test: the split of a card or of an experiment, and the rows that it draws.

A split depends only on the data set, the repetition and the seed, or on published row numbers.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic.json_schema import SkipJsonSchema

from probcal.data.sources.specifications import Below, CardPart, Count
from probcal.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal[
    "standard",
    "holdout",
    "chronological",
    "same",
    "rows",
    "k_fold",
    "stratified_k_fold",
    "legacy_stratified_k_fold",
    "group_k_fold",
    "time_ordered",
]
KEYS: dict[Kind, tuple[str, ...]] = {
    "standard": ("train",),
    "chronological": ("train",),
    "holdout": ("train_fraction",),
    "same": (),
    "rows": ("file",),
    "k_fold": ("folds",),
    "stratified_k_fold": ("folds",),
    "legacy_stratified_k_fold": ("folds",),
    "group_k_fold": ("folds", "group"),
    "time_ordered": ("folds",),
}
"""Kind -> the keys that it needs."""
OPTIONAL: dict[Kind, str] = {"time_ordered": "order"}
"""Kind -> a key that it may have."""
NESTED_KINDS: tuple[Kind, ...] = ("group_k_fold", "time_ordered", "chronological")
"""The kinds that can also decide on which training rows a method calibrates."""
_NEWER_KEYS = ("file", "rows", "folds", "group", "order", "nested", "copies")
_DROPPING_KINDS: tuple[Kind, ...] = ("k_fold", "stratified_k_fold")
EXPERIMENT_KINDS: tuple[Kind, ...] = (
    "holdout",
    "k_fold",
    "stratified_k_fold",
    "legacy_stratified_k_fold",
    "group_k_fold",
    "time_ordered",
)
"""The kinds that an experiment can give to all of its data sets. The others belong to one data set."""


class Split(CardPart):
    """Describe which rows train and which test.

    ``standard`` and ``chronological`` train on the first ``train`` rows. ``same`` trains and tests on all rows.
    ``rows`` takes the row numbers of ``file``. The kinds with ``folds`` make that many splits. Each fold tests once.
    """

    kind: Kind
    """``holdout`` draws the rows at random from a seed. So do ``k_fold``, ``stratified_k_fold`` (each fold has the
    classes in the same shares) and ``group_k_fold`` (as far as groups that stay together allow).
    ``legacy_stratified_k_fold`` draws as scikit-learn did before 0.20, from the number of the repetition.
    ``time_ordered`` trains on the past and tests on the next part. The other kinds always give the same rows.
    """
    train: Count | None = None
    """Number of training rows, taken from the top. For a standard or chronological split only."""
    train_fraction: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of the rows that train. For a holdout only."""
    file: Below | None = None
    """JSON file with the lists ``train`` and ``test`` of row numbers from 0, relative to the card. For rows only."""
    folds: Annotated[int, Field(ge=2, le=100, strict=True)] | None = None
    """Number of folds, or of test parts in order of time."""
    group: str | None = None
    """Column whose rows of one value are in one fold. It is no input of a learner. For group_k_fold only."""
    order: str | None = None
    """Column that orders the rows in time. It is no input of a learner. Default: the order of the file. For
    time_ordered only.
    """
    nested: bool = False
    """Whether the training rows on which a method calibrates are chosen in the same way: whole groups, or later rows
    than those that train. Rows of the same time are then on one side of every cut. For group_k_fold, time_ordered and
    chronological only.
    """
    copies: Literal["drop"] | None = None
    """``drop`` leaves out each row that equals an earlier one in all columns and in the label. Otherwise a random split
    puts copies of training rows among the test rows. For k_fold and stratified_k_fold only.
    """
    rows: SkipJsonSchema[RowNumbers | None] = None
    """The content of ``file``, which ``read_card`` puts here."""

    @model_validator(mode="after")
    def _check_keys(self) -> Split:
        keys = {key for keys in KEYS.values() for key in keys} | set(OPTIONAL.values())
        present_keys = {key for key in keys if getattr(self, key) is not None}
        required_keys = set(KEYS[self.kind])
        extra_keys = sorted(present_keys - required_keys - {OPTIONAL.get(self.kind, "")})
        missing_keys = sorted(required_keys - present_keys)
        if self.kind == "same" and extra_keys:
            raise ValueError('a same split trains and tests on all rows: no "train" and no "train_fraction"')
        if self.folds is None and (missing_keys or extra_keys) and required_keys and "folds" not in required_keys:
            conflicts = extra_keys or [{"train": "train_fraction"}.get(min(required_keys), "train")]
            raise ValueError(f'a {self.kind} split takes "{min(required_keys)}" and not "{conflicts[0]}"')
        if missing_keys:
            raise ValueError(f'a {self.kind} split needs "{missing_keys[0]}"')
        if extra_keys:
            raise ValueError(f'a {self.kind} split takes no "{extra_keys[0]}"')
        if self.nested and self.kind not in NESTED_KINDS:
            raise ValueError(f"a {self.kind} split cannot be nested, only one of {', '.join(NESTED_KINDS)}")
        if self.copies and self.kind not in _DROPPING_KINDS:
            raise ValueError(f"a {self.kind} split cannot drop copies, only {' and '.join(_DROPPING_KINDS)} can")
        if self.file and not self.rows:
            raise ValueError("a rows split belongs to one data set; write it on its card")
        return self

    @model_serializer(mode="wrap")
    def _drop_unused_keys(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Many caches and results are older than these keys and must stay valid.
        return {key: value for key, value in dump(self).items() if key not in _NEWER_KEYS or value not in (None, False)}

    @property
    def is_random(self) -> bool:
        """Return whether each repetition draws other rows."""
        return self.kind == "holdout" or (self.folds is not None and self.kind != "time_ordered")

    @property
    def column(self) -> str | None:
        """Return the column that the split reads, which learners do not get."""
        return self.group or self.order

    def n_train(self, n_rows: int) -> int:
        """Return the number of training rows among ``n_rows``, of several folds the smallest number.

        A fraction is rounded to the nearest row. Groups are taken to be equally large.
        """
        if self.kind == "same":
            return n_rows
        if self.rows:
            return len(self.rows.train)
        if self.kind == "time_ordered":
            return n_rows - (self.folds or 0) * self.n_test_in_time(n_rows)
        if self.folds:
            # Rounded up, because the largest fold leaves the fewest rows to train on.
            return n_rows - -(-n_rows // self.folds)
        return self.train if self.train is not None else round((self.train_fraction or 0) * n_rows)

    def n_test_in_time(self, n_rows: int) -> int:
        """Return the number of rows in each test part of a time-ordered split."""
        return n_rows // ((self.folds or 0) + 1)

    def n_splits(self, repeats: int, repeat_fixed: bool = False) -> int:
        """Return how many splits ``repeats`` repetitions have. Split s is fold s % folds of repetition s // folds.

        A split without chance has one repetition, unless ``repeat_fixed``.
        """
        return (self.folds or 1) * (repeats if self.is_random or repeat_fixed else 1)

    def fault(self, columns: dict[str, Any], n_rows: int) -> str | None:
        """Return why the split does not fit a data set with these ``columns`` (name -> kind) and rows, or None."""
        if self.column is not None:
            kind = columns.get(self.column, columns.get("*"))
            if kind in (None, "ignore", "target", "weight"):
                state = f'is "{kind}"' if kind else "does not exist"
                return f'the column "{self.column}" {state}; the split needs a numeric or nominal column'
        min_rows = (self.folds or 0) + (self.kind == "time_ordered")
        return f"{n_rows} rows are too few for {self.folds} folds" if n_rows < min_rows else None


class RowNumbers(BaseModel):
    """Hold which rows train and which test, counted from 0 among the rows that the card reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    train: tuple[int, ...]
    """Row numbers for training, in the order in which a learner gets them."""
    test: tuple[int, ...]
    """Row numbers for testing."""

    @property
    def in_order(self) -> list[int]:
        """Return the training rows and then the test rows."""
        return [*self.train, *self.test]


def read_row_numbers(path: Path) -> RowNumbers:
    """Read the lists ``train`` and ``test`` of the JSON object in ``path``. Other keys tell where they come from.

    Raises DataError, which names the file, unless both parts are lists of whole numbers from 0 and each number
    occurs once.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: is no JSON: {error}") from None
    parts = content if isinstance(content, dict) else {}
    part_by_number: dict[int, str] = {}
    for part in ("train", "test"):
        if not isinstance(parts.get(part), list) or not parts[part]:
            raise DataError(f'{path}: needs the lists "train" and "test" of row numbers; "{part}" is none')
        for number in parts[part]:
            # Not isinstance, because true is an int, too.
            if type(number) is not int or number < 0:
                raise DataError(f'{path}: "{part}" holds {number!r}; rows are counted 0, 1, 2, ...')
            if number in part_by_number:
                fault = f'is in "{part_by_number[number]}" and in' if part_by_number[number] != part else "is twice in"
                raise DataError(f'{path}: row {number} {fault} "{part}"; each row may occur once')
            part_by_number[number] = part
    return RowNumbers(train=parts["train"], test=parts["test"])


Rows = tuple[np.ndarray, np.ndarray]
"""Row numbers: (to train on, to test on)."""


def stream_seed(*parts: object) -> int:
    """Return a 64-bit seed for this combination of ``parts``, the same on every machine."""
    return int.from_bytes(hashlib.sha256("\0".join(map(str, parts)).encode()).digest()[:8], "little")


class SplitCard(Protocol):
    """Describe what of a card decides its rows. A card holds a split, so this module cannot import it."""

    @property
    def name(self) -> str: ...
    @property
    def split(self) -> Split: ...
    @property
    def generator(self) -> object: ...


def repetitions_of(card: SplitCard, repeats: int, fixed_too: bool = False) -> int:
    """Return how often a data set is split or drawn.

    That is ``repeats`` times for a random split or a generated set, and once for a fixed split of fixed rows.
    With ``fixed_too`` it is ``repeats`` times for a fixed split as well.
    """
    return repeats if card.split.kind == "holdout" or card.generator or fixed_too else 1


def split_rows(card: SplitCard, n_rows: int, repetition: int, seed: int) -> Rows:
    """Return the row numbers for training and those for testing.

    The two parts contain every row exactly once, except that both parts of a ``same`` split are all rows. A standard
    or chronological split cuts the rows in their order. So does a split by row numbers, whose data set has the training
    rows first (see ``assemble``) and not the rows that are in neither part. A holdout shuffles them first (Langford &
    Zadrozny 2005, section 5: 66 % of the rows train, the others test).
    """
    # The seed holds the name of the data set, so that two data sets of one size are not shuffled alike.
    size = card.split.n_train(n_rows)
    if card.split.kind == "holdout":
        rows = np.random.default_rng(stream_seed(seed, "split", card.name, repetition)).permutation(n_rows)
    else:
        rows = np.arange(n_rows)
    return rows[:size], rows if card.split.kind == "same" else rows[size:]


def fold_rows(split: Split, name: str, X: pd.DataFrame, labels: np.ndarray, number: int, seed: int) -> Rows:
    """Return the row numbers for training and those for testing of one split, each in rising order.

    Split ``number`` is fold ``number % folds`` of repetition ``number // folds``. The folds of one repetition are
    disjoint, and together they are all rows, but for dropped copies and the first part of a time-ordered split. Folds
    depend on the rows' order, the labels or groups, the data set's ``name``, the repetition and the seed. Those of
    ``legacy_stratified_k_fold`` depend on the labels and the repetition alone.

    ``X`` is (n_rows, n_columns), with the column of groups or of time. ``labels``, (n_rows,), are the classes whose
    shares stratified folds keep.

    Raises DataError if the column of groups or of time does not exist or lacks a value, and for fewer groups, or fewer
    rows of every class, than folds.
    """
    # scikit-learn is imported only here: most commands split nothing
    from sklearn.model_selection import KFold, StratifiedGroupKFold, StratifiedKFold

    if split.copies == "drop":
        import pandas as pd

        distinct = np.flatnonzero(~pd.concat([X, pd.Series(labels, X.index, name="\0label")], axis=1).duplicated())
        parts = fold_rows(
            split.model_copy(update={"copies": None}), name, X.iloc[distinct], labels[distinct], number, seed
        )
        return distinct[parts[0]], distinct[parts[1]]
    folds = split.folds or 1
    repetition, fold = divmod(number, folds)
    if split.kind == "time_ordered":
        n_rows, n_test = len(X), split.n_test_in_time(len(X))
        order = np.arange(n_rows) if split.order is None else np.argsort(_numbers(X, split.order, name), kind="stable")
        start = n_rows - (folds - fold) * n_test
        return order[:start], order[start : start + n_test]
    if split.kind == "legacy_stratified_k_fold":
        fold_of_row = draw_legacy_folds(labels, folds, np.random.RandomState(repetition))
        return np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
    groups = None
    splitters: Any = {"k_fold": KFold, "stratified_k_fold": StratifiedKFold, "group_k_fold": StratifiedGroupKFold}
    if split.group is not None:
        groups = _numbers(X, split.group, name)
        if (n_groups := len(np.unique(groups))) < folds:
            raise DataError(f"{name}: column {split.group!r} has {n_groups} groups, too few for {folds} folds")
    # scikit-learn takes seeds below 2**32 only.
    random_state = stream_seed(seed, "folds", name, repetition) % 2**32
    splitter = splitters[split.kind](folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class with fewer rows than folds is in some of them only
        try:
            train, test = next(islice(splitter.split(np.zeros(len(labels)), labels, groups), fold, None))
        except ValueError as error:
            raise DataError(f"{name}: cannot be split into {folds} folds: {error}") from None
    return train, test


def draw_legacy_folds(labels: np.ndarray, folds: int, random: np.random.RandomState) -> np.ndarray:
    """Return the fold of each row, (n_rows,), as ``StratifiedKFold`` of scikit-learn before 0.20 drew it.

    That is ``sklearn.cross_validation.StratifiedKFold(labels, folds, shuffle=True)`` after ``numpy.random.seed(seed)``,
    where ``random`` is ``RandomState(seed)``, whose stream goes on afterwards. For each class in order, one shuffle of
    0, ..., max(count, folds) - 1 is cut into ``folds`` blocks. Block f holds the places of fold f among the rows of the
    class. The present class of the same name draws other folds.
    """
    fold_of_row = np.zeros(len(labels), dtype=int)
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        order = np.arange(max(len(rows), folds))
        random.shuffle(order)
        for fold, block in enumerate(np.array_split(order, folds)):
            fold_of_row[rows[block[block < len(rows)]]] = fold
    return fold_of_row


def _numbers(X: pd.DataFrame, column: str, name: str) -> np.ndarray:
    """Return numbers that are equal and ordered as the values of a column, (n_rows,)."""
    import pandas as pd

    if column not in X:
        raise DataError(f"{name}: there is no column {column!r}, which the split reads")
    values = X[column]
    missing = values.isna().to_numpy()
    if missing.any():
        row = int(missing.argmax())
        raise DataError(f"{name}: row {row + 1} lacks a value in column {column!r}, which the split reads")
    return np.asarray(values.cat.codes if isinstance(values.dtype, pd.CategoricalDtype) else values)
