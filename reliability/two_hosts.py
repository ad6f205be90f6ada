"""Two machines with clocks apart that share a folder: python reliability/two_hosts.py

Each machine is a namespace with a host name and process ids of its own, and its clock is hours off. Exit code 1 where
two runs wrote, a message names the wrong host, or results were lost. Writes results/reliability/two_hosts.md. Linux
only, with the right to make namespaces.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

from trial import WORDS, Tried, cells_told, finish, log_rows, report_tried, rows, run, start, undisturbed, wait_for

_HOURS = (-30, 0, 30)
"""How far the clock of the writing machine is off."""
_PAIRS = 5
_OFF = """\
import os, time
_time = time.time
time.time = lambda: _time() + 3600 * float(os.environ.get('HOURS_OFF', 0))
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        undisturbed(folder)
        (folder / "sitecustomize.py").write_text(_OFF, encoding="utf-8")
        found = [at_once(folder), death_of_one(folder)]
    about = (
        "Both machines run the same experiment into the same folder. A trial fails on: two writers, no writer, a"
        " message without process and host, a `status` that calls a live run dead or a dead one live or gives a"
        " wrong duration, or a final result that differs from an undisturbed run."
    )
    report_tried("two_hosts", "runs", about, found)


def _host(name: str) -> list[str]:
    words = ["unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*words, "sh", "-c", f'hostname {name} && exec "$@"', "sh"]


def at_once(folder: Path) -> Tried:
    tried, refused = Tried("both start at once"), 0
    for number in range(_PAIRS):
        results = folder / f"pair-{number}"
        words = (*WORDS, "-l", "tree", "-m", "probing", "-o", str(results))
        ended = [finish(one) for one in [start(folder, *words, before=_host(f"host-{name}")) for name in "ab"]]
        cells = [(row["dataset"], row["repetition"]) for row in rows(results)]
        tried.times += 2
        told = sum(cells_told(results).values())
        tried.wrong += ["a cell was run twice, or none"] * ({len(cells), len(set(cells)), told} != {42})
        tried.expect(min(ended), 0)
        if max(ended)[0]:
            refused += 1
            tried.expect(max(ended), 2, "another probcal run is writing")
            tried.expect(max(ended), 2, " on host-")
    tried.notes.append(f"{refused} of {_PAIRS} pairs had one refused by name")
    return tried


def death_of_one(folder: Path) -> Tried:
    tried = Tried("one is killed, the other goes on")
    for hours in _HOURS:
        results = folder / f"off-{hours}"
        clock = {"environment": {"HOURS_OFF": str(hours)}}
        one = start(folder, *WORDS, "-o", str(results), before=_host("host-a"), **clock)
        wait_for(lambda one=one, results=results: one.poll() is not None or log_rows(results) >= 20)
        os.killpg(one.pid, signal.SIGSTOP)  # so that it does not end by itself
        tried.times += 2
        tried.expect(run(folder, *WORDS, "-o", str(results), before=_host("host-b")), 2, " on host-a since ")
        live = _status(folder, results)
        if "on host-a has been running it for" not in live or " h " in live.partition("running it for")[2][:20]:
            tried.wrong.append(f"status of a live run: {live[:200]}")
        os.killpg(one.pid, signal.SIGKILL)
        finish(one)
        if "has been running it" in _status(folder, results):
            tried.wrong.append("status calls a dead run live")
        tried.expect(run(folder, *WORDS, "-o", str(results), before=_host("host-b")), 0)
        tried.compare(results, folder / "undisturbed")
    tried.notes.append(f"clock of the first off by {', '.join(map(str, _HOURS))} hours")
    return tried


def _status(folder: Path, results: Path) -> str:
    process = start(folder, "status", str(results), before=_host("host-b"), stdout=subprocess.PIPE)
    return str(process.communicate(timeout=600)[0])


if __name__ == "__main__":
    main()
