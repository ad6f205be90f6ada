"""What growth_model.py makes of growth.py's measurements: python benchmarks/growth_report.py [-o FILE]

The model is fitted to every other run along the rows and along the probes, the ends among them, and predicts the rest.
A table goes to results/speed/growth.md, a figure beside it. Exit code 1 where a prediction is more than 25 % off.

    python benchmarks/growth_report.py --measurements growth.csv -o -
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import speed
from growth import AT_PROBES, MEASUREMENTS, Measurement, read
from growth_figure import draw
from growth_model import PROBES, ROWS, TERMS, Model, fitted, is_known

WANTED = 0.25


def main() -> None:
    parser = speed.parser(__doc__, "growth")
    parser.add_argument("--measurements", type=Path, default=MEASUREMENTS, metavar="FILE", help="(%(default)s)")
    asked = parser.parse_args()
    measured = sorted(read(asked.measurements), key=lambda one: (one.learner, one.way))
    groups = [list(group) for _, group in groupby(measured, key=lambda one: (one.learner, one.way))]
    models = [fitted(group) for group in groups]
    rows = [row(model, group) for model, group in zip(models, groups, strict=True)]
    about = (
        "CPU seconds = c0 + c1 n + c2 k + c3 n k + c4 n^2 k, for n rows, 50 columns and k probes (trees: n log2 n for"
        f" n). The model is fitted to the runs of {listed(ROWS)} rows with {AT_PROBES} probes, and to those of"
        f" {listed(PROBES)} probes. The table has the largest errors."
    )
    headers = ["learner", "", *(f"s per {term}" for term in TERMS), "fitted, worst", "predicted, worst", "of", ""]
    speed.report(asked.out, "growth_report.py", about, headers, rows)
    if asked.out != "-":
        draw(models, groups, Path(asked.out).with_suffix(""))
    sys.exit(1 if any(row[-1] == "FAILS" for row in rows) else 0)


def row(model: Model, measured: list[Measurement]) -> list[str]:
    known, others = ([one for one in measured if is_known(one) is known] for known in (True, False))
    within = "" if not others else "holds" if abs(worst(model, others)) <= WANTED else "FAILS"
    return [
        model.learner,
        model.way,
        *(f"{one:.2g}" for one in model.coefficients),
        f"{worst(model, known):+.0%}",
        f"{worst(model, others):+.0%}" if others else "",
        worst_at(model, others) if others else "",
        within,
    ]


def listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"{one:,}" for one in numbers[:-1]) + f" and {numbers[-1]:,}"


def worst(model: Model, measured: list[Measurement]) -> float:
    return max((model.error(one) for one in measured), key=abs)


def worst_at(model: Model, measured: list[Measurement]) -> str:
    one = max(measured, key=lambda one: abs(model.error(one)))
    return f"{one.rows:,} rows, {one.probes} probes"


if __name__ == "__main__":
    main()
