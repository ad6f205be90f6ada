"""The Composite Jumper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from probcal.protection.calibrators import Calibrators
from probcal.protection.protector import Protector


class CompositeJumper(Protector):
    """A mixture of Simple Jumpers of several jump rates and of the base itself, as in the authors' notebook.

    With pi = ``passive_weight`` its test martingale is pi + (1 - pi) times the mean of those of the Simple Jumpers, so
    it never falls below pi: at most log10(1 / pi) is lost to the base, whatever comes. The Simple Jumpers' martingales
    are kept as logarithms: none is lost however far another gets ahead.

    Parameters
    ----------
    jump_rates : of the Simple Jumpers, of equal weight.
    passive_weight : of the base, at least 0 and below 1.
    calibrators, start, truncation : as in ``SimpleJumper``.
    """

    _parameters = ("calibrators", "jump_rates", "passive_weight", "start", "truncation")

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]] = "cox",
        jump_rates: Sequence[float] = (1e-2, 1e-3, 1e-4),
        passive_weight: float = 0.5,
        start: Literal["uniform", "first"] = "first",
        truncation: float | None = 1e-9,
    ) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        super().__init__(calibrators, jump_rates, passive_weight, start, truncation)

    @property
    def jump_rates(self) -> tuple[float, ...]:
        """Of the Simple Jumpers, in the order given."""
        return self._rates

    @property
    def passive_weight(self) -> float:
        """Of the base, at least 0 and below 1."""
        return self._passive
