"""Names of the maps that calibrate given probabilities. Shells complete them, so nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from probcal.errors import ProbcalError, did_you_mean
from probcal.methods.registry import map_paths

PRIOR = "prior"
"""The map that needs a base rate. Without one it changes nothing."""


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
    return map_class(base_rates[1] if len(base_rates) == 2 else dict(enumerate(base_rates)))


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
