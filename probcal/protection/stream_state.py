"""The state of a stream: the capital of its Jumpers, sums without drift, and the labels that have not arrived yet."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import mul
from typing import Any, NamedTuple, Self

import numpy as np

from probcal.protection.stream_input import check_capital, entries, is_whole, list_of, number, whole

_BLOCKS = 256
_SHORTEST = 16


def capitals(start: np.ndarray, likelihoods: np.ndarray, jump_rate: float) -> np.ndarray:
    """Return the normalised capital before the first label and after each label, (n + 1, n_calibrators).

    A step is linear: capital -> diag(likelihoods) ((1 - J) I + J / |E| 1 1^T) capital. The steps are cut into blocks of
    equal length. All blocks are first run in parallel on the unit vectors, which gives their matrices. The products of
    these matrices give the capital at the start of each block. From there all blocks run once more in parallel.

    ``start`` is (n_calibrators,). ``likelihoods`` are the probabilities of the labels under each calibrator,
    (n, n_calibrators), not all 0 in a row.
    """
    n, n_calibrators = likelihoods.shape
    if not n:
        return start[None]
    length = max(-(-n // _BLOCKS), _SHORTEST)
    blocks = -(-n // length)
    # allocated at once: returning large arrays to the system each time costs a quarter more
    padded, steps = np.empty((2, n_calibrators * blocks * length))
    padded = padded.reshape(n_calibrators, -1)
    padded[:, n:] = 1
    # only ratios within a row matter here. With a maximum of 1 no sum of capitals falls below J / |E|.
    np.divide(likelihoods.T, likelihoods.max(axis=1), out=padded[:, :n])
    steps = steps.reshape(length, n_calibrators, blocks)
    steps[...] = padded.reshape(n_calibrators, blocks, length).transpose(2, 0, 1)
    starts = _starts(start, _matrices(steps, jump_rate))
    return _states(starts, steps, jump_rate)[: n + 1]


def _matrices(steps: np.ndarray, jump_rate: float) -> np.ndarray:
    """Return the matrix of each block, up to a factor, (n_blocks, n_calibrators, n_calibrators)."""
    _, n_calibrators, blocks = steps.shape
    capital, total = np.repeat(np.eye(n_calibrators)[:, :, None], blocks, axis=2), np.empty((n_calibrators, blocks))
    for likelihoods in steps:
        np.add.reduce(capital, axis=0, out=total)
        # one factor for all unit vectors: jumps keep them within |E| / J of each other, so none vanishes
        most = total.max(axis=0)
        capital *= (1 - jump_rate) / most
        total *= jump_rate / n_calibrators / most
        capital += total
        capital *= likelihoods[:, None, :]
    return capital.transpose(2, 0, 1)


def _starts(start: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Return the normalised capital at the start of each block, (n_calibrators, n_blocks)."""
    n_blocks = 1
    products = matrices[:-1].copy()  # of block i and those before it, of twice as many in each round
    while n_blocks < len(matrices) - 1:
        products[n_blocks:] = products[n_blocks:] @ products[:-n_blocks]
        products /= products.max(axis=(1, 2), keepdims=True)
        n_blocks *= 2
    starts = np.vstack([start, products @ start]).T
    normalised: np.ndarray = starts / starts.sum(axis=0)
    return normalised


def _states(starts: np.ndarray, steps: np.ndarray, jump_rate: float) -> np.ndarray:
    """Return the normalised capital before each step and after the last, (n_steps + 1, n_calibrators)."""
    length, n_calibrators, blocks = steps.shape
    states = np.empty((n_calibrators, blocks * length + 1))
    before = states[:, :-1].reshape(n_calibrators, blocks, length)
    capital, total = starts.copy(), np.empty(blocks)
    for step, likelihoods in enumerate(steps):
        np.add.reduce(capital, axis=0, out=total)
        capital /= total
        before[:, :, step] = capital
        capital *= 1 - jump_rate
        capital += jump_rate / n_calibrators
        capital *= likelihoods
    states[:, -1] = capital[:, -1] / capital[:, -1].sum()
    return states.T


@dataclass(slots=True)
class LongSum:
    """Add many terms. ``low`` keeps what rounding takes from ``high`` (Neumaier 1974)."""

    high: float = 0.0
    low: float = 0.0

    def add(self, term: float) -> None:
        total = self.high + term
        larger, smaller = (self.high, term) if abs(self.high) >= abs(term) else (term, self.high)
        self.low += (larger - total) + smaller
        self.high = total

    def state(self) -> list[float]:
        return [self.high, self.low]

    @classmethod
    def from_state(cls, state: Any, name: str) -> Self:
        """Return the saved sum. Raises ValueError, whose message begins with ``name``, for an invalid ``state``."""
        return cls(*(number(part, name, -math.inf, math.inf) for part in list_of(state, name, 2)))

    @property
    def value(self) -> float:
        return self.high + self.low


@dataclass(slots=True)
class Jumper:
    """Hold the capital of one Simple Jumper.

    ``capital`` is normalised after every label, so that it neither overflows nor vanishes. ``log10`` is its log10 S.
    Only a mixture of several Jumpers uses it, to weigh them.
    """

    jump_rate: float
    capital: list[float]
    log10: LongSum = field(default_factory=LongSum)

    def weights(self, jump: bool) -> list[float]:
        """Return the calibrators' shares of the next prediction: after a jump, unless that row never gets a label."""
        if not jump:
            return self.capital
        stay, arrive = 1 - self.jump_rate, self.jump_rate / len(self.capital)
        return [stay * capital + arrive for capital in self.capital]

    def step(self, likelihoods: list[float]) -> tuple[list[float], float]:
        """Return the normalised capital after a label, and the mean probability of the label. Nothing changes.

        ``likelihoods`` holds the probability of the label under each calibrator. Raises ValueError if no capital is
        left.
        """
        capital = list(map(mul, self.weights(jump=True), likelihoods))
        total = sum(capital)
        check_capital(total > 0)
        return [share / total for share in capital], total

    def learn_all(self, likelihoods: np.ndarray) -> np.ndarray:
        """Learn all labels, and return the capital before the first one and after each, (n + 1, n_calibrators)."""
        capital = capitals(np.array(self.capital), likelihoods, self.jump_rate)
        self.capital = capital[-1].tolist()
        return capital

    def gain_all(self, capital: np.ndarray, likelihoods: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Return log10 S before the first label and after each, (n + 1,). ``capital`` is that of ``learn_all``."""
        gains = np.log10(np.einsum("ne,ne->n", self.jumped(capital[:-1]), likelihoods)) - np.log10(base)
        log10 = self.log10.value + np.concatenate([[0.0], np.cumsum(gains)])
        self.log10.add(float(gains.sum()))
        return log10

    def jumped(self, capital: np.ndarray) -> np.ndarray:
        """Return ``weights`` for rows of capital, (n, n_calibrators)."""
        weights = (1 - self.jump_rate) * capital
        weights += self.jump_rate / capital.shape[1]
        return weights

    def state(self) -> dict[str, Any]:
        return {"capital": list(self.capital), "log10": self.log10.state()}

    def restore(self, state: Any, name: str) -> None:
        """Restore a saved Jumper. Raises ValueError, whose message begins with ``name``, for an invalid ``state``."""
        saved = entries(state, name, ("capital", "log10"))
        where = f"{name}.capital"
        self.capital = [number(share, where, 0, 1) for share in list_of(saved["capital"], where, len(self.capital))]
        if abs(sum(self.capital) - 1) > 1e-9:
            raise ValueError(f"{where} must sum to 1, not to {sum(self.capital)!r}")
        self.log10 = LongSum.from_state(saved["log10"], f"{name}.log10")


# Upper limit for a probability that was rounded.
_MOST = 1 + 1e-9


class Arrivals(NamedTuple):
    """Hold the labels that arrive during n rows."""

    labelled: np.ndarray
    """Whether each row gets a label, (n,)."""
    known: np.ndarray | slice
    """How many arrivals each row knows, (n,), for indexing."""
    likelihoods: np.ndarray
    """Probabilities of the labels under the calibrators, in the order of arrival, (n_arrivals, n_calibrators)."""
    base: np.ndarray
    """Probabilities of the labels under the base, in the order of arrival, (n_arrivals,)."""


class Feedback:
    """Hold the number of the next row, and the labels that have not arrived yet."""

    def __init__(self) -> None:
        self.row = 0
        self._waiting: _Labels | None = None

    def arrivals(self, likelihoods: np.ndarray, base: np.ndarray, delay: int, every: int) -> Arrivals:
        """Return the arrivals of the next rows, whose labels have these probabilities under calibrators and base."""
        if not delay and every == 1 and self._waiting is None:
            self.row += len(base)
            return Arrivals(np.ones(len(base), dtype=bool), slice(len(base)), likelihoods, base)
        numbers = np.arange(self.row, self.row + len(base))
        labelled = numbers % every == 0
        labels = _Labels(numbers[labelled], likelihoods[labelled], base[labelled])
        if self._waiting is not None:
            labels = self._waiting.joined_with(labels)
        known = np.searchsorted(labels.rows + delay, numbers, side="left")
        arrived = int(np.searchsorted(labels.rows + delay, numbers[-1], side="right"))
        self.row += len(base)
        self._waiting = labels.part(slice(arrived, None)) if arrived < len(labels.rows) else None
        return Arrivals(labelled, known, labels.likelihoods[:arrived].copy(), labels.base[:arrived].copy())

    def state(self) -> dict[str, Any]:
        waiting = None
        if self._waiting is not None:
            waiting = {name: getattr(self._waiting, name).tolist() for name in _Labels.__annotations__}
        return {"row": self.row, "waiting": waiting}

    @classmethod
    def from_state(cls, state: Any, n_calibrators: int) -> Self:
        """Return the saved feedback. Raises ValueError, which names the place, for an invalid ``state``."""
        saved = entries(state, "feedback", ("row", "waiting"))
        feedback = cls()
        feedback.row = whole(saved["row"], "feedback.row", 0)
        if saved["waiting"] is not None:
            feedback._waiting = _Labels.from_state(saved["waiting"], feedback.row, n_calibrators)
        return feedback


@dataclass(frozen=True)
class _Labels:
    rows: np.ndarray
    likelihoods: np.ndarray
    base: np.ndarray

    def joined_with(self, others: _Labels) -> _Labels:
        pairs = ((getattr(self, name), getattr(others, name)) for name in _Labels.__annotations__)
        return _Labels(*map(np.concatenate, pairs))

    def part(self, rows: slice) -> _Labels:
        # copies, because views of few waiting labels would keep the arrays of all rows
        return _Labels(*(getattr(self, name)[rows].copy() for name in _Labels.__annotations__))

    @classmethod
    def from_state(cls, state: Any, row: int, n_calibrators: int) -> Self:
        where = "feedback.waiting"
        saved = entries(state, where, tuple(cls.__annotations__))
        n = len(saved["rows"]) if isinstance(saved["rows"], list) else 0
        whole_rows = n > 0 and all(is_whole(row_number, 0, row - 1) for row_number in saved["rows"])
        if not whole_rows or sorted(set(saved["rows"])) != saved["rows"]:
            raise ValueError(f"{where}.rows must be row numbers before {row} in order, not {saved['rows']!r}")
        name = f"{where}.likelihoods"
        likelihoods = [
            [number(likelihood, name, 0, _MOST) for likelihood in list_of(likelihoods_of_row, name, n_calibrators)]
            for likelihoods_of_row in list_of(saved["likelihoods"], name, n)
        ]
        base = [number(value, f"{where}.base", math.ulp(0), 1) for value in list_of(saved["base"], f"{where}.base", n)]
        if not all(map(any, likelihoods)):
            raise ValueError(f"{name} must not all be 0 for one row")
        return cls(np.array(saved["rows"]), np.array(likelihoods), np.array(base))


@dataclass(slots=True)
class StreamProgress:
    """Hold all of a stream that changes from row to row.

    ``log10`` is log10 S and ``highest`` its highest value so far. ``jumpers`` is empty before the first row. Only a
    protected forecaster has ``experts``, and saves them itself.
    """

    n_classes: int | None = None
    log10: LongSum = field(default_factory=LongSum)
    highest: float = 0.0
    jumpers: list[Jumper] = field(default_factory=list)
    feedback: Feedback = field(default_factory=Feedback)
    experts: Any = None

    def state(self) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes,
            "log10_martingale": self.log10.state(),
            "highest": self.highest,
            "jumpers": [jumper.state() for jumper in self.jumpers],
            "feedback": self.feedback.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], new_jumpers: Callable[[int], list[Jumper]]) -> Self:
        """Return the saved progress. ``new_jumpers`` makes the Jumpers for a number of classes.

        Raises ValueError, which names the place, for an invalid ``state``.
        """
        n_classes = state["n_classes"]
        jumpers = [] if n_classes is None else new_jumpers(whole(n_classes, "n_classes", 2))
        saved = list_of(state["jumpers"], "jumpers", len(jumpers))
        for index, (jumper, jumper_state) in enumerate(zip(jumpers, saved, strict=True)):
            jumper.restore(jumper_state, f"jumpers[{index}]")
        return cls(
            n_classes,
            LongSum.from_state(state["log10_martingale"], "log10_martingale"),
            number(state["highest"], "highest", 0, math.inf),
            jumpers,
            Feedback.from_state(state["feedback"], len(jumpers[0].capital) if jumpers else 0),
        )
