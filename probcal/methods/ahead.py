"""Fits of thresholds elsewhere, in threads or other processes, started before they are needed."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from itertools import islice
from typing import Any, NamedTuple, Protocol


class Step(NamedTuple):
    """A threshold that will be needed; ``guessed``: unless the rows fall elsewhere than was assumed."""

    p: float
    guessed: bool


class Workers(Protocol):
    """Where ``n`` fits go on side by side.

    ``in_hand``: for each of them, how many are begun ahead at most; ``spare``: how many guesses more than ``n``, for a
    worker that ends before the fit that the next step hangs on.
    """

    n: int
    in_hand: int
    spare: int

    def submit(self, p: float) -> Future[Any]:
        """The fit of threshold ``p``, begun after those that were submitted before."""
        ...

    def result(self, fit: Future[Any]) -> Any:
        """What ``fit`` gives, once it has ended. Warns of what it warned of, and raises what it raised."""
        ...

    def close(self) -> None:
        """Drop what waits."""
        ...


class Ahead:
    """Fits in ``workers``. What is never taken is dropped."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._started: dict[float, Future[Any]] = {}

    def start(self, steps: Iterable[Step]) -> None:
        """Start the first of ``steps``, and as many more as keep the workers busy; of guesses fewer."""
        n, in_hand, spare = self._workers.n, self._workers.in_hand, self._workers.spare
        # what waits was thought of with less knowledge: it goes behind what is now seen to come first
        self._started = {p: one for p, one in self._started.items() if not one.cancel()}
        begun = 0
        for place, (p, guessed) in enumerate(islice(steps, n * in_hand)):
            most = n + spare if guessed else n * in_hand
            if p not in self._started and (place == 0 or begun < most):
                self._started[p] = self._workers.submit(p)
            begun += p in self._started

    def take(self, p: float) -> Any:
        """The fit of ``p``. Warns of what it warned of, and raises what it raised."""
        if p not in self._started:
            self.start([Step(p, guessed=False)])
        return self._workers.result(self._started.pop(p))

    def close(self) -> None:
        """Drop what was not taken."""
        for one in self._started.values():
            one.cancel()
        self._workers.close()
