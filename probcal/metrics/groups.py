"""Metrics of subgroups: a model can be calibrated on all rows and wrong in a part of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.checked_rows import checked_numbers, numbered
from probcal.metrics.registry import NAMED, Prediction, find_metric

if TYPE_CHECKING:
    import pandas as pd

_MEASURED = ("cxe", "rms", "c_emp", "c_emp_p", "slope", "intercept")


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
        Label of the positive class, for two classes only. None means labels 0 to n_classes - 1, or texts with one
        column of ``p`` each.
    labels : array-like of shape (n_classes,), default=None
        All labels in rising order, which is the order of the columns of ``p``, such as ``model.classes_``. Give them if
        the rows may lack a class, or to compare one of several classes, ``pos_label``, with the others.

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

    y, p = numbered(y, p, pos_label, labels)
    two_classes = checked_numbers(y, p, sample_weight).p.ndim == 1
    usual = [name for name in _MEASURED if (one := find_metric(name)) and (two_classes or not one.two_classes)]
    names = usual if metrics is None else list(metrics)
    for name in names:
        metric = find_metric(name)
        if metric is None or metric.value is None or metric.of_the_truth:
            known = [one for one in NAMED if (found := find_metric(one)) and found.value and not found.of_the_truth]
            raise ValueError(f"{name!r} is no metric of a group (there are: {', '.join(known)}, cost(p))")
    y, p = map(np.asarray, (y, p))
    weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, float)
    if np.shape(groups) != y.shape:
        raise ValueError(f"groups must be of shape ({len(y)},), a group for each row, not {np.shape(groups)}")
    typed = isinstance(groups, np.ndarray | pd.Series | pd.Index | pd.api.extensions.ExtensionArray)
    # beside a missing value, pandas would make the whole numbers of a list floats, which have 53 bits
    column = pd.Series(groups).reset_index(drop=True) if typed else pd.Series(list(groups), dtype=object)
    codes, found = pd.factorize(column, sort=True, use_na_sentinel=False)
    places = [(name, codes == code) for code, name in enumerate(found)]
    places = [(name, inside) for name, inside in places if weight[inside].any()]
    places.append(("all", np.full(len(y), True)))
    lines = [_line(y[inside], p[inside], weight[inside], names) for _, inside in places]
    return pd.DataFrame(lines, index=pd.Index([name for name, _ in places], dtype=object, name="group"))


def _line(y: np.ndarray, p: np.ndarray, weight: np.ndarray, names: list[str]) -> dict[str, float]:
    one = Prediction(y, p, weight)
    values = {name: metric.value(one) for name in names if (metric := find_metric(name)) and metric.value}
    about: dict[str, float] = {"rows": len(one.rows.y)}
    if one.rows.p.ndim == 1:
        about |= {"base_rate": one.share, "mean_prediction": one.rows.mean(one.rows.p)}
    return about | values
