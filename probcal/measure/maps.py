"""Maps that calibrate the predictions of a file: by name and base rates, cross-fitted, and as files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from probcal import __version__
from probcal.errors import DataError, ProbcalError, did_you_mean
from probcal.measure.machine_text import named_interval
from probcal.measure.measured_part import MeasuredSection
from probcal.measure.summary import Cells, SummarisedPredictions, Summary, folds_text
from probcal.methods.calibrators.map_file import map_to_json
from probcal.methods.registry import map_paths
from probcal.metrics.decisions import Costs, excess_cost_bound
from probcal.reading.levels import class_labels
from probcal.reading.prediction_file import FilePredictions

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

FOLDS = 5
PRIOR = "prior"
"""The map that needs a base rate. Without one it changes nothing."""
# A label, which may hold commas and equals signs, and its rate.
_RATE = re.compile(r"(.+?=[-+.0-9eE]+)(?:,|$)")
# How far the sum of the base rates may be from 1.
_ROUNDING = 1e-6
_ERROR = 0.05
"""Probability that a bound fails."""
_PACKAGES = ("numpy", "scipy", "scikit-learn")


def refuse_map(name: str | None, has_base_rate: bool) -> None:
    """Raise ProbcalError for an unknown map, for ``prior`` without a base rate, and for a base rate of another map."""
    if name is not None:
        new_map(name)
    if name == PRIOR and not has_base_rate:
        raise ProbcalError(
            "--calibrate prior: it needs the base rate where the probabilities will be used; name it with --base-rate, "
            "such as --base-rate .002, or --base-rate a=.2 --base-rate b=.5 --base-rate c=.3 for several classes"
        )
    if has_base_rate and name != PRIOR:
        raise ProbcalError(
            f"--base-rate is for --calibrate {PRIOR} only; "
            + (f"write --calibrate {PRIOR}" if name is None else f"leave it out with {name}")
        )


def read_base_rates(texts: Sequence[str], classes: Sequence[str]) -> tuple[float, ...]:
    """Return the base rate of each class. ``texts`` are one number for the second of two classes, or ``label=rate``.

    One text may hold several of these, such as ``a=.2,b=.8``. Raises ProbcalError for anything else.
    """
    texts = [one for text in texts for one in _single_rates(text)]
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


def _single_rates(text: str) -> list[str]:
    pairs = _RATE.findall(text)
    return pairs if ",".join(pairs) == text else [text]


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
    weight = predictions.weight * (np.array(base_rates) / shares)[predictions.y]
    return replace(predictions, weight=weight, has_weights=True)


def weighting_text(predictions: FilePredictions, base_rates: Sequence[float]) -> str:
    """Return a sentence that says which base rates the metrics are for, and how the rows are weighted."""
    pairs = zip(predictions.classes, base_rates, strict=True)
    named = [f'"{label}": {rate:.6g}' for label, rate in pairs][1 if predictions.is_binary else 0 :]
    return (
        f"all metrics, before and after, are for the base rate {_listing(named)}; the rows of each class are weighted "
        "by the new base rate over the present share"
    )


def cross_fit(name: str, predictions: FilePredictions, seed: int, base_rates: Sequence[float] | None = None) -> Floats:
    """Return (n_rows, n_classes) probabilities, each from a map that was fitted without the row's own fold.

    Rows of weight 0 are in no fold and have NaN. Raises DataError as ``calibration_folds`` does.
    """
    calibrated = np.full((predictions.n_rows, len(predictions.classes)), np.nan)
    for train, test in calibration_folds(predictions, seed):
        calibrated[test] = _fit_map(name, predictions, train, base_rates).predict_proba(predictions.p[test])
    return calibrated


def calibration_folds(predictions: FilePredictions, seed: int) -> list[tuple[Rows, Rows]]:
    """Return the rows that fit a map and those that it calibrates, for each of ``FOLDS`` folds.

    They are stratified by class and drawn with ``seed``. The rows of a cluster are in one fold, and rows of weight 0 in
    none. Raises DataError where a class has fewer rows, or is in fewer clusters.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold  # takes half a second to import

    rows = np.flatnonzero(predictions.weight > 0)
    y, cluster = predictions.y[rows], None if predictions.cluster is None else predictions.cluster[1][rows]
    counted = y if cluster is None else np.unique([y, cluster], axis=1)[0]
    counts = np.bincount(counted, minlength=len(predictions.classes))
    if (n := int(counts.min())) < FOLDS:
        label = predictions.classes[int(counts.argmin())]
        what = "rows of each class" if cluster is None else "clusters with rows of each class"
        raise DataError(
            f'--calibrate: {FOLDS} folds need at least {FOLDS} {what}, and there are {n} of "{label}"'
            "; give more rows, or measure without --calibrate"
        )
    kind = StratifiedKFold if cluster is None else StratifiedGroupKFold
    folds = kind(FOLDS, shuffle=True, random_state=seed).split(rows, y, cluster)
    return [(rows[train], rows[test]) for train, test in folds]


def excess_cost(
    predictions: FilePredictions, costs: Costs, calibrated: Floats | None = None, seed: int = 0
) -> float | str:
    """Return with 95 % confidence how much dearer the threshold of the costs can be than any other one.

    Of ``calibrated``, (n_rows, 2), it is the mean of the bounds of the folds, whose maps saw none of their rows. Then
    all of these hold with this confidence. Where the bound does not hold, what it lacks is returned in words.
    """
    if isinstance(predictions, Summary):
        return "single rows, and these predictions are summarised"
    if predictions.has_weights:
        return "rows that count alike, and these are weighted"
    if predictions.cluster is not None:
        return "independent rows, and the rows of a cluster are not independent"
    parts, p = [np.arange(predictions.n_rows)], predictions.p
    if calibrated is not None:
        parts, p = [test for _, test in calibration_folds(predictions, seed)], calibrated[:, 1]
    a, b, delta = costs.false_positive, costs.false_negative, _ERROR / len(parts)
    return math.fsum(excess_cost_bound(predictions.y[rows], p[rows], a, b, delta=delta) for rows in parts) / len(parts)


def cross_fit_cells(name: str, predictions: SummarisedPredictions) -> SummarisedPredictions:
    """Return the summary with calibrated cells. Those of each fold are from a map that was fitted without the fold."""
    cells = predictions.cells
    maps = {fold: fit_cells(name, predictions, cells.fold != fold) for fold in np.unique(cells.fold).tolist()}

    def calibrate(part: Cells) -> Cells:
        calibrated = np.empty((len(part.p), 2))
        for fold, one in maps.items():
            calibrated[part.fold == fold] = one.predict_proba(part.p[part.fold == fold])
        return replace(part, calibrated=calibrated)

    of_groups = {names: calibrate(part) for names, part in predictions.group_cells.items()}
    return replace(predictions, cells=calibrate(cells), group_cells=of_groups)


def fit_cells(name: str, predictions: SummarisedPredictions, chosen: npt.NDArray[np.bool_]) -> Any:
    """Return a map that is fitted on the ``chosen`` cells, (n_cells,). Each counts as the rows that it stands for."""
    cells = predictions.cells
    y, p, weight = cells.y[chosen], cells.p[chosen], cells.weight[chosen]
    if len(np.unique(y)) < 2:
        raise DataError(
            f"--calibrate: some of the {FOLDS} folds hold all rows of a class; give more rows of each class, or measure"
            " without --calibrate"
        )
    # the mean weight of a row is 1, as where each row is kept
    weight = weight * (predictions.n_rows / cells.weight.sum())
    try:
        return new_map(name)._fit_scaled(p, y, weight)
    except ValueError as error:
        raise DataError(f"--calibrate {name}: {error}") from None


def fit_all_rows(name: str, predictions: FilePredictions, base_rates: Sequence[float] | None = None) -> Any:
    """Return a map that is fitted on all rows. ``base_rates`` of the classes are for the map ``prior`` alone."""
    if isinstance(predictions, SummarisedPredictions):
        return fit_cells(name, predictions, np.ones(len(predictions.y), dtype=bool))
    return _fit_map(name, predictions, np.arange(predictions.n_rows), base_rates)


def _fit_map(
    name: str, predictions: FilePredictions, rows: npt.NDArray[np.intp], base_rates: Sequence[float] | None
) -> Any:
    weight = predictions.weight[rows] if predictions.has_weights else None
    try:
        return new_map(name, base_rates).fit(predictions.p[rows], predictions.y[rows], sample_weight=weight)
    except ValueError as error:
        raise DataError(f"--calibrate {name}: {error}") from None


def new_map(name: str, base_rates: Sequence[float] | None = None) -> Any:
    """Return an unfitted map with its default parameters. Raise ProbcalError for an unknown name.

    ``base_rates`` of the classes 0, 1, ... are for the map ``prior`` alone, which needs them.
    """
    paths = map_paths()
    if name not in paths:
        hint = did_you_mean(name, paths)
        raise ProbcalError(f'--calibrate: there is no map "{name}"{hint} (there are: {", ".join(sorted(paths))})')
    module, _, class_name = paths[name].rpartition(".")
    map_class = getattr(import_module(module), class_name)
    if base_rates is None:
        return map_class()
    # the predictions are taken at their word, because they may be of an event that is rarer than 1 in 2n
    return map_class(base_rates[1] if len(base_rates) == 2 else dict(enumerate(base_rates)), clip=1e-12)


def exported_map(
    calibrator: Any, predictions: FilePredictions, section: MeasuredSection, name: str, seed: int,
    draws: int, base_rates: Sequence[float] | None, costs: Costs | None = None, command: str | None = None,
) -> str:  # fmt: skip
    """Return the map as JSON, with an audit record: the data, and the metrics of ``section`` before and after.

    The metrics after are those of maps of the other folds, so no row was judged by a map that saw it. The map in the
    file is fitted on all rows. The intervals come from ``draws`` of the rows, and for 0 from closed forms.
    ``base_rates`` of the classes are those that the rows of ``section`` are weighted to. ``costs`` are those of
    decisions, and ``command`` is the command line. Earlier versions read a record with more keys than theirs, because
    they read its ``probability`` only.
    """
    weighting: dict[str, Any] = {}
    if base_rates is not None:
        weighting = {
            "base_rates": dict(zip(predictions.classes, base_rates, strict=True)),
            "weighting": weighting_text(predictions, base_rates),
        }
    audit = {
        "data": predictions.table.origin_name,
        "sha256": predictions.table.digest,
        "rows": section.n_rows,
        "target": predictions.target,
        "probability": [*predictions.columns],
        "positive": predictions.classes[1] if predictions.is_binary else None,
        "shares": {label: float(share) for label, share in predictions.shares().items()},
        "map": name,
        **weighting,
        "cost": None if costs is None else {**asdict(costs), "threshold": costs.threshold},
        "weight": predictions.weight_column,
        "cluster": None if predictions.cluster is None else _cluster_entry(predictions.cluster),
        "judged_by": f"maps fitted on the other 4 of 5 {folds_text(predictions)}, seed {seed}; "
        f"95 % {'bootstrap intervals' if draws else 'intervals in closed form'}",
        "metrics": {
            line.quantity.name: {"before": named_interval(line.before), "after": named_interval(line.after)}
            for line in section.lines
            if line.after is not None
        },
        "command": command,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {"probcal": __version__} | {package: version(package) for package in _PACKAGES},
    }
    named = copy(calibrator)
    # A parameter, such as the base rates of several classes, may name the classes by their numbers.
    if not any(isinstance(value, dict) for value in calibrator.get_params(deep=False).values()):
        named.classes_ = class_labels(predictions.classes)
    return map_to_json(named, audit)


def _cluster_entry(cluster: tuple[str, npt.NDArray[np.intp]]) -> dict[str, Any]:
    column, numbers = cluster
    return {"column": column, "clusters": len(np.unique(numbers))}
