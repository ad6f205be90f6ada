"""The split of a card or of an experiment: which rows train and which test, also by published row numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer, model_validator
from pydantic.json_schema import SkipJsonSchema

from probcal.data.sources.specifications import Below, CardPart, Count
from probcal.errors import DataError

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
_NEWER_KEYS = ("file", "rows", "folds", "group", "order", "nested")
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
            if kind in (None, "ignore", "target"):
                state = f'is "{kind}"' if kind else "does not exist"
                return f'the column "{self.column}" {state}; the split needs a numeric or nominal column'
        min_rows = (self.folds or 0) + (self.kind == "time_ordered")
        return f"{n_rows} rows are too few for {self.folds} folds" if n_rows < min_rows else None


_PARTS = ("train", "test")


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
    for part in _PARTS:
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
