"""Provide small experiments on the wine data. The real command runs them in this process or in a new one."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pyarrow.parquet as parquet
import yaml
from click.testing import CliRunner

from probcal.cli import main as cli
from probcal.components.numerics import Component, numerics
from probcal.runner import identity, user_code
from probcal.runner.user_code import Source
from probcal.store.folder import Store
from tests.stored_rows import stored_rows

DUMMY = "sklearn.dummy.DummyClassifier"

TREE = """
    from sklearn.tree import DecisionTreeClassifier


    class Slow(DecisionTreeClassifier):
        pass
"""
"""A tree of the user's own."""

SLOW = """
    import time

    from sklearn.tree import DecisionTreeClassifier


    class Slow(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            time.sleep({seconds})
            return super().fit(X, y, sample_weight)
"""
"""A tree that takes at least ``seconds``, for what must be ended in the middle: ``SLOW.format(seconds=0.25)``."""

GATED = """
    import itertools
    import pathlib
    import time

    from sklearn.tree import DecisionTreeClassifier

    GATE = pathlib.Path({gate!r})


    class Slow(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            for number in itertools.count():
                try:
                    (GATE / str(number)).touch(exist_ok=False)
                    break
                except FileExistsError:
                    pass
            for _ in range(60_000):
                if number < int((GATE / "open").read_text()):
                    return super().fit(X, y, sample_weight)
                time.sleep(0.01)
            raise TimeoutError("the gate was never opened")
"""
"""A tree whose fits wait at a ``Gate``, so that a test decides how far a run comes and no clock does."""


COINS = """
name: coins
title: Coins
columns: {weight: numeric, kind: nominal, fair: target}
positive: "yes"
split: {kind: holdout, train_fraction: 0.66}
expect: {rows: 60, columns: 2}
no_openml: these are a test's own
files:
  - {format: delimited, header: true, files: [{name: coins.csv}]}
"""


@dataclass
class Finished:
    """Hold the exit code and the output of a command."""

    code: int
    said: str


class Gate:
    """Let fits end in the order in which they began, in any process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self._let(0)

    def begun(self) -> int:
        """Return how many fits have reached the gate so far."""
        return len(list(self._folder.glob("[0-9]*")))

    def let(self, more: int) -> None:
        """Let the fits that have begun end, and ``more`` others."""
        self._let(self.begun() + more)

    def open(self) -> None:
        """Let all fits end from now on."""
        self._let(10**9)

    def _let(self, fits: int) -> None:
        (self._folder / "new").write_text(str(fits))
        os.replace(self._folder / "new", self._folder / "open")


class Bench:
    """Hold a folder with configs, modules of a user and results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results" / "small"
        self.gate: Gate | None = None
        """Where the fits of ``slow.Slow`` wait, if a test needs it."""
        self._modules: set[str] = set()

    def config(self, **parts) -> None:
        """Write small.yaml with ``parts`` changed: two learners under two methods on two splits of one data set."""
        experiment = {
            "name": "small",
            "seed": 1,
            "repeats": 2,
            "datasets": ["wine-first"],
            "learners": {"dummy": {"type": DUMMY}, "tree": {"params": {"max_depth": 2}}},
            "methods": {"direct": {}, "probing": {"params": {"n_probes": 3}}},
        }
        (self.folder / "small.yaml").write_text(yaml.safe_dump({**experiment, **parts}, sort_keys=False))

    def module(self, name: str, source: str) -> None:
        """Write a module of the user. It can be imported here and in the workers, and can be written again."""
        (self.folder / f"{name}.py").write_text(textwrap.dedent(source))
        self._modules.add(name)

    def gated(self, cells: int, **params) -> Bench:
        """Plan ``cells`` of the class ``slow.Slow``, whose fits wait at the closed ``gate``."""
        self.gate = Gate(self.folder / "gate")
        self.module("slow", GATED.format(gate=str(self.folder / "gate")))
        self.config(learners={"slow": {"type": "slow.Slow", "params": params}}, methods=["direct"], repeats=cells)
        return self

    def ended(self) -> int:
        """Return how many cells have a row in the table or a line in the log."""
        table, log = self.results / "cells.parquet", self.results / "cells.jsonl"
        lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
        n_lines = sum(line.startswith(b'{"dataset"') and line.endswith(b"\n") for line in lines)
        return n_lines + (parquet.read_metadata(table).num_rows if table.exists() else 0)

    def coins(self) -> str:
        """Write a card of the user and its file under ``folder``. Return the name that a config gives it."""
        (self.folder / "coins.yaml").write_text(COINS)
        (self.folder / "coins").mkdir()
        rows = [f"{i},{'abc'[i % 3]},{'yes' if i * i % 7 > 2 else 'no'}" for i in range(60)]
        (self.folder / "coins" / "coins.csv").write_text("\n".join(["weight,kind,fair", *rows]) + "\n")
        return "coins.yaml"

    def probcal(self, *words: str) -> Finished:
        """Run ``probcal`` with these words, as if typed in the folder."""
        self.forget()
        done = CliRunner().invoke(cli.main, list(words), prog_name="probcal")
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Finished(done.exit_code, done.output)

    def run(self, *words: str) -> Finished:
        """Run ``probcal run small.yaml`` with these words."""
        return self.probcal("run", "small.yaml", *words)

    def start(self, *words: str, before: Iterable[str] = (), **options) -> subprocess.Popen:
        """Start ``probcal run`` in a process group and session of its own. ``before`` is a command that runs it.

        Ctrl-C reaches it even if the tests were started in the background, which ignores Ctrl-C.
        """
        command = [*before, sys.executable, "-m", "probcal", "run", "small.yaml", *words]
        options.setdefault("preexec_fn", _hears_interruptions)
        return subprocess.Popen(command, cwd=self.folder, start_new_session=True, **options)

    def rows(self) -> list[dict]:
        """Return the stored results, each as the mapping of its line."""
        return stored_rows(self.results)

    def ran(self) -> list[int]:
        """Return how many cells each run ended, without runs that were killed."""
        runs = {run["run"]: run for run in self.runs()}.values()
        return [sum(one["cells"] for one in run["learners"].values()) for run in runs if "learners" in run]

    def runs(self) -> list[dict]:
        """Return the lines of runs.jsonl."""
        return [json.loads(line) for line in (self.results / "runs.jsonl").read_text().splitlines()]

    def numbers(self, folder: Path | None = None) -> dict[str, dict[str, float]]:
        """Return the metrics of each done cell, by cell."""
        results = Store(folder or self.results).results()
        return {cell: result.metrics for cell, result in results.items() if result.status == "done"}

    def forget(self) -> None:
        """Forget what a new process does not know: the modules of the user, and what was computed about them."""
        importlib.invalidate_caches()
        for name in self._modules:
            sys.modules.pop(name, None)
        for function in (*vars(identity).values(), *vars(user_code).values()):
            if hasattr(function, "cache_clear") and function is not numerics:
                function.cache_clear()


def raise_metric(monkeypatch, name: str) -> None:
    """Declare the next version of a metric."""
    _raise(monkeypatch, numerics().metrics, name)


def raise_component(monkeypatch, name: str) -> None:
    """Declare the next version of a component."""
    _raise(monkeypatch, numerics().components, name)


def _raise(monkeypatch, declared, name: str) -> None:
    component = declared.get(name, Component(name, 1))
    rises = (*component.rises, "a test")
    monkeypatch.setitem(declared, name, replace(component, version=component.version + 1, rises=rises))


def source(path: Path, package: str) -> Source:
    """Return the ``Source`` of a file. The file is parsed again only if its bytes have changed."""
    return _source_of(path, package, path.read_bytes())


@cache
def _source_of(path: Path, package: str, content: bytes) -> Source:
    return Source(path, package)


def distributions() -> dict[str, list[str]]:
    """Return the packages of all modules. They are read again only if the installed packages have changed."""
    return _distributions_of(tuple(str(info) for folder in sys.path for info in sorted(Path(folder).glob("*-info"))))


@cache
def _distributions_of(installed: tuple[str, ...]) -> dict[str, list[str]]:
    return dict(packages_distributions())


def wait_for(what, seconds: float = 300) -> None:
    """Wait until ``what()`` holds. ``seconds`` only bounds the time of a test that fails: be generous."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def in_the_middle(bench: Bench, cells: int, *words: str, workers: int = 1, **options) -> subprocess.Popen:
    """Start a run of cells that wait at ``bench.gate``. Return when ``cells`` of them have ended and others wait."""
    ended = bench.ended()
    bench.gate.let(cells)
    waiting = bench.gate.begun() + cells + workers
    process = bench.start(*words, **{"stderr": subprocess.PIPE, "text": True, **options})
    wait_for(lambda: process.poll() is not None or (bench.ended() == ended + cells and bench.gate.begun() >= waiting))
    assert process.poll() is None, process.communicate()[1]
    return process


def same_as_undisturbed(bench: Bench) -> bool:
    """Check that metrics, keys and predictions equal those of an undisturbed run in this process."""
    assert bench.run("-o", "undisturbed").code == 0
    ours, theirs = Store(bench.results), Store(bench.folder / "undisturbed")
    for cell, result in theirs.results().items():
        stored = ours.results()[cell]
        assert (stored.metrics, stored.key) == (result.metrics, result.key)
        for one, other in zip(ours.predictions(stored), theirs.predictions(result), strict=True):
            assert one.tobytes() == other.tobytes()
    return len(theirs.results()) == len(ours.results()) > 0


def wait_until_gone(session: int) -> None:
    """Wait until no process of the session lives. Processes end some time after they are asked to."""
    wait_for(lambda: not processes_of_session(session))


def processes_of_session(session: int) -> list[int]:
    """Return the living processes that ``Bench.start`` caused, whatever their parents are."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = entry.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state != "Z":
            found.append(int(entry.parent.name))
    return found


def _hears_interruptions() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
