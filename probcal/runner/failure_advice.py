"""The command that runs cells of a folder again. Commands that only read results print it, so no import is heavy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import cell_counts
from probcal.yaml_file import YamlFile


def failure_advice(store: Store) -> Iterator[str]:
    """Yield the command that runs failed cells of ``store`` again, and the one that shows their tracebacks.

    Nothing is yielded where no cell failed.
    """
    results = store.results()
    if all(result.status == "done" and result.later_failure is None for result in results.values()):
        return
    stored = StoredExperiment.of(store)
    counts = cell_counts(stored, results)  # of planned cells only
    if not counts.failed and not counts.later_failure:
        return
    command = shlex.join([*run_command(store, stored), "--retry-failed"])
    report = shlex.join(["probcal", "report", str(store.folder)])
    yield f"  {command} runs failed cells again; {report} shows their full tracebacks"


def run_command(store: Store, stored: StoredExperiment) -> list[str]:
    """Return the words of the command that runs the experiment of ``store`` again."""
    description = store.experiment()
    path = description.get("config_path")
    words = ["probcal", "run", short_path(store.folder / path) if isinstance(path, str) else "CONFIG"]
    if store.folder.resolve() != Path("results", stored.name).resolve():
        words += ["-o", str(store.folder)]
    if description.get("quick"):
        words.append("--quick")
    with suppress(ProbcalError):
        if YamlFile(store.folder, stored.config).data.get("seed", 0) != stored.seed:
            words += ["--seed", str(stored.seed)]
    return words


def short_path(path: Path) -> str:
    """Return ``path`` relative to the current folder where it lies below it, or else in full."""
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
