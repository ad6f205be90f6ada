"""The folder that ``probcal try --export`` writes, as a classifier in a program and as a script for files."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain, count
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin

from probcal._io import data_text, join_first
from probcal.errors import DataError, ProbcalError
from probcal.reading.levels import class_labels
from probcal.reading.table_plan import (
    NewRows,
    TablePlan,
    card_names,
    clip_probabilities,
    load_table_plan,
    probability_names,
    read_inputs,
)
from probcal.reading.text_column import is_text, raw_texts, text_of

_USAGE = "usage: python predict.py new.csv > predicted.csv    (- reads standard input)"


def load(folder: str | Path) -> ExportedModel:
    """Load a model that ``probcal try --export`` wrote.

    The file ``model.joblib`` of the folder is a pickle, which can run any code. Load only folders that you made, or
    whose maker you trust.

    Parameters
    ----------
    folder : str or path
        The folder of ``--export``.

    Returns
    -------
    ExportedModel
        The model, which predicts frames as the file of the training rows had them.

    Raises
    ------
    DataError
        If the folder holds no such model, or the model cannot be loaded, because a package of it is missing.

    See Also
    --------
    ExportedModel : What is returned.

    Examples
    --------
    >>> import probcal
    >>> model = probcal.load("model")  # doctest: +SKIP
    >>> model.predict_proba(frame)[:, 1]  # doctest: +SKIP
    """
    import joblib

    folder = Path(folder)
    if not folder.is_dir():
        fault = "is a file, not a folder" if folder.exists() else "there is no such folder"
        raise DataError(f"{folder}: {fault}; name the one of probcal try --export")
    file = folder / "model.joblib"
    if absent := [name for name in ("columns.json", file.name) if not (folder / name).exists()]:
        raise DataError(
            f"{folder}: holds no exported model, because {absent[0]} is missing; name the folder of "
            "probcal try --export"
        )
    plan = load_table_plan(folder / "columns.json")
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    if digest != plan.model:
        warnings.warn(f"{file} is not the file that was exported; the model card describes another one", stacklevel=2)
    try:
        pipeline = joblib.load(file)
    except ModuleNotFoundError as error:
        raise DataError(f"{file}: needs the module {error.name}; install the package that has it") from None
    except Exception as error:  # a pickle of other versions, or a damaged one, can raise anything
        raise DataError(
            f"{file}: cannot be loaded ({type(error).__name__}: {error}); install the versions of its model card, or "
            "export the model again"
        ) from error
    return ExportedModel(pipeline, plan)


class ExportedModel(ClassifierMixin, BaseEstimator):
    """Predict rows as their file has them: with dates, amounts of money and words for missing values.

    ``load`` returns it. In ``FrozenEstimator`` of scikit-learn it can be calibrated or decided on, like any fitted
    classifier.

    Parameters
    ----------
    pipeline : classifier
        The fitted pipeline of the folder.
    plan : TablePlan
        How the columns of the training rows were read.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes: whole numbers if all labels are, and texts otherwise. The second of two is the positive
        one.
    inputs_ : list of str
        Names of the columns that the model needs.
    threshold_ : float or None
        From which probability ``decide`` decides for the positive label. None if the trial had no ``--cost``.

    See Also
    --------
    load : Loads it from a folder.

    Examples
    --------
    >>> model = probcal.load("model")  # doctest: +SKIP
    >>> model.decide(frame)  # doctest: +SKIP
    """

    def __init__(self, pipeline: Any, plan: TablePlan) -> None:
        self.pipeline = pipeline
        self.plan = plan
        self.classes_ = class_labels(plan.classes)
        self.inputs_ = list(dict.fromkeys(column.source or column.name for column in plan.inputs))
        self.threshold_ = plan.threshold

    def fit(self, rows: Any, y: Any) -> ExportedModel:
        """Refuse, because the script ``train.py`` of its folder fits it anew.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("an exported model is fitted by the train.py of its folder; wrap it in FrozenEstimator")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, rows: Any) -> npt.NDArray[Any]:
        """Predict the most probable label of each row, whatever the threshold is. ``decide`` applies the threshold.

        Parameters
        ----------
        rows : DataFrame of shape (n_rows, n_columns), str or path
            As in ``predict_proba``.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels of ``classes_``.

        Raises
        ------
        DataError
            As in ``predict_proba``.
        """
        return np.asarray(self.classes_[self.predict_proba(rows).argmax(axis=1)])

    def predict_proba(self, rows: Any) -> npt.NDArray[np.float64]:
        """Predict the probabilities of the classes.

        Parameters
        ----------
        rows : DataFrame of shape (n_rows, n_columns), str or path
            A frame of pandas or polars with the columns of the training file, in any order, or a file of such rows.
            Values may be texts as the file had them, or dates and numbers. Columns that are no inputs are ignored.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of ``classes_``.

        Raises
        ------
        DataError
            If a column is missing, or a value is not written as in the training rows.

        Warns
        -----
        UserWarning
            If a category did not occur in the training rows.
        """
        read = read_inputs(_frame_or_path(rows), self.plan)
        for text in read.warnings:
            warnings.warn(text, stacklevel=2)
        return self._probabilities(read)

    def decide(self, rows: Any, threshold: float | None = None) -> np.ndarray:
        """Decide for a label in each row.

        Parameters
        ----------
        rows : DataFrame of shape (n_rows, n_columns), str or path
            Rows as in ``predict_proba``.
        threshold : float or None, default=None
            The positive label is chosen from this probability up. None means ``threshold_``, which makes the cost of
            the trial's ``--cost`` lowest, or the most probable label if there is none.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.

        Raises
        ------
        DataError
            As ``predict_proba``.
        ValueError
            If there are more than two classes and a threshold is given, or it is not from 0 to 1.
        """
        threshold = self.threshold_ if threshold is None else threshold
        if threshold is not None and len(self.classes_) > 2:
            raise ValueError(f"a threshold is for two classes, and the model has {len(self.classes_)}")
        if threshold is not None and not _is_probability(threshold):
            raise ValueError(f"threshold must be a probability from 0 to 1, not {threshold!r}")
        p = self.predict_proba(rows)
        places = p.argmax(axis=1) if threshold is None else (p[:, 1] >= threshold).astype(int)
        return np.asarray(self.classes_[places])

    def with_probabilities(self, source: str | Path) -> tuple[str, list[str]]:
        """Return a file as CSV with the probabilities of the model, and warnings.

        The columns are the number of the row, those of the table, and the probability of the positive class or of each
        of several classes. Where the table has a column of that name, theirs ends in ``.1``. Columns that an earlier
        run added are replaced, so that the output may be an input again.

        Parameters
        ----------
        source : str or path
            A table in any format that ``probcal try`` reads, or ``-`` for standard input.

        Returns
        -------
        text : str
            The table as CSV.
        warnings : list of str
            What was doubtful.

        Raises
        ------
        DataError
            If the table cannot be read or does not fit the model.
        """
        rows = read_inputs(source, self.plan)
        p = self._probabilities(rows)
        probabilities = p[:, 1:] if len(self.plan.classes) == 2 else p
        header = list(rows.table.names)
        frame = pd.DataFrame(dict(enumerate(map(_output_texts, rows.table.as_written.columns))))
        if old_columns := _earlier_columns(header, self.plan):
            names = join_first((f'"{header[index]}"' for index in old_columns), 5)
            rows.warnings.append(f"the columns {names} of an earlier run of predict.py are replaced")
            frame = frame.drop(columns=old_columns)
        table_names = [header[index] for index in frame.columns]
        number_name, *p_names = _added_names(table_names, self.plan.classes)
        cells = frame.astype(object).where(frame.notna(), "")
        lines: Iterator[list[str]] = (
            [str(number), *row, *(f"{value:.6g}" for value in row_p)]
            for number, (row, row_p) in enumerate(zip(cells.to_numpy(), probabilities, strict=True), 1)
        )
        return data_text([[number_name, *table_names, *p_names], *lines]), rows.warnings

    def _probabilities(self, rows: NewRows) -> npt.NDArray[np.float64]:
        return clip_probabilities(self.pipeline.predict_proba(rows.X), self.plan.bound)


def predict_script(folder: Path, arguments: Sequence[str]) -> None:
    """Do what the script ``predict.py`` of a folder does: print a table with the probabilities of the model."""
    if len(arguments) != 1 or arguments[0] in ("-h", "--help"):
        sys.exit(_USAGE)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            text, notes = load(folder).with_probabilities(arguments[0])
    except ProbcalError as error:
        sys.exit(f"error: {error}")
    for warning in [*(str(one.message) for one in caught if one.category is UserWarning), *notes]:
        print(f"warning: {warning}", file=sys.stderr)
    sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
    sys.stdout.write(text)


def _is_probability(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1


def _frame_or_path(rows: Any) -> pd.DataFrame | str | Path:
    if isinstance(rows, str | Path | pd.DataFrame):
        return rows
    if hasattr(rows, "to_pandas"):  # of polars or arrow
        frame = rows.to_pandas()
        if isinstance(frame, pd.DataFrame):
            return frame
    raise TypeError(f"rows must be a frame with named columns or the path of a file, not {type(rows).__name__}")


def _output_texts(column: pa.ChunkedArray) -> pd.Series:
    """Return (n_rows,) the values of a column as text. Texts keep every blank, line break and word for no value."""
    if pa.types.is_null(column.type):
        return pd.Series([""] * len(column), dtype=object)
    if is_text(column.type):
        return pd.Series(raw_texts(column), dtype=object)
    text = text_of(column)
    return text.with_words(text.words).categories()


def _added_names(header: Sequence[str], classes: Sequence[str]) -> list[str]:
    """Return the names of the row number and of the probabilities, none of which is in ``header``."""
    names = []
    for name in ("row", *probability_names(classes)):
        candidates = chain([name], (f"{name}.{number}" for number in count(1)))
        names.append(next(candidate for candidate in candidates if candidate not in header))
    return names


def _earlier_columns(header: Sequence[str], plan: TablePlan) -> list[int]:
    """Return the indices of the columns that ``with_probabilities`` added to this table before, or none."""
    end = len(header) - len(probability_names(plan.classes))
    number_name, *p_names = _added_names(header[1:end], plan.classes)
    indices = [0, *range(end, len(header))]
    # an input of the model is never such a column, because its values are needed
    inputs = {column.source or column.name for column in plan.inputs}
    is_match = end > 0 and [header[index] for index in indices] == [number_name, *p_names]
    return indices if is_match and inputs <= set(card_names(header[1:end])) else []
