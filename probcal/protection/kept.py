"""Calibrators in a saved state."""

from __future__ import annotations

from typing import Any

from probcal.protection.calibrators import Calibrators, Cox, Own, Quadratic, family


def kept(calibrators: Any) -> Any:
    """What is kept of them: a name, the parameters of a family, or the names of functions, which are not kept."""
    if isinstance(calibrators, str):
        return calibrators
    found = family(calibrators)
    if isinstance(found, Quadratic):
        return {"quadratic": list(found.eps)}
    if isinstance(found, Cox):
        return {"cox": [list(pair) for pair in found.pairs]}
    if isinstance(found, Own):
        return {"functions": [getattr(one, "__name__", type(one).__name__) for one in found.functions]}
    return {"family": type(found).__name__}


def restored(saved: Any, given: Any) -> Any:
    """The calibrators of ``saved``, as ``kept`` returned it, with those given again, or None.

    Raises ValueError where they must be given and are not, and where others are given.
    """
    known = _known(saved)
    if known is None and given is None:
        raise ValueError("the calibrators of this stream have no name: give them as calibrators=")
    if given is not None and (kept(given) != saved if known is None else family(given) != known):
        raise ValueError(f"the stream has the calibrators {saved!r}, not {kept(given)!r}")
    if known is None:
        return given
    return saved if isinstance(saved, str) else known


def _known(saved: Any) -> Calibrators | None:
    """None for what must be given again."""
    if isinstance(saved, str):
        return family(saved)
    [(kind, values)] = saved.items() if isinstance(saved, dict) and len(saved) == 1 else [(None, None)]
    if kind in ("functions", "family"):
        return None
    if kind == "quadratic":
        return Quadratic(values)  # type: ignore[arg-type]
    if kind == "cox":
        return Cox(values)  # type: ignore[arg-type]
    raise ValueError(f"there are no such calibrators as {saved!r}")
