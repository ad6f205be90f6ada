"""Histograms of predicted probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.reliability import ScoreHistogram, score_histogram
from probcal.plots.axes import ensure_axes, positive_class_text, predictions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = "#0072B2", "#D55E00"


class ScoreHistogramDisplay:
    """Draw how often each prediction occurs: positive rows upwards, negative rows downwards.

    Call ``from_estimator`` or ``from_predictions``. Each side adds up to 1, so a rare class is as visible as a frequent
    one. To compare several models, give each its own axes with ``ax``.

    Parameters
    ----------
    histogram : ScoreHistogram
        Numbers of rows in bins, from ``probcal.metrics.score_histogram``.
    estimator_name : str, default=None
        Title of the axes. None means no title.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for the name of the x axis.

    Attributes
    ----------
    positive_ : matplotlib BarContainer
        The bars upwards.
    negative_ : matplotlib BarContainer
        The bars downwards.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    ReliabilityDisplay : Draws how well the predictions are calibrated.
    DecisionCurveDisplay : Draws the benefit of acting on the predictions.
    probcal.metrics.score_histogram : Returns the numbers of rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import ScoreHistogramDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = GaussianNB().fit(X[:300], y[:300]).predict_proba(X[300:])[:, 1]
    >>> display = ScoreHistogramDisplay.from_predictions(y[300:], p, n_bins=5)
    >>> [round(float(bar.get_height()), 2) for bar in display.positive_]
    [0.02, 0.0, 0.01, 0.0, 0.96]
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
        estimator : classifier
            Fitted. It has ``predict_proba``.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Held-out rows.
        y : array-like of shape (n_rows,)
            Labels of the rows.
        n_bins : int, default=20
            Number of bins.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means the second of two classes. Of several classes it is compared with
            all others.
        name : str, default=None
            Title of the axes. None means the name of the estimator's class.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Settings of all bars, for ``matplotlib.axes.Axes.bar``.

        Returns
        -------
        ScoreHistogramDisplay
            The drawn display.

        Raises
        ------
        TypeError
            If the estimator has no ``predict_proba`` or no ``classes_``.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If there are more than two classes and no ``pos_label``, or ``pos_label`` or a label of ``y`` is no class.
            Also if ``probcal.metrics.score_histogram`` refuses an argument.
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
        labels: Any = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ScoreHistogramDisplay:
        """Draw the histogram of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_prob : array-like of shape (n_rows,) or (n_rows, 2)
            Predicted probabilities of the positive class, or of both classes.
        n_bins : int, default=20
            Number of bins.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None if ``y_true`` holds 0 and 1.
        labels : array-like of shape (n_classes,), default=None
            All labels in rising order, which is the order of the columns of ``y_prob``, such as ``model.classes_``.
            Give them if the rows may lack a class, or to compare one of several classes, ``pos_label``, with the
            others.
        name : str, default=None
            Title of the axes. None means no title.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Settings of all bars, for ``matplotlib.axes.Axes.bar``.

        Returns
        -------
        ScoreHistogramDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If ``probcal.metrics.score_histogram`` refuses an argument.
        """
        histogram = score_histogram(y_true, y_prob, n_bins, sample_weight, pos_label=pos_label, labels=labels)
        return cls(histogram, estimator_name=name, pos_label=pos_label).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, name: str | None = None, **kwargs: Any) -> ScoreHistogramDisplay:
        """Draw the histogram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Title of the axes. None means ``estimator_name``.
        **kwargs : dict
            Settings of all bars, for ``matplotlib.axes.Axes.bar``.

        Returns
        -------
        ScoreHistogramDisplay
            The display itself, with ``positive_``, ``negative_``, ``ax_`` and ``figure_``.

        Raises
        ------
        MissingPackage
            If ``ax`` is None and matplotlib is not installed.
        """
        ax = ensure_axes(ax)
        edges, negative, positive = self.histogram
        bar_style: dict[str, Any] = {"align": "edge", "linewidth": 0.6, **kwargs}
        positive_style: dict[str, Any] = {"color": _COLOURS[0], **bar_style}
        negative_style: dict[str, Any] = {"color": "none", "edgecolor": _COLOURS[1], "hatch": "/////", **bar_style}
        bars = [
            # or 1: a class may have no rows
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
