"""The most memory that Probing of a million rows takes: python benchmarks/memory.py [-o FILE]

Fit and votes of 100 probes on 1,000,000 x 50 Gaussians, float64 (400 MB), each learner in a fresh process: its peak,
which holds Python, the rows and everything else. Exit code 1 where it is 3 GB or more.

    python benchmarks/memory.py --rows 2000 --probes 10 -o -
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import joblib
import speed
from probing_data import gaussians

LIMIT = 3 * 1024
LEARNERS = ("gaussian_nb", "logistic")


def main() -> None:
    parser = speed.parser(__doc__, "memory")
    parser.add_argument("--rows", type=int, default=1_000_000, help="(%(default)s)")
    parser.add_argument("--probes", type=int, default=100, help="(%(default)s)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data.joblib"
        joblib.dump((*gaussians(args.rows), None), data)
        words = ["probing", Path(name) / "thresholds.joblib", "--probes", args.probes, "--no-labels"]
        costs = {learner: speed.script_cost("probing_once.py", data, learner, *words)[0] for learner in LEARNERS}
    rows = [
        [name, f"{cost.peak:,.0f} MB", f"< {LIMIT:,} MB", "holds" if cost.peak < LIMIT else "MISSED", *cost_texts(cost)]
        for name, cost in costs.items()
    ]
    description = f"Fit and votes of {args.probes} probes on {args.rows:,} x 50 float64."
    speed.report(args.out, "memory.py", description, ["learner", "peak", "target", "", "CPU", "wall"], rows)
    sys.exit(1 if any(row[3] != "holds" for row in rows) else 0)


def cost_texts(cost: speed.Cost) -> list[str]:
    return [speed.seconds(cost.cpu), speed.seconds(cost.wall)]


if __name__ == "__main__":
    main()
