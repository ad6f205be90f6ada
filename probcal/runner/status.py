"""The status of a results folder: its cells, a current run, and what has changed since."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.runner.data_step import current_data
from probcal.runner.description import experiment_of
from probcal.runner.heartbeat import heartbeat_lines, read_heartbeat
from probcal.runner.plan import cells_text, make_plan, mark_missing_data, plan_lines
from probcal.store.folder import Store
from probcal.store.stored_experiment import StoredExperiment
from probcal.store.summary import cell_counts
from probcal.yaml_file import YamlFile


def status_lines(
    store: Store,
    every_cell: bool,
    takes: Callable[[str, str, str], bool] = lambda *_: True,
    originals: Path | None = None,
    strict: bool = False,
) -> Iterator[str]:
    """Yield the status line by line, the fastest first.

    ``takes`` returns whether a data set, learner and method are selected. ``originals`` is the folder of original data
    files.

    Raises ProbcalError after the first lines when the experiment cannot be read, for example for a missing or untrusted
    module, or when its data do not match its cards.
    """
    description = store.experiment()
    yield f"{description['name']} in {store.folder}"
    if heartbeat := read_heartbeat(store.folder):
        yield from heartbeat_lines(heartbeat)
    try:
        experiment = experiment_of(store)
        data = current_data(experiment.used_cards(), originals)
        plan = [
            entry
            for entry in mark_missing_data(make_plan(experiment, store, data, strict=strict), data.missing)
            if takes(entry.cell.dataset, entry.cell.column.learner.name, entry.cell.column.method.name)
        ]
    except ProbcalError:
        states = Counter(
            result.status for result in store.results().values() if takes(result.dataset, result.learner, result.method)
        )
        counts = ", ".join(f"{n} {state}" for state, n in states.items())
        yield f"{cells_text(states.total())} stored: {counts or 'none'}; whether they are stale is unknown"
        yield from failure_advice(store)
        raise
    yield from plan_lines(plan, every_cell=every_cell)
    yield from failure_advice(store)
    path = store.folder / description["config_path"]
    if _has_changed(path, description["config"]):
        name = _short_path(path)
        yield f"  {name} has changed since it was run: probcal run {name} --dry-run shows what that makes stale"


def failure_advice(store: Store) -> Iterator[str]:
    """Yield the command that runs failed cells of ``store`` again, and the one that shows their tracebacks.

    Nothing is yielded where no cell failed.
    """
    stored = StoredExperiment.of(store)
    counts = cell_counts(stored, store.results())
    if not counts.failed and not counts.later_failure:
        return
    description = store.experiment()
    path = description.get("config_path")
    words = ["probcal", "run", _short_path(store.folder / path) if isinstance(path, str) else "CONFIG"]
    if store.folder.resolve() != Path("results", stored.name).resolve():
        words += ["-o", str(store.folder)]
    if description.get("quick"):
        words.append("--quick")
    with suppress(ProbcalError):
        if YamlFile(store.folder, stored.config).data.get("seed", 0) != stored.seed:
            words += ["--seed", str(stored.seed)]
    report = shlex.join(["probcal", "report", str(store.folder)])
    yield f"  {shlex.join(words)} --retry-failed runs failed cells again; {report} shows their full tracebacks"


def _short_path(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _has_changed(path: Path, text: str) -> bool:
    """Return whether the content of the file at ``path`` differs from ``text``, apart from comments."""
    try:
        if not path.is_file() or path.read_bytes() == text.encode():
            return False
        return bool(YamlFile.read(path).data != YamlFile(path, text).data)
    except OSError:  # a removed file changes no number
        return False
    except ProbcalError:  # it is no YAML any more
        return True
