"""The rows of the file of ``probcal try --test``, read as the training file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from probcal._io import counted, join_first, printable, wrap_line
from probcal.errors import DataError, did_you_mean
from probcal.metrics.row_support import row_support
from probcal.reading.table import STANDARD_INPUT, UserTable, read_table
from probcal.reading.table_plan import card_names, inputs_of, needed_columns
from probcal.reading.text_column import text_of
from probcal.try_table.column_types import as_categories
from probcal.try_table.new_rows import read_labels, read_weights
from probcal.try_table.preparation import PreparedTable
from probcal.try_table.split_choice import group_column
from probcal.try_table.warning_codes import shown_warnings

Floats = npt.NDArray[np.float64]

_MOST_NAMES = 5


@dataclass(frozen=True)
class UnseenRows:
    """Hold the labelled rows of the file of ``--test``."""

    table: UserTable
    labelled: npt.NDArray[np.bool_]
    """(n_rows,) whether each row of the file has a label."""
    y: npt.NDArray[np.int64]
    """(n_labelled,) class numbers."""
    warnings: Sequence[str]
    """What to know before you trust their results."""
    weight: Floats | None = None
    """(n_labelled,) weights, all above 0. None without ``--weight``."""
    groups: tuple[str, npt.NDArray[np.intp]] | None = None
    """The column of ``--group`` and the number of the group of each row, (n_labelled,). None: rows are independent."""

    @property
    def cluster(self) -> npt.NDArray[np.intp] | None:
        """Return the number of the group of each row, (n_labelled,). None if rows are independent."""
        return None if self.groups is None else self.groups[1]

    @property
    def plan_lines(self) -> list[str]:
        """Return what will be done with the rows, for a terminal."""
        size = f"{self.table.origin_name}, {counted(len(self.y))} with a label"
        return wrap_line(printable(f"test: {size}; the winner predicts them once, after the ranking"))

    @property
    def warning_lines(self) -> Iterator[str]:
        """Yield the warnings for a terminal."""
        for warning in self.warnings:
            yield from wrap_line(f"warning: {printable(warning)}.")

    def inputs(self, prepared: PreparedTable, is_native: bool) -> pd.DataFrame:
        """Return the input columns of the rows, (n_labelled, n_inputs), as the learner needs them."""
        X = inputs_of(self.table, prepared.plan_of_new_rows(is_native)).X
        return X[self.labelled].reset_index(drop=True)


def read_unseen_rows(source: str, training_source: str, prepared: PreparedTable) -> UnseenRows:
    """Read the file ``source`` as the training file of ``prepared``, which was read from ``training_source``.

    Raises DataError for a file that cannot be read so, the training file itself, unknown labels and no labels.
    """
    if source == training_source == STANDARD_INPUT:
        raise DataError("--test -: standard input holds the training rows; give a file")
    plan = prepared.plan_of_new_rows()
    reading = replace(prepared.table.reading, is_of_another_file=True)
    table = read_table(source, reading, [*needed_columns(plan), plan.target])
    # standard input has the same name each time, and other rows
    is_same = table.digest is not None and table.digest == prepared.table.digest
    if is_same or (table.digest is None and table.origin == prepared.table.origin != "standard input"):
        raise DataError(
            f"--test {source}: has the same content as the training file; give rows that did not choose the winner"
        )
    rows, labels = inputs_of(table, plan), read_labels(table, plan)
    for label, row in labels.unknown.items():
        hint = did_you_mean(label, plan.labels) or f" (they have: {join_first(plan.labels, _MOST_NAMES)})"
        raise DataError(
            f'{table.where(row)}: column "{plan.target}" holds the label "{label}", and no training row does{hint}'
        )
    labelled, warnings = labels.y >= 0, [("test-level", warning) for warning in rows.warnings]
    n_unlabelled = int((~labelled).sum())
    weight = None if plan.weight is None else read_weights(table, plan.weight)
    if weight is not None and (n_weightless := int((labelled & (weight == 0)).sum())):
        labelled &= weight > 0
        verb = "is" if n_weightless == 1 else "are"
        warnings.append(("test-weightless", f"{counted(n_weightless)} of weight 0 {verb} left out"))
    if not labelled.any():
        raise DataError(f'{table.origin_name}: column "{plan.target}" is empty: no row has a label')
    y = labels.y[labelled]
    weight = None if weight is None else weight[labelled]
    if n_unlabelled:
        verbs = ("has", "is") if n_unlabelled == 1 else ("have", "are")
        of_all = f"{n_unlabelled:,} of {counted(table.n_rows)}"
        warnings.append(("test-unlabelled", f"{of_all} {verbs[0]} no {plan.target} and {verbs[1]} left out"))
    groups, group_warnings = _groups(table, prepared, labelled)
    warnings += [("test-groups", text) for text in group_warnings]
    warnings += [("test-copies", text) for text in _sentences_on_copies(rows.X[labelled], y, prepared)]
    warnings += [("test-classes", text) for text in _sentences_on_few_rows(y, plan.classes, weight, groups)]
    return UnseenRows(table, labelled, y, [*shown_warnings(warnings, prepared.ignored)], weight, groups)


def _groups(
    table: UserTable, prepared: PreparedTable, labelled: npt.NDArray[np.bool_]
) -> tuple[tuple[str, npt.NDArray[np.intp]] | None, list[str]]:
    """Return the column of groups with the group of each labelled row, and what to know about them."""
    if prepared.split.kind != "group_k_fold" or prepared.split_column is None:
        return None, []
    name, names = prepared.split_column.name, card_names(table.names)
    raw = table.columns[names.index(name)].filter(pa.array(labelled)) if name in names else None
    known = None if raw is None else as_categories(text_of(raw)).dropna()
    if raw is None or known is None or known.empty:
        return None, [f'the test file has no "{name}", so its rows count as independent: intervals may be too short']
    groups = group_column(name, raw).values.cat.codes.to_numpy(np.intp)
    n_shared = int(known.drop_duplicates().isin(prepared.split_column.values.cat.categories).sum())
    if not n_shared:
        return (name, groups), []
    verb = "is" if n_shared == 1 else "are"
    shared = f'{n_shared:,} of {counted(len(np.unique(groups)), "group")} of "{name}" {verb} in the training file, too'
    return (name, groups), [f"{shared}, so the results may be too good for new groups"]


def _sentences_on_copies(X: pd.DataFrame, y: npt.NDArray[Any], prepared: PreparedTable) -> Iterator[str]:
    train_X, train_y, _ = prepared.training_rows()
    training, unseen = _row_hashes(train_X[list(X.columns)], train_y), _row_hashes(X, y)
    n_copies = int(np.isin(unseen, training).sum())
    if not n_copies:
        return
    verb = "has" if n_copies == 1 else "have"
    sentence = (
        f"{n_copies:,} of {counted(len(y))} ({percent(n_copies / len(y))}) {verb} the same inputs and label as a "
        "training row. If these are the same cases, the results of the test rows are too good"
    )
    own_share = float(pd.Series(training).duplicated(keep=False).mean())
    if own_share:
        sentence += f" (of the training rows, {percent(own_share)} are equal to another one)"
    yield sentence


def _row_hashes(X: pd.DataFrame, y: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return (n_rows,) a number for each row, equal for rows of equal inputs and labels."""
    columns: dict[int | str, Any] = {"label": y.astype(np.int64)}
    for number, (_, values) in enumerate(X.items()):
        if isinstance(values.dtype, pd.CategoricalDtype):
            # the levels of two files may be stored as different types of text
            columns[number] = values.cat.rename_categories(values.cat.categories.astype(object)).to_numpy()
        else:
            columns[number] = values.to_numpy(np.float64) + 0.0  # so that -0 is 0
    return np.asarray(pd.util.hash_pandas_object(pd.DataFrame(columns), index=False), dtype=np.uint64)


def _sentences_on_few_rows(
    y: npt.NDArray[np.int64], classes: tuple[str, ...], weight: Floats | None,
    groups: tuple[str, npt.NDArray[np.intp]] | None,
) -> Iterator[str]:  # fmt: skip
    counts = np.bincount(y, minlength=len(classes))
    absent = [name for name, rows in zip(classes, counts, strict=True) if not rows]
    if absent:
        names = join_first((f'"{name}"' for name in absent), _MOST_NAMES)
        yield f"no test row is {names}, so measures that need every class are left out"
    weight, cluster = np.ones(len(y)) if weight is None else weight, None if groups is None else groups[1]
    support = row_support(y, np.full(len(y), 0.5), weight, classes, cluster=cluster, unit="group")
    if support.reason and not absent:
        yield f"{support.reason} are too few for some of the intervals"


def percent(share: float) -> str:
    """Return the share in percent, with three significant digits."""
    return f"{100 * share:.3g} %"
