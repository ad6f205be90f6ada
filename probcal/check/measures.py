"""What can be said of the finished cells by themselves: missing numbers."""

from __future__ import annotations

import math
from collections import Counter

from probcal.check.experiment import Checked


def without_number(checked: Checked) -> Counter[str]:
    """Metric of the experiment -> how many finished cells have no number of it."""
    return Counter(
        metric
        for one in checked.every_finished()
        for metric in checked.outline.metrics
        if math.isnan(one.metrics.get(metric, math.nan))
    )
