"""``probcal status``: what is in a results folder, what runs there now, and what has changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from probcal.errors import ProbcalError
from probcal.run.data_step import data_now
from probcal.run.live import heard_of
from probcal.run.live_text import heard_lines
from probcal.run.plan import make_plan, without_data
from probcal.run.plan_text import cells, plan_lines
from probcal.run.run import experiment_of
from probcal.store import Store
from probcal.yaml_file import YamlFile


def status_lines(
    store: Store,
    every_cell: bool,
    takes: Callable[[str, str, str], bool] = lambda *_: True,
    originals: Path | None = None,
) -> Iterator[str]:
    """Tell one after the other: what needs no import first.

    ``takes`` says whether a data set, learner and method are asked for; ``originals`` is the folder of original data
    files.

    Raises ProbcalError, after what can be told all the same, when the experiment cannot be read as it was kept, for
    want of a module or of trust in one, say, or when its data are not what its cards say.
    """
    kept = store.experiment()
    yield f"{kept['name']} in {store.folder}"
    if heard := heard_of(store.folder):
        yield from heard_lines(heard)
    try:
        experiment = experiment_of(store)
        data = data_now(experiment.cards_read(), originals)
        plan = [
            one
            for one in without_data(make_plan(experiment, store, data), data.missing)
            if takes(one.cell.dataset, one.cell.column.learner.name, one.cell.column.method.name)
        ]
    except ProbcalError:
        states = Counter(
            one.status for one in store.results().values() if takes(one.dataset, one.learner, one.method)
        )
        counts = ", ".join(f"{n} {state}" for state, n in states.items())
        yield f"{cells(states.total())} kept: {counts or 'none'}; whether they are stale cannot be told"
        raise
    yield from plan_lines(plan, every_cell=every_cell)
    path = store.folder / kept["config_path"]
    if _is_another(path, kept["config"]):
        name = _short(path)
        yield f"  {name} has changed since it was run: probcal run {name} --dry-run says what that makes stale"


def _is_another(path: Path, text: str) -> bool:
    """Whether the file at ``path`` says other things than ``text``; comments say nothing."""
    with suppress(OSError):  # one that is gone is told by nobody's number
        if path.is_file() and path.read_bytes() != text.encode():
            return not _says_the_same(path, text)
    return False


def _says_the_same(path: Path, text: str) -> bool:
    with suppress(ProbcalError):
        return YamlFile.read(path).data == YamlFile(path, text).data
    return False


def _short(path: Path) -> str:
    path = path.resolve()
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
