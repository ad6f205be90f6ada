"""The options of a run, which the command line, ``try`` and the notebook give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunOptions:
    """Hold the options of a run from the command line. None of them changes a number."""

    folder: Path
    data_folder: Path | None = None
    jobs: int = 1
    timeout: float | None = None
    retry_failed: bool = False
    fail_fast: bool = False
    scheduler: str | None = None
    """Address of the Dask scheduler that runs the cells, instead of ``jobs`` processes."""
    workers: int | None = None
    """Number of Dask workers to start on this machine, which run the cells instead of ``jobs`` processes."""
    command: str = "the same command"
    """The command that runs it once more."""
    strict: bool = False
    """Whether results of other package versions run again."""
    refit: bool = False
    """Whether all cells run again."""
    time_limit: float | None = None
    """Seconds after which the run ends with the cells that it has."""
