"""The values of many metrics at once: of all rows, as means over several labels, and of groups of rows."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.checked_rows import checked_numbers
from probcal.metrics.label_columns import number_labels
from probcal.metrics.metric import Prediction
from probcal.metrics.registry import METRICS, NAMED, find_metric, metric_named

if TYPE_CHECKING:
    import pandas as pd

# The metrics of a group. A model can be calibrated on all rows and wrong in a part of them.
_GROUP_METRICS = ("cxe", "rms", "c_emp", "c_emp_p", "slope", "intercept")


def all_metrics(
    y: Any,
    p: Any,
    sample_weight: Any = None,
    true_p: Any = None,
    *,
    also: Iterable[str] = (),
    pos_label: Any = None,
    labels: Any = None,
) -> dict[str, float]:
    """Return every metric of ``METRICS`` by its name.

    If the rows lack a class, the AUC is NaN, and the other metrics of ``METRICS`` have values. A cost is NaN for three
    or more classes.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    true_p : array-like of shape (n_rows,), default=None
        True P(y = 1), for two classes only. With them, the metrics of the truth are returned too.
    also : iterable of str, default=()
        Names of ``ASKED_METRICS`` and of expected costs, such as ``cost(0.05)``. Other names are ignored.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    dict of str to float
        Value of each metric by name.

    Raises
    ------
    ValueError
        If an argument is invalid (see ``probcal.metrics``).
    """
    return metrics_of(Prediction(*number_labels(y, p, pos_label, labels), sample_weight, true_p), also=also)


def metrics_of(prediction: Prediction, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Return what ``all_metrics`` does, for labels that are known to be the numbers of the columns."""
    wanted = [metric for name in (*METRICS, *also) if (metric := find_metric(name))]
    return {
        metric.name: metric.value(prediction)
        for metric in wanted
        if metric.value is not None and (prediction.true_p is not None or not metric.of_the_truth)
    }


def means_over_labels(y: Any, p: Any, true_p: Any = None, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Return the mean over several labels of the metrics of each label.

    Each label has two classes and is measured by ``all_metrics``.

    Parameters
    ----------
    y : array-like of shape (n_rows, n_labels)
        Observed labels 0 and 1.
    p : array-like of shape (n_rows, n_labels) or (n_rows, n_labels, 2)
        Predicted P(y = 1), or predicted probabilities of both classes, of each label.
    true_p : array-like of shape (n_rows, n_labels), default=None
        True P(y = 1) of each label. With them, the metrics of the truth are returned too.
    also : iterable of str, default=()
        Names of ``ASKED_METRICS`` and of expected costs, such as ``cost(0.05)``. Other names are ignored.

    Returns
    -------
    dict of str to float
        Mean of each metric by name.

    Raises
    ------
    ValueError
        If ``y``, ``p`` and ``true_p`` have different numbers of labels, or another argument is invalid (see
        ``probcal.metrics``).
    """
    y, p = np.asarray(y), np.asarray(p)
    truths = [None] * y.shape[1] if true_p is None else list(np.asarray(true_p).T)
    of_labels = zip(y.T, np.moveaxis(p, 1, 0), truths, strict=True)
    each = [all_metrics(*label[:2], true_p=label[2], also=also) for label in of_labels]
    return {name: fmean(one[name] for one in each) for name in each[0]}


def metrics_by_group(
    y: Any,
    p: Any,
    groups: Any,
    sample_weight: Any = None,
    *,
    metrics: Iterable[str] | None = None,
    pos_label: Any = None,
    labels: Any = None,
) -> pd.DataFrame:
    """Return a table of metrics with a line for each group of rows, and a line for all rows.

    First compare ``mean_prediction`` with ``base_rate``. Then look at ``c_emp_p``: a group with a small p-value is
    miscalibrated by more than chance. With k groups, compare the p-value with .05 / k.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Observed labels.
    p : array-like of shape (n_rows,) or (n_rows, n_classes)
        Predicted P(y = 1), or predicted probabilities of all classes.
    groups : array-like of shape (n_rows,)
        Group of each row: a text, a number or a missing value. Missing values are a group of their own.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights of the rows. None means equal weights.
    metrics : iterable of str, default=None
        Names from ``METRICS`` and ``ASKED_METRICS``, and costs such as ``cost(0.05)``. Metrics that need the true
        probabilities are not allowed. None means log loss in bits, RMS error, c_emp and its p-value, and with two
        classes also slope and intercept.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for two classes only.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, such as ``model.classes_``.

    Returns
    -------
    pandas.DataFrame
        Table indexed by group, in rising order, with "all" last. The columns are ``rows``, the number of rows of
        positive weight, ``base_rate``, ``mean_prediction`` and the metrics. With three or more classes, the table has
        no ``base_rate`` and no ``mean_prediction``. A metric is NaN where a group has no value, such as a slope with
        one class. Groups without a row of positive weight are left out.

    Raises
    ------
    ValueError
        If a name is no metric, or is a metric that needs the true probabilities. Also if ``groups`` has another length
        than ``y``, or another argument is invalid (see ``probcal.metrics``).
    """
    import pandas as pd

    y, p = number_labels(y, p, pos_label, labels)
    two_classes = checked_numbers(y, p, sample_weight).p.ndim == 1
    usual = [name for name in _GROUP_METRICS if two_classes or not metric_named(name).two_classes]
    names = usual if metrics is None else list(metrics)
    for name in names:
        metric = find_metric(name)
        if metric is None or metric.value is None or metric.of_the_truth:
            known = [name for name in NAMED if (metric := metric_named(name)).value and not metric.of_the_truth]
            raise ValueError(f"{name!r} is no metric of a group (there are: {', '.join(known)}, cost(p))")
    y, p = map(np.asarray, (y, p))
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    if np.shape(groups) != y.shape:
        raise ValueError(f"groups must be of shape ({len(y)},), a group for each row, not {np.shape(groups)}")
    typed = isinstance(groups, np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray)
    # beside a missing value, pandas would make the whole numbers of a list floats, which have 53 bits
    column = pd.Series(groups).reset_index(drop=True) if typed else pd.Series(list(groups), dtype=object)
    codes, group_names = pd.factorize(column, sort=True, use_na_sentinel=False)
    masks = [(name, codes == code) for code, name in enumerate(group_names) if weight[codes == code].any()]
    # "all" comes last, after the groups in order, so that a group may have any name.
    masks.append(("all", np.full(len(y), True)))
    lines = [_line(y[mask], p[mask], weight[mask], names) for _, mask in masks]
    return pd.DataFrame(lines, index=pd.Index([name for name, _ in masks], dtype=object, name="group"))


def _line(y: np.ndarray, p: np.ndarray, weight: np.ndarray, names: list[str]) -> dict[str, float]:
    prediction = Prediction(y, p, weight)
    values = {name: metric.value(prediction) for name in names if (metric := find_metric(name)) and metric.value}
    about: dict[str, float] = {"rows": len(prediction.rows.y)}
    if prediction.rows.p.ndim == 1:
        about |= {"base_rate": prediction.base_rate, "mean_prediction": prediction.rows.mean(prediction.rows.p)}
    return about | values
