"""The Simple Jumper.

The Composite Jumper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from probcal.protection.calibrating_functions import Calibrators
from probcal.protection.protector import Protector


class SimpleJumper(Protector):
    """Vovk, Petej & Gammerman (2021), Algorithm 1: base estimates, calibrated anew at every step by what was gained.

    The protected estimate is a mean of the calibrators' values, weighted by their capital; each label multiplies a
    calibrator's capital by the probability that it gave to the label, and before each step the share ``jump_rate`` of
    all capital is dealt out evenly. The test martingale S is the likelihood ratio of the protected estimates to the
    base: if the base is right about the labels, P(S_n >= c for some n) <= 1 / c (Ville's inequality). log10 S_n is what
    the protection has gained in cumulative log10 loss: that of ``protect`` always, that of ``predict_one`` where each
    label is learnt before the next estimate (see ``log10_martingale``).

    One object is one stream: threads that share it must take turns.

    Parameters
    ----------
    calibrators : ``"quadratic"``, p + eps p (1 - p) with eps in {0, 1, -1, .5, -.5}; ``"cox"``, the nine of the
        authors' notebook; ``"cox_slipped"``, those that the notebook runs, which passes places in lists for values (the
        first is the constant 1/2); ``Quadratic(eps)`` or ``Cox(pairs)``; or a list of functions, each from (n,) or
        (n, n_classes) probabilities, a copy, to as many. The Cox families are for two classes.
    jump_rate : J, from 1e-12 to 1.
    start : ``"uniform"``, as printed; or ``"first"``, all capital on the first calibrator, as in the notebook.
    truncation : base estimates are moved into [truncation, 1 - truncation] first, and with more than two classes
        divided by their sum. The default, 1e-9, leaves all but those nearer to 0 or 1 than that as they are, and
        with it no label is impossible. None for not at all, as printed: then a label of base probability 0 is
        refused, and an estimate nearer to 1 than 1e-9 has fewer digits, as floats there have.

    A row of several classes must sum to 1 to 1e-5. The poster has J = .01, truncation .1 and start="uniform".
    """

    _parameters = ("calibrators", "jump_rate", "start", "truncation")

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]] = "quadratic",
        jump_rate: float = 0.01,
        start: Literal["uniform", "first"] = "uniform",
        truncation: float | None = 1e-9,
    ) -> None:
        """Raises ValueError for a parameter that is not as documented."""
        super().__init__(calibrators, (jump_rate,), 0, start, truncation)

    @property
    def jump_rate(self) -> float:
        """J, the share of all capital that is dealt out evenly before each step."""
        return self._rates[0]


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
