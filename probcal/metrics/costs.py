"""Costs of wrong decisions, as the option ``--cost`` names them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from probcal.errors import ProbcalError


@dataclass(frozen=True)
class Costs:
    """Hold what a false positive and a false negative cost, in any unit."""

    false_positive: float
    false_negative: float

    @property
    def threshold(self) -> float:
        """Return the probability from which the positive label is the cheaper decision."""
        return self.false_positive / (self.false_positive + self.false_negative)

    @property
    def advice(self) -> str:
        """Return in words from which probability to decide for the positive label."""
        costs = f"a false positive costs {self.false_positive:.6g} and a false negative {self.false_negative:.6g}"
        return f"decide for the positive label from probability {self.threshold:.4g} up, because {costs}"


def read_costs(text: str) -> Costs:
    """Return the costs that ``text`` names, such as ``1:5``. Raises ProbcalError for anything else."""
    try:
        false_positive, false_negative = map(float, text.split(":"))
    except ValueError:
        false_positive = false_negative = math.nan
    if not (0 < false_positive < math.inf and 0 < false_negative < math.inf):
        raise ProbcalError(
            f"--cost {text}: give two costs above 0, of a false positive and of a false negative, such as 1:5"
        )
    return Costs(false_positive, false_negative)
