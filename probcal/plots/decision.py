"""Decision curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probcal.metrics.decisions import DecisionCurve, decision_curve
from probcal.plots.axes import ensure_axes, positive_class_text, predictions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TREAT_ALL, _TREAT_NONE = "Treat all", "Treat none"


class DecisionCurveDisplay:
    """Draw a decision curve: the net benefit of acting on the predictions, for each threshold.

    Call ``from_estimator`` or ``from_predictions``. Give the ``ax_`` of one display as ``ax`` to the next, to compare
    several models. A model is of use at the thresholds where its curve lies above "Treat all" and "Treat none". See
    Vickers & Elkin (2006) and ``probcal.metrics.decision_curve``.

    Parameters
    ----------
    curve : DecisionCurve
        Net benefits, from ``probcal.metrics.decision_curve``.
    estimator_name : str, default=None
        Name in the legend. None means no legend entry.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for the name of the x axis.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve.
    ax_ : matplotlib Axes
        The axes.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    ReliabilityDisplay : Draws how well the predictions are calibrated.
    ScoreHistogramDisplay : Draws how often each prediction occurs, for each class.
    probcal.metrics.decision_curve : Returns the numbers of the curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import DecisionCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> p = GaussianNB().fit(X[:300], y[:300]).predict_proba(X[300:])[:, 1]
    >>> display = DecisionCurveDisplay.from_predictions(y[300:], p, thresholds=[0.2, 0.5, 0.8])
    >>> [round(float(one), 2) for one in display.curve.net_benefit]
    [0.73, 0.72, 0.68]
    """

    def __init__(self, curve: DecisionCurve, *, estimator_name: str | None = None, pos_label: Any = None) -> None:
        self.curve = curve
        self.estimator_name = estimator_name
        self.pos_label = pos_label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        thresholds: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ref_line: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> DecisionCurveDisplay:
        """Draw the decision curve of a fitted classifier on held-out rows.

        Parameters
        ----------
        estimator : classifier
            Fitted. It has ``predict_proba``.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Held-out rows.
        y : array-like of shape (n_rows,)
            Labels of the rows.
        thresholds : array-like of shape (n_thresholds,), default=None
            Numbers of at least 0 and below 1. None means .01, .02, ... .99.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means the second of two classes. Of several classes it is compared with
            all others.
        name : str, default=None
            Name in the legend. None means the name of the estimator's class.
        ref_line : bool, default=True
            Whether to draw "Treat all" and "Treat none". They are drawn once on each axes.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Settings of the curve, for ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        DecisionCurveDisplay
            The drawn display.

        Raises
        ------
        TypeError
            If the estimator has no ``predict_proba`` or no ``classes_``.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If there are more than two classes and no ``pos_label``, or ``pos_label`` or a label of ``y`` is no class.
            Also if ``probcal.metrics.decision_curve`` refuses an argument.
        """
        positive = predictions_of(estimator, X, y, pos_label)
        curve = decision_curve(positive.is_positive, positive.p, thresholds, sample_weight)
        display = cls(curve, estimator_name=name or type(estimator).__name__, pos_label=positive.label)
        return display.plot(ax=ax, ref_line=ref_line, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        thresholds: Any = None,
        sample_weight: Any = None,
        pos_label: Any = None,
        labels: Any = None,
        name: str | None = None,
        ref_line: bool = True,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> DecisionCurveDisplay:
        """Draw the decision curve of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels of two classes.
        y_prob : array-like of shape (n_rows,) or (n_rows, 2)
            Predicted probabilities of the positive class, or of both classes.
        thresholds : array-like of shape (n_thresholds,), default=None
            Numbers of at least 0 and below 1. None means .01, .02, ... .99.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None if ``y_true`` holds 0 and 1.
        labels : array-like of shape (n_classes,), default=None
            All labels in rising order, which is the order of the columns of ``y_prob``, such as ``model.classes_``.
            Give them if the rows may lack a class, or to compare one of several classes, ``pos_label``, with the
            others.
        name : str, default=None
            Name in the legend. None means "Classifier".
        ref_line : bool, default=True
            Whether to draw "Treat all" and "Treat none". They are drawn once on each axes.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Settings of the curve, for ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        DecisionCurveDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If ``probcal.metrics.decision_curve`` refuses an argument.
        """
        curve = decision_curve(y_true, y_prob, thresholds, sample_weight, pos_label=pos_label, labels=labels)
        return cls(curve, estimator_name="Classifier" if name is None else name, pos_label=pos_label).plot(
            ax=ax, ref_line=ref_line, **kwargs
        )

    def plot(
        self, *, ax: Axes | None = None, name: str | None = None, ref_line: bool = True, **kwargs: Any
    ) -> DecisionCurveDisplay:
        """Draw the decision curve.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name in the legend. None means ``estimator_name``.
        ref_line : bool, default=True
            Whether to draw "Treat all" and "Treat none". They are drawn once on each axes.
        **kwargs : dict
            Settings of the curve, for ``matplotlib.axes.Axes.plot``.

        Returns
        -------
        DecisionCurveDisplay
            The display itself, with ``line_``, ``ax_`` and ``figure_``.

        Raises
        ------
        MissingPackage
            If ``ax`` is None and matplotlib is not installed.
        """
        ax = ensure_axes(ax)
        thresholds, benefit, treat_all = self.curve
        first = not ax.has_data()
        if ref_line and _TREAT_ALL not in ax.get_legend_handles_labels()[1]:
            ax.plot(thresholds, treat_all, "--", color="grey", linewidth=1, label=_TREAT_ALL, zorder=1)
            ax.axhline(0, linestyle=":", color="black", linewidth=1, label=_TREAT_NONE, zorder=1)
        self.line_ = ax.plot(thresholds, benefit, label=self.estimator_name if name is None else name, **kwargs)[0]
        # harmful models fall without end: show what lies above "Treat none", and a little below
        top = max(1.1 * float(benefit.max()), 1.1 * float(treat_all.max()), 0.01, 0 if first else ax.get_ylim()[1])
        positive = positive_class_text(self.pos_label)
        ax.set(xlabel=f"Threshold probability{positive}", ylabel="Net benefit", xlim=(0, 1), ylim=(-top / 5, top))
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.get_figure()
        return self
