"""Test each random number generator of the split search against the original or its documented numbers."""

import json
import random
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
SEEDS = np.array([0, 1, 42, 3999])


@pytest.fixture
def streams(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("split_streams")


IN_C = """
import ctypes, json
libc = ctypes.CDLL(None)
libc.gnu_get_libc_version
libc.drand48.restype, libc.random.restype = ctypes.c_double, ctypes.c_long
libc.initstate.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
def draw(start, number):
    start()
    return [number() for _ in range(100)]
libc.setstate.argtypes, libc.setstate.restype = [ctypes.c_void_p], ctypes.c_void_p
states, found = [ctypes.create_string_buffer(128)], {}  # kept: the library writes into the last one
libc.initstate.restype = ctypes.c_void_p
first = libc.initstate(1, states[0], 128)
libc.setstate(first)
for seed in SEEDS:
    found[f"rand {seed}"] = draw(lambda: libc.srand(seed), libc.rand)
    found[f"drand48 {seed}"] = draw(lambda: libc.srand48(seed), libc.drand48)
    for size in (8, 128, 256):
        states.append(ctypes.create_string_buffer(size))
        found[f"random of {size} bytes {seed}"] = draw(lambda: libc.initstate(seed, states[-1], size), libc.random)
    libc.setstate(first)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def libc():
    """Return 100 draws of the C library for each name and seed, from a separate process because of its state."""
    code = f"SEEDS = {SEEDS.tolist()}\n{IN_C}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"needs glibc: {done.stderr[-200:]}")
    return json.loads(done.stdout)


def table(stream, draw, n=100):
    """Return (n_seeds, n) draws."""
    return np.array([draw(stream) for _ in range(n)]).T


@pytest.mark.java
def test_java_draws_equal_java_util_random(streams):
    from probcal.learners.weka.jvm import java_class, start

    start()
    bounds = [10, 16, 3196, 2**30 + 1]  # 16 is a power of two; the last bound often needs a second draw
    ours = streams.Java(SEEDS)
    theirs = [java_class("java.util.Random")(int(seed)) for seed in SEEDS]
    for _ in range(30):
        for bound in bounds:
            assert ours.below(bound).tolist() == [one.nextInt(bound) for one in theirs]
        assert ours.uniform().tolist() == [one.nextDouble() for one in theirs]


@pytest.mark.parametrize(
    ("name", "draw", "source"),
    [
        ("Glibc", "raw", "rand"),
        ("Drand48", "uniform", "drand48"),
        ("Gawk", "raw", "random of 256 bytes"),
        ("Glibc", "raw", "random of 128 bytes"),
        ("Bsd", "raw", "random of 8 bytes"),
    ],
)
def test_c_generators_draw_the_numbers_of_this_system(streams, libc, name, draw, source):
    seeds = SEEDS[1:]  # glibc takes 0 as 1 where it seeds random, but not for all sizes
    ours = table(getattr(streams, name)(seeds), lambda stream: getattr(stream, draw)())
    assert ours.tolist() == [libc[f"{source} {seed}"] for seed in seeds.tolist()]


@pytest.mark.parametrize(
    ("name", "seed", "numbers"),
    [
        ("Gawk", 1, [0.237788, 0.291066, 0.845814]),  # rand() of the manual of gawk 3.1, without srand
        ("Matlab", 0, [0.9501, 0.2311, 0.6068, 0.4860, 0.8913, 0.7621, 0.4565]),  # rand(1,7) in a new MATLAB 5 or 6
        ("R", 123, [0.2875775, 0.7883051, 0.4089769]),  # set.seed(123); runif(3)
        ("R", 42, [0.914806, 0.9370754, 0.2861395]),  # set.seed(42); runif(3)
        ("Msvc", 1, [41 / 2**15, 18467 / 2**15, 6334 / 2**15]),  # rand() of a new program
    ],
)
def test_first_numbers_equal_the_documented_numbers(streams, name, seed, numbers):
    stream = getattr(streams, name)(np.array([seed]))
    found = [stream.uniform()[0] for _ in numbers]
    assert found == pytest.approx(numbers, abs=6e-5 if name == "Matlab" else 6e-7)


def test_twisters_draw_the_numbers_of_python_and_numpy(streams):
    python = table(streams.Python(SEEDS), lambda stream: stream.uniform(), 3000)
    numpy = table(streams.Twister(SEEDS), lambda stream: stream.uniform(), 3000)
    for place, seed in enumerate(SEEDS.tolist()):
        own = random.Random(seed)
        assert python[place].tolist() == [own.random() for _ in range(3000)]
        assert numpy[place].tolist() == np.random.RandomState(seed).random_sample(3000).tolist()


def test_seeds_do_not_influence_each_other(streams):
    for name, make in streams.STREAMS.items():
        together, alone = make(SEEDS), make(SEEDS[2:3])
        for bound in (7, 3196):
            assert together.below(bound)[2] == alone.below(bound)[0], name
        assert together.uniform()[2] == alone.uniform()[0], name
