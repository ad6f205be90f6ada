"""Every metric of one prediction, from one sort."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import Any

import numpy as np

from probcal.metrics.calibration import binned, farthest, p_value, widest
from probcal.metrics.costs import cost
from probcal.metrics.losses import entropy_of, l1_error, squared_error
from probcal.metrics.names import loss_parameter
from probcal.metrics.ranked import Ranked
from probcal.metrics.ranking import area_under_roc
from probcal.metrics.rows import checked, checked_two_classes


def all_metrics(
    y: Any, p: Any, sample_weight: Any = None, true_p: Any = None, *, also: Iterable[str] = ()
) -> dict[str, float]:
    """Every metric of ``METRICS`` by its short name; of several classes from one sort for each.

    ``also`` names expected costs that are wanted too, such as ``cost(0.05)``; other names in it are passed over. A
    small test set may lack a class. Its AUC is NaN, undefined, and the others stand; so is a cost of several classes.
    ``OF_THE_TRUTH`` are there where ``true_p``, (n,), the true P(y = 1) of each row, is given; for two classes only.
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
        **{
            name: cost(rows, parameter) if rows.p.ndim == 1 else math.nan
            for name in also
            if (parameter := loss_parameter(name)) is not None
        },
        **({} if true_p is None else _of_the_truth(y, p, sample_weight, true_p)),
    }


def means_over_labels(y: Any, p: Any, true_p: Any = None, *, also: Iterable[str] = ()) -> dict[str, float]:
    """``all_metrics`` of each label by itself, in the mean: ``y``, ``p`` and ``true_p`` are (n, n_labels)."""
    y, p = np.asarray(y), np.asarray(p)
    truths = [None] * y.shape[1] if true_p is None else list(np.asarray(true_p).T)
    each = [all_metrics(*label[:2], true_p=label[2], also=also) for label in zip(y.T, p.T, truths, strict=True)]
    return {name: fmean(one[name] for one in each) for name in each[0]}


def _of_the_truth(y: Any, p: Any, sample_weight: Any, true_p: Any) -> dict[str, float]:
    rows = checked_two_classes(y, p, sample_weight)
    share = rows.mean(rows.y)
    return {
        "l1": l1_error(true_p, p, sample_weight),
        "l1_trivial": l1_error(true_p, np.full(np.shape(true_p), share), sample_weight),
        "frequency": share,
    }
