"""How many labels an alarm and a new map take: python benchmarks/recalibration_rows.py [-o FILE]. Takes a minute."""

from __future__ import annotations

import numpy as np
import speed
from scipy.special import expit

from probcal.watch.plan import plan

MEANS = (-1, -4, -6)
"""Means of the log-odds of the predictions, whose deviation is 1.5."""


def main() -> None:
    options = speed.parser(__doc__, "recalibration_rows").parse_args()
    lines = []
    for mean in MEANS:
        p = expit(np.random.default_rng(0).normal(mean, 1.5, 10_000))
        for line in plan(p):
            counts = [line.rows_to_alarm, line.rows_to_recalibrate]
            lines.append(
                [f"{p.mean():.1%}", f"x {line.slope:g}, {line.shift:+g}", f"{line.base_rate:.1%}", f"{line.loss:.4f}"]
                + ["more than 20,000" if count is None else f"{count:,}" for count in counts]
            )
    head = ["base rate", "log-odds", "base rate then", "bits a row lost", "labels to the alarm", "labels for a new map"]
    description = (
        "Labels after the change: until the alarm (median), and until a sigmoid map is better in 90 % of draws."
    )
    speed.report(options.out, "recalibration_rows.py", description, head, lines)


if __name__ == "__main__":
    main()
