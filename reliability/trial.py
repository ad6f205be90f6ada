"""What the scripts on kills and on cells that misbehave share: real runs, what they leave, and the file of figures."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from speed import machine  # noqa: E402
from tabulate import tabulate  # noqa: E402

from probcal.errors import StoreError  # noqa: E402
from probcal.store.cell_result import CellResult  # noqa: E402
from probcal.store.folder import LOG, TABLE, Store  # noqa: E402
from probcal.store.log_file import open_log, read_log  # noqa: E402
from probcal.store.table_file import read_table, write_table  # noqa: E402

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a script is started in the background
RESULTS = ROOT / "results" / "reliability"
CELLS = 336
_MANY = """
name: many
seed: 7
processor: x86-64-v3
repeats: 14
datasets: [wisconsin, digits-odd, wine-first]
learners:
  tree: {params: {max_depth: 4, max_features: 3}}
  nb: {type: sklearn.naive_bayes.GaussianNB}
methods:
  direct: {}
  bagging: {params: {n_estimators: 4}}
  sigmoid: {}
  probing: {params: {n_probes: 6}}
"""
WORDS = ("run", "many.yaml", "-j", "2")
_MAY_DIFFER = ("seconds", "run", "predictions")
"""Of a row: when and by which run; the predictions are compared by their bytes, wherever they lie."""


@dataclass
class Tried:
    """One way to disturb runs: how often, what was seen, and what was wrong with what they left."""

    way: str
    times: int = 0
    notes: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def compare(self, results: Path, undisturbed: Path) -> None:
        """Take up whatever is not as in the ``undisturbed`` results."""
        self.wrong += faults(results, len(Store(undisturbed).results()))
        self.wrong += [f"{cell} differs" for cell in differences(results, undisturbed)]

    def went_on(self, before: dict[str, CellResult], results: Path) -> None:
        """Take up each result of ``before`` that is lost or was made again, and each cell that was run twice."""
        after = stored(results)
        self.wrong += [f"{cell} is lost" for cell in before if cell not in after]
        changed = (cell for cell, one in before.items() if cell in after and _row(after[cell]) != _row(one))
        self.wrong += [f"{cell} was made again" for cell in changed]
        self.wrong += run_twice(results)

    def expect(self, finished: tuple[int, str], code: int, says: str = "") -> None:
        """Take up an exit code other than ``code``, a message without ``says``, and a traceback."""
        if finished[0] != code or says not in finished[1] or "Traceback" in finished[1]:
            self.wrong.append(f"exit code {finished[0]}, not {code} with {says!r}: {finished[1][-300:]}")

    def row(self) -> list[str]:
        text = [self.way, str(self.times), "; ".join(self.notes), "; ".join(self.wrong) or "nothing"]
        return [" ".join(part.split()).replace("|", "/") for part in text]


def start(folder: Path, *words: str, before: Iterable[str] = (), **options: Any) -> subprocess.Popen[str]:
    """``probcal`` with these words in ``folder``, in a session of its own; what it says comes out of ``stderr``."""
    path = os.pathsep.join(map(str, (folder, *options.pop("also_path", ()), ROOT)))
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PROBCAL_DATA_DIR"},
        "PYTHONPATH": path,
        "PROBCAL_CACHE_DIR": str(folder / "cache"),
        "PROBCAL_TRUSTED": "bad_cells",
        **options.pop("environment", {}),
    }
    # nohup and the background of a shell leave signals ignored, and probcal would then ignore them, too
    signals = ("env", "--default-signal=HUP,INT")
    return subprocess.Popen(
        [*signals, *before, sys.executable, "-m", "probcal", *words],
        **{"cwd": folder, "env": environment, "text": True, "start_new_session": True}
        | {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        | options,
    )


def undisturbed(folder: Path) -> None:
    """``many.yaml`` and the results, in ``undisturbed``, that nobody has disturbed."""
    (folder / "many.yaml").write_text(_MANY)
    code, said = run(folder, *WORDS, "-o", "undisturbed")
    if code:
        sys.exit(said)


def finish(process: subprocess.Popen[str], seconds: float = 600) -> tuple[int, str]:
    """(exit code, what was said on stderr)."""
    said = process.communicate(timeout=seconds)[1] or ""
    return process.returncode, said


def run(folder: Path, *words: str, **options: Any) -> tuple[int, str]:
    return finish(start(folder, *words, **options))


def wait_for(what: Callable[[], Any], seconds: float = 60) -> bool:
    """Whether ``what()`` came to hold in that time."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def processes_of(session: int) -> list[int]:
    """The living processes of a session, whatever their parents are."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = entry.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state != "Z":
            found.append(int(entry.parent.name))
    return found


def lines(path: Path) -> int:
    try:
        return path.read_bytes().count(b"\n")
    except OSError:
        return 0


def log_rows(results: Path) -> int:
    """How many results the log has. A run that ends moves them to the table, and leaves the first line."""
    try:
        content = (results / LOG).read_bytes()
    except OSError:
        return 0
    return content.count(b"\n") - content.count(b'{"probcal": "0.2.0", "table"')


def stored(results: Path) -> dict[str, CellResult]:
    """The result of each cell, from the table and the log; none where there are no results yet."""
    return Store(results).results() if results.is_dir() else {}


def rows(results: Path) -> list[dict[str, Any]]:
    """Every result in the table and in the log as a mapping; one that is in both, as a kill may leave it, once."""
    table, log = results / TABLE, read_log(results / LOG, Store(results).runs)
    log.refuse_faults([], "")
    every = [*(read_table(table) if table.exists() else []), *((result, fault) for result, _, fault in log.rows)]
    found = {json.dumps(row, sort_keys=True): row for row in (_row(result) for result, _ in every)}
    return [*found.values()]


def cells_told(results: Path) -> dict[str, int]:
    """Run -> how many cells ended in it, as it says itself; a run that was killed says nothing."""
    runs = Store(results).runs()
    return {
        name: sum(learner["cells"] for learner in run["learners"].values())
        for name, run in runs.items()
        if "learners" in run
    }


def run_twice(results: Path) -> list[str]:
    """Which cells have two done results, and how many the last run made that another one of it replaced.

    The table has one row of a cell, so only the count of a run shows what it made twice.
    """
    found, runs, told = rows(results), [*Store(results).runs()], cells_told(results)
    done = Counter((row["dataset"], row["repetition"], row["learner"], row["method"]) for row in found if _is_done(row))
    last = runs[-1] if runs else ""
    replaced = told.get(last, 0) - sum(row["run"] == last for row in found)
    twice = [f"{'/'.join(map(str, cell))} was run twice" for cell, times in done.items() if times > 1]
    return twice + [f"{replaced} cells were run twice in {last}"] * (replaced > 0)


def faults(results: Path, cells: int) -> list[str]:
    """What is wrong with the results folder of a run that ended, which should hold ``cells`` cells done once each."""
    store = Store(results)
    try:
        kept, runs, found, twice = store.results(), store.runs(), rows(results), run_twice(results)
        store.experiment()
    except (StoreError, OSError, ValueError) as error:
        return [str(error)]
    told = {
        f"{cells - len(kept)} cells are missing": len(kept) != cells,
        f"{len(found) - len(kept)} rows are too many": len(found) != len(kept),
        "a run is not told of": not {row["run"] for row in found} <= set(runs),
        f"{log_rows(results)} results were not moved to the table": log_rows(results) > 0,
        **{f"{name} is torn": _torn(results / name) for name in (LOG, "runs.jsonl")},
        **{f"{one.name} is left": True for one in results.glob("cells.*.new")},
        **{f"{one.id}: {one.status}": one.status != "done" for one in kept.values()},
    }
    return twice + [what for what, holds in told.items() if holds]


def cut(results: Path, cells: int, in_table: int) -> None:
    """Keep the first ``cells`` results, as a kill may leave them: so many in the table, the others in the log."""
    kept = [*Store(results).results().values()][:cells]
    runs = [
        line
        for line in (results / "runs.jsonl").read_text(encoding="utf-8").splitlines(True)
        if "learners" not in json.loads(line)
    ]  # a killed run does not say which cells ended in it
    (results / "runs.jsonl").write_text("".join(runs), encoding="utf-8")
    (results / LOG).unlink(missing_ok=True)
    (results / TABLE).unlink(missing_ok=True)
    if in_table:
        write_table(results / TABLE, kept[:in_table])
    with open_log(results / LOG, results / TABLE) as log:
        log.writelines(f"{one.to_json()}\n" for one in kept[in_table:])


def _is_done(row: dict[str, Any]) -> bool:
    return row["status"] == "done"


def dead_bytes(results: Path) -> int:
    """Of predictions.bin: what no row refers to, as a kill came before the row was written."""
    store = Store(results)
    used = sum(len(part) for one in store.results().values() for part in _bytes(store, one) or ())
    return (results / "predictions.bin").stat().st_size - used


def _torn(path: Path) -> bool:
    try:
        content = path.read_text(encoding="utf-8")
        return not content.endswith("\n") or any(
            not isinstance(json.loads(line), dict) for line in content.splitlines()
        )
    except (OSError, ValueError):
        return True


def differences(results: Path, undisturbed: Path, of: Callable[[str], bool] = lambda cell: True) -> list[str]:
    """The cells that are not the same to the last bit: metrics, labels and estimates, and all else of the row."""
    ours, theirs = Store(results), Store(undisturbed)
    kept, expected = ours.results(), {cell: result for cell, result in theirs.results().items() if of(cell)}
    return [
        cell
        for cell, result in expected.items()
        if cell not in kept
        or _plain(kept[cell]) != _plain(result)
        or (result.status == "done" and _bytes(ours, kept[cell]) != _bytes(theirs, result))
    ]


def _plain(result: CellResult) -> dict[str, Any]:
    return {name: value for name, value in _row(result).items() if name not in _MAY_DIFFER}


def _row(result: CellResult) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(result.to_json())
    return row


def _bytes(store: Store, result: CellResult) -> tuple[bytes, ...] | None:
    try:
        return tuple(part.tobytes() for part in store.predictions(result))
    except StoreError:
        return None


def report(name: str, figure: str, about: str, headers: list[str], table: list[list[Any]], write: bool = True) -> None:
    """The table to the screen and to results/reliability. ``figure``: a line for the table at the page's head."""
    text = tabulate(table, headers, tablefmt="github", disable_numparse=True)
    head = f"Written by `python reliability/{name}.py`. {machine()}"
    if write:
        RESULTS.mkdir(parents=True, exist_ok=True)
        (RESULTS / f"{name}.md").write_text(f"{head}\n\nIn all: {figure}\n\n{about}\n\n{text}\n", encoding="utf-8")
    print(f"{text}\n\n{figure}")


def report_tried(name: str, what: str, about: str, found: list[Tried]) -> None:
    """``report``, and an end with exit code 1 where anything was wrong."""
    times, wrong = sum(one.times for one in found), sum(len(one.wrong) for one in found)
    figure = f"{times} {what}, {wrong} failed."
    report(name, figure, about, ["way", "times", "seen", "failed"], [one.row() for one in found])
    sys.exit(1 if wrong else 0)
