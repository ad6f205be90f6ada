"""The labels that are known when a row is predicted, and the state of a stream."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from probcal.protection.capital import Jumper, LongSum
from probcal.protection.stream_input import entries, is_whole, list_of, number, whole

_MOST = 1 + 1e-9
"""Upper limit for a probability that was rounded."""


class Arrivals(NamedTuple):
    """Hold the labels that arrive during n rows.

    ``labelled``: (n,) bool, which rows get a label. ``known``: how many arrivals each row knows, for indexing.
    ``likelihoods``, (n_arrivals, n_calibrators), and ``base``, (n_arrivals,), are the probabilities of the labels in
    the order of arrival.
    """

    labelled: np.ndarray
    known: np.ndarray | slice
    likelihoods: np.ndarray
    base: np.ndarray


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
        there = np.searchsorted(labels.rows + delay, numbers, side="left")
        arrived = int(np.searchsorted(labels.rows + delay, numbers[-1], side="right"))
        self.row += len(base)
        self._waiting = labels.part(slice(arrived, None)) if arrived < len(labels.rows) else None
        now = labels.part(slice(arrived))
        return Arrivals(labelled, there, now.likelihoods, now.base)

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
        return _Labels(*(getattr(self, name)[rows].copy() for name in _Labels.__annotations__))

    @classmethod
    def from_state(cls, state: Any, row: int, n_calibrators: int) -> Self:
        """Return the saved labels of rows before ``row``."""
        where = "feedback.waiting"
        saved = entries(state, where, tuple(cls.__annotations__))
        n = len(saved["rows"]) if isinstance(saved["rows"], list) else 0
        whole_rows = n > 0 and all(is_whole(one, 0, row - 1) for one in saved["rows"])
        if not whole_rows or sorted(set(saved["rows"])) != saved["rows"]:
            raise ValueError(f"{where}.rows must be row numbers before {row} in order, not {saved['rows']!r}")
        name = f"{where}.likelihoods"
        likelihoods = [
            [number(one, name, 0, _MOST) for one in list_of(each, name, n_calibrators)]
            for each in list_of(saved["likelihoods"], name, n)
        ]
        base = [number(one, f"{where}.base", math.ulp(0), 1) for one in list_of(saved["base"], f"{where}.base", n)]
        if not all(map(any, likelihoods)):
            raise ValueError(f"{name} must not all be 0 for one row")
        return cls(np.array(saved["rows"]), np.array(likelihoods), np.array(base))


@dataclass(slots=True)
class StreamProgress:
    """Hold all of a stream that changes from row to row.

    ``log10`` is log10 S and ``highest`` its highest value so far. ``jumpers`` is empty before the first row.
    """

    n_classes: int | None = None
    log10: LongSum = field(default_factory=LongSum)
    highest: float = 0.0
    jumpers: list[Jumper] = field(default_factory=list)
    feedback: Feedback = field(default_factory=Feedback)

    def state(self) -> dict[str, Any]:
        return {
            "n_classes": self.n_classes,
            "log10_martingale": self.log10.state(),
            "highest": self.highest,
            "jumpers": [one.state() for one in self.jumpers],
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
        for place, (jumper, one) in enumerate(zip(jumpers, saved, strict=True)):
            jumper.restore(one, f"jumpers[{place}]")
        return cls(
            n_classes,
            LongSum.from_state(state["log10_martingale"], "log10_martingale"),
            number(state["highest"], "highest", 0, math.inf),
            jumpers,
            Feedback.from_state(state["feedback"], len(jumpers[0].capital) if jumpers else 0),
        )
