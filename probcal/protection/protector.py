"""Protection of a base forecaster, as a stream and as arrays: what the Simple and the Composite Jumper share."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from numbers import Real
from operator import mul
from typing import Any, Self

import numpy as np

from probcal.protection import inputs
from probcal.protection.calibrators import Calibrators, family
from probcal.protection.feedback import Feedback
from probcal.protection.jumper import Jumper
from probcal.protection.long_sum import LongSum

_ROWS = 16_384
"""Rows of an array done at a time: what it takes beyond its answers does not grow with the stream."""


class Protector:
    """Simple Jumpers side by side, each with a share of the capital, and a passive share on the base itself."""

    _parameters: tuple[str, ...]

    def __init__(
        self,
        calibrators: str | Calibrators | Sequence[Callable[[np.ndarray], Any]],
        jump_rates: tuple[float, ...],
        passive_weight: float,
        start: str,
        truncation: float | None,
    ) -> None:
        inputs.refuse_other_parameters(jump_rates, start, truncation, passive_weight)
        self.calibrators = calibrators
        self.start = start
        self.truncation = truncation
        self._family = family(calibrators)
        self._rates = jump_rates
        self._passive = passive_weight
        self._n_classes: int | None = None
        self._jumpers: list[Jumper] = []
        self._feedback = Feedback()
        self._log10 = LongSum()

    @property
    def log10_martingale(self) -> float:
        """log10 S: how much the protected estimates have gained over the base; 0 before the first label."""
        return self._log10.value

    def predict_one(self, p: Any, labelled: bool = True) -> Any:
        """The protected estimate for one row: a float for ``p`` = P(y = 1), (n_classes,) for a row of more classes.

        labelled : False for a row that will never get its label: the capital does not jump before it, as the authors
            have it where only some rows get one. A label that comes late is a label.

        Takes constant time and memory, and changes nothing. Raises ValueError for what is no probability.
        """
        base = self._base(p)
        passive, weights = self._weights(labelled)
        if isinstance(base, float):
            return min(1.0, passive * base + sum(map(mul, weights, self._family.apply_one(base))))
        values = self._family.apply(base)[0]
        return np.minimum(passive * base[0] + np.array(weights) @ values, 1)

    def learn_one(self, p: Any, y: int) -> None:
        """The label ``y`` of a row whose base estimate was ``p``, whenever it comes; constant time and memory.

        S is counted by the estimate that these would be given now: where labels come late, they are those of a stream
        without the delay.

        Raises ValueError for what is no probability or no label, and for a label that the base holds to be impossible.
        """
        base = self._base(p)
        n_classes = self._n_classes
        if y not in range(n_classes):
            raise ValueError(f"y must be a whole number from 0 to {n_classes - 1}, not {y!r}")
        y = int(y)
        if isinstance(base, float):
            values = self._family.apply_one(base)
            likelihoods, of_base = (values, base) if y else ([1 - one for one in values], 1 - base)
        else:
            likelihoods, of_base = self._family.apply(base)[0, :, y].tolist(), float(base[0, y])
        if not of_base:
            raise ValueError(f"the base holds the label {y} to be impossible (p = {p!r}); give a truncation")
        gains = [jumper.learn(likelihoods, of_base) for jumper in self._jumpers]
        if self._alone:
            self._log10.add(gains[0])
            return
        shares = self._shares()
        for jumper, gain in zip(self._jumpers, gains, strict=True):
            jumper.log10.add(gain)
        self._log10.add(math.log10(sum(map(mul, shares, [*(10**gain for gain in gains), 1.0]))))

    def protect(self, p: Any, y: Any, *, delay: int = 0, every: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The protected estimates of rows in order, and log10 S after each: the shape of ``p``, and (n,).

        p : (n,) base estimates of P(y = 1), or (n, n_classes) of three or more classes.
        y : (n,) labels 0 and 1, or 0 to n_classes - 1. The estimate of row i uses no label of row i or later.
        delay : so many rows later a label comes than it could: row i knows those of rows before i - delay.
        every : only the rows whose number, from 0, is a multiple of it get their label.

        log10 S_n is the sum over the rows up to n of log10 B_p'({y}) - log10 B_p({y}), p truncated and p' the estimate
        returned; so the log10 loss of the base less that of p' is its last value. Rows that the Jumper does not get to
        know the labels of count as well.

        Goes on from where the last call ended, labels that are still on their way and row numbers among it. The same
        as ``predict_one`` and ``learn_one`` for each row to 1e-12, some thirty times faster.

        Raises ValueError, and then leaves all as it was, for what is no probability or no label, and for a label that
        the base holds to be impossible (with its row).
        """
        p, y = inputs.stream(p, y)
        inputs.refuse_other_feedback(delay, every)
        before = copy.deepcopy((self._n_classes, self._jumpers, self._feedback, self._log10))
        estimates, log10 = np.empty(p.shape), np.empty(len(y))
        try:
            self._begin(inputs.classes_of(p))
            for part in _parts(len(y)):
                base, labels = inputs.rows(p[part], y[part], self.truncation, part.start)
                estimates[part], log10[part] = self._protect_part(base, labels, delay, every)
        except ValueError:
            self._n_classes, self._jumpers, self._feedback, self._log10 = before
            raise
        return estimates, log10

    def state(self) -> dict[str, Any]:
        """All that the stream depends on, as plain dicts, lists and numbers that JSON keeps exactly.

        ``from_state`` goes on from it. Functions of the user's own are not in it.
        """
        parameters = {name: getattr(self, name) for name in self._parameters}
        if not isinstance(self.calibrators, str):
            parameters["calibrators"] = None
        return {
            "parameters": {k: list(v) if isinstance(v, tuple) else v for k, v in parameters.items()},
            "n_classes": self._n_classes,
            "log10_martingale": self._log10.state(),
            "jumpers": [{"capital": list(one.capital), "log10": one.log10.state()} for one in self._jumpers],
            "feedback": self._feedback.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], calibrators: Any = None) -> Self:
        """One that goes on from ``state``, as ``state()`` returned it or as JSON gives it back.

        calibrators : those of the stream, where they have no name; else they are in the state.

        Raises ValueError for what is no state of this class, and where the calibrators are not given or others.
        """
        try:
            parameters = dict(state["parameters"])
            if parameters["calibrators"] is None or calibrators is not None:
                parameters["calibrators"] = calibrators
            if parameters["calibrators"] is None:
                raise ValueError("the calibrators of this stream have no name: give them as calibrators=")
            one = cls(**parameters)
            if state["n_classes"] is not None:
                one._begin(state["n_classes"])
            for jumper, saved in zip(one._jumpers, state["jumpers"], strict=True):
                if len(saved["capital"]) != len(jumper.capital):
                    counts = f"{len(saved['capital'])} calibrators, not {len(jumper.capital)}"
                    raise ValueError(f"the state is that of {counts}")
                jumper.capital, jumper.log10 = list(saved["capital"]), LongSum(*saved["log10"])
            one._log10 = LongSum(*state["log10_martingale"])
            one._feedback = Feedback.from_state(state["feedback"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no state of {cls.__name__}: {error}") from error
        return one

    def _protect_part(
        self, base: np.ndarray, labels: np.ndarray, delay: int, every: int
    ) -> tuple[np.ndarray, np.ndarray]:
        values = self._family.apply(base)
        likelihoods, of_base = (inputs.likelihood(one, labels, self._n_classes) for one in (values, base))
        inputs.refuse_no_capital(bool((likelihoods.max(axis=1) > 0).all()))
        labelled, known, *arrived = self._feedback.arrivals(likelihoods, of_base, delay, every)
        passive, weights = self._weights_of_rows(labelled, known, arrived)
        estimates = np.einsum("ne,ne...->n...", weights, values) + (base.T * passive).T
        gains = np.einsum("ne,ne->n", weights, likelihoods) + passive * of_base
        inputs.refuse_no_capital(bool((gains > 0).all()))
        gains = np.log10(gains) - np.log10(of_base)
        log10 = self.log10_martingale + np.cumsum(gains)
        self._log10.add(float(gains.sum()))
        return np.minimum(estimates, 1), log10

    def _weights_of_rows(
        self, labelled: np.ndarray, known: np.ndarray | slice, arrived: list[np.ndarray]
    ) -> tuple[np.ndarray | float, np.ndarray]:
        """The passive share of each row, (n,), and the calibrators', (n, n_calibrators)."""
        each, log10 = [], []
        for jumper in self._jumpers:
            learnt = jumper.learn_all(arrived[0])
            if not self._alone:
                log10.append(jumper.gain_all(learnt, *arrived)[known])
            capital = learnt[known]
            jumped = jumper.jumped(capital)
            each.append(jumped if labelled.all() else np.where(labelled[:, None], jumped, capital))
        if self._alone:
            return 0.0, each[0]
        *shares, passive = _shares(log10, self._passive)
        return passive, sum(share[:, None] * weights for share, weights in zip(shares, each, strict=True))

    def _weights(self, labelled: bool) -> tuple[float, list[float]]:
        """As ``_weights_of_rows``, for the next row."""
        if self._alone:
            return 0.0, self._jumpers[0].weights(labelled)
        *shares, passive = self._shares()
        each = [jumper.weights(labelled) for jumper in self._jumpers]
        return passive, [sum(map(mul, shares, column)) for column in zip(*each, strict=True)]

    def _shares(self) -> list[float]:
        return _shares([jumper.log10.value for jumper in self._jumpers], self._passive)

    @property
    def _alone(self) -> bool:
        return len(self._rates) == 1 and not self._passive

    def _base(self, p: Any) -> float | np.ndarray:
        """The truncated base estimate of one row: a float, or (1, n_classes)."""
        one = isinstance(p, Real)
        if one and 0 <= p <= 1:  # the way of two classes is worth being short
            self._begin(2)
            p, least = float(p), self.truncation
            return p if least is None else min(max(p, least), 1 - least)
        p, _ = inputs.stream([p], [0])
        base = inputs.estimates(p, self.truncation, 0)
        self._begin(inputs.classes_of(base))
        return base if base.ndim == 2 else float(base[0])

    def _begin(self, n_classes: int) -> None:
        if self._n_classes is None:
            uncertain = np.array([0.5]) if n_classes == 2 else np.full((1, n_classes), 1 / n_classes)
            size = self._family.apply(uncertain).shape[1]
            capital = [1 / size] * size if self.start == "uniform" else [1.0] + [0.0] * (size - 1)
            self._jumpers = [Jumper(rate, list(capital)) for rate in self._rates]
            self._n_classes = n_classes
        elif n_classes != self._n_classes:
            raise ValueError(f"p is for {n_classes} classes, the stream so far for {self._n_classes}")


def _shares(log10: list[Any], passive_weight: float) -> list[Any]:
    """What each Jumper has of all capital, and last what the base has; of numbers, or of arrays of one shape."""
    equal = math.log10((1 - passive_weight) / len(log10))
    passive = math.log10(passive_weight) if passive_weight else -math.inf
    logs = [*(equal + one for one in log10), passive + 0 * log10[0]]
    most = reduce(np.maximum, logs)
    capital = [10.0 ** (one - most) for one in logs]
    total = sum(capital)
    return [one / total for one in capital]


def _parts(n: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS, n)) for first in range(0, n, _ROWS))
