"""Fits of thresholds elsewhere, in threads or other processes, started before they are needed.

Fits in processes of their own.

Fits in threads of this process: nothing is started, sent or read again, but only some learners gain by it.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import cloudpickle
from loky import get_reusable_executor
from sklearn import get_config, set_config
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from threadpoolctl import threadpool_limits


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


_Warned = tuple[str, type[Warning], str, int]
_ENVIRONMENT = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e15"}
"""A worker that has grown is not started anew: it is a learner's memory, such as Java's, and would grow again."""


class InProcesses:
    """``fit(p)`` of thresholds in ``n`` processes."""

    in_hand = 2  # what was sent to a process cannot be taken back
    spare = 1

    def __init__(self, fit: Callable[[float], Any], n: int) -> None:
        self.n = n
        # written once: sent with every fit, the training rows would cost more than many a fit itself
        self._folder = tempfile.TemporaryDirectory(prefix="probcal-", ignore_cleanup_errors=True)
        self._path = Path(self._folder.name) / "fit"
        self._path.write_bytes(cloudpickle.dumps(fit))

    def submit(self, p: float) -> Future[Any]:
        return get_reusable_executor(max_workers=self.n, env=_ENVIRONMENT).submit(_fit, str(self._path), p)

    def result(self, fit: Future[Any]) -> Any:
        result, warned = fit.result()
        for one in warned:
            warnings.warn_explicit(*one)
        return result

    def close(self) -> None:
        self._folder.cleanup()


def _fit(path: str, p: float) -> tuple[Any, list[_Warned]]:
    with threadpool_limits(1), warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            result = _read(path)(p)
        except Exception as error:
            raise _readable(error) from None
    return result, [(str(one.message), one.category, one.filename, one.lineno) for one in given]


def _readable(error: Exception) -> Exception:
    """``error``, or what it says where it cannot be sent from one process to another."""
    try:
        cloudpickle.loads(cloudpickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@lru_cache(maxsize=1)
def _read(path: str) -> Callable[[float], Any]:
    return cloudpickle.loads(Path(path).read_bytes())


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
