"""Reliability diagram of the held-out rows of a trial's winner."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from probcal._io import visible
from probcal.try_table.held_out import HeldOut

_MOST_DRAWN = 20_000_000
"""Number of rows in all resamples of a diagram, which takes some seconds."""


def draw_reliability(found: HeldOut, title: str, path: Path) -> None:
    """Write the diagram as SVG to ``path``. It needs matplotlib.

    With several classes it shows the likeliest class of each row.
    """
    from probcal.plots.reliability import ReliabilityDisplay
    from probcal.reporting.drawing import COLOURS, look, titled_figure

    p, y = found.p, found.y
    several = p.shape[1] > 2
    if several:
        likeliest = p.argmax(axis=1)
        p_one, y_one = p[np.arange(len(y)), likeliest], (y == likeliest).astype(int)
    else:
        p_one, y_one = p[:, 1], (y == 1).astype(int)
    with look():
        figure = titled_figure(visible(title, 60), 4.2, 4.2)
        axes = figure.add_subplot()
        ReliabilityDisplay.from_predictions(
            y_one, p_one, sample_weight=found.weights, bands="confidence",
            n_resamples=min(200, max(40, _MOST_DRAWN // len(y))), ax=axes, color=COLOURS[0],
        )  # fmt: skip
        axes.set_xlabel("Predicted probability" + (" of the likeliest class" if several else ""))
        axes.spines[["top", "right"]].set_visible(False)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
