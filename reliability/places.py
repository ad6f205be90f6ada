"""Folders that are full, read-only, gone or wanted twice, and a clock set back: python reliability/places.py

A run of 336 cells meets each of these, and goes on once that is over, to the results of an undisturbed run. Exit code 1
where anything was lost. Writes results/reliability/places.md. Linux only; full and read-only folders need the right to
mount, which the file says where it was missing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from trial import (
    CELLS,
    WORDS,
    Tried,
    cells_told,
    cut,
    finish,
    lines,
    log_rows,
    report_tried,
    rows,
    run,
    start,
    stored,
    undisturbed,
    wait_for,
)

_IN_NAMESPACE = "RELIABILITY_IN_NAMESPACE"
_ROOM = (0, 8, 20, 24, 12, 16, 60, 61, 72, 77, 82, 90)
"""KB that are free, one after the other: full at experiment.json, then at each of the other files."""
_ROOM_OF_TABLE = (0, 8, 12, 12, 16, 20, 20, 24, 28, 28, 32, 36, 36, 40, 44, 44, 48, 52, 64)
"""KB that are free when the run of the last cell begins."""
_PAIRS = 20
_YESTERDAY = """
import datetime, time
import probcal.runner.provenance
_time = time.time
class Yesterday(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.now(tz) - datetime.timedelta(days=1)
probcal.runner.provenance.datetime, time.time = Yesterday, lambda: _time() - 86400
"""


def main() -> None:
    in_namespace()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(5) as pool:
        folder = Path(name)
        undisturbed(folder)
        ways = (full, full_at_the_table, few_names, read_only, removed, clock_set_back, at_the_same_moment)
        found = [ended.result() for ended in [pool.submit(way, folder) for way in ways]]
    about = (
        f"A full disk has {', '.join(map(str, _ROOM))} KB left, one after the other, and then enough. One that is full"
        f" when the results are moved has {', '.join(map(str, _ROOM_OF_TABLE))} KB left before the last cell. A trial"
        " fails on: an exit code other than 2, or 0 if all cells are done, a missing reason, a traceback, a `status` or"
        " `table` that does not work meanwhile, a result that is lost or was made again, a cell that is missing or was"
        " run twice at the end, or a final result that differs from an undisturbed run."
    )
    report_tried("places", "runs", about, found)


def in_namespace() -> None:
    """Start this script again where what it mounts is seen by nobody else; not without the right to."""
    if _IN_NAMESPACE not in os.environ and _done("unshare", "-m", "true"):
        os.environ[_IN_NAMESPACE] = "yes"
        os.execvp("unshare", ["unshare", "-m", sys.executable, *sys.argv])


def full(folder: Path) -> Tried:
    """A disk of 4 MB with more and more room on it, and at last enough."""
    tried, disk = Tried("a full disk"), folder / "disk"
    disk.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)):
        tried.notes.append("not tried: it needs the right to mount")
        return tried
    results, filler, places = disk / "results", disk / "filler", []
    for room in _ROOM:
        filler.unlink(missing_ok=True)
        free = shutil.disk_usage(disk).free
        filler.write_bytes(bytes(max(0, free - room * 1024)))
        before = stored(results)
        tried.expect(run(folder, *WORDS, "-o", str(results)), 2, "No space left on device")
        tried.times += 1
        places.append(_where(results))
        tried.went_on(before, results)
        _expect_readable(tried, folder, results)
    filler.unlink()
    _expect_end(tried, folder, results)
    tried.notes += [f"{places.count(one)} at {one}" for one in dict.fromkeys(places)]
    _done("umount", str(disk))
    return tried


def full_at_the_table(folder: Path) -> Tried:
    """A disk with room for the last cell, and more and more for the table, at last enough."""
    tried, disk = Tried("a disk that is full when the results are moved to the table"), folder / "disk of the table"
    disk.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)):
        tried.notes.append("not tried: it needs the right to mount")
        return tried
    results, filler, places = disk / "results", disk / "filler", []
    for room, in_table in [(room, (number % 3 == 0) * CELLS // 2) for number, room in enumerate(_ROOM_OF_TABLE)]:
        filler.unlink(missing_ok=True)
        shutil.rmtree(results, ignore_errors=True)
        shutil.copytree(folder / "undisturbed", results)
        cut(results, CELLS - 1, in_table)
        filler.write_bytes(bytes(max(0, shutil.disk_usage(disk).free - room * 1024)))
        places.append(_run_on_full_disk(tried, folder, results))
        tried.wrong += ["a part of a table is left"] * (results / "cells.parquet.new").exists()
        _expect_readable(tried, folder, results)
        filler.unlink()
        _expect_end(tried, folder, results)
    tried.wrong += ["never full at the table"] * ("at the table" not in places)
    tried.notes += [f"{places.count(one)} full {one}" for one in dict.fromkeys(places)]
    _done("umount", str(disk))
    return tried


def few_names(folder: Path) -> Tried:
    """A disk that takes no further file, then one more, and so on."""
    tried, disk = Tried("a disk without room for further files"), folder / "disk of names"
    disk.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=8m,nr_inodes=60", "tmpfs", str(disk)):
        tried.notes.append("not tried: it needs the right to mount")
        return tried
    results, places = disk / "results", []
    for further in range(5):
        for name in disk.glob("name-*"):
            name.unlink()
        shutil.rmtree(results, ignore_errors=True)
        shutil.copytree(folder / "undisturbed", results)
        cut(results, CELLS - 1, CELLS // 2)
        names = []
        with suppress(OSError):
            for number in range(60):
                names.append(disk / f"name-{number}")
                names[-1].touch()
        for name in [name for name in names if name.exists()][:further]:
            name.unlink()
        places.append(_run_on_full_disk(tried, folder, results))
        _expect_readable(tried, folder, results)
        for name in disk.glob("name-*"):
            name.unlink()
        _expect_end(tried, folder, results)
    tried.notes += [f"{places.count(one)} full {one}" for one in dict.fromkeys(places)]
    _done("umount", str(disk))
    return tried


def _run_on_full_disk(tried: Tried, folder: Path, results: Path) -> str:
    """Runs the last cell, which may lack room for its row or for the table, and returns where the disk was full."""
    before = stored(results)
    ended = run(folder, *WORDS, "-o", str(results))
    tried.times += 1
    tried.expect(ended, 2 if ended[0] else 0, "No space left on device" if ended[0] else "all cells are done")
    tried.went_on(before, results)
    return "before" if ended[0] else "at the table" if log_rows(results) else "nowhere"


def _expect_end(tried: Tried, folder: Path, results: Path) -> None:
    """Runs what is left, now that there is room, and compares the results with those of an undisturbed run."""
    before = stored(results)
    tried.expect(run(folder, *WORDS, "-o", str(results)), 0)
    tried.went_on(before, results)
    tried.compare(results, folder / "undisturbed")


def _expect_readable(tried: Tried, folder: Path, results: Path) -> None:
    if (results / "experiment.json").exists():
        tried.expect(run(folder, "status", str(results)), 0)
        tried.expect(run(folder, "table", str(results)), 0)


def _where(results: Path) -> str:
    if not (results / "experiment.json").exists():
        return "experiment.json or the folder itself"
    if not lines(results / "runs.jsonl"):
        return "runs.jsonl"
    cells = results / "cells.jsonl"
    torn = cells.exists() and cells.stat().st_size and not cells.read_bytes().endswith(b"\n")
    return "half a line of cells.jsonl" if torn else "predictions.bin or a whole line"


def read_only(folder: Path) -> Tried:
    tried, place = Tried("a read-only folder"), folder / "read-only"
    shutil.copytree(folder / "undisturbed", place)
    cut(place, 100, 50)
    if not (_mount("--bind", str(place), str(place)) and _mount("-o", "remount,ro,bind", str(place))):
        tried.notes.append("not tried: it needs the right to mount")
        return tried
    tried.expect(run(folder, *WORDS, "-o", str(place)), 2, "cannot write to")
    tried.expect(run(folder, "status", str(place)), 0)
    tried.expect(run(folder, "table", str(place)), 0)
    tried.times += 1
    _done("umount", str(place))
    tried.expect(run(folder, *WORDS, "-o", str(place)), 0)
    tried.compare(place, folder / "undisturbed")
    tried.notes.append("refused by name; status and table work; written once it can be")
    return tried


def removed(folder: Path) -> Tried:
    tried, results = Tried("the folder removed while it runs", 1), folder / "removed"
    process = _in_the_middle(folder, results)
    shutil.rmtree(results, ignore_errors=True)
    tried.expect(finish(process), 2, "was removed while results were written to it")
    tried.expect(run(folder, *WORDS, "-o", str(results)), 0)
    tried.compare(results, folder / "undisturbed")
    return tried


def clock_set_back(folder: Path) -> Tried:
    """Half of a run today, the rest a day before by the clock."""
    tried, results, clock = Tried("the clock set back by a day", 1), folder / "clock", folder / "yesterday"
    clock.mkdir()
    (clock / "sitecustomize.py").write_text(_YESTERDAY)
    process = _in_the_middle(folder, results)
    os.killpg(process.pid, signal.SIGKILL)
    finish(process)
    today = {row["run"] for row in rows(results)}
    tried.expect(run(folder, *WORDS, "-o", str(results), also_path=(clock,)), 0)
    yesterday = {row["run"] for row in rows(results)} - today
    tried.wrong += ["the clock was not set back"] * (not yesterday or max(yesterday) > min(today))
    tried.compare(results, folder / "undisturbed")
    return tried


def at_the_same_moment(folder: Path) -> Tried:
    """Two runs on one folder: one writes; the other is refused, or comes when all is done."""
    tried, refused = Tried("two runs started on one folder at once"), 0
    part = (*WORDS, "-l", "tree", "-m", "probing")
    for number in range(_PAIRS):
        results = folder / f"pair-{number}"
        ended = [finish(one) for one in [start(folder, *part, "-o", str(results)) for _ in range(2)]]
        cells = [(row["dataset"], row["repetition"]) for row in rows(results)]
        tried.times += 1
        told = sum(cells_told(results).values())
        tried.wrong += ["a cell was run twice, or none"] * ({len(cells), len(set(cells)), told} != {42})
        tried.expect(min(ended), 0)
        if max(ended)[0]:
            refused += 1
            tried.expect(max(ended), 2, "another probcal run is writing")
    tried.notes.append(f"{refused} refused by name, {_PAIRS - refused} found all done")
    return tried


def _in_the_middle(folder: Path, results: Path) -> subprocess.Popen[str]:
    process = start(folder, *WORDS, "-o", str(results))
    wait_for(lambda: process.poll() is not None or log_rows(results) >= 50)
    return process


def _mount(*WORDS: str) -> bool:
    return _IN_NAMESPACE in os.environ and _done("mount", *WORDS)


def _done(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    main()
