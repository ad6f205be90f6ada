"""Base rates where the probabilities will be used: what ``--base-rate`` names, and rows weighted to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from probcal.errors import ProbcalError, did_you_mean
from probcal.reading.prediction_file import FilePredictions

_ROUNDING = 1e-6


def read_base_rates(texts: Sequence[str], classes: Sequence[str]) -> tuple[float, ...]:
    """Return the base rate of each class. ``texts`` are one number for the second of two classes, or ``label=rate``.

    Raises ProbcalError for anything else.
    """
    if len(texts) == 1 and "=" not in texts[0]:
        if len(classes) != 2:
            example = " ".join(f"--base-rate {label}=…" for label in classes[:3])
            raise ProbcalError(
                f"--base-rate {texts[0]}: there are {len(classes)} classes; name each, such as {example}"
            )
        rate = _rate(texts[0], texts[0])
        return 1 - rate, rate
    rates: dict[str, float] = {}
    for text in texts:
        label, equals, number = text.rpartition("=")
        if not equals:
            raise ProbcalError(
                f"--base-rate {text}: write label=rate, as for the other classes, such as {classes[0]}=.2"
            )
        if label not in classes:
            hint = did_you_mean(label, classes)
            raise ProbcalError(
                f'--base-rate {text}: there is no class "{label}"{hint} (there are: {_listing(classes)})'
            )
        if label in rates:
            raise ProbcalError(f'--base-rate: the class "{label}" is named twice; name each once')
        rates[label] = _rate(number, text)
    if absent := [label for label in classes if label not in rates]:
        raise ProbcalError(f"--base-rate: name the rate of each class; these have none: {_listing(absent)}")
    if abs(math.fsum(rates.values()) - 1) > _ROUNDING:
        raise ProbcalError(
            f"--base-rate: the rates have the sum {math.fsum(rates.values()):.6g}; they must have the sum 1"
        )
    return tuple(rates[label] for label in classes)


def _rate(number: str, text: str) -> float:
    try:
        rate = float(number)
    except ValueError:
        rate = math.nan
    if not 0 < rate < 1:
        raise ProbcalError(f"--base-rate {text}: a base rate is a number above 0 and below 1, such as .002")
    return rate


def _listing(labels: Sequence[str]) -> str:
    return ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")


def weighted_to(predictions: FilePredictions, base_rates: Sequence[float]) -> FilePredictions:
    """Return the predictions with the weight of each row times the base rate of its class over its present share."""
    shares = np.array([*predictions.shares().values()])
    return replace(predictions, weight=predictions.weight * (np.array(base_rates) / shares)[predictions.y])


def weighting_text(predictions: FilePredictions, base_rates: Sequence[float]) -> str:
    """Return a sentence that says which base rates the metrics are for, and how the rows are weighted."""
    pairs = zip(predictions.classes, base_rates, strict=True)
    named = [f'"{label}": {rate:.6g}' for label, rate in pairs][1 if predictions.is_binary else 0 :]
    return (
        f"all metrics, before and after, are for the base rate {_listing(named)}; the rows of each class are weighted "
        "by the new base rate over the present share"
    )
