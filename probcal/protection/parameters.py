"""What a Jumper is made of, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from probcal.protection.checks import as_number, items

LEAST_JUMP_RATE = 1e-12
"""Less would be a jump in more rows than any stream has, and at last no number at all."""


class Numbers(NamedTuple):
    """The numeric parameters, as floats."""

    jump_rates: tuple[float, ...]
    passive_weight: float
    truncation: float | None


def checked(jump_rates: Any, passive_weight: Any, start: Any, truncation: Any) -> Numbers:
    """Raises ValueError for a parameter that is not as documented."""
    given = items(jump_rates, "jump_rates")
    if not given:
        raise ValueError("jump_rates must hold at least one jump rate")
    for rate in given:
        if not LEAST_JUMP_RATE <= as_number(rate) <= 1:
            raise ValueError(f"a jump rate must be a number from {LEAST_JUMP_RATE:g} to 1, not {rate!r}")
    if start not in ("uniform", "first"):
        raise ValueError(f"start must be 'uniform' or 'first', not {start!r}")
    weight = as_number(passive_weight)
    if not 0 <= weight < 1:
        raise ValueError(f"passive_weight must be a number of at least 0 and below 1, not {passive_weight!r}")
    least = None
    if truncation is not None:
        least = as_number(truncation)
        if not 0.5 < 1 - least < 1:
            raise ValueError(
                "truncation must be None or a number between 0 and .5, large enough that 1 - truncation is not 1"
                f" (1e-15 is), not {truncation!r}"
            )
    return Numbers(tuple(map(as_number, given)), weight, least)
