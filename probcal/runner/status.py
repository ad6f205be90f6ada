"""The status of a results folder: its cells, a current run, and what has changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.runner.data_step import current_data
from probcal.runner.description import load_experiment
from probcal.runner.failure_advice import failure_advice, short_path
from probcal.runner.plan import cells_text, make_plan, mark_missing_data, plan_lines
from probcal.runner.progress import heartbeat_lines, read_heartbeat
from probcal.runner.run_options import RunOptions
from probcal.store.folder import Store
from probcal.store.stored_experiment import Selection
from probcal.yaml_file import YamlFile


def status_lines(
    store: Store, selection: Selection, originals: Path | None, *, every_cell: bool, strict: bool
) -> Iterator[str]:
    """Yield the status of the selected cells line by line, the fastest first.

    ``originals`` is the folder of original data files. With ``strict``, results of other package versions are stale.

    Raises ProbcalError after the first lines when the experiment cannot be read, for example for a missing or untrusted
    module, or when its data do not match its cards.
    """
    description = store.experiment()
    yield f"{description['name']} in {store.folder}"
    if heartbeat := read_heartbeat(store.folder):
        yield from heartbeat_lines(heartbeat)
    try:
        experiment = load_experiment(store, check_classes=False)  # which takes a second
        data = current_data(experiment.used_cards(), originals)
        plan = make_plan(experiment, store, data, RunOptions(store.folder, strict=strict))
        plan = [
            planned
            for planned in mark_missing_data(plan, data.missing)
            if selection.includes(*planned.cell.row_and_column)
        ]
    except ProbcalError:
        states = Counter(
            result.status
            for result in store.results().values()
            if selection.includes(result.dataset, result.learner, result.method)
        )
        counts = ", ".join(f"{n} {state}" for state, n in states.items())
        yield f"{cells_text(states.total())} stored: {counts or 'none'}; whether they are stale is unknown"
        yield from failure_advice(store)
        raise
    yield from plan_lines(plan, every_cell=every_cell)
    yield from failure_advice(store)
    path = store.folder / description["config_path"]
    if _has_changed(path, description["config"]):
        name = short_path(path)
        yield f"  {name} has changed since it was run: probcal run {name} --dry-run shows what that makes stale"


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
