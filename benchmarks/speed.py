"""What the scripts on speed share: processes of their own to measure in, and the file that a table goes to."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results" / "speed"
PACKAGES = ("numpy", "scipy", "scikit-learn")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Cost:
    """``wall`` and ``cpu`` in seconds, ``peak``: the most MB that were resident in the process so far."""

    wall: float
    cpu: float
    peak: float


def costs_of(call: Callable[[], Any]) -> tuple[Any, Cost]:
    """What ``call`` gives, and what it took; processes that it started and waited for count as CPU, not as memory."""
    wall, cpu = time.perf_counter(), _cpu()
    result = call()
    return result, Cost(time.perf_counter() - wall, _cpu() - cpu, _peak())


def _cpu() -> float:
    usages = [resource.getrusage(scope) for scope in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _peak() -> float:
    # not ru_maxrss: a process has its parent's through fork and exec
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    [kilobytes] = [line.split()[1] for line in status if line.startswith("VmHWM")]
    return int(kilobytes) / 1024


def print_cost(cost: Cost, **extra: Any) -> None:
    """What a script that was started by ``script_cost`` ends with."""
    print(json.dumps(asdict(cost) | extra))


def script_cost(script: str, *words: Any) -> tuple[Cost, dict[str, Any]]:
    """The cost that ``script``, beside this file, tells of its work in a fresh process, and what else it tells."""
    command = [sys.executable, Path(__file__).with_name(script), *map(str, words)]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=one_blas_thread())
    if process.returncode:
        sys.exit(f"error: {' '.join(map(str, command))} ended with exit code {process.returncode}")
    message = json.loads(process.stdout.splitlines()[-1])
    return Cost(*(message.pop(name) for name in ("wall", "cpu", "peak"))), message


def one_blas_thread() -> dict[str, str]:
    value = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(ROOT), *([value] if value else [])])
    return os.environ | dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": path}


def median(costs: Sequence[Cost]) -> Cost:
    """Of each number by itself."""
    return Cost(*(statistics.median(getattr(cost, name) for cost in costs) for name in ("wall", "cpu", "peak")))


@dataclass(frozen=True)
class Line:
    """Our ``own`` call beside the best that an expert would write, ``peer``; ``goal``: most times the peer, or seconds.

    ``apart`` is how far the two results are from each other, None where they are not the same quantity.
    """

    name: str
    own: Callable[[], Any]
    peer_name: str
    peer: Callable[[], Any]
    goal: float | str
    n_rows: int
    bound: float | None = 1e-9


LINE_HEADERS = ["ours / peer", "goal", "", "line", "ours", "peer", "", "B a row", "peer's", "apart"]


def line_cells(line: Line, runs: int) -> list[str]:
    """CPU seconds are medians of ``runs`` in turn; bytes are the most that were held at once, the result included."""
    (own, theirs), values = in_turn({"own": line.own, "peer": line.peer}, runs)
    ratio, goal = own / theirs, line.goal
    reached = ratio <= goal if isinstance(goal, float) else own <= float(goal)
    aim = f"<= {goal:g}x" if isinstance(goal, float) else f"<= {seconds(float(goal))}"
    apart = "" if line.bound is None else f"{np.abs(np.subtract(*values)).max():.0e}"
    memory = [f"{peak_bytes(call) / line.n_rows:.3g}" for call in (line.own, line.peer)]
    shown = [seconds(own), seconds(theirs), line.peer_name]
    return [f"{ratio:.2f}x", aim, "" if reached else "ABOVE", line.name, *shown, *memory, apart]


def in_turn(calls: dict[str, Callable[[], Any]], runs: int) -> tuple[list[float], list[Any]]:
    """Median CPU seconds of each call, and what it gives; the first run of all is not counted."""
    values = [call() for call in calls.values()]
    taken: list[list[float]] = [[] for _ in calls]
    for _ in range(runs):
        for times_of_call, call in zip(taken, calls.values(), strict=True):
            start = time.process_time()
            call()
            times_of_call.append(time.process_time() - start)
    return [statistics.median(of_call) for of_call in taken], values


def peak_bytes(call: Callable[[], Any]) -> int:
    """The most bytes that Python and NumPy held during ``call``, beyond those before it."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def machine(*packages: str) -> str:
    """The processor, its cores and memory, and the versions of Python, ``PACKAGES`` and ``packages``."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in info if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    versions = ", ".join(f"{name} {version(name)}" for name in (*PACKAGES, *packages))
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}."
        f" Python {platform.python_version()}, {versions}, one BLAS thread."
    )


def parser(doc: str, name: str) -> argparse.ArgumentParser:
    """With the option -o, by default ``results/speed/NAME.md``."""
    summary, _, epilog = doc.partition("\n\n")
    result = argparse.ArgumentParser(
        description=summary.partition(":")[0] + ".", epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("-o", "--out", default=str(RESULTS / f"{name}.md"), metavar="FILE", help="- for none")
    return result


def report(
    out: str, script: str, description: str, headers: list[str], rows: list[list[Any]], *packages: str, before: str = ""
) -> None:
    """The table to the screen and, unless ``out`` is "-", to a file with how it came about. ``before`` comes first."""
    table = tabulate(rows, headers, tablefmt="github", disable_numparse=True)
    description = f"{before}\n\n{description}" if before else description
    print(f"{description}\n\n{table}")
    if out != "-":
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        head = f"Written by `python benchmarks/{script}`. {machine(*packages)}"
        Path(out).write_text(f"{head}\n\n{description}\n\n{table}\n", encoding="utf-8")


def lines_text(description: str, rows: list[list[str]]) -> str:
    return f"{description}\n\n{tabulate(rows, LINE_HEADERS, tablefmt='github', disable_numparse=True)}"


def seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s" if value >= 0.1 else f"{value * 1000:.3g} ms"


def times(slow: float, fast: float) -> str:
    ratio = slow / fast
    return f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.2g}x" if ratio >= 10 else f"{ratio:.2f}x"
