"""What is left of a run that is killed again and again: python reliability/kills.py

A run of 336 cells with two workers is killed at random moments, seeded, and started again until it is through; then
every cell must be there exactly once, with the results of an undisturbed run bit for bit, and no process left. The same
for other signals, for the run alone and for its workers. Exit code 1 where anything was lost. Writes
results/reliability/kills.md. Linux only.

    python reliability/kills.py --kills 5 --seed 2
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from trial import (
    CELLS,
    WORDS,
    Tried,
    cut,
    dead_bytes,
    finish,
    log_rows,
    processes_of,
    report_tried,
    rows,
    run,
    run_twice,
    start,
    stored,
    undisturbed,
    wait_for,
)

CLEAN = "interrupted; cells that ended are kept, the same command goes on from there"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--kills", type=int, default=30, help="of the group; a third in each other way (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (%(default)s)")
    parser.add_argument("--jobs", type=int, default=6, help="ways at a time (%(default)s)")
    asked = parser.parse_args()
    few = max(1, asked.kills // 3)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        undisturbed(folder)
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        ways = [
            lambda: killed(folder, signal.SIGKILL, asked.kills, asked.seed),
            *(lambda one=one: killed(folder, one, few, asked.seed) for one in numbers),
            lambda: killed(folder, signal.SIGKILL, few, asked.seed, alone=True),
            lambda: workers_killed(folder, few, asked.seed),
            lambda: killed_while_moved(folder, few, asked.seed),
        ]
        with ThreadPoolExecutor(asked.jobs) as pool:
            found = [ended.result() for ended in [pool.submit(way) for way in ways]]
    about = (
        f"{CELLS} cells, `-j 2`, of real learners and methods. Each run is ended at a random time, within its first 1.5"
        " seconds or after a few more cells. Then it is started again in the same folder, and the last start is left"
        " undisturbed. Others run their last cell and are ended while they move the results to the table. A trial fails"
        " on: a result that is lost or was made again, a cell that was run twice, a row or prediction that differs from"
        " an undisturbed run, a torn file, a process that is left, a lock that blocks, a traceback, or an exit code"
        " other than 130 after SIGINT and SIGTERM."
    )
    report_tried("kills", "killed runs", about, found)


def killed(folder: Path, number: signal.Signals, times: int, seed: int, alone: bool = False) -> Tried:
    """A run ended ``times`` times by a signal to its process group, or to it ``alone``, and then left alone."""
    tried = Tried(f"{number.name} to {'the run alone' if alone else 'the process group'}")
    results, clean = folder / "results" / f"{number.name}-{alone}", number in (signal.SIGINT, signal.SIGTERM)
    early, chance = 0, random.Random(f"{seed} {tried.way}")
    while tried.times < times:
        before, in_log = stored(results), log_rows(results)
        process = start(folder, *WORDS, "-o", str(results))
        if tried.times % 3 == 0:
            time.sleep(chance.uniform(0, 1.5))
        else:  # the moment that a line is written, or a little after it
            wanted = in_log + chance.randint(1, max(1, (CELLS - 10) // times))
            wait_for(lambda now=wanted, one=process: one.poll() is not None or log_rows(results) >= now)
            time.sleep(chance.choice([0, chance.uniform(0, 0.05)]))
        if process.poll() is None:
            tried.times += 1
            (os.kill if alone else os.killpg)(process.pid, number)
        code, said = finish(process)
        tried.went_on(before, results)
        if code == 0:
            break
        is_early = len(stored(results)) == len(before)
        early += is_early
        too_early = code == -number  # no line of ours had run yet
        in_a_shell = 128 - code if code < 0 else code  # Python may end by SIGINT once it has been interrupted
        # while Python loads its modules, the program does not know its command yet
        is_told = CLEAN in said or (is_early and said.strip() == "interrupted")
        if clean and not too_early and (in_a_shell != 130 or not is_told or "Traceback" in said):
            tried.wrong.append(f"exit code {code}: {said[-200:]}")
        if not wait_for(lambda one=process: not processes_of(one.pid), 20):
            tried.wrong.append(f"processes left: {processes_of(process.pid)}")
    before = stored(results)
    code, said = run(folder, *WORDS, "-o", str(results))
    tried.wrong += [f"at last exit code {code}: {said[-300:]}"] * bool(code)
    tried.went_on(before, results)
    tried.compare(results, folder / "undisturbed")
    print(*tried.row(), sep=" | ", flush=True)
    tried.notes.append(f"{early} before a further cell was kept; {dead_bytes(results):,} dead bytes of predictions")
    return tried


def workers_killed(folder: Path, times: int, seed: int) -> Tried:
    """Workers of one run killed one after the other: a failed row each, and the run goes on."""
    tried, results = Tried("SIGKILL to a worker"), folder / "results" / "workers"
    chance = random.Random(f"{seed} {tried.way}")
    process = start(folder, *WORDS, "-o", str(results))
    while tried.times < times and process.poll() is None:
        wanted = log_rows(results) + chance.randint(1, 10)
        wait_for(lambda now=wanted: process.poll() is not None or log_rows(results) >= now)
        if workers := [one for one in processes_of(process.pid) if _leads_its_group(one) and one != process.pid]:
            with suppress(ProcessLookupError):
                os.kill(workers[0], signal.SIGKILL)
                tried.times += 1
    code, said = finish(process)
    tried.wrong += run_twice(results)
    failed, before = [row for row in rows(results) if row["status"] != "done"], stored(results)
    # one that had just sent its outcome, or that had not begun, takes no cell with it
    tried.wrong += [f"exit code {code}: {said[-300:]}"] * (code != bool(failed) or len(failed) > tried.times)
    tried.wrong += [str(row["message"]) for row in failed if row["message"] != "killed: out of memory?"]
    code, said = run(folder, *WORDS, "-o", str(results), "--retry-failed")
    tried.wrong += [f"at last exit code {code}: {said[-300:]}"] * bool(code)
    tried.went_on({cell: one for cell, one in before.items() if one.status == "done"}, results)
    tried.compare(results, folder / "undisturbed")
    tried.notes.append(f'{len(failed)} rows "killed: out of memory?", done by --retry-failed')
    return tried


def killed_while_moved(folder: Path, times: int, seed: int) -> Tried:
    """A run of the last cell, killed while it writes the table or empties the log, and the next run of another cell."""
    tried, results = Tried("SIGKILL while the results are moved to the table"), folder / "results" / "moved"
    chance, ends = random.Random(f"{seed} {tried.way}"), Counter()
    every = stored(folder / "undisturbed")
    while tried.times < times:
        shutil.rmtree(results, ignore_errors=True)
        shutil.copytree(folder / "undisturbed", results)
        cut(results, CELLS - 1, chance.choice([0, CELLS // 2]))
        before, table = stored(results), _identity(results / "cells.parquet")
        process = start(folder, *WORDS, "-o", str(results))
        new = results / "cells.parquet.new"
        while process.poll() is None and not new.exists() and _identity(results / "cells.parquet") == table:
            time.sleep(0.0005)
        time.sleep(chance.uniform(0, 0.04))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            tried.times += 1
        finish(process)
        is_replaced = _identity(results / "cells.parquet") != table
        ends["after the log was emptied" if not log_rows(results) else
             "between the two" if is_replaced else "before the table was replaced"] += 1  # fmt: skip
        tried.went_on(before, results)
        tried.wrong += [f"{CELLS - len(stored(results))} cells are missing"] * (stored(results).keys() != every.keys())
        tried.expect(run(folder, *WORDS, "-o", str(results)), 0)
        tried.went_on(before, results)
        tried.compare(results, folder / "undisturbed")
    tried.notes += [f"{n} {end}" for end, n in sorted(ends.items())]
    print(*tried.row(), sep=" | ", flush=True)
    return tried


def _identity(path: Path) -> tuple[int, ...]:
    try:
        stat = path.stat()
    except OSError:
        return ()
    return stat.st_ino, stat.st_mtime_ns


def _leads_its_group(process: int) -> bool:
    try:
        return os.getpgid(process) == process
    except ProcessLookupError:
        return False


if __name__ == "__main__":
    main()
