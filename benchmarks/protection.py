"""How fast the Jumpers are, in one run: python benchmarks/protection.py [-o FILE]

The stream has the length of Bank Marketing's test rows, 35,211, and five calibrators. Every figure is CPU seconds,
since on a shared machine wall time says more about the neighbours, and the median of several runs in turn. PyPI's
protected-classification runs once, for two minutes, where it is installed; it is another algorithm (15 calibrators at
three jump rates, the Brier game), so a row of the Composite Jumper (9 at three jump rates) stands beside it. Below: one
million steps. Exit code 1 where a target is missed. Takes four minutes.

    python benchmarks/protection.py               # results/protection-speed.md
    python benchmarks/protection.py -o -          # to the screen only
"""

from __future__ import annotations

import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import speed
from tabulate import tabulate

from probcal import CompositeJumper, SimpleJumper

STEPS, MILLION = 35_211, 1_000_000
RUNS = 9
LEAST_SPEEDUPS = {"a plain loop over numpy arrays": 20, "protected-classification": 200}
MOST_GROWTH = 0.1  # MB
TOLERANCE = 1e-12


def main() -> None:
    parser = speed.parser(__doc__, "protection")
    parser.set_defaults(out="results/protection-speed.md")
    out = parser.parse_args().out
    p, y = stream(STEPS)
    rows = list(zip(p.tolist(), y.tolist(), strict=True))
    calls: dict[str, Callable[[], Any]] = {
        "a plain loop over numpy arrays": lambda: plain_loop(p, y),
        "predict_one and learn_one": lambda: protect_row_by_row(SimpleJumper(), rows),
        "protect": lambda: SimpleJumper().protect(p, y),
        "CompositeJumper, protect": lambda: CompositeJumper().protect(p, y),
    }
    seconds = medians(calls)
    peer_seconds = protected_classification(p, y)
    if peer_seconds is not None:
        seconds["protected-classification"] = peer_seconds
    difference = float(np.abs(SimpleJumper().protect(p, y)[0] / plain_loop(p, y) - 1).max())
    lines, has_miss = speedups(seconds)
    text = (
        f"{STEPS:,} steps, medians of {RUNS} runs. The relative difference of `protect` from the plain loop is at most"
        f" {difference:.1e}.\n\n"
        + tabulate(lines, ["", "CPU seconds", "a step", "times protect", "target", ""], tablefmt="github")
    )
    million, growth = million_steps()
    text += "\n\nOne million steps:\n\n" + tabulate(
        million, ["", "CPU seconds", "most memory, MB", "target", ""], tablefmt="github"
    )
    if peer_seconds is None:
        text += "\n\nprotected-classification is left out: it is not installed."
    print(text)
    if out != "-":
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        Path(out).write_text(f"Written by `python benchmarks/protection.py`.\n\n{text}\n", encoding="utf-8")
    sys.exit(1 if has_miss or growth > MOST_GROWTH or difference > TOLERANCE else 0)


def stream(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Base estimates that become too high."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.01, 0.99, n)
    return p, (rng.random(n) < p ** np.linspace(1, 2, n)).astype(int)


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(RUNS):  # in turn, so that what else the machine does meets all alike
        for name, call in calls.items():
            seconds[name].append(elapsed_seconds(call))
    return {name: statistics.median(values) for name, values in seconds.items()}


def elapsed_seconds(call: Callable[[], Any]) -> float:
    return speed.costs_of(call)[1].cpu


def plain_loop(p: np.ndarray, y: np.ndarray, jump_rate: float = 0.01) -> np.ndarray:
    """Algorithm 1, a numpy array of calibrators at every step."""
    eps = np.array([-1, -0.5, 0, 0.5, 1])
    capital, estimates = np.ones(len(eps)), np.empty(len(p))
    for n in range(len(p)):
        capital = capital / capital.sum()
        capital = (1 - jump_rate) * capital + jump_rate / len(eps)
        values = p[n] + eps * p[n] * (1 - p[n])
        estimates[n] = values @ capital
        capital = capital * (values if y[n] else 1 - values)
    return estimates


def protect_row_by_row(jumper: SimpleJumper, rows: Iterable[tuple[float, int]]) -> None:
    for p, y in rows:
        jumper.predict_one(p)
        jumper.learn_one(p, y)


def protected_classification(p: np.ndarray, y: np.ndarray) -> float | None:
    """None where it is not installed."""
    try:
        from protected_classification import ProtectedClassification
    except ImportError:
        return None
    columns = np.column_stack([1 - p, p])
    return elapsed_seconds(lambda: ProtectedClassification().predict_proba(test_probs=columns, y=y))


def speedups(seconds: dict[str, float]) -> tuple[list[list[str]], bool]:
    lines, has_miss = [], False
    for name, value in seconds.items():
        ratio, minimum = value / seconds["protect"], LEAST_SPEEDUPS.get(name)
        verdict = "" if minimum is None else "holds" if ratio >= minimum else "MISSED"
        has_miss |= verdict == "MISSED"
        target = "" if minimum is None else f">= {minimum}"
        lines.append([name, f"{value:.4f}", f"{value / STEPS * 1e6:.2f} us", f"{ratio:.1f}", target, verdict])
    return lines, has_miss


def million_steps() -> tuple[list[list[str]], float]:
    """Timed and then once more under ``tracemalloc``; the MB that the stream takes are the ones that count."""
    p, y = stream(MILLION)
    jumper = SimpleJumper()
    protect_row_by_row(jumper, pairs(p[:1000], y[:1000]))
    stream_seconds = elapsed_seconds(lambda: protect_row_by_row(jumper, pairs(p, y)))
    growth = peak_memory(lambda: protect_row_by_row(jumper, pairs(p, y)))
    batch_seconds = elapsed_seconds(lambda: SimpleJumper().protect(p, y))
    extra = peak_memory(lambda: SimpleJumper().protect(p, y)) - 2 * p.nbytes / 1e6
    verdict = "holds" if growth <= MOST_GROWTH else "MISSED"
    lines = [
        ["predict_one and learn_one", f"{stream_seconds:.2f}", f"{growth:.3f}", f"<= {MOST_GROWTH:g}", verdict],
        ["protect, beyond its answers", f"{batch_seconds:.2f}", f"{extra:.1f}", "", ""],
    ]
    return lines, growth


def pairs(p: np.ndarray, y: np.ndarray) -> Iterator[tuple[float, int]]:
    return ((float(a), int(b)) for a, b in zip(p, y, strict=True))


def peak_memory(call: Callable[[], Any]) -> float:
    """The most memory in MB that was taken at a time."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


if __name__ == "__main__":
    main()
