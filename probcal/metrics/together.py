"""Every metric of one prediction, from one sort."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from probcal.metrics.calibration import binned, farthest, p_value, widest
from probcal.metrics.costs import cost
from probcal.metrics.losses import entropy_of, squared_error
from probcal.metrics.names import loss_parameter
from probcal.metrics.ranked import Ranked
from probcal.metrics.ranking import area_under_roc
from probcal.metrics.rows import checked


def all_metrics(y: Any, p: Any, sample_weight: Any = None, *, also: Iterable[str] = ()) -> dict[str, float]:
    """Every metric of ``METRICS`` by its short name; of several classes from one sort for each.

    ``also`` names expected costs that are wanted too, such as ``cost(0.05)``; other names in it are passed over. A
    small test set may lack a class. Its AUC is NaN, undefined, and the others stand; so is a cost of several classes.
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
    }
