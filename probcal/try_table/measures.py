"""The measures of a trial: each method's stored predictions, with one bound for all and the table's own base rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from probcal.errors import ProbcalError, did_you_mean
from probcal.metrics import plugins
from probcal.metrics.decisions import Costs
from probcal.metrics.losses import cost
from probcal.metrics.metric import Metric, Prediction
from probcal.metrics.registry import NAMED, loss_parameter, metric_named
from probcal.reading.table_plan import clip_probabilities

Floats = npt.NDArray[np.float64]
Data = TypeVar("Data")
Values = TypeVar("Values")


@dataclass(frozen=True)
class Measure:
    """Describe one measure of a trial."""

    name: str
    """Its name on the command line."""
    header: str
    metric: Metric
    about: str
    factor: float = 1.0
    """What the metric is multiplied by."""
    costs: Costs | None = None
    """What wrong decisions cost, if the measure is their mean cost."""

    @property
    def larger_is_better(self) -> bool:
        return self.metric.larger_is_better

    def value(self, prediction: Prediction) -> float:
        """Return the measure of some rows."""
        assert self.metric.value is not None
        return self.factor * self.metric.value(prediction)


MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure("log-loss", "log loss", metric_named("cxe"), "log loss in bits (1 bit is 0.693 nats)"),
        Measure("brier", "Brier", metric_named("brier"), "Brier score"),
        Measure("rms", "RMS", metric_named("rms"), "RMS error"),
        Measure("auc", "AUC", metric_named("auc"), "AUC"),
        Measure("c_emp", "c_emp", metric_named("c_emp"), "calibration error c_emp"),
        Measure("ece", "ECE", metric_named("ece"), "expected calibration error in 15 bins"),
        Measure("accuracy", "accuracy", metric_named("accuracy"), "accuracy"),
    )
}
"""The measures that ``--metric`` names."""
LOSS = MEASURES["log-loss"]
_TABLE_MEASURES = ("log-loss", "rms", "auc", "c_emp")


def cost_measure(costs: Costs) -> Measure:
    """Return the mean cost of a row at the threshold of the costs, in their unit."""
    threshold, total = costs.threshold, costs.false_positive + costs.false_negative
    about = f"mean cost of a row, deciding for the positive label from probability {threshold:.3g} up"
    # The metric cost(p) of the registry rounds p to six digits, because p is a part of its name.
    metric = Metric(
        "cost", about, "cost", "cost", lambda prediction: cost(prediction.rows, threshold),
        most=max(threshold, 1 - threshold), two_classes=True,
    )  # fmt: skip
    return Measure("cost", "cost", metric, about, factor=total, costs=costs)


@cache  # one object for equal costs, because measures are compared
def net_benefit_measure(costs: Costs) -> Measure:
    """Return the net benefit at the threshold of the costs (Vickers & Elkin 2006): base rate - mean cost / FN."""
    threshold, odds = costs.threshold, costs.false_positive / costs.false_negative
    metric = Metric(
        "net_benefit", "net benefit (true positives per row less FP/FN times the false positives per row)",
        "net benefit", "net benefit",
        lambda prediction: prediction.rows.mean(prediction.rows.y) - cost(prediction.rows, threshold) * (1 + odds),
        larger_is_better=True, least=-odds, two_classes=True,
    )  # fmt: skip
    return Measure("net_benefit", "net benefit", metric, metric.about)


def measure_named(name: str) -> Measure:
    """Return the measure of this name, or one of any metric, built in or of a plugin, that needs predictions alone.

    Raises ProbcalError for another name.
    """
    if name in MEASURES:
        return MEASURES[name]
    metric = plugins.find_metric(name)
    if metric is None:
        names = [*MEASURES, *NAMED, *plugins.metric_names()]
        raise ProbcalError(
            f"--metric: there is no metric {name!r}{did_you_mean(name, names)}; give {', '.join(MEASURES)} or a "
            "name of probcal list metrics"
        )
    if metric.value is None or metric.of_the_truth or metric.no_end:
        reason = "has no better end" if metric.no_end else "needs more than predictions"
        raise ProbcalError(f"--metric {name}: it {reason}, so it ranks nothing; give {', '.join(MEASURES)}")
    if name not in NAMED and loss_parameter(name) is None:
        metric = replace(
            metric, value=_guarded(name, metric.value), drawn=metric.drawn and _guarded(name, metric.drawn)
        )
    return Measure(name, metric.short, metric, metric.about)


def _guarded(name: str, function: Callable[[Data], Values]) -> Callable[[Data], Values]:
    """Return the function of a plugin's metric, whose errors become a message. Our own keep their traceback."""

    def value(data: Data) -> Values:
        try:
            return function(data)
        except Exception as error:  # a plugin's metric may raise anything
            raise ProbcalError(f"the metric {name} cannot be computed: {error} ({type(error).__name__})") from None

    return value


def table_measures(ranking: Measure) -> list[Measure]:
    """Return the measures of the table: the one that ranks, net benefit beside a cost, then the usual ones."""
    measures = [MEASURES[name] for name in _TABLE_MEASURES if name != ranking.name]
    benefit = [net_benefit_measure(ranking.costs)] if ranking.costs else []
    return [ranking, *benefit, *(measure for measure in measures if ranking is LOSS or measure.name != "rms")]


@dataclass(frozen=True)
class MeasureScale:
    """Hold how predictions are measured.

    ``class_weights`` are the rows of each class in the table, over those in the sample. They are None where the sample
    has the classes in their shares.
    """

    bound: float
    """Probabilities for the table below it are raised to it, and those of two classes above 1 - bound are lowered."""
    class_weights: tuple[float, ...] | None = None

    def clip(self, p: Floats) -> Floats:
        """Return (n, n_classes) the predictions within the bound, each row divided by its sum, as predict.py does."""
        return clip_probabilities(p, self.bound)

    def reweight(self, p: Floats) -> Floats:
        """Return (n, n_classes) the predictions for the shares of the classes in the table instead of the sample."""
        if self.class_weights is None:
            return p
        weighted = p * np.array(self.class_weights)
        return np.asarray(weighted / weighted.sum(axis=1, keepdims=True))

    def row_weights(self, y: npt.NDArray[Any]) -> Floats | None:
        """Return (n,) the weight of each row, None where all are 1."""
        return None if self.class_weights is None else np.array(self.class_weights)[y]


@dataclass(frozen=True)
class MeasureValues:
    """Hold the measures of one split, by name, and whether its log loss without the bound is infinite."""

    values: Mapping[str, float]
    infinite: bool


def measure_predictions(
    y: npt.NDArray[Any], p: Floats, scale: MeasureScale, measures: Sequence[Measure], weights: Floats | None = None
) -> MeasureValues:
    """Return the ``measures`` measures of the predictions of one split.

    The log loss is that of the bounded predictions. The others need no bound.

    ``y`` are (n,) class numbers, and ``p`` are (n,) probabilities of class 1, or (n, n_classes). ``weights``, (n,), are
    those of the rows; None means those of ``scale``.

    Raises ProbcalError if the metric of a plugin raises anything.
    """
    columns = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    weights = scale.row_weights(y) if weights is None else weights
    unbounded = Prediction(y, scale.reweight(columns), weights)
    bounded = Prediction(y, scale.clip(scale.reweight(columns)), weights)
    values = {measure.name: measure.value(bounded if measure.name == LOSS.name else unbounded) for measure in measures}
    observed = columns[np.arange(len(y)), y.astype(int)]
    return MeasureValues(values, bool((observed <= 0).any()))
