"""What a check can say besides "passed"."""

from __future__ import annotations

from unittest import SkipTest


class Failed(AssertionError):
    """A promise is not kept: what was expected, what came, and what to do."""

    def __init__(self, expected: str, came: str, do: str) -> None:
        super().__init__(f"expected {expected}; {came}; {do}")


class DoesNotApply(SkipTest):
    """The component does not make this promise, and why. pytest shows such a check as skipped."""
