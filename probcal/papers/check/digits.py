"""Printed digits: how many units of the last one two numbers are apart, and the sharp comparison by them.

Two kinds of columns are told apart by ``exact`` in the paper's file. An exact column draws nothing at random, so on the
rows of the paper its digits must come back. Every other column is compared by its band only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from probcal.papers.bands import units_off
from probcal.papers.check.findings import Finding, State

FARTHEST_UNITS = 1.0
"""Largest number of units that the sharp comparison allows: a digit may be rounded the other way."""


def digits(numbers: Iterable[Finding]) -> list[Finding]:
    """Return one finding per number that is ``sharp`` and has a result. Its distance is in units of the last digit."""
    return [_by_digits(one) for one in numbers if one.sharp and one.values]


def _by_digits(number: Finding) -> Finding:
    units = abs(units_off(number.values[0], number.published, number.decimals))
    state: State = "in band" if units <= FARTHEST_UNITS else "out of band"
    return replace(number, kind="digits", state=state, distance=units, why=None)
