"""Reliability diagram of some rows, for one or several predictions of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from probcal.metrics.reliability import top_label
from probcal.plots.reliability import ReliabilityDisplay
from probcal.reporting.drawing import COLOURS, titled_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Scale = Literal["linear", "logit"]
# Observed frequency below which, or above 1 less which, a diagram has logit axes. On linear axes, most calibrated
# predictions of such a class lie in the first twentieth of the axis, where points and bars cover each other.
_RARE = 0.02
# Number of rows in all resamples of a diagram, which takes some seconds.
_MOST_RESAMPLED_ROWS = 20_000_000


def usual_scale(share: float) -> Scale:
    """Return the scale of a diagram of rows of which this share is positive."""
    return "logit" if min(share, 1 - share) < _RARE else "linear"


def reliability_figure(
    title: str, y: npt.NDArray[Any], stages: Mapping[str, Floats], weight: Floats | None, has_bands: bool = True,
    scale: Scale = "linear", size: float = 4.2, is_likeliest: bool = False,
) -> Figure:  # fmt: skip
    """Return a diagram of the probabilities in ``stages`` by their names, (n_rows,) or (n_rows, n_classes).

    ``y`` are class numbers, (n_rows,). With several classes it shows the likeliest class of each row.
    ``is_likeliest`` says that (n_rows,) probabilities are already those of the likeliest class. ``size`` is the
    width and the height without the title, in inches.
    """
    figure = titled_figure(title, size, size)
    axes = figure.add_subplot()
    for (name, p), color in zip(stages.items(), COLOURS, strict=False):
        y_shown, p_shown = y, p if p.ndim == 1 else p[:, -1]
        if p.ndim == 2 and p.shape[1] > 2:
            y_shown, p_shown = top_label(y, p)
            is_likeliest = True
        ReliabilityDisplay.from_predictions(
            y_shown, p_shown, sample_weight=weight, bands="confidence" if has_bands else None, name=name or None,
            n_resamples=min(200, max(40, _MOST_RESAMPLED_ROWS // len(y))), ax=axes, color=color, scale=scale,
        )  # fmt: skip
    axes.set_xlabel("Predicted probability" + (" of the likeliest class" if is_likeliest else ""))
    axes.spines[["top", "right"]].set_visible(False)
    return figure
