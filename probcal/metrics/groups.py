"""Metrics of subgroups: a model can be calibrated on all rows and wrong in a part of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.checked_rows import checked, class_numbers
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
) -> pd.DataFrame:
    """Return a table with a line for each group of rows, and one for all rows.

    Look first at ``mean_prediction`` next to ``base_rate``, then at ``c_emp_p``: a group with a small p-value is
    miscalibrated by more than chance. With k groups, compare it with .05 / k.

    Parameters
    ----------
    y : labels, (n,).
    p : predicted probabilities, (n,) of P(y = 1), or (n, n_classes).
    groups : the group of each row, (n,): texts, numbers or missing values. Missing values are a group of their own.
    sample_weight : weights of the rows, (n,), or None.
    metrics : names of metrics, such as ``METRICS``, ``ASKED_METRICS`` and ``cost(0.05)``. None for log loss, RMS error,
        c_emp and its p-value, and with two classes slope and intercept.
    pos_label : label of the positive class, for two classes. None if ``y`` holds 0 and 1, or the class numbers.

    Returns
    -------
    pandas.DataFrame
        Indexed by group, in rising order, with "all" last. Columns: ``rows`` of positive weight, ``base_rate``,
        ``mean_prediction`` and the metrics. A metric is NaN where a group has no value, such as a slope with one class.
        With several classes there is no ``base_rate`` and no ``mean_prediction``.

    Raises
    ------
    ValueError
        For a name that is no metric, a metric that needs the true probabilities, groups of another length and invalid
        arguments (see ``probcal.metrics``).
    """
    import pandas as pd

    two_classes = checked(y, p, sample_weight, pos_label).p.ndim == 1
    usual = [name for name in _MEASURED if (one := find_metric(name)) and (two_classes or not one.two_classes)]
    names = usual if metrics is None else list(metrics)
    for name in names:
        metric = find_metric(name)
        if metric is None or metric.value is None or metric.of_the_truth:
            known = [one for one in NAMED if (found := find_metric(one)) and found.value and not found.of_the_truth]
            raise ValueError(f"{name!r} is no metric of a group (there are: {', '.join(known)}, cost(p))")
    labels, p = np.asarray(class_numbers(y, p, pos_label)), np.asarray(p)
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, float)
    if np.shape(groups) != labels.shape:
        raise ValueError(f"groups must be of shape ({len(labels)},), a group for each row, not {np.shape(groups)}")
    codes, found = pd.factorize(pd.Series(groups).reset_index(drop=True), sort=True, use_na_sentinel=False)
    places = [(name, codes == code) for code, name in enumerate(found)]
    places = [(name, inside) for name, inside in places if weight[inside].any()]
    places.append(("all", np.full(len(labels), True)))
    lines = [_line(labels[inside], p[inside], weight[inside], names) for _, inside in places]
    return pd.DataFrame(lines, index=pd.Index([name for name, _ in places], dtype=object, name="group"))


def _line(y: np.ndarray, p: np.ndarray, weight: np.ndarray, names: list[str]) -> dict[str, float]:
    one = Prediction(y, p, weight)
    values = {name: metric.value(one) for name in names if (metric := find_metric(name)) and metric.value}
    about: dict[str, float] = {"rows": len(one.rows.y)}
    if one.rows.p.ndim == 1:
        about |= {"base_rate": one.share, "mean_prediction": one.rows.mean(one.rows.p)}
    return about | values
