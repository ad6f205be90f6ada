"""What all displays do with their axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probcal.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None) -> Axes:
    """Return ``ax``, or the axes of a new figure if it is None."""
    if ax is not None:
        return ax
    require("matplotlib", "a plot")
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def positive_class_text(pos_label: Any) -> str:
    """Return what follows the name of an axis: nothing if ``pos_label`` is None."""
    return "" if pos_label is None else f" (positive class: {pos_label})"
