"""Traps of a table: what makes results too good, named beside the verdict with the option that helps."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from probcal._io import join_first
from probcal.data.dataset import Dataset
from probcal.reading.table_plan import card_names
from probcal.runner.cell_rows import split_rows
from probcal.try_table.column_types import TableColumn
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.warning_codes import shown_warnings

NEAR_PERFECT = 0.995
"""An AUC of one column alone above this is no luck."""
# An AUC of the missing values of one column above this needs a reason.
_SUSPICIOUS_AUC = 0.9
# One column is judged by so many rows. More would take seconds.
_MOST_ROWS = 2_000
_MOST_COLUMNS = 500
# Larger numbers do not fit into the float32 of scikit-learn's trees.
_LARGEST_NUMBER = 3e38
# Fewest rows of a class to judge a column by.
_FEWEST_ROWS = 10
_MOST_NAMES = 4
# In a smaller table, a column can follow the labels by chance.
_FEWEST_TABLE_ROWS = 20
# Different values for each class. A column with more is no copy of the target, and can separate rows by chance.
_MOST_VALUES = 20
_FEWEST_GROUPS = 10
# Least share of rows whose group has another row. A mean of rows per group hides few groups of many rows.
_LEAST_GROUPED = 0.1
# Groups per row. With fewer, the column is an ordinary category.
_GROUPS_PER_ROW = 0.02
_GROUP_NAME = re.compile(
    r"(?i)(.*[ _.-])?(account|case|client|contract|customer|device|household|kunde|loan|machine|member|order|patient"
    r"|person|policy|school|site|store|student|subject|supplier|user|batch)(s|[ _.-]?(id|no|nr|number|name|key))?"
)
_ID_NAME = re.compile(r"(?i:(.*[ _.-])?(id|uuid|guid|key|nr|no))|.*[a-z](ID|Id|No|Nr)")
_TIME_NAME = re.compile(
    r"(?i:(.*[ _.-])?(time|date|timestamp|epoch|unix|ts|at|created|updated)s?)|.*[a-z](Time|Date|At)"
)
# The years 1990 to 2100 as seconds since 1970.
_SECONDS = (631_152_000, 4_102_444_800)
# Dates of eight digits.
_FIRST_DATE, _LAST_DATE = 19_000_101, 21_001_231
# A smaller share of test rows with a copy among the training rows changes no result.
_MOST_COPIES = 0.005
_SPLITS_FOR_COPIES = 5
_SHUFFLES = 20
# The hashes of a row's columns are the digits of a number with this base, modulo 2^64.
_HASH_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Traps:
    """Hold what speaks against the results. ``leaks`` are columns that may give the answer away."""

    leaks: list[str]
    lines: list[str]


def find_traps(prepared: PreparedTable, dataset: Dataset, seed: int) -> Traps:
    """Return the traps of a table. ``dataset`` holds the used rows, and ``seed`` is that of the splits."""
    y, columns = dataset.y, prepared.inputs
    leaks: dict[str, tuple[str, str]] = {}
    for code, found in (
        ("leak-missing", _missing_value_leaks(columns, prepared.rows, y)),
        ("leak-label", _label_copy_leaks(prepared)),
        ("leak-column", _near_perfect_leaks(columns, prepared.rows, y)),
    ):
        for name, line in found:
            leaks.setdefault(name, (code, line))
    lines = [*leaks.values(), *(("identifier", line) for line in _identifier_columns(columns))]
    if line := _copied_rows(dataset, prepared, seed):
        lines.append(("copies", line))
    if prepared.split.kind != "time_ordered":
        lines += [("dates", line) for line in _date_columns(columns, prepared.split.kind == "group_k_fold")]
    if prepared.split.kind != "group_k_fold":
        lines += [("groups", line) for line in _group_columns(prepared)]
    ignored = prepared.ignored
    return Traps([name for name, (code, _) in leaks.items() if code not in ignored], [*shown_warnings(lines, ignored)])


def _label_copy_leaks(prepared: PreparedTable) -> Iterator[tuple[str, str]]:
    """Yield each column whose few values, a missing one too, all occur with only one label."""
    labels, names = pd.factorize(prepared.target.labels[prepared.target.label_mask])
    n = len(labels)
    if n < _FEWEST_TABLE_ROWS:
        return
    most = min(_MOST_VALUES * len(names), n / 4)
    for column in prepared.inputs:
        # the first rows tell of most columns that they have too many values
        if column.values.iloc[: 2 * int(most) + 2].nunique() > most:
            continue
        codes, values = pd.factorize(column.values, use_na_sentinel=False)
        is_coarse = len(values) <= most
        if is_coarse and len(np.unique(codes * len(names) + labels)) == len(values):
            yield (
                column.name,
                f'"{column.name}" alone determines the target in every row. Unless you know it beforehand, '
                f"--drop {_shell_word(column.name)}",
            )


def _missing_value_leaks(
    columns: Sequence[TableColumn], rows: npt.NDArray[np.intp], y: npt.NDArray[Any]
) -> Iterator[tuple[str, str]]:
    for column in columns:
        empty = column.values.iloc[rows].isna().to_numpy()
        if _FEWEST_ROWS <= empty.sum() <= len(empty) - _FEWEST_ROWS:
            auc = max(_auc(y, empty.astype(float)), _auc(y, 1.0 - empty))
            if auc >= _SUSPICIOUS_AUC:
                yield (
                    column.name,
                    f'"{column.name}": whether it is missing tells the class (AUC {auc:.3f} alone). It may be filled '
                    f"in only after the outcome; if so, --drop {_shell_word(column.name)}",
                )


def _near_perfect_leaks(
    columns: Sequence[TableColumn], rows: npt.NDArray[np.intp], y: npt.NDArray[Any]
) -> Iterator[tuple[str, str]]:
    """Yield each column that predicts other rows nearly without an error, as a tree of this column alone does."""
    if np.bincount(y).min() < _FEWEST_ROWS:
        return
    sample = _sample_rows(y)
    # a fixed seed here and below, so that the same table always has the same traps
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for column in columns[:_MOST_COLUMNS]:
        values = column.values.iloc[rows[sample]]
        is_category = isinstance(values.dtype, pd.CategoricalDtype)
        numbers = np.where(values.isna(), -1, values.cat.codes) if is_category else values.to_numpy(np.float64)
        numbers = np.clip(numbers, -_LARGEST_NUMBER, _LARGEST_NUMBER)
        tree = DecisionTreeClassifier(min_samples_leaf=5, max_leaf_nodes=50, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            p = cross_val_predict(tree, numbers.reshape(-1, 1), y[sample], cv=folds, method="predict_proba")
        auc = _auc(y[sample], p[:, 1] if p.shape[1] == 2 else p)
        if auc > NEAR_PERFECT:
            yield (
                column.name,
                f'"{column.name}" alone tells the class (AUC {auc:.4f}). If it is known only after the outcome, '
                f"--drop {_shell_word(column.name)}",
            )


def _sample_rows(y: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return at most 2,000 row numbers, and among them up to 500 of each class."""
    random = np.random.default_rng(0)
    limit = max(_MOST_ROWS // (int(y.max()) + 1), _FEWEST_ROWS)
    parts = [random.permutation(np.flatnonzero(y == label))[:limit] for label in np.unique(y)]
    return np.sort(np.concatenate(parts))


def _auc(y: npt.NDArray[Any], score: npt.NDArray[np.float64]) -> float:
    """Return the AUC of a score (n,), or of (n, n_classes) probabilities as the mean of one class against the rest."""
    if score.ndim == 2:
        return float(roc_auc_score(y, score, multi_class="ovr"))
    classes = np.unique(y)
    if len(classes) == 2:
        return float(roc_auc_score(y, score))
    return float(np.mean([max(auc := roc_auc_score(y == label, score), 1 - auc) for label in classes]))


def _identifier_columns(columns: Sequence[TableColumn]) -> Iterator[str]:
    for column in columns:
        if column.kind != "number" or not _ID_NAME.fullmatch(column.name):
            continue
        if (column.values.dropna() % 1 == 0).all():  # decimal numbers measure something
            yield (
                f'"{column.name}" is used as a number, and its name is that of an identifier; if it only counts or '
                f"names rows, --drop {_shell_word(column.name)}"
            )


def _copied_rows(dataset: Dataset, prepared: PreparedTable, seed: int) -> str:
    """Return how many test rows of the first splits have an equal row among the training rows of their split."""
    card, X = dataset.card, dataset.X
    assert isinstance(X, pd.DataFrame)
    labels = dataset.y if dataset.strata is None else dataset.strata
    splits = [
        split_rows(card.split, card.seeding_name, X, labels, number, seed)
        for number in range(min(prepared.split.folds, _SPLITS_FOR_COPIES))
    ]
    inputs = X.drop(columns=prepared.split.column) if prepared.split.column else X
    values = [pd.util.hash_array(labels)]
    values += [
        pd.util.hash_pandas_object(inputs.iloc[:, index], index=False).to_numpy() for index in range(inputs.shape[1])
    ]
    share = _share_of_equal_rows(values, splits)
    if share < _MOST_COPIES:
        return ""
    random = np.random.default_rng(0)
    # Rows of a few coarse columns are equal without being copies. So there must be twice as many as after columns are
    # shuffled one by one, in each of several shuffles.
    for _ in range(_SHUFFLES):
        if 2 * _share_of_equal_rows([values[0], *(random.permutation(codes) for codes in values[1:])], splits) > share:
            return ""
    percent = f"{100 * share:.0f}" if share >= 0.1 else f"{100 * share:.2g}"
    return (
        f"{percent} % of the test rows have the same inputs and label as a training row. If these are the same case "
        "twice, remove the copies from the file"
    )


def _share_of_equal_rows(
    values: Sequence[npt.NDArray[np.uint64]], splits: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]
) -> float:
    """Return the share of test rows with an equal training row. ``values`` has the hashes of each column, (n_rows,)."""
    rows = np.zeros(len(values[0]), np.uint64)
    for column in values:
        rows = rows * _HASH_BASE + column
    n_equal = sum(int(np.isin(rows[test], rows[train]).sum()) for train, test in splits)
    return n_equal / sum(len(test) for _, test in splits)


def _date_columns(columns: Sequence[TableColumn], has_groups: bool) -> Iterator[str]:
    dates = [column.name for column in columns if column.kind == "date" or _has_dates_as_numbers(column)]
    if dates:
        split, suffix = ("in groups", " in place of --group") if has_groups else ("at random", "")
        names = join_first((f'"{name}"' for name in dates), _MOST_NAMES)
        yield (
            f"{names}: rows have dates, and they are split {split}. If you will predict later rows from earlier ones, "
            f"these results are too good; --time {_shell_word(dates[0])}{suffix} tests on later rows"
        )


def _has_dates_as_numbers(column: TableColumn) -> bool:
    """Return whether all numbers of a column are dates such as 19900330, or seconds since 1970 by size and name."""
    values = column.values.dropna().to_numpy() if column.kind == "number" else np.zeros(0)
    if not len(values) or not (values % 1 == 0).all():
        return False
    first, last = values.min(), values.max()
    if last < min(_SECONDS[0], _FIRST_DATE) or len(values := np.unique(values)) < _FEWEST_ROWS:
        return False
    # in seconds, or in milliseconds as programs in Java write them
    is_since_1970 = any(_SECONDS[0] * unit <= first and last <= _SECONDS[1] * unit for unit in (1, 1_000))
    if _TIME_NAME.fullmatch(column.name) and is_since_1970:
        return True
    months, days = values // 100 % 100, values % 100
    is_date = (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)
    return bool(first >= _FIRST_DATE and last <= _LAST_DATE and is_date.all())


def _group_columns(prepared: PreparedTable) -> Iterator[str]:
    n = prepared.n_labelled
    suffix = " in place of --time" if prepared.split.kind == "time_ordered" else ""
    for place, name in enumerate(card_names(prepared.table.names)):
        if name == prepared.target.name or not is_group_name(name):
            continue
        values = prepared.raw_column(place)
        sizes = values.value_counts().to_numpy()
        n_grouped = int(sizes[sizes > 1].sum())
        if len(sizes) >= max(_FEWEST_GROUPS, _GROUPS_PER_ROW * n) and n_grouped >= _LEAST_GROUPED * sizes.sum():
            yield (
                f'"{name}": {100 * n_grouped / sizes.sum():.0f} % of the rows have the value of another row, and such '
                "rows can be in both training and test rows. If you will predict for new ones, "
                f"--group {_shell_word(name)}{suffix} keeps them together"
            )


def is_group_name(name: str) -> bool:
    """Return whether the name of a column is that of a person, an account, a device or the like."""
    return _GROUP_NAME.fullmatch(name) is not None


def _shell_word(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'
