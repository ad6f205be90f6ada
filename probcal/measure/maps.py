"""Names of the maps that calibrate given probabilities. Shells complete them, so nothing heavy is imported."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from probcal.errors import ProbcalError, did_you_mean
from probcal.methods.registry import FAMILIES, METHODS

# It changes nothing unless the true base rate is given.
_UNADJUSTED_MAP = "prior"


def map_paths() -> dict[str, str]:
    """Return short name -> import path of each map. A map has the name of the method that fits it around a learner.

    Both are in one module, and the names of their classes begin with the same word: BetaCalibrator and
    BetaCalibrationClassifier.
    """
    maps = [path for path, family in FAMILIES.items() if family == "maps"]
    paths = {}
    for name, method in METHODS.items():
        for path in maps:
            if name != _UNADJUSTED_MAP and method.path.startswith(path.removesuffix("Calibrator")):
                paths[name] = path
    return paths


def new_map(name: str) -> Any:
    """Return an unfitted map with its default parameters. Raise ProbcalError for an unknown name."""
    paths = map_paths()
    if name not in paths:
        advice = "; it needs the true base rate, so use PriorCalibrator in Python" if name == _UNADJUSTED_MAP else ""
        hint = advice or did_you_mean(name, paths)
        raise ProbcalError(f'--calibrate: there is no map "{name}"{hint} (there are: {", ".join(sorted(paths))})')
    module, _, class_name = paths[name].rpartition(".")
    return getattr(import_module(module), class_name)()
