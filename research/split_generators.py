"""Ways in which somebody may have split a data set in 2004, in one registry. Add a way by adding one function:

    @generator("mine", "every k-th row tests, k = seed")
    def mine(rows: Rows, seeds: np.ndarray) -> Candidates:
        yield "from the first row", np.array([np.arange(rows.n) % seed != 0 for seed in seeds])

A generator yields pairs: the name of a variant, and its training rows as (n_seeds, n_rows) bool. One that uses no seeds
says ``seeded=False`` and yields (1, n_rows).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from research.split_data import Rows
from research.split_streams import STREAMS, Java, Stream

Candidates = Iterator[tuple[str, np.ndarray]]
SHARES = {"66 %": 0.66, "2/3": 2 / 3, "67 %": 0.67}
"""What "66% of the examples" and "33%" for the test may mean."""


@dataclass(frozen=True)
class Generator:
    """Hold a way to split. ``seeded``: whether its candidates depend on a seed."""

    about: str
    candidates: Callable[[Rows, np.ndarray], Candidates]
    seeded: bool = True


GENERATORS: dict[str, Generator] = {}


def generator(name: str, description: str, seeded: bool = True) -> Callable[[Callable[..., Candidates]], Generator]:
    """Register a function as the generator ``name``."""

    def register(candidates: Callable[..., Candidates]) -> Generator:
        GENERATORS[name] = Generator(description, candidates, seeded)
        return GENERATORS[name]

    return register


def sizes(n: int) -> list[int]:
    """Return the numbers of training rows to try, each share rounded down and up."""
    return sorted({rounded(share * n) for share in SHARES.values() for rounded in (math.floor, math.ceil)})


@generator("file", "rows in file order: a first, last or middle part, every third row, the same in each class", False)
def in_file_order(rows: Rows, seeds: np.ndarray) -> Candidates:
    """Cut the file as it is. 200 rows are the training part of Ionosphere's first use, 2,800 that of Sick."""
    place = np.arange(rows.n)
    class_place = np.empty(rows.n, np.int64)  # place among the rows of the same class
    for label in (0, 1):
        class_place[rows.y == label] = np.arange((rows.y == label).sum())
    for size in [*sizes(rows.n), 200, 2800]:
        if size < rows.n:
            yield f"first {size}", (place < size)[None]
            yield f"last {size}", (place >= rows.n - size)[None]
    outer = (place < rows.n // 3) | (place >= 2 * rows.n // 3)
    yield "without the middle third", outer[None]
    for remainder in range(3):
        yield f"every third row tests, from {remainder}", (place % 3 != remainder)[None]
        yield f"every third row of a class tests, from {remainder}", (class_place % 3 != remainder)[None]
    class_sizes = np.bincount(rows.y)[rows.y]
    for name, share in SHARES.items():
        yield f"first {name} of each class", (class_place < np.rint(share * class_sizes))[None]
        yield f"last {name} of each class", (class_place >= class_sizes - np.rint(share * class_sizes))[None]


@generator("mlc", "MLC++ parts NAME.data and NAME.test, either one trains, or the first rows of both together", False)
def mlc_parts(rows: Rows, seeds: np.ndarray) -> Candidates:
    """Take the parts that ``--mlc`` gave, if any."""
    for name, train in rows.parts.items():
        yield name, train[None]
    if rows.order is not None:
        for size in [*sizes(rows.n), round(0.66 * rows.n)]:
            yield f"first {size} of .data and .test", np.isin(np.arange(rows.n), rows.order[:size])[None]


@generator("weka-folds", "Weka 3.4.1: two of three folds, stratified or not, randomized (seed > 0) or in file order")
def weka_folds(rows: Rows, seeds: np.ndarray) -> Candidates:
    """Follow RemoveFolds and StratifiedRemoveFolds -N 3, and the Explorer's cross-validation with three folds."""
    orders = shuffle_down(Java(seeds), rows.n)
    orders[:, seeds == 0] = np.arange(rows.n)[:, None]
    stratified = np.column_stack([stratify(order, rows.classes, 3) for order in orders.T])
    for name, order in (("plain", orders), ("stratified", stratified)):
        for fold in range(3):
            size = rows.n // 3 + (fold < rows.n % 3)
            start = fold * (rows.n // 3) + min(fold, rows.n % 3)
            yield f"{name}, fold {fold + 1} tests", ~training_mask(order[start : start + size], rows.n)


@generator(
    "weka-experiment", "Weka 3.4.1's Experimenter, random split: each class shuffled and cut, the cut rounded at random"
)
def weka_experiment(rows: Rows, seeds: np.ndarray) -> Candidates:
    """Follow RandomSplitResultProducer, whose seed is the number of the run. 66 % is its default."""
    for name, percent in (("66 %", 66.0), ("66.67 %", 66.67), ("67 %", 67.0)):
        stream = Java(seeds)
        order = shuffle_down(stream, rows.n)
        labels = rows.classes[order]
        train = np.zeros((len(seeds), rows.n), bool)
        for label in range(rows.classes.max() + 1):
            exact = (labels[:, 0] == label).sum() * percent / 100
            size = math.floor(exact) + (stream.uniform() < exact - math.floor(exact))
            place = np.cumsum(labels == label, axis=0)
            i, j = np.nonzero((labels == label) & (place <= size))
            train[j, order[i, j]] = True
        yield name, train


def stratify(order: np.ndarray, classes: np.ndarray, n_folds: int) -> np.ndarray:
    """Return the order of rows after Weka's Instances.stratify, (n_rows,)."""
    rows, labels = order.tolist(), classes[order].tolist()
    i = 1
    while i < len(rows):
        label = labels[i - 1]
        for place in range(i, len(rows)):
            if labels[place] == label:
                rows[i], rows[place] = rows[place], rows[i]
                labels[i], labels[place] = labels[place], labels[i]
                i += 1
        i += 1
    return np.concatenate([np.array(rows[start::n_folds], np.int64) for start in range(n_folds)])


def training_mask(rows: np.ndarray, n: int) -> np.ndarray:
    """Return the (n_seeds, n) bool whose true places are the row numbers in each column of ``rows``."""
    train = np.zeros((rows.shape[1], n), bool)
    train[np.arange(rows.shape[1]), rows] = True
    return train


def shuffle_down(stream: Stream, n: int, mode: str = "below") -> np.ndarray:
    """Shuffle from the last place down (Knuth; Weka's randomize, Collections.shuffle, Perl's FAQ): (n, n_seeds)."""
    return _swap_places(stream, n, range(n - 1, 0, -1), lambda i: (0, i + 1), mode)


def shuffle_up(stream: Stream, n: int, mode: str = "below") -> np.ndarray:
    """Shuffle from the first place up: swap place i with one of i to n - 1."""
    return _swap_places(stream, n, range(n - 1), lambda i: (i, n - i), mode)


def shuffle_naively(stream: Stream, n: int, mode: str = "below") -> np.ndarray:
    """Swap each place with any other, the usual mistake."""
    return _swap_places(stream, n, range(n), lambda i: (0, n), mode)


def _swap_places(
    stream: Stream, n: int, places: range, span: Callable[[int], tuple[int, int]], mode: str
) -> np.ndarray:
    order: np.ndarray | None = None
    for place in places:
        first, bound = span(place)
        draw = stream.below(bound) if mode == "below" else (stream.uniform() * bound).astype(np.int64)
        if order is None:
            order = np.repeat(np.arange(n, dtype=np.int32)[:, None], len(draw), axis=1)
            column = np.arange(len(draw))
        target = first + draw
        old_rows = order[target, column]
        order[target, column] = order[place]
        order[place] = old_rows
    assert order is not None
    return order


def sort_by_draws(stream: Stream, n: int) -> np.ndarray:
    """Sort the rows by one number each (MATLAB's randperm, a spreadsheet)."""
    draws = np.array([stream.uniform() for _ in range(n)])
    return np.argsort(draws, axis=0, kind="stable").astype(np.int32)


def _stream_candidates(name: str) -> Callable[[Rows, np.ndarray], Candidates]:
    """Return the candidates of one random number generator: all ways to shuffle and cut, and rows drawn one by one."""
    stream_class = STREAMS[name]

    def candidates(rows: Rows, seeds: np.ndarray) -> Candidates:
        n = rows.n
        shuffles = {"down": shuffle_down, "up": shuffle_up, "naive": shuffle_naively}
        for direction, shuffle in shuffles.items():
            for mode in ("below", "uniform") if _has_own_integers(stream_class) else ("below",):
                yield from _cuts(f"{direction}, {mode}", shuffle(stream_class(seeds), n, mode), n)
        yield from _cuts("sorted", sort_by_draws(stream_class(seeds), n), n)
        stream = stream_class(seeds)
        draws = np.array([stream.uniform() for _ in range(n)]).T
        for share_name, share in SHARES.items():
            yield f"row by row, trains below {share_name}", draws < share
            yield f"row by row, tests below 1 - {share_name}", draws >= 1 - share

    return candidates


def _has_own_integers(stream_class: type[Stream]) -> bool:
    """Return whether whole numbers are drawn in another way than by multiplying numbers in [0, 1)."""
    seeds, bound = np.array([1, 2, 3, 4]), 1000
    first, second = stream_class(seeds), stream_class(seeds)
    return any((first.below(bound) != (second.uniform() * bound).astype(np.int64)).any() for _ in range(4))


def _cuts(name: str, order: np.ndarray, n: int) -> Candidates:
    for size in sizes(n):
        train = training_mask(order[:size], n)
        yield f"{name}, first {size}", train
        train = training_mask(order[n - size :], n)
        yield f"{name}, last {size}", train


for _name, _stream in STREAMS.items():
    _about = (_stream.__doc__ or "").strip().splitlines()[0].rstrip(".")
    GENERATORS[_name] = Generator(f"{_about}; shuffled, sorted or drawn row by row", _stream_candidates(_name))
