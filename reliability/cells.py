"""What a run makes of cells that misbehave: python reliability/cells.py

One experiment on one worker: every fault is a learner of its own between two that behave, so that each has a neighbour
before and after it, in the same process where that lives on. A fault must leave exactly one row, and its neighbours
what they have in a run without it, bit for bit. Exit code 1 where that is not so. Writes
results/reliability/cells.md. Linux only.

    python reliability/cells.py "os._exit(0)" NaN
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import yaml
from bad_cells import ESTIMATES, HANG, IN_FIT
from trial import differences, finish, processes_of, report, rows, run, run_twice, start, wait_for

FAULTS = [*IN_FIT, *ESTIMATES]
TIMEOUT = "10s"
_LONGEST = 110


def main() -> None:
    faults = sys.argv[1:] or FAULTS
    with tempfile.TemporaryDirectory() as name:
        table, lost = tried(Path(name), faults)
    about = (
        "Each fault runs on one worker, between two cells of a learner that draws from the global generators of numpy"
        f" and Python. `--timeout {TIMEOUT}` ends those that hang ({len(set(HANG) & set(faults))}). The table has the"
        " first line of each message."
    )
    figure = f"{len(faults)} faults, {lost} failed (not exactly one row, or a neighbour with other results)."
    report("cells", figure, about, ["fault", "row", "message", "neighbours"], table, write=faults == FAULTS)
    sys.exit(1 if lost else 0)


def tried(folder: Path, faults: list[str]) -> tuple[list[list[str]], int]:
    """(a line for each fault, how many of them were lost)."""
    (folder / "bad_cells.py").write_bytes(Path(__file__).with_name("bad_cells.py").read_bytes())
    _config(folder, "good", ["" for _ in faults])
    code, said = run(folder, "run", "good.yaml")
    if code:
        sys.exit(said)
    _config(folder, "bad", faults)
    process = start(folder, "run", "bad.yaml", "--timeout", TIMEOUT)
    code, said = finish(process)
    results = folder / "results" / "bad"
    if code != 1 or "Traceback" in said or not wait_for(lambda: not processes_of(process.pid), 10):
        sys.exit(f"exit code {code}, processes {processes_of(process.pid)}\n{said}")
    found = rows(results)
    if twice := run_twice(results):  # the table has one row of a cell, so more of them show only here
        sys.exit("; ".join(twice))
    differ = {cell.split("/")[2] for cell in differences(results, folder / "results" / "good")}
    table = []
    for number, fault in enumerate(faults):
        mine = [row for row in found if row["learner"] == f"bad{number}"]
        status = mine[0]["status"] if len(mine) == 1 else f"{len(mine)} ROWS"
        error = f", {mine[0]['error_type']}" if mine and "error_type" in mine[0] else ""
        message = mine[0].get("message", "").strip().partition("\n")[0] if mine else ""
        same = not {f"good{number}", f"good{number + 1}"} & differ
        message = re.sub("0x[0-9a-f]+", "0x...", message)
        said = message.encode("ascii", "backslashreplace").decode().replace("\0", "\\0").replace("|", "/")
        table.append([fault, status + error, said[:_LONGEST].strip(), "the same" if same else "DIFFER"])
    return table, sum("ROWS" in row[1] or row[3] == "DIFFER" for row in table)


def _config(folder: Path, name: str, faults: list[str]) -> None:
    good = {"type": "bad_cells.Good", "params": {"max_depth": 3, "max_features": 2}}
    learners = {"good0": good}
    for number, fault in enumerate(faults):
        if fault:
            learners[f"bad{number}"] = {"type": "bad_cells.Bad", "params": {"how": fault}}
        learners[f"good{number + 1}"] = good
    experiment = {"name": name, "seed": 3, "repeats": 1, "datasets": ["wine-first"], "learners": learners}
    (folder / f"{name}.yaml").write_text(yaml.safe_dump({**experiment, "methods": ["direct"]}, sort_keys=False))


if __name__ == "__main__":
    main()
