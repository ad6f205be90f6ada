"""Reliability diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from probcal.metrics.checked_rows import checked
from probcal.metrics.label_columns import class_names
from probcal.metrics.reliability import LEAST_SHOWN, ReliabilityCurve, reliability_curve, top_label
from probcal.plots.axes import (
    ensure_axes,
    in_panel,
    logit_limits,
    panel_axes,
    positive_class_text,
    predictions_of,
    set_logit_axes,
    within_logit_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REFERENCE = "Perfectly calibrated"
# Lower and upper end of the histogram below the diagram, in units of the y axis.
_STRIP = (-0.2, -0.04)


class ReliabilityDisplay:
    """Draw a reliability diagram: observed frequencies against predicted probabilities.

    Call ``from_estimator``, ``from_predictions`` or ``from_cv_results``. They compute the curves and draw them. Give
    the ``ax_`` of one display as ``ax`` to the next, to compare several models on one diagram.

    Parameters
    ----------
    curve : ReliabilityCurve
        Bins, curves and limits, from ``probcal.metrics.reliability_curve``.
    estimator_name : str, default=None
        Name in the legend. None means no legend entry.
    pos_label : int, float, bool or str, default=None
        Label of the positive class, for the names of the axes.
    scale : {"linear", "logit"}, default="linear"
        ``"logit"`` makes both axes linear in log-odds, which shows probabilities of rare events. Ticks are
        probabilities. Triangles at the ends stand for observed frequencies of 0 and 1, whose log-odds are infinite.
        Give ``scale="logit"`` to ``reliability_curve``, too, for a histogram with bins equally wide in log-odds.
    fold_curves : sequence of ReliabilityCurve, default=()
        Curve of each fold of a cross-validation, drawn as a thin line.

    Attributes
    ----------
    prob_true : ndarray of shape (n_points,)
        Observed frequency of each bin. Empty bins are left out.
    prob_pred : ndarray of shape (n_points,)
        Mean predicted probability of each bin.
    line_ : matplotlib Line2D
        The points of the bins.
    curve_line_ : matplotlib Line2D or None
        The isotonic curve.
    bars_ : matplotlib LineCollection or None
        The bars of the bins.
    band_ : matplotlib PolyCollection or None
        The band of the curve.
    histogram_ : matplotlib StepPatch or None
        The histogram below the diagram.
    end_points_ : list of matplotlib Line2D
        The triangles of the logit scale.
    fold_lines_ : list of matplotlib Line2D
        The thin lines of the folds.
    class_displays_ : dict
        Label -> display of this class against all others, if there are several classes and no ``pos_label``.
    ax_ : matplotlib Axes
        The axes of the diagram.
    figure_ : matplotlib Figure
        The figure.

    See Also
    --------
    ScoreHistogramDisplay : Draws how often each prediction occurs, for each class.
    DecisionCurveDisplay : Draws the benefit of acting on the predictions.
    probcal.metrics.reliability_curve : Returns the numbers of the bins.
    sklearn.calibration.CalibrationDisplay : Draws the points of the bins alone.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from probcal import ReliabilityDisplay
    >>> X, y = make_classification(1000, random_state=0)
    >>> model = GaussianNB().fit(X[:500], y[:500])
    >>> display = ReliabilityDisplay.from_estimator(model, X[500:], y[500:], n_bins=5)
    >>> [round(float(one), 2) for one in display.prob_true]
    [0.0, 0.01, 0.56, 0.93, 0.96]
    """

    def __init__(
        self,
        curve: ReliabilityCurve,
        *,
        estimator_name: str | None = None,
        pos_label: Any = None,
        scale: str = "linear",
        fold_curves: Sequence[ReliabilityCurve] = (),
    ) -> None:
        if scale not in ("linear", "logit"):
            raise ValueError(f'scale must be "linear" or "logit", not {scale!r}')
        self.curve = curve
        self.estimator_name = estimator_name
        self.pos_label = pos_label
        self.scale = scale
        self.fold_curves = fold_curves
        self.class_displays_: dict[Any, ReliabilityDisplay] = {}
        self.prob_true, self.prob_pred = curve.bins.observed, curve.bins.mean

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        isotonic: bool = True,
        bands: str | None = "consistency",
        level: float = 0.95,
        n_resamples: int = 200,
        random_state: Any = 0,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ref_line: bool = True,
        histogram: bool = True,
        scale: str = "linear",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the diagram of a fitted classifier on held-out rows.

        Parameters
        ----------
        estimator : classifier
            Fitted. It has ``predict_proba``.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            Held-out rows.
        y : array-like of shape (n_rows,)
            Labels of the rows.
        n_bins : int, default=10
            Largest number of points.
        strategy : {"quantile", "uniform"}, default="quantile"
            ``"quantile"`` makes bins of nearly equal weight. ``"uniform"`` makes bins of equal width.
        isotonic : bool, default=True
            Whether to draw the isotonic (CORP) curve too.
        bands : {"consistency", "confidence"} or None, default="consistency"
            ``"consistency"`` shows where points and curve would lie if the predictions were calibrated.
            ``"confidence"`` shows how certain they are. None draws neither.
        level : float, default=0.95
            Probability of the bars and of the band, at each prediction.
        n_resamples : int, default=200
            Number of the resamples that the bands come from.
        random_state : int, numpy.random.Generator or None, default=0
            Seed of the resamples. None draws other ones each time.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means the second of two classes, or a panel for each of several
            classes. Of several classes it is compared with all others.
        name : str, default=None
            Name in the legend. None means the name of the estimator's class.
        ref_line : bool, default=True
            Whether to draw the diagonal. It is drawn once on each axes.
        histogram : bool, default=True
            Whether to draw the histogram of the predictions below the diagram. Its largest bin is as high as the strip,
            for each model.
        scale : {"linear", "logit"}, default="linear"
            ``"logit"`` makes both axes linear in log-odds, which shows probabilities of rare events.
        ax : matplotlib Axes, or of several classes a sequence of them, default=None
            Axes to draw on. None makes a new figure. Of several classes, a sequence has one more than there are
            classes, such as ``figure_.axes`` of another model, and a single one shows only the likeliest class.
        **kwargs : dict
            Settings of the points, for ``matplotlib.axes.Axes.plot``. ``color`` holds for all parts.

        Returns
        -------
        ReliabilityDisplay
            The drawn display.

        Raises
        ------
        TypeError
            If the estimator has no ``predict_proba`` or no ``classes_``.
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If ``pos_label`` or a label of ``y`` is no class. Also if ``probcal.metrics.reliability_curve`` refuses an
            argument.
        """
        if pos_label is None and len(getattr(estimator, "classes_", ())) > 2 and hasattr(estimator, "predict_proba"):
            return cls.from_predictions(
                y, estimator.predict_proba(X),
                n_bins=n_bins, strategy=strategy, isotonic=isotonic, bands=bands, level=level, n_resamples=n_resamples,
                random_state=random_state, sample_weight=sample_weight, labels=estimator.classes_,
                name=name or type(estimator).__name__, ref_line=ref_line, histogram=histogram, scale=scale, ax=ax,
                **kwargs,
            )  # fmt: skip
        positive = predictions_of(estimator, X, y, pos_label)
        curve = reliability_curve(
            positive.is_positive, positive.p,
            n_bins=n_bins, strategy=strategy, isotonic=isotonic, bands=bands, level=level, n_resamples=n_resamples,
            random_state=random_state, sample_weight=sample_weight, scale=scale,
        )  # fmt: skip
        display = cls(curve, estimator_name=name or type(estimator).__name__, pos_label=positive.label, scale=scale)
        return display.plot(ax=ax, ref_line=ref_line, histogram=histogram, **kwargs)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        isotonic: bool = True,
        bands: str | None = "consistency",
        level: float = 0.95,
        n_resamples: int = 200,
        random_state: Any = 0,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        ref_line: bool = True,
        histogram: bool = True,
        scale: str = "linear",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the diagram of all test rows of a cross-validation, and a thin line for each fold.

        Each row is predicted by the model of its fold. A thin line that is far from the others comes from a fold whose
        model, or whose few rows, differ. Bars and bands take the models as they are.

        Parameters
        ----------
        cv_results : dict
            What ``sklearn.model_selection.cross_validate`` returns with ``return_estimator=True`` and
            ``return_indices=True``.
        X : array-like or DataFrame of shape (n_rows, n_columns)
            The rows that were given to ``cross_validate``.
        y : array-like of shape (n_rows,)
            Their labels.
        n_bins, strategy, isotonic, bands, level, n_resamples, random_state
            See ``from_estimator``.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None means the second of two classes. Of several classes it is compared with
            all others.
        name : str, default=None
            Name in the legend. None means the name of the estimators' class.
        ref_line, histogram, scale
            See ``from_estimator``.
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        **kwargs : dict
            Settings of the points, for ``matplotlib.axes.Axes.plot``. ``color`` holds for all parts.

        Returns
        -------
        ReliabilityDisplay
            The drawn display, with ``fold_curves`` and ``fold_lines_``.

        Raises
        ------
        ValueError
            If ``cv_results`` lacks the estimators or the indices, or as ``from_estimator`` does. With several classes
            also if there is no ``pos_label``.
        """
        from sklearn.utils import _safe_indexing

        if not {"estimator", "indices"} <= set(cv_results):
            raise ValueError(
                "cv_results has no estimators or no indices: call cross_validate with return_estimator=True and "
                "return_indices=True"
            )
        curve = partial(reliability_curve, n_bins=n_bins, strategy=strategy, isotonic=isotonic, scale=scale)
        tests = cv_results["indices"]["test"]
        folds = [
            predictions_of(estimator, _safe_indexing(X, rows), _safe_indexing(y, rows), pos_label)
            for estimator, rows in zip(cv_results["estimator"], tests, strict=True)
        ]
        weights: list[Any] = [None if sample_weight is None else np.asarray(sample_weight)[rows] for rows in tests]
        pooled = curve(
            *(np.concatenate([one[part] for one in folds]) for part in (0, 1)),
            bands=bands, level=level, n_resamples=n_resamples, random_state=random_state,
            sample_weight=None if sample_weight is None else np.concatenate(weights),
        )  # fmt: skip
        display = cls(
            pooled, estimator_name=name or type(cv_results["estimator"][0]).__name__, pos_label=folds[0].label,
            scale=scale,
            fold_curves=[
                curve(one.is_positive, one.p, bands=None, sample_weight=weight)
                for one, weight in zip(folds, weights, strict=True)
            ],
        )  # fmt: skip
        return display.plot(ax=ax, ref_line=ref_line, histogram=histogram, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        n_bins: int = 10,
        strategy: str = "quantile",
        isotonic: bool = True,
        bands: str | None = "consistency",
        level: float = 0.95,
        n_resamples: int = 200,
        random_state: Any = 0,
        sample_weight: Any = None,
        pos_label: Any = None,
        labels: Any = None,
        name: str | None = None,
        ref_line: bool = True,
        histogram: bool = True,
        scale: str = "linear",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the diagram of given predictions.

        Several classes without ``pos_label`` have several panels. The first shows the likeliest class of each row: its
        probability, and how often it is right (top-label calibration). The others show each class against all others.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Observed labels.
        y_prob : array-like of shape (n_rows,) or (n_rows, n_classes)
            Predicted probabilities of the positive class, or of all classes.
        n_bins, strategy, isotonic, bands, level, n_resamples, random_state
            See ``from_estimator``.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. None means equal weights.
        pos_label : int, float, bool or str, default=None
            Label of the positive class. None if ``y_true`` holds 0 and 1, or for a panel of each of several classes.
        labels : array-like of shape (n_classes,), default=None
            All labels in rising order, which is the order of the columns of ``y_prob``, such as ``model.classes_``.
            Give them if the rows may lack a class, or to compare one of several classes, ``pos_label``, with the
            others.
        name : str, default=None
            Name in the legend. None means "Classifier".
        ref_line, histogram, scale, ax
            See ``from_estimator``.
        **kwargs : dict
            Settings of the points, for ``matplotlib.axes.Axes.plot``. ``color`` holds for all parts.

        Returns
        -------
        ReliabilityDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If ``probcal.metrics.reliability_curve`` refuses an argument.
        """
        curve_of = partial(
            reliability_curve,
            n_bins=n_bins, strategy=strategy, isotonic=isotonic, bands=bands, level=level, n_resamples=n_resamples,
            random_state=random_state, scale=scale,
        )  # fmt: skip
        name = "Classifier" if name is None else name
        style = {"ref_line": ref_line, "histogram": histogram, **kwargs}
        if pos_label is None and np.ndim(y_prob) == 2 and np.shape(y_prob)[1] > 2:
            rows, names = checked(y_true, y_prob, sample_weight, labels=labels), class_names(y_true, y_prob, labels)
            top = curve_of(*top_label(rows.y, rows.p), sample_weight=rows.weight)
            of_classes = {
                label: cls(curve_of(one.y, one.p, sample_weight=one.weight), pos_label=label, scale=scale)
                for label, one in zip(names, rows.against_the_rest(), strict=True)
            }
            return cls(top, estimator_name=name, scale=scale)._plot_classes(of_classes, ax, style)
        curve = curve_of(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, labels=labels)
        return cls(curve, estimator_name=name, pos_label=pos_label, scale=scale).plot(ax=ax, **style)

    def _plot_classes(
        self, of_classes: dict[Any, ReliabilityDisplay], ax: Any, style: dict[str, Any]
    ) -> ReliabilityDisplay:
        """Draw the likeliest class, and each class on axes of its own unless ``ax`` is a single one."""
        panels = panel_axes(ax, 1 + len(of_classes))
        self.plot(ax=panels[0], **style)
        panels[0].set(
            xlabel="Predicted probability of the likeliest class", ylabel="Share of rows in which it is right"
        )
        for panel, (label, display) in zip(panels[1:], of_classes.items(), strict=False):
            self.class_displays_[label] = display.plot(ax=panel, **style)
            panel.set(title=in_panel(label), xlabel="Predicted probability", ylabel="Observed frequency")
            if legend := panel.get_legend():
                legend.remove()  # the first panel has the names
        if legend := panels[0].get_legend():
            for text in legend.get_texts():
                text.set_text(in_panel(text.get_text()))
        return self

    def plot(
        self,
        *,
        ax: Axes | None = None,
        name: str | None = None,
        ref_line: bool = True,
        histogram: bool = True,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None makes a new figure.
        name : str, default=None
            Name in the legend. None means ``estimator_name``.
        ref_line : bool, default=True
            Whether to draw the diagonal. It is drawn once on each axes.
        histogram : bool, default=True
            Whether to draw the histogram of the predictions below the diagram. Its largest bin is as high as the strip,
            for each model.
        **kwargs : dict
            Settings of the points, for ``matplotlib.axes.Axes.plot``. ``color`` holds for all parts.

        Returns
        -------
        ReliabilityDisplay
            The display itself, with the attributes that end with ``_``.

        Raises
        ------
        ValueError
            If ``ax`` holds a display of the other scale.
        MissingPackage
            If ``ax`` is None and matplotlib is not installed.
        """
        ax = ensure_axes(ax)
        has_display = _REFERENCE in ax.get_legend_handles_labels()[1]
        if has_display and (ax.get_xscale() == "logit") != (self.scale == "logit"):
            raise ValueError(f'these axes hold a display of another scale than "{self.scale}"; give other axes')
        limits = logit_limits(ax, self.curve) if self.scale == "logit" else None
        label = self.estimator_name if name is None else name
        if ref_line and not has_display:
            ends = [0, 1] if limits is None else [LEAST_SHOWN, 1 - LEAST_SHOWN]
            ax.plot(ends, ends, ":", color="black", linewidth=1, label=_REFERENCE, zorder=1)
        style = {"marker": "o", "markersize": 4, "linestyle": "none" if self.curve.isotonic else "-", **kwargs}
        self.line_ = ax.plot(self.prob_pred, self.prob_true, label=label, **style)[0]
        colour = self.line_.get_color()
        self.curve_line_ = self.bars_ = self.band_ = None
        if self.curve.isotonic:
            self.curve_line_ = ax.plot(*map(self._drawn, self.curve.isotonic), color=colour, linewidth=1.2)[0]
        thin: dict[str, Any] = {"color": colour, "linewidth": 0.6, "alpha": 0.6}
        self.fold_lines_ = [
            ax.plot(*map(self._drawn, one.isotonic or one.bins[:2]), **thin)[0] for one in self.fold_curves
        ]
        if bars := self.curve.bars:
            self.bars_ = ax.vlines(
                *map(self._drawn, (bars.p, bars.low, bars.high)), color=colour, linewidth=1, alpha=0.6
            )
        if band := self.curve.band:
            self.band_ = ax.fill_between(
                *map(self._drawn, (band.p, band.low, band.high)), color=colour, alpha=0.15, linewidth=0
            )
        self.histogram_ = self._draw_histogram(ax, colour) if histogram else None
        positive = positive_class_text(self.pos_label)
        ax.set(xlabel=f"Predicted probability{positive}", ylabel=f"Observed frequency{positive}")
        # an earlier display on these axes may need more room below
        self.end_points_: list[Any] = []
        if limits is not None:
            self.end_points_ = self._draw_ends(ax, set_logit_axes(ax, limits, -_STRIP[0]))
            return self._with_legend(ax)
        bottom = min(_STRIP[0] if histogram else -0.02, ax.get_ylim()[0])
        ax.set(xlim=(-0.02, 1.02), ylim=(bottom, 1.02), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1], aspect="equal")
        return self._with_legend(ax)

    def _drawn(self, values: Any) -> Any:
        return within_logit_axes(values) if self.scale == "logit" else values

    def _with_legend(self, ax: Axes) -> ReliabilityDisplay:
        if ax.get_legend_handles_labels()[1]:
            ax.legend(loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.get_figure()
        return self

    def _draw_ends(self, ax: Axes, floor: float) -> list[Any]:
        """Return triangles at the ends of logit axes, for observed frequencies of 0 and 1."""
        from matplotlib.patches import Rectangle

        # what goes to an observed frequency of 0 would cross the histogram
        for artist in (self.curve_line_, self.bars_, self.band_, *self.fold_lines_):
            if artist is not None:
                artist.set_clip_path(Rectangle((0, floor), 1, 1 - floor, transform=ax.transAxes))
        triangles = []
        for end, place, marker in ((0, floor, "v"), (1, 1, "^")):
            at_end = self.prob_pred[self.prob_true == end]
            if len(at_end):
                style: dict[str, Any] = {
                    "marker": marker,
                    "linestyle": "none",
                    "markersize": 5,
                    "color": self.line_.get_color(),
                }
                transform = ax.get_xaxis_transform()
                triangles += ax.plot(at_end, [place] * len(at_end), transform=transform, clip_on=False, **style)
        return triangles

    def _draw_histogram(self, ax: Axes, colour: Any) -> Any:
        """Draw the histogram in the strip below the diagram, its largest bin as high as the strip."""
        share = self.curve.counts / self.curve.counts.max()
        where: dict[str, Any] = {}
        if self.scale == "logit":
            # in shares of the height of the axes, because the next display may move the ends of the scale
            base, where = 0.0, {"transform": ax.get_xaxis_transform()}
            tops = base + share * (_STRIP[1] - _STRIP[0]) / (1 - _STRIP[0])
        else:
            base = _STRIP[0]
            tops = base + (_STRIP[1] - _STRIP[0]) * share
        ax.stairs(tops, self.curve.edges, baseline=base, color=colour, alpha=0.2, fill=True, **where)
        return ax.stairs(tops, self.curve.edges, baseline=base, color=colour, linewidth=0.8, **where)
