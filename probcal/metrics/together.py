"""Every metric of one prediction, from one sort."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import Any

import numpy as np

from probcal.metrics.calibration import binned, farthest, p_value, widest
from probcal.metrics.costs import cost
from probcal.metrics.losses import entropy_of, l1_error, n_errors, squared_error
from probcal.metrics.names import loss_parameter
from probcal.metrics.ranked import Ranked
from probcal.metrics.ranking import area_under_roc
from probcal.metrics.rows import Rows, checked, checked_two_classes


def all_metrics(
    y: Any, p: Any, sample_weight: Any = None, true_p: Any = None, *, also: Iterable[str] = ()
) -> dict[str, float]:
    """Every metric of ``METRICS`` by its short name; of several classes from one sort for each.

    ``also`` names those of ``ABOUT_ASKED`` that are wanted too, and expected costs, such as ``cost(0.05)``; other
    names in it are passed over. A small test set may lack a class. Its AUC is NaN, undefined, and the others stand; so
    is a cost of several classes. ``OF_THE_TRUTH``, ``l2`` and ``l_max`` are there where ``true_p``, (n,), the true
    P(y = 1) of each row, is given; for two classes only.
    """
    rows = checked(y, p, sample_weight)
    ranked = [Ranked.of(one) for one in rows.against_the_rest()]
    return {
        "rms": math.sqrt(squared_error(rows)),
        "cxe": entropy_of(rows, 2),
        "auc": area_under_roc(ranked),
        "c_emp": widest(ranked),
        "ece": binned(ranked),
        "ks": farthest(ranked),
        "c_emp_p": p_value(ranked),
        **_asked(rows, also),
        **({} if true_p is None else _of_the_truth(y, p, sample_weight, true_p, also)),
    }


def means_over_labels(y: Any, p: Any, true_p: Any = None, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Return the mean over the labels of ``all_metrics`` of each label.

    ``y`` and ``true_p`` are (n, n_labels). ``p`` is (n, n_labels), or (n, n_labels, 2) with both columns of each label.
    """
    y, p = np.asarray(y), np.asarray(p)
    truths = [None] * y.shape[1] if true_p is None else list(np.asarray(true_p).T)
    of_labels = zip(y.T, np.moveaxis(p, 1, 0), truths, strict=True)
    each = [all_metrics(*label[:2], true_p=label[2], also=also) for label in of_labels]
    return {name: fmean(one[name] for one in each) for name in each[0]}


def _asked(rows: Rows, also: Iterable[str]) -> dict[str, float]:
    found = {}
    for name in also:
        if name == "errors":
            found[name] = n_errors(rows)
        elif name == "log10_loss":
            found[name] = len(rows.y) * entropy_of(rows, 10)
        elif (parameter := loss_parameter(name)) is not None:
            found[name] = cost(rows, parameter) if rows.p.ndim == 1 else math.nan
    return found


def _of_the_truth(y: Any, p: Any, sample_weight: Any, true_p: Any, also: Iterable[str]) -> dict[str, float]:
    rows = checked_two_classes(y, p, sample_weight)
    share = rows.mean(rows.y)
    p = np.asarray(p)
    p = p[:, 1] if p.ndim == 2 else p
    away = np.abs(np.asarray(true_p) - p)
    distances = {"l2": math.sqrt(np.average(away**2, weights=sample_weight)), "l_max": float(away.max())}
    return {
        "l1": l1_error(true_p, p, sample_weight),
        "l1_trivial": l1_error(true_p, np.full(np.shape(true_p), share), sample_weight),
        "frequency": share,
        **{name: distance for name, distance in distances.items() if name in also},
    }
