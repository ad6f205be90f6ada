"""Where results come from: taken once per run, never per cell."""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import subprocess
import sys
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

import probcal
from probcal.config.experiment import Experiment
from probcal.data.load import known_fingerprint
from probcal.runner.fingerprint import code_of, code_of_metrics, modules_of, versions_of
from probcal.runner.plan import Planned
from probcal.store.cell_result import CellResult


def provenance(experiment: Experiment, planned: list[Planned], sources: dict[str, str], jobs: int) -> dict[str, Any]:
    """What is needed to make the same numbers again, as plain values; ``run`` names the run.

    ``sources``: data set -> where it came from, for those that this run reads.
    """
    modules = {
        component.path.rpartition(".")[0]
        for column in experiment.columns
        for component in (column.learner, column.method)
    }
    modules.update(module for one in planned for module in modules_of(one.cell))
    now = datetime.now(UTC)
    return {
        "run": f"{now:%Y%m%dT%H%M%S}-{secrets.token_hex(3)}",
        "started": now.isoformat(timespec="seconds"),
        "command": ["probcal", *sys.argv[1:]],
        "cells": len(planned),
        "jobs": jobs,
        "seed": experiment.seed,
        "config_sha256": hashlib.sha256(experiment.text.encode()).hexdigest(),
        "data": {
            card.name: {
                "source": sources[card.name],
                "fingerprint": known_fingerprint(card),
                "card": card.reading,
            }
            for card in experiment.cards_read()
            if card.name in sources
        },
        "probcal": probcal.__version__,
        "git": _git_state(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": os.cpu_count(),
        "linear_algebra": _linear_algebra(),
        "versions": versions_of(*sorted(modules)),
        "code": {**code_of(*sorted(modules)), **code_of_metrics()},
    }


class Spent:
    """What the cells of a run took, told when it ends, in good order or not."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._cells: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def add(self, result: CellResult) -> None:
        """One more cell has ended."""
        self._cells[result.learner] += 1
        self._seconds[result.learner] += result.seconds

    def told(self) -> dict[str, Any]:
        """End, seconds on the clock, and per learner the number of cells and the seconds that they took."""
        return {
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self._start, 1),
            "learners": {
                name: {"cells": n, "seconds": round(self._seconds[name], 1)} for name, n in self._cells.items()
            },
        }


def _linear_algebra() -> list[str]:
    """Library, version and the kind of processor it works for: they change last digits, and no result's key."""
    told = (
        (one["internal_api"], one["version"], one.get("architecture"))
        for one in threadpool_info()
        if one["user_api"] == "blas"
    )
    return sorted({" ".join(filter(None, one)) for one in told})


def _git_state() -> dict[str, Any] | None:
    """Commit and whether tracked files differ from it; None outside a checkout."""
    here = Path(__file__).parent
    try:
        _git(here, "ls-files", "--error-unmatch", __file__)  # an installed copy may lie in another's checkout
        commit = _git(here, "rev-parse", "HEAD")
        changed = _git(here, "status", "--porcelain", "--untracked-files=no", "--", str(here))
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": bool(changed)}


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()
