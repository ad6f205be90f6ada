"""One Simple Jumper: its capital on each calibrator, and what it has gained."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import mul
from typing import Any

import numpy as np

from probcal.protection.checks import entries, listed, number
from probcal.protection.inputs import refuse_no_capital
from probcal.protection.long_sum import LongSum
from probcal.protection.scan import capitals


@dataclass(slots=True)
class Jumper:
    """``capital`` is normalised after every label, so that it neither overflows nor vanishes.

    ``log10`` is what it has gained, log10 S: kept for a mixture of several only, to weigh them.
    """

    jump_rate: float
    capital: list[float]
    log10: LongSum = field(default_factory=LongSum)

    def weights(self, jump: bool) -> list[float]:
        """The calibrators' shares of the next estimate: after the jump, unless that row is to get no label."""
        if not jump:
            return self.capital
        stay, arrive = 1 - self.jump_rate, self.jump_rate / len(self.capital)
        return [stay * one + arrive for one in self.capital]

    def step(self, likelihoods: list[float]) -> tuple[list[float], float]:
        """Capital after a label, and the probability that the mean of the calibrators gave to it; nothing is changed.

        likelihoods : the label's probability under each calibrator.
        """
        capital = list(map(mul, self.weights(jump=True), likelihoods))
        total = sum(capital)
        refuse_no_capital(total > 0)
        return [one / total for one in capital], total

    def learn_all(self, likelihoods: np.ndarray) -> np.ndarray:
        """(n + 1, n_calibrators) capital before the first label, after it, and so on."""
        capital = capitals(np.array(self.capital), likelihoods, self.jump_rate)
        self.capital = capital[-1].tolist()
        return capital

    def gain_all(self, capital: np.ndarray, likelihoods: np.ndarray, base: np.ndarray) -> np.ndarray:
        """(n + 1,) log10 S before the first label, after it, and so on, ``capital`` being that of ``learn_all``."""
        gains = np.log10(np.einsum("ne,ne->n", self.jumped(capital[:-1]), likelihoods)) - np.log10(base)
        log10 = self.log10.value + np.concatenate([[0.0], np.cumsum(gains)])
        self.log10.add(float(gains.sum()))
        return log10

    def jumped(self, capital: np.ndarray) -> np.ndarray:
        """``weights`` of capital in rows, (n, n_calibrators)."""
        weights = (1 - self.jump_rate) * capital
        weights += self.jump_rate / capital.shape[1]
        return weights

    def state(self) -> dict[str, Any]:
        return {"capital": list(self.capital), "log10": self.log10.state()}

    def restore(self, state: Any, name: str) -> None:
        """Raises ValueError, which begins with ``name``, for what ``state`` does not return."""
        saved = entries(state, name, ("capital", "log10"))
        where = f"{name}.capital"
        self.capital = [number(one, where, 0, 1) for one in listed(saved["capital"], where, len(self.capital))]
        if abs(sum(self.capital) - 1) > 1e-9:
            raise ValueError(f"{where} must sum to 1, not to {sum(self.capital)!r}")
        self.log10 = LongSum.from_state(saved["log10"], f"{name}.log10")
