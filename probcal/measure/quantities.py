"""Lines of the table of a measurement: the metrics of the registry, and the costs of decisions if they are known.

A row is decided positive if its probability is at least the threshold FP / (FP + FN). Costs are in the user's unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from probcal.metrics.bootstrap import LEVEL, Quantity
from probcal.metrics.closed_forms import (
    auc_interval_of,
    brier_interval,
    log_loss_interval,
    log_losses,
    mean_interval,
    share_interval,
)
from probcal.metrics.decisions import Costs
from probcal.metrics.drawn_rows import DrawnRows
from probcal.metrics.losses import squared_errors
from probcal.metrics.metric import Metric, Prediction
from probcal.metrics.registry import ASKED_METRICS, METRICS, metric_named

Floats = npt.NDArray[np.float64]

# Metrics that grow with the number of rows, so that groups cannot be compared.
_SUMS = ("errors", "log10_loss")
# The forms that one paper's tables have. Here they would repeat the log loss and the Brier score.
_EXPERIMENT_METRICS = ("accuracy", "log_loss", "bounded_log_loss", "brier")
# A p-value is not an estimate of anything. It holds for probabilities that the labels of these rows did not make.
P_VALUES = ("c_emp_p",)
# Two sums of the same costs in another order differ by less, as a share of the larger cost.
_ROUNDING = 1e-12


def quantities(two_classes: bool, costs: Costs | None = None) -> list[Quantity]:
    """Return the lines of the table. Each metric of the registry is one, and needs no entry here.

    ``costs`` of two classes add those on decisions.
    """
    base = metric_named("frequency")
    lines = []
    if two_classes:
        lines += [
            Quantity(
                "base_rate", "base rate", lambda data: data.rows.mean(data.rows.y), base, DrawnRows.base_rate,
                has_calibration=False, closed_form=lambda data: share_interval(data.rows, LEVEL),
            ),
            Quantity(
                "mean_probability", "mean probability", lambda data: data.rows.mean(data.rows.p), base,
                DrawnRows.mean_probability,
                closed_form=lambda data: mean_interval(data.rows, data.rows.p, LEVEL), of_rows=lambda data: data.rows.p,
            ),
        ]  # fmt: skip
        lines += [] if costs is None else _cost_quantities(costs)
    for name in (*METRICS, *ASKED_METRICS):
        metric = metric_named(name)
        has_value = metric.value is not None and not metric.of_the_truth and name not in (*_SUMS, *_EXPERIMENT_METRICS)
        if has_value and metric.value and (two_classes or not metric.two_classes):
            lines += _quantities_of(metric, metric.value)
    return lines


def _quantities_of(metric: Metric, value: Callable[[Prediction], float]) -> list[Quantity]:
    if metric.name == "cxe":
        return [
            Quantity(
                "log_loss_bits", "log loss (bits)", value, metric, DrawnRows.log_loss,
                closed_form=lambda data: log_loss_interval(data.rows, LEVEL),
                of_rows=lambda data: log_losses(data.rows),
            ),
            Quantity(
                "log_loss_nats", "log loss (nats)", lambda prediction: value(prediction) * math.log(2), metric,
                lambda draws: draws.log_loss() * math.log(2),
                closed_form=lambda data: log_loss_interval(data.rows, LEVEL, math.e),
                of_rows=lambda data: log_losses(data.rows, math.e),
            ),
        ]  # fmt: skip
    if metric.name == "rms":
        return [
            Quantity(
                "brier", "Brier score", lambda prediction: value(prediction) ** 2, metric, DrawnRows.squared_error,
                closed_form=lambda data: brier_interval(data.rows, LEVEL),
                of_rows=lambda data: squared_errors(data.rows),
            )
        ]  # fmt: skip
    estimate = metric.name not in P_VALUES
    closed_form = (lambda data: auc_interval_of(data, LEVEL)) if metric.name == "auc" else None
    return [Quantity(metric.name, metric.short, value, metric, metric.drawn, estimate, estimate, closed_form)]


def _cost_quantities(costs: Costs) -> list[Quantity]:
    false_positive, false_negative, threshold = costs.false_positive, costs.false_negative, costs.threshold

    def cost(name: str, short: str, about: str, most: float) -> Metric:
        return Metric(name, about, short, short, most=most)

    def probability(name: str, short: str, about: str) -> Metric:
        return Metric(name, about, short, short, no_end="it is a threshold")

    def net_benefit(data: Prediction) -> float:
        return _base_rate(data) - _at_threshold(data, costs) / false_negative

    def drawn_cost(draws: DrawnRows) -> Floats:
        is_decided = draws.blocks.p >= threshold
        return np.asarray(
            (false_positive * draws.negative[:, is_decided].sum(axis=1)
             + false_negative * draws.positive[:, ~is_decided].sum(axis=1)) / draws.total
        )  # fmt: skip

    def drawn_costs(draws: DrawnRows) -> Floats:
        return _costs_of_cuts(draws.positive, draws.negative, costs) / draws.total[:, None]

    lowest = "the lowest cost that a threshold has on these rows, which is optimistic"
    best = "threshold with the lowest cost on these rows, which is optimistic; 0: always positive, 1: always negative"
    return [
        Quantity(
            "cost_threshold", "threshold", lambda _: threshold,
            probability("cost_threshold", "threshold", "probability from which a row is decided positive"),
            has_calibration=False, has_interval=False, is_small=True,
        ),
        Quantity(
            "cost", "cost", lambda data: _at_threshold(data, costs),
            cost("cost", "cost", "mean cost of a row, decided at the threshold", max(false_positive, false_negative)),
            drawn_cost, closed_form=lambda data: mean_interval(data.rows, _cost_of_rows(data, costs), LEVEL),
            of_rows=lambda data: _cost_of_rows(data, costs), is_small=True, cut=threshold,
        ),
        Quantity(
            "cost_always_positive", "always positive", lambda data: false_positive * (1 - _base_rate(data)),
            cost("cost_always_positive", "always positive", "cost if every row is decided positive", false_positive),
            lambda draws: false_positive * (1 - draws.base_rate()), has_calibration=False, is_small=True,
        ),
        Quantity(
            "cost_always_negative", "always negative", lambda data: false_negative * _base_rate(data),
            cost("cost_always_negative", "always negative", "cost if every row is decided negative", false_negative),
            lambda draws: false_negative * draws.base_rate(), has_calibration=False, is_small=True,
        ),
        Quantity(
            "net_benefit", "net benefit", net_benefit,
            Metric(
                "net_benefit", "true positives per row less FP/FN times the false positives per row", "net benefit",
                "net benefit", larger_is_better=True, least=-false_positive / false_negative,
            ),
            lambda draws: draws.base_rate() - drawn_cost(draws) / false_negative, is_small=True, cut=threshold,
        ),
        Quantity(
            "best_threshold", "best threshold", lambda data: _best(data, costs)[0],
            probability("best_threshold", "best threshold", best),
            lambda draws: _thresholds(draws.blocks.p)[_first_lowest(drawn_costs(draws), costs)],
            has_calibration=False, is_small=True,
        ),
        Quantity(
            "lowest_cost", "lowest cost", lambda data: _best(data, costs)[1],
            cost("lowest_cost", "lowest cost", lowest, max(false_positive, false_negative)),
            lambda draws: drawn_costs(draws).min(axis=1), has_calibration=False, is_small=True,
        ),
    ]  # fmt: skip


def _base_rate(data: Prediction) -> float:
    return data.rows.mean(data.rows.y)


def _cost_of_rows(data: Prediction, costs: Costs) -> Floats:
    y, is_decided = data.rows.y, data.rows.p >= costs.threshold
    return np.asarray(np.where(is_decided, costs.false_positive * (1 - y), costs.false_negative * y), np.float64)


def _at_threshold(data: Prediction, costs: Costs) -> float:
    return data.rows.mean(_cost_of_rows(data, costs))


def _best(data: Prediction, costs: Costs) -> tuple[float, float]:
    """Return the threshold with the lowest cost on the rows, the smallest of several, and this cost."""
    [ranked] = data.ranked
    positive, negative = (ranked.in_blocks(ranked.weight * one) for one in (ranked.y, 1 - ranked.y))
    of_cuts = _costs_of_cuts(positive[None], negative[None], costs) / ranked.total
    [place] = _first_lowest(of_cuts, costs)
    return float(_thresholds(ranked.p[ranked.ends])[place]), float(of_cuts[0, place])


def _costs_of_cuts(positive: Floats, negative: Floats, costs: Costs) -> Floats:
    """Return the cost of deciding positive from each block up, and of deciding none, (n_draws, n_blocks + 1).

    ``positive`` and ``negative`` are the weights of the blocks, (n_draws, n_blocks), in rising order of probability.
    """
    sums = np.zeros((len(positive), positive.shape[1] + 1))
    np.cumsum(costs.false_negative * positive - costs.false_positive * negative, axis=1, out=sums[:, 1:])
    return np.asarray(costs.false_positive * negative.sum(axis=1, keepdims=True) + sums)


def _first_lowest(of_cuts: Floats, costs: Costs) -> npt.NDArray[np.intp]:
    """Return the first cut of the lowest cost in each draw, (n_draws,)."""
    scale = max(costs.false_positive, costs.false_negative) * _ROUNDING
    least = of_cuts.min(axis=1, keepdims=True)
    return np.asarray((of_cuts <= least + np.maximum(least * _ROUNDING, scale)).argmax(axis=1))


def _thresholds(p: Floats) -> Floats:
    """Return the threshold of each cut: 0 for all rows, and 1 for none, or the next number if a probability is 1."""
    none = 1.0 if p[-1] < 1 else math.nextafter(1, 2)
    return np.concatenate([[0.0], p[1:], [none]])
