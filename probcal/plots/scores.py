"""Histograms of predicted probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.score_histogram import ScoreHistogram, score_histogram
from probcal.plots.axes import axes_or_new, positive_class_text, predictions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "#0072B2", "#D55E00"


class ScoreHistogramDisplay:
    """Draw how often each prediction occurs: positive rows upwards, negative rows downwards.

    Call ``from_estimator`` or ``from_predictions``. Each side adds up to 1, so a rare class is as visible as a frequent
    one. To compare several models, give each its own axes with ``ax``.

    Parameters
    ----------
    histogram : what to draw, from ``probcal.metrics.score_histogram``.
    estimator_name : title of the axes, or None.
    pos_label : label of the positive class, for the name of the x axis.

    Attributes
    ----------
    positive_ : the bars upwards.
    negative_ : the bars downwards.
    ax_ : the axes.
    figure_ : the figure.

    Examples
    --------
    >>> display = ScoreHistogramDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.6, 0.7, 0.9], n_bins=2)
    >>> [float(bar.get_height()) for bar in display.negative_]
    [-0.5, -0.5]
    """

    def __init__(self, histogram: ScoreHistogram, *, estimator_name: str | None = None, pos_label: Any = None) -> None:
        self.histogram = histogram
        self.estimator_name = estimator_name
        self.pos_label = pos_label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 20,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ScoreHistogramDisplay:
        """Draw the histogram of a fitted classifier on held-out rows.

        Parameters
        ----------
        estimator : a fitted classifier with ``predict_proba``.
        X : held-out rows, (n, n_columns).
        y : their labels, (n,).
        n_bins : number of bins.
        sample_weight : weights of the rows, (n,), or None.
        pos_label : label of the positive class. None for the second of two classes. Of several classes it is compared
            with all others.
        name : title of the axes. None for that of the estimator's class.
        ax, **kwargs : as in ``plot``.

        Returns
        -------
        ScoreHistogramDisplay

        Raises
        ------
        TypeError
            If the estimator has no ``predict_proba``.
        ValueError
            For more than two classes without ``pos_label``, a label that is no class, and as for ``from_predictions``.
        """
        positive = predictions_of(estimator, X, y, pos_label)
        histogram = score_histogram(positive.is_positive, positive.p, n_bins, sample_weight)
        display = cls(histogram, estimator_name=name or type(estimator).__name__, pos_label=positive.label)
        return display.plot(ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 20,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ScoreHistogramDisplay:
        """Draw the histogram of given predictions.

        Parameters
        ----------
        y_true : labels, (n,), of two classes.
        y_prob : predicted probabilities, (n,) of the positive class, or (n, 2).
        n_bins : number of bins.
        sample_weight : weights of the rows, (n,), or None.
        pos_label : label of the positive class. None if ``y_true`` holds 0 and 1.
        name : title of the axes, or None.
        ax, **kwargs : as in ``plot``.

        Returns
        -------
        ScoreHistogramDisplay

        Raises
        ------
        ValueError
            As for ``probcal.metrics.score_histogram``.
        """
        histogram = score_histogram(y_true, y_prob, n_bins, sample_weight, pos_label=pos_label)
        return cls(histogram, estimator_name=name, pos_label=pos_label).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, name: str | None = None, **kwargs: Any) -> ScoreHistogramDisplay:
        """Draw the histogram.

        Parameters
        ----------
        ax : matplotlib axes to draw on. None for a new figure.
        name : title of the axes. None for ``estimator_name``.
        **kwargs : settings of all bars, for ``matplotlib.axes.Axes.bar``.

        Returns
        -------
        ScoreHistogramDisplay
            Itself, with ``positive_``, ``negative_``, ``ax_`` and ``figure_``.
        """
        ax = axes_or_new(ax)
        edges, negative, positive = self.histogram
        bar_style: dict[str, Any] = {"align": "edge", "linewidth": 0.6, **kwargs}
        positive_style: dict[str, Any] = {"color": _COLOURS[0], **bar_style}
        negative_style: dict[str, Any] = {"color": "none", "edgecolor": _COLOURS[1], "hatch": "/////", **bar_style}
        bars = [
            ax.bar(edges[:-1], sign * rows / (rows.sum() or 1), np.diff(edges), label=label, **style)
            for rows, sign, label, style in (
                (positive, 1, "Positive rows", positive_style),
                (negative, -1, "Negative rows", negative_style),
            )
        ]
        self.positive_, self.negative_ = bars
        ax.axhline(0, color="#555555", linewidth=0.6)
        suffix = positive_class_text(self.pos_label)
        ax.set(xlim=(0, 1), xlabel=f"Predicted probability{suffix}", ylabel="Share of each class")
        ax.yaxis.set_major_formatter(lambda share, _: f"{abs(share):g}")
        if title := self.estimator_name if name is None else name:
            ax.set_title(title)
        ax.legend(fontsize="small")
        self.ax_, self.figure_ = ax, ax.get_figure()
        return self
