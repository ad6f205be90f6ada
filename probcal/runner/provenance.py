"""Provenance of a run: versions, data and machine, recorded once for all cells."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import subprocess
import sys
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import probcal
from probcal.components.numerics import numerics
from probcal.config.experiment import Experiment
from probcal.data.load import known_fingerprint
from probcal.runner.cell import PlannedCell
from probcal.runner.identity import used_components, used_packages, user_code_digests
from probcal.runner.instruction_set import processor_name
from probcal.store.cell_result import CellResult


def provenance(experiment: Experiment, plan: list[PlannedCell], sources: dict[str, str], jobs: int) -> dict[str, Any]:
    """Return what is needed to reproduce the numbers, as plain values. ``run`` is the name of the run.

    ``sources`` maps each data set of this run to where it came from.
    """
    # One cell of each column is enough: packages and code depend on the column only.
    cells = list({id(planned.cell.column): planned.cell for planned in plan}.values())
    components = {name for planned in plan for name in used_components(planned.cell)}
    now = datetime.now(UTC)
    return {
        # Two machines may start a run in the same second.
        "run": f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}",
        "started": now.isoformat(timespec="seconds"),
        "command": ["probcal", *sys.argv[1:]],
        "cells": len(plan),
        "jobs": jobs,
        "seed": experiment.seed,
        "config_sha256": hashlib.sha256(experiment.text.encode()).hexdigest(),
        "data": {
            card.name: {"source": sources[card.name], "fingerprint": known_fingerprint(card), "card": card.reading}
            for card in experiment.used_cards()
            if card.name in sources
        },
        "probcal": probcal.__version__,
        "git": _git_state(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "linear_algebra": _linear_algebra(),
        "processor": processor_name(),
        "instructions": experiment.processor,
        "versions": {name: text for cell in cells for name, text in used_packages(cell).items()},
        "numerics": {name: numerics().components[name].version for name in sorted(components)},
        "user_code": {name: digest for cell in cells for name, digest in user_code_digests(cell).items()},
    }


class RunTimes:
    """Collect the run times of cells, to record them when the run ends."""

    def __init__(self) -> None:
        self._start, self._start_date = time.monotonic(), datetime.now(UTC)
        self._cells: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def add(self, result: CellResult) -> None:
        """Record a cell that has ended."""
        self._cells[result.learner] += 1
        self._seconds[result.learner] += result.seconds

    def record(self) -> dict[str, Any]:
        """Return the end, the elapsed seconds, and for each learner the number of cells and their seconds."""
        seconds = time.monotonic() - self._start
        # Not the system's clock, which may be set during the run.
        end_date = self._start_date + timedelta(seconds=seconds)
        return {
            "ended": end_date.isoformat(timespec="seconds"),
            "seconds": round(seconds, 1),
            "learners": {
                name: {"cells": n, "seconds": round(self._seconds[name], 1)} for name, n in self._cells.items()
            },
        }


def _linear_algebra() -> list[str]:
    """Return library, version and processor type of the linear algebra.

    They change last digits, but are no part of an identity.
    """
    libraries = (
        (library["internal_api"], library["version"], library.get("architecture"))
        for library in threadpool_info()
        if library["user_api"] == "blas"
    )
    return sorted({" ".join(filter(None, words)) for words in libraries})


def _git_state() -> dict[str, Any] | None:
    """Return the commit and whether tracked files differ from it, or None outside a checkout."""
    folder = Path(__file__).parent
    try:
        # An installed copy can lie in another checkout, whose commit says nothing about it.
        _git(folder, "ls-files", "--error-unmatch", __file__)
        commit = _git(folder, "rev-parse", "HEAD")
        # Only the package's own folder: a note or a result beside it changes no number.
        changes = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", str(folder))
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": bool(changes)}


def _git(folder: Path, *words: str) -> str:
    process = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    return process.stdout.strip()
