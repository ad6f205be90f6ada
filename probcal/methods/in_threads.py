"""Fits in threads of this process: nothing is started, sent or read again, but only some learners gain by it."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import Any

from sklearn import get_config, set_config
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)


def learns_in_threads(estimator: Any) -> bool:
    """Whether fits of ``estimator`` in threads go on side by side and never meddle with each other.

    Known of scikit-learn's trees, which let Python's lock go while they grow and keep nothing outside the tree, and of
    learners that say so by an attribute ``learns_in_threads``. A class made from one of them has to say so itself.
    """
    kind = type(estimator)
    return kind in _TREES or bool("learns_in_threads" in vars(kind) and estimator.learns_in_threads)


class InThreads(AbstractContextManager["InThreads"]):
    """``call(one)`` of many in ``n`` threads."""

    in_hand = 5  # some fits take ten times as long as others, and no thread is to be idle
    spare = 2

    def __init__(self, call: Callable[[Any], Any], n: int) -> None:
        self.n = n
        self._call = call
        # every thread has scikit-learn's settings of its own
        self._pool = ThreadPoolExecutor(n, "probcal", initializer=partial(set_config, **get_config()))
        self._held = ExitStack()
        # scikit-learn changes the filters for a moment, and of two threads the later one would leave them changed
        self._held.enter_context(warnings.catch_warnings())

    def submit(self, one: Any) -> Future[Any]:
        return self._pool.submit(self._call, one)

    def result(self, fit: Future[Any]) -> Any:
        return fit.result()

    def map(self, many: Iterable[Any]) -> Iterator[Any]:
        """Of each in order; few wait to be taken, so that not all are kept."""
        waiting: deque[Future[Any]] = deque()
        for one in many:
            waiting.append(self.submit(one))
            if len(waiting) > 2 * self.n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()

    def close(self) -> None:
        """Drop what waits, and wait for what is under way: nothing is left running."""
        self._pool.shutdown(cancel_futures=True)
        self._held.close()

    def __exit__(self, *_: object) -> None:
        self.close()
