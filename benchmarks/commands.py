"""What commands on stored results cost, and the start of a run: python benchmarks/commands.py [--only NAME] [-o FILE]

CPU seconds of whole processes with their workers: a run of ten trivial cells, most of which is imports in two
processes, and the commands that read the largest stored experiment. Takes a minute.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import speed
from harness import PROBCAL, adopt_workers, config, cpu, row

STORED = str(speed.ROOT / "results" / "beta-calibration-ejs")
"""84,000 cells."""


def main() -> None:
    parser = speed.parser(__doc__, "commands")
    names = ("run", "status", "table")
    parser.add_argument("--only", action="append", choices=names, help="all unless given")
    args = parser.parse_args()
    adopt_workers()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures = {
            "run": ("run of ten trivial cells", 1.5, ["run", config(place, 1, 10), "-o"]),
            "status": ("status of 84,000 cells", 2.0, ["status", STORED]),
            "table": ("table of 84,000 cells", 2.0, ["table", STORED]),
        }
        rows = []
        for name in args.only or names:
            label, target, words = figures[name]
            seconds = cpu([*PROBCAL, *words, *([str(place / name)] if words[-1] == "-o" else [])])
            rows.append(row(f"probcal {label}", seconds, target, "s", "one process and its workers"))
    speed.report(args.out, "commands.py", "CPU seconds.", ["figure", "measured", "target", "", "how"], rows)


if __name__ == "__main__":
    main()
