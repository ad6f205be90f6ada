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
from probcal.store.folder import Store  # noqa: E402

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a script is started in the background
RESULTS = ROOT / "results" / "reliability"
CELLS = 336
_MANY = """
name: many
seed: 7
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
        **{"PYTHONPATH": path, "PROBCAL_CACHE_DIR": str(folder / "cache"), "PROBCAL_TRUSTED": "bad_cells"},
        **options.pop("environment", {}),
    }
    return subprocess.Popen(
        [*before, sys.executable, "-m", "probcal", *words],
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


def rows(results: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (results / "cells.jsonl").read_text(encoding="utf-8").splitlines()]


def faults(results: Path, cells: int) -> list[str]:
    """What is wrong with a results folder that should hold ``cells`` cells, each of them done once."""
    store = Store(results)
    try:
        kept, runs, found = store.results(), store.runs(), rows(results)
        store.experiment()
    except (StoreError, OSError, ValueError) as error:
        return [str(error)]
    done = Counter((row["dataset"], row["repetition"], row["learner"], row["method"]) for row in found if _is_done(row))
    told = {
        f"{cells - len(kept)} cells are missing": len(kept) != cells,
        f"{done.total() - len(done)} cells were run twice": done.total() != len(done),
        "a run is not told of": not {row["run"] for row in found} <= set(runs),
        **{f"{name} is torn": _torn(results / name) for name in ("cells.jsonl", "runs.jsonl")},
        **{f"{one.id}: {one.status}": one.status != "done" for one in kept.values()},
    }
    return [what for what, holds in told.items() if holds]


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


def _plain(result: Any) -> dict[str, Any]:
    return {name: value for name, value in json.loads(result.to_json()).items() if name not in _MAY_DIFFER}


def _bytes(store: Store, result: Any) -> tuple[bytes, ...] | None:
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
