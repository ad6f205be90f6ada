"""The Dataset class, and the functions that make one: from the rows of any source, or drawn by a generator."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

from probcal.data.card import FOR_TWO, NO_INPUTS, Card
from probcal.data.sources.specifications import Preparation
from probcal.data.splits import stream_seed
from probcal.data.text_values import as_text, sort_labels
from probcal.errors import DataError, RowError, did_you_mean

_MOST_CLASSES = 128
"""Number of classes that int8 can count from 0. A column with more values hardly holds classes."""
_LIKE_MISSING = frozenset(("nan", "na", "n/a", "none", "null"))
"""Spellings of a missing label in other programs. Read as a class, it would silently become a negative label."""


@dataclass(frozen=True)
class Dataset:
    """Hold rows that are ready for a learner.

    ``X`` is a (n_rows, n_columns) frame of float64 columns and of categorical columns with string categories, which
    are sorted unless the card lists them. NaN means missing in both. ``y`` is (n_rows,) int8, 1 for the positive
    class. On a multiclass card ``y`` is 0 to n_classes - 1, the place of the label among the sorted labels (see
    ``sort_labels``).

    A multilabel card generates its rows. There ``X`` is a sparse (n_rows, n_columns) float64 matrix. ``y`` is
    (n_rows, n_labels) int8, 1 where the row has the label.
    """

    card: Card
    X: pd.DataFrame | csr_matrix
    y: np.ndarray
    truth: np.ndarray | None = None
    """The true P(y = 1) of each row, in the shape of ``y``, where it is known."""
    strata: np.ndarray | None = None
    """(n_rows,) int8, the place of each row's own label among the sorted labels, on a card with ``positive: majority``.
    There ``y`` has two classes, and stratified folds keep the shares of these labels. None on all other cards.
    """
    weight: np.ndarray | None = None
    """(n_rows,) float64, the weight of each row, not negative. None on a card without a column of weights."""

    @property
    def name(self) -> str:
        return self.card.name

    def fingerprint(self) -> str:
        """Return the sha256 of column names, kinds, values and labels. Only equal data sets have equal fingerprints."""
        digest = hashlib.sha256()
        for name, column in self.X.items():
            digest.update(f"\0{name}\0{column.dtype.name}\0".encode())
            if isinstance(column.dtype, pd.CategoricalDtype):
                digest.update("\0".join(column.cat.categories).encode())
                digest.update(column.cat.codes.to_numpy("<i4").tobytes())
            else:
                # Fixed sizes and one order of bytes, so that every machine gets the same fingerprint.
                values = column.to_numpy("<f8", copy=True)
                values[np.isnan(values)] = np.nan  # one bit pattern for every NaN
                values[values == 0] = 0.0  # one bit pattern for zero
                digest.update(values.tobytes())
        digest.update(self.y.astype("i1").tobytes())
        if self.strata is not None:
            digest.update(b"\0strata\0" + self.strata.astype("i1").tobytes())
        if self.weight is not None:
            digest.update(b"\0weight\0" + self.weight.astype("<f8").tobytes())
        return digest.hexdigest()


def assemble(card: Card, rows: pd.DataFrame) -> Dataset:
    """Build the Dataset of ``rows`` and check it against the card.

    ``rows`` has the card's column names. Values are text, numbers or categories as the source has them, and
    missing ones are None or NaN. The rows of a holdout set are sorted, so that the splits do not depend on the
    order in which a source keeps them. Of a split by row numbers, the training rows come first and then the test rows,
    each in the order of its file, and other rows are left out. The rows of a card with ``prepare`` are prepared. Of a
    card with ``sample`` that many rows are drawn, after they are prepared. The card expects the counts of the rows that
    stay.

    Raises DataError when a value, the shape, the class counts or the fingerprint is not as expected.
    """
    rows = rows.reset_index(drop=True)
    needed = [card.target, *([card.weight] if card.weight else []), *(name for name, _ in _kinds(card, rows))]
    if missing := [name for name in needed if name not in rows]:
        suggestion = did_you_mean(missing[0], map(str, rows.columns))
        raise DataError(f"{card.name}: the data have no column {missing[0]!r}, which the card names{suggestion}")
    unlabelled = rows[card.target].isna()
    if unlabelled.any() and not card.drop_unlabelled:
        first = int(unlabelled.idxmax())
        raise RowError(
            f"{card.name}: {int(unlabelled.sum())} rows have no label in column {card.target!r} (the first "
            f"is row {first + 1}); remove them, or set drop_unlabelled on the card",
            first,
        )
    rows = rows[~unlabelled]
    if card.split.rows:
        numbers = card.split.rows.in_order
        if max(numbers) >= len(rows):
            raise DataError(
                f"{card.name}: {card.split.file} names row {max(numbers)}, counted from 0, of {len(rows)} rows; "
                "is it the split of these files?"
            )
        rows = rows.iloc[numbers]
    labels = rows[card.target].map(as_text).to_numpy(object)
    X = pd.DataFrame({name: _column(card, name, kind, rows[name]) for name, kind in _kinds(card, rows)})
    weight = None if card.weight is None else _weights(card, card.weight, rows[card.weight])
    if card.prepare:
        X, is_complete = prepare_columns(card.prepare, X)
        labels, weight = labels[is_complete], None if weight is None else weight[is_complete]
    if card.sample:
        if len(labels) < card.sample:
            raise DataError(
                f"{card.name}: the card draws a sample of {card.sample} rows, and there are {len(labels)}; lower sample"
            )
        # The seed is the name of the card alone, so that every run draws the same rows. They stay in their order.
        random = np.random.default_rng(stream_seed("sample", card.name))
        sample = np.sort(random.permutation(len(labels))[: card.sample])
        X, labels = X.iloc[sample].reset_index(drop=True), labels[sample]
        weight = None if weight is None else weight[sample]
    _check_labels(card, labels)
    is_binary = card.task == "binary"
    y = np.isin(labels, card.positive_labels).astype(np.int8) if is_binary else _class_numbers(labels)
    dataset = Dataset(card, X, y, strata=_class_numbers(labels) if card.by_majority else None, weight=weight)
    # Sources keep the same rows in different order, and a random split must not depend on it.
    if card.split.kind == "holdout":
        dataset = _in_sorted_order(dataset)
    check(dataset)
    return dataset


def generated(card: Card, seed: int) -> Dataset:
    """Draw the data set of a ``card`` with a generator. Equal seeds give equal bits.

    Raises ValueError when the card has no generator.
    """
    if card.generator is None:
        raise ValueError(f"{card.name}: its card has no generator")
    inputs, y, truth = card.generator.draw(np.random.default_rng(seed))
    if isinstance(inputs, np.ndarray):
        inputs = pd.DataFrame(inputs, columns=[name for name, kind in card.columns.items() if kind != "target"])
    return Dataset(card, inputs, y, truth)


def check(dataset: Dataset) -> None:
    """Raise DataError unless shape and fingerprint are what the card expects."""
    expect = dataset.card.expect
    for what, count, expected in zip(("rows", "columns"), dataset.X.shape, (expect.rows, expect.columns), strict=True):
        if count != expected:
            raise DataError(f"{dataset.name}: {count} {what} arrived, the card expects {expected}")
    if expect.fingerprint and dataset.fingerprint() != expect.fingerprint:
        raise DataError(
            f"{dataset.name}: the values are not those the card expects "
            f"(fingerprint {dataset.fingerprint()[:16]}…, card {expect.fingerprint[:16]}…)"
        )


def _check_labels(card: Card, labels: np.ndarray) -> None:
    """Raise DataError unless the labels are classes of this card, as often as it expects."""
    levels, counts = np.unique(labels, return_counts=True)
    classes = {str(label): int(count) for label, count in zip(levels, counts, strict=True)}
    names, positive = sorted(classes), card.positive_labels
    column = f"{card.name}: column {card.target!r}"
    if len(classes) < 2:
        only = f"only the label {names[0]!r}" if classes else "no rows"
        raise DataError(f"{column} holds {only}; two classes are needed")
    named = {*positive, *(card.expect.classes or {})}
    if doubtful := [label for label in classes if label.casefold() in _LIKE_MISSING and label not in named]:
        raise DataError(
            f"{card.name}: {classes[doubtful[0]]} rows have the label {doubtful[0]!r} in column {card.target!r}, as if "
            'it were missing; name it under "missing" of the files, or under "classes" if it is one'
        )
    if card.task == "multiclass" and len(classes) < 3:
        raise DataError(f"{column} of a multiclass card holds the labels {names} only; {FOR_TWO}")
    if (card.task == "multiclass" or card.by_majority) and len(classes) > _MOST_CLASSES:
        raise DataError(
            f"{column} of a multiclass card holds {len(classes)} labels, at most {_MOST_CLASSES} are taken; is it the "
            "right column?"
        )
    if card.task == "binary" and not set(positive) & set(classes):
        raise DataError(f"{card.name}: no row has the positive label {positive}; the labels are {names}")
    if card.task == "binary" and set(classes) <= set(positive):
        raise DataError(f"{card.name}: every row has a positive label {positive}; two are needed")
    if card.expect.classes is not None and classes != card.expect.classes:
        raise DataError(f"{card.name}: the classes are {classes}, the card expects {card.expect.classes}")


def _class_numbers(labels: np.ndarray) -> np.ndarray:
    """Return the number of each of the ``labels`` (n_rows,) among the sorted ones, int8."""
    numbers = {label: number for number, label in enumerate(sort_labels(labels))}
    return np.array([numbers[label] for label in labels], dtype=np.int8)


def _kinds(card: Card, rows: pd.DataFrame) -> Iterable[tuple[str, str]]:
    """Return the input columns with their kinds. ``*`` becomes every other column that arrived."""
    for name, kind in card.columns.items():
        if kind in NO_INPUTS:
            continue
        if name == "*":
            yield from ((other, kind) for other in rows.columns if other not in card.columns)
        else:
            yield name, kind


def _column(card: Card, name: str, kind: str, values: pd.Series) -> np.ndarray | pd.Categorical:
    # Each distinct value is converted only once: KDD Cup 98 has 90 million values.
    codes, distinct = pd.factorize(values)  # -1 for missing, which selects the last element below
    if kind != "nominal":
        numbers = pd.to_numeric(pd.Series(list(distinct), dtype=object), errors="coerce")
        numbers = numbers.to_numpy(np.float64, copy=True)
        is_no_number = ~np.isfinite(numbers)
        if kind == "infer":
            kind = "nominal" if is_no_number.any() else "numeric"
    if kind == "nominal":
        texts = [as_text(value) for value in distinct]
        levels = card.levels.get(name) or sorted(set(texts))
        position = {text: number for number, text in enumerate(levels)}
        if unlisted := [number for number, text in enumerate(texts) if text not in position]:
            row = int(values.index[np.argmax(codes == unlisted[0])])
            raise RowError(
                f"{card.name}: row {row + 1} has {texts[unlisted[0]]!r} in column {name!r}, which is not among its "
                f"levels on the card{did_you_mean(texts[unlisted[0]], levels)}",
                row,
            )
        recoded = np.array([*(position[text] for text in texts), -1])[codes]
        return pd.Categorical.from_codes(recoded, categories=pd.Index(levels, dtype=object))
    if is_no_number.any():
        first = int(np.argmax(is_no_number))
        row = int(values.index[np.argmax(codes == first)])
        raise RowError(
            f"{card.name}: column {name!r} is numeric on the card, but row {row + 1} holds {distinct[first]!r}", row
        )
    numbers[np.isin(numbers, [float(code) for code in card.missing_codes.get(name, [])])] = np.nan
    return np.append(numbers, np.nan)[codes]


def _weights(card: Card, name: str, values: pd.Series) -> np.ndarray:
    """Return (n_rows,) the weights of the rows. Raise RowError where one is no number of at least 0."""
    weight = np.asarray(pd.to_numeric(values.astype(object), errors="coerce"), dtype=np.float64)
    if (bad := ~(np.isfinite(weight) & (weight >= 0))).any():
        row = int(values.index[np.argmax(bad)])
        raise RowError(
            f"{card.name}: row {row + 1} has the weight {values[row]!r} in column {name!r}; give finite weights of at "
            "least 0",
            row,
        )
    if not weight.any():
        raise DataError(f"{card.name}: column {name!r} is 0 in every row; give a weight above 0")
    return weight


def prepare_columns(preparation: Preparation, X: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the prepared columns, and which rows they hold.

    ``X`` (n_rows, n_columns) has float64 and categorical columns. The first result has the rows where the second,
    (n_rows,) bool, is True. Levels are coded before rows are dropped, and scales come from the other rows. Nominal
    columns are not scaled unless they are coded. The divisor of the standard deviation is n, and a constant column
    becomes 0. So does a column without a value that is filled with its mean.
    """
    if preparation.nominal == "codes":
        X = X.copy(deep=False)
        for name in X.columns[[isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes]]:
            codes = X[name].cat.codes.to_numpy(np.float64)
            X[name] = np.where(codes < 0, np.nan, codes)
    is_complete = np.ones(len(X), dtype=bool)
    if preparation.missing == "drop_rows":
        is_complete = ~X.isna().to_numpy().any(axis=1)
        X = X[is_complete].reset_index(drop=True)
    numeric = [name for name, column in X.items() if not isinstance(column.dtype, pd.CategoricalDtype)]
    # Sums then go row by row, so that they are the same on every machine.
    numbers = np.ascontiguousarray(X[numeric].to_numpy(np.float64))
    present = ~np.isnan(numbers)
    counts = np.maximum(present.sum(axis=0), 1)
    if preparation.missing == "column_mean":
        numbers = np.where(present, numbers, np.where(present, numbers, 0.0).sum(axis=0) / counts)
        present, counts = np.ones_like(present), np.maximum(len(numbers), 1)
    if preparation.scale == "all_rows":
        # Values that are still missing do not count, and stay missing.
        centred = numbers - np.where(present, numbers, 0.0).sum(axis=0) / counts
        spread = np.sqrt(np.where(present, centred * centred, 0.0).sum(axis=0) / counts)
        numbers = centred / np.where(spread == 0, 1.0, spread)
    prepared = dict(zip(numeric, numbers.T, strict=True))
    return pd.DataFrame({name: prepared.get(name, column) for name, column in X.items()}), is_complete


def _in_sorted_order(dataset: Dataset) -> Dataset:
    keys = [
        column.cat.codes.to_numpy() if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()
        for _, column in dataset.X.items()
    ]
    strata, weight = dataset.strata, dataset.weight
    # lexsort sorts by its last key first.
    rows = [*([] if weight is None else [weight]), dataset.y if strata is None else strata, *reversed(keys)]
    order = np.lexsort(rows)
    return Dataset(
        dataset.card,
        dataset.X.iloc[order].reset_index(drop=True),
        dataset.y[order],
        strata=None if strata is None else strata[order],
        weight=None if weight is None else weight[order],
    )
