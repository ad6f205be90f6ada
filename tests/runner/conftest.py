"""Provide the fixtures of the tests that run experiments."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from run_bench import Bench, distributions, source

from probcal.cli import main as cli
from probcal.runner import identity, user_code


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Iterator[Bench]:
    """Return a ``Bench`` in a temporary folder, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    root = str(Path(cli.__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), root]))
    monkeypatch.setenv("PROBCAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("PROBCAL_DATA_DIR", raising=False)
    # Each command forgets the digests of code, as a new process does. Unchanged files are not parsed again.
    monkeypatch.setattr(user_code, "Source", source)
    monkeypatch.setattr(identity, "packages_distributions", distributions)
    before = signal.getsignal(signal.SIGTERM)
    bench = Bench(tmp_path)
    bench.config()
    bench.forget()
    yield bench
    monkeypatch.undo()
    bench.forget()
    signal.signal(signal.SIGTERM, before)
