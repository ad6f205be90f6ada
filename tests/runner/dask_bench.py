"""Provide real Dask schedulers and workers on the loopback interface. Each is a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from run_bench import wait_for

_ROOT = str(Path(__file__).parents[2])


class DaskBench:
    """Start a scheduler and workers. ``address`` is that of the scheduler. ``close`` ends all that was started."""

    def __init__(self, folder: Path, **environment: str) -> None:
        """Start the scheduler with these variables in its ``environment``."""
        self._folder, self._environment = folder, environment
        self._processes: list[subprocess.Popen] = []
        self._file = folder / "scheduler.json"
        self.start_scheduler("0")
        self.address = json.loads(self._file.read_text())["address"]

    def start_scheduler(self, port: str = "") -> None:
        """Start the scheduler. Without ``port`` it gets the port that it had before."""
        self._file.unlink(missing_ok=True)
        port = port or self.address.rpartition(":")[2]
        words = ["dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
        self.scheduler = self._start(*words, "--scheduler-file", self._file, "--no-show", **self._environment)
        wait_for(lambda: self._file.exists() and self._file.read_text().endswith("}"))

    def start_worker(self, *words: str, **environment: str) -> subprocess.Popen:
        """Start a worker with one thread. Nobody restarts it, unless ``words`` say otherwise."""
        usual = ["--host", "127.0.0.1", "--nthreads", "1", "--no-dashboard", "--local-directory", self._folder]
        words = words or ("--no-nanny",)
        return self._start("dask_worker", self.address, *usual, *words, **environment)

    def wait_for_workers(self, number: int) -> None:
        """Wait until this number of workers has joined."""
        from distributed import Client

        with Client(self.address, timeout=300, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=300)

    def retire_worker(self, name: str) -> None:
        """Retire a worker in good order, as at the end of its ``--lifetime``."""
        from distributed import Client

        with Client(self.address, timeout=300, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=300)
            client.retire_workers(names=[name])

    def close(self) -> None:
        """Kill all processes and wait for their ends."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def _start(self, command: str, *words: object, **environment: str) -> subprocess.Popen:
        left_out = ("PYTHONPATH", "PROBCAL_DATA_DIR", "PROBCAL_CACHE_DIR")
        usual = {name: value for name, value in os.environ.items() if name not in left_out}
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{command}", *map(str, words)],
            cwd=self._folder,
            env={**usual, "PYTHONPATH": _ROOT, "DASK_TEMPORARY_DIRECTORY": str(self._folder), **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL if not os.environ.get("DASK_BENCH_TALKS") else None,
        )
        self._processes.append(process)
        return process
