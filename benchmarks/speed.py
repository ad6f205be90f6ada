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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

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


def report(out: str, script: str, description: str, headers: list[str], rows: list[list[Any]], *packages: str) -> None:
    """The table to the screen and, unless ``out`` is "-", to a file with how it came about."""
    table = tabulate(rows, headers, tablefmt="github", disable_numparse=True)
    print(f"{description}\n\n{table}")
    if out != "-":
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        head = f"Written by `python benchmarks/{script}`. {machine(*packages)}"
        Path(out).write_text(f"{head}\n\n{description}\n\n{table}\n", encoding="utf-8")


def seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 100 else f"{value:.3g} s" if value >= 0.1 else f"{value * 1000:.3g} ms"


def times(slow: float, fast: float) -> str:
    ratio = slow / fast
    return f"{ratio:.0f}x" if ratio >= 100 else f"{ratio:.2g}x" if ratio >= 10 else f"{ratio:.2f}x"
