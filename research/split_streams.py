"""Random number generators of 2004, each for many seeds at once: what a split may have been drawn with.

A stream is made from an array of seeds. ``uniform()`` returns the next number in [0, 1) of each seed, and
``below(bound)`` the next whole number from 0 to bound - 1, as programs in that language usually get it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

import numpy as np

_MULTIPLIER, _MASK_48 = np.uint64(0x5DEECE66D), np.uint64((1 << 48) - 1)
"""Constants of java.util.Random and drand48, which share the recurrence."""


class Stream(Protocol):
    """Hold one generator per seed."""

    def __init__(self, seeds: np.ndarray) -> None: ...

    def uniform(self) -> np.ndarray:
        """Return the next number of each seed, (n_seeds,) in [0, 1)."""

    def below(self, bound: int) -> np.ndarray:
        """Return the next whole number of each seed, (n_seeds,) from 0 to ``bound - 1``."""


class Java:
    """Draw as java.util.Random: 48 bits, of which the upper ones are returned (documented in the Java API)."""

    def __init__(self, seeds: np.ndarray) -> None:
        self._state = (seeds.astype(np.uint64) ^ _MULTIPLIER) & _MASK_48

    def _next(self, bits: int) -> np.ndarray:
        self._state = (self._state * _MULTIPLIER + np.uint64(0xB)) & _MASK_48
        return (self._state >> np.uint64(48 - bits)).astype(np.int64)

    def uniform(self) -> np.ndarray:
        """Return nextDouble()."""
        return ((self._next(26) << 27) + self._next(27)) * 2.0**-53

    def below(self, bound: int) -> np.ndarray:
        """Return nextInt(bound), which draws again where the last, incomplete run of values is hit."""
        bits = self._next(31)
        if bound & (bound - 1) == 0:
            return (bits * bound) >> 31
        retry = bits - bits % bound + (bound - 1) >= 1 << 31
        while retry.any():
            state = self._state
            bits = np.where(retry, self._next(31), bits)
            self._state = np.where(retry, self._state, state)
            retry = bits - bits % bound + (bound - 1) >= 1 << 31
        return bits % bound


class Drand48:
    """Draw as srand48 and drand48 of POSIX, and as Perl: the recurrence of Java, all 48 bits returned."""

    def __init__(self, seeds: np.ndarray) -> None:
        self._state = ((seeds.astype(np.uint64) & np.uint64(0xFFFFFFFF)) << np.uint64(16)) + np.uint64(0x330E)

    def uniform(self) -> np.ndarray:
        self._state = (self._state * _MULTIPLIER + np.uint64(0xB)) & _MASK_48
        return self._state * 2.0**-48

    def below(self, bound: int) -> np.ndarray:
        """Return int(rand(bound))."""
        return (self.uniform() * bound).astype(np.int64)


class _Raw:
    """Derive both kinds of numbers from whole ones: ``raw() / 2^bits`` and ``raw() % bound``."""

    bits = 31

    def raw(self) -> np.ndarray:
        raise NotImplementedError

    def uniform(self) -> np.ndarray:
        return self.raw() * 2.0**-self.bits

    def below(self, bound: int) -> np.ndarray:
        return self.raw() % bound


class _AdditiveFeedback(_Raw):
    """Add r[i - degree] and r[i - lag]. Park & Miller's generator seeds them. The first 10 * degree are discarded."""

    degree, lag = 31, 3

    def __init__(self, seeds: np.ndarray) -> None:
        first = np.where(seeds == 0, 1, seeds).astype(np.int64)
        table = [first]
        for _ in range(self.degree - 1):
            table.append(table[-1] * 16807 % 2147483647)
        self._table, self._at = np.array(table, np.uint32), self.lag
        for _ in range(10 * self.degree):
            self.raw()

    def raw(self) -> np.ndarray:
        # the place of the oldest number is that of the new one
        self._table[self._at] += self._table[(self._at - self.lag) % self.degree]
        value = self._table[self._at] >> 1
        self._at = (self._at + 1) % self.degree
        return value.astype(np.int64)


class Glibc(_AdditiveFeedback):
    """Draw as srand and rand of glibc, also its srandom and random: additive feedback of degree 31."""


class Gawk(_AdditiveFeedback):
    """Draw as srand and rand of gawk before 4.1.4: BSD's random with 256 bytes of state. Without srand: seed 1."""

    degree, lag = 63, 1


class Bsd(_Raw):
    """Draw as rand of old BSD systems and of the C standard's example: 1103515245 x + 12345 modulo 2^31."""

    def __init__(self, seeds: np.ndarray) -> None:
        self._state = seeds.astype(np.int64)

    def raw(self) -> np.ndarray:
        self._state = (self._state * 1103515245 + 12345) % (1 << 31)
        return self._state


class Msvc(_Raw):
    """Draw as srand and rand of Microsoft's C library: 15 bits of 214013 x + 2531011 modulo 2^31."""

    bits = 15

    def __init__(self, seeds: np.ndarray) -> None:
        self._state = seeds.astype(np.int64)

    def raw(self) -> np.ndarray:
        self._state = (self._state * 214013 + 2531011) % (1 << 31)
        return self._state >> 16


class Matlab:
    """Draw as rand of MATLAB 5 to 7.3 after rand('state', seed): subtract with borrow, xored with a shift register.

    Every session began with the state of seed 0. Described by C. Moler, "Random thoughts" (1995), and in chapter 9 of
    his "Numerical Computing with MATLAB".
    """

    def __init__(self, seeds: np.ndarray) -> None:
        self._register = np.where(seeds == 0, 1 << 31, seeds).astype(np.uint64)
        first = self._register
        self._cache = np.zeros((32, len(seeds)))
        for place in range(32):
            for _ in range(53):
                self._shift()
                bit = (self._register >> np.uint64(19)) & np.uint64(1)
                self._cache[place] = 2 * self._cache[place] + bit
        self._cache *= 2.0**-53
        self._register = first
        self._borrow, self._at = np.zeros(len(seeds)), 0

    def _shift(self) -> None:
        for is_left, shift in ((True, 13), (False, 17), (True, 5)):
            bits = self._register << np.uint64(shift) if is_left else self._register >> np.uint64(shift)
            self._register = (self._register ^ bits) & np.uint64(0xFFFFFFFF)

    def uniform(self) -> np.ndarray:
        value = self._cache[(self._at + 20) % 32] - self._cache[(self._at + 5) % 32] - self._borrow
        self._borrow = np.where(value < 0, 2.0**-53, 0.0)
        value = np.where(value < 0, value + 1, value)
        self._cache[self._at] = value
        self._at = (self._at + 1) % 32
        low = self._register
        self._shift()
        fraction = ((self._register << np.uint64(32)) & np.uint64((1 << 52) - 1)) ^ low
        return (value.view(np.uint64) ^ fraction).view(np.float64)

    def below(self, bound: int) -> np.ndarray:
        """Return ceil(bound * rand) - 1, the usual idiom."""
        return np.maximum(np.ceil(self.uniform() * bound).astype(np.int64) - 1, 0)


class _Twister:
    """Draw from one Mersenne Twister per seed, in blocks."""

    block = 2048

    def __init__(self, seeds: np.ndarray) -> None:
        self._draws = [self.numbers(int(seed)) for seed in seeds]
        self._drawn, self._at = np.empty((0, len(seeds))), 0

    def numbers(self, seed: int) -> Callable[[int], np.ndarray]:
        """Return a function that draws so many numbers in [0, 1) from the generator of one seed."""
        raise NotImplementedError

    def uniform(self) -> np.ndarray:
        if self._at == len(self._drawn):
            self._drawn, self._at = np.column_stack([draw(self.block) for draw in self._draws]), 0
        self._at += 1
        return self._drawn[self._at - 1]

    def below(self, bound: int) -> np.ndarray:
        return (self.uniform() * bound).astype(np.int64)


class Python(_Twister):
    """Draw as random.seed and random.random of Python since 2.3."""

    def numbers(self, seed: int) -> Callable[[int], np.ndarray]:
        draw = random.Random(seed).random
        return lambda size: np.array([draw() for _ in range(size)])


class Twister(_Twister):
    """Draw as the Mersenne Twister of its authors, init_genrand and genrand_res53 (numpy.random.RandomState)."""

    def numbers(self, seed: int) -> Callable[[int], np.ndarray]:
        return np.random.RandomState(seed).random_sample


class R(_Twister):
    """Draw as set.seed and runif of R since 1.7: its own scrambling of the seed, 32 bits a number."""

    def numbers(self, seed: int) -> Callable[[int], np.ndarray]:
        state = seed
        for _ in range(50):
            state = (69069 * state + 1) % (1 << 32)
        key = []
        for _ in range(625):
            state = (69069 * state + 1) % (1 << 32)
            key.append(state)
        twister = np.random.RandomState()
        twister.set_state(("MT19937", np.array(key[1:], np.uint32), 624))  # the first is the place, which R resets
        return lambda size: twister.randint(0, 1 << 32, size, np.uint64) * 2.3283064365386963e-10


STREAMS: dict[str, type[Stream]] = {
    "java": Java,
    "drand48": Drand48,
    "glibc": Glibc,
    "gawk": Gawk,
    "bsd": Bsd,
    "msvc": Msvc,
    "matlab": Matlab,
    "python": Python,
    "twister": Twister,
    "r": R,
}
