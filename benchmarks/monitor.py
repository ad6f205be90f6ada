"""How many rows the monitor needs until its alarm: python benchmarks/monitor.py [-o FILE]

Each stream has 5,000 calibrated rows. Then the log-odds of the truth change. Takes three minutes.
"""

from __future__ import annotations

import numpy as np
import speed
from scipy.special import expit, logit

from probcal.protection import CalibrationMonitor

CHANGES = ((1, 1, -1), (0.5, 1, -1), (0.25, 1, -1), (0, 0.7, -1), (0, 1.5, -1), (0.5, 1, -6))
"""Shift and slope of the log-odds, and the mean of the log-odds of the predictions, whose deviation is 1.5."""
N_STREAMS, N_BEFORE, N_AFTER = 30, 5_000, 15_000


def main() -> None:
    parser = speed.parser(__doc__, "monitor")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    lines = []
    for shift, slope, mean in CHANGES:
        delays, onsets, rates = [], [], []
        for _ in range(N_STREAMS):
            p = expit(rng.normal(mean, 1.5, N_BEFORE + N_AFTER))
            after = np.arange(len(p)) >= N_BEFORE
            y = rng.random(len(p)) < np.where(after, expit(shift + slope * logit(p)), p)
            monitor = CalibrationMonitor().update(p, y)
            delays.append(np.inf if monitor.alarm_ is None else monitor.alarm_ - N_BEFORE)
            onsets.append(np.inf if monitor.onset_ is None else abs(monitor.onset_ - N_BEFORE))
            rates.append(p.mean())
        low, middle, high = np.quantile(delays, [0.1, 0.5, 0.9], method="inverted_cdf")
        early = sum(delay <= 0 for delay in delays)
        numbers = [f"{value:.0f}" if np.isfinite(value) else "none" for value in (middle, low, high, np.median(onsets))]
        lines.append([shift, slope, f"{np.mean(rates):.1%}", *numbers, early])
    head = ["shift", "slope", "base rate", "rows to alarm", "10 %", "90 %", "error of onset", "false alarms"]
    description = f"{N_STREAMS} streams each: {N_BEFORE:,} calibrated rows, then at most {N_AFTER:,} changed rows."
    speed.report(options.out, "monitor.py", description, head, lines)


if __name__ == "__main__":
    main()
