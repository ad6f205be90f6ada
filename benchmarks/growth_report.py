"""What growth_model.py makes of growth.py's measurements: python benchmarks/growth_report.py [-o FILE]

The model is fitted to the runs of at most 100,000 rows and 100 probes and predicts those of more. A table goes to
results/speed/growth.md, a figure beside it. Exit code 1 where a prediction is more than 25 % off.

    python benchmarks/growth_report.py --measurements growth.csv -o -
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import speed
from growth import MEASUREMENTS, Measurement, read
from growth_figure import draw
from growth_model import MOST_PROBES, MOST_ROWS, TERMS, Model, fitted, is_small

WANTED = 0.25
FAR = "What the model says far beyond what was measured: core hours with 100 probes, 50 columns."
FAR_OFF = {
    "10^7 rows": (10**7, 1),
    "10^9 rows": (10**9, 1),
    "10^5 cells of 10,000 rows": (10**4, 10**5),
    "10^5 cells of 100,000 rows": (10**5, 10**5),
}
"""(rows, how many such problems)"""


def main() -> None:
    parser = speed.parser(__doc__, "growth")
    parser.add_argument("--measurements", type=Path, default=MEASUREMENTS, metavar="FILE", help="(%(default)s)")
    asked = parser.parse_args()
    measured = sorted(read(asked.measurements), key=lambda one: (one.learner, one.way))
    groups = [list(group) for _, group in groupby(measured, key=lambda one: (one.learner, one.way))]
    models = [fitted(group) for group in groups]
    rows = [row(model, group) for model, group in zip(models, groups, strict=True)]
    about = (
        "CPU seconds = c0 + c1 n + c2 k + c3 n k, of n rows, 50 columns and k probes (trees: n log2 n for n), fitted"
        f" to runs of at most {MOST_ROWS:,} rows and {MOST_PROBES} probes. Errors: the largest one."
    )
    headers = ["learner", "", *(f"s per {term}" for term in TERMS), "fitted, worst", "predicted, worst", "of", ""]
    speed.report(asked.out, "growth_report.py", about, headers, rows)
    far = "-" if asked.out == "-" else str(Path(asked.out).with_name("far.md"))
    print()
    speed.report(far, "growth_report.py", FAR, ["learner", "", *FAR_OFF], [far_off(model) for model in models])
    if asked.out != "-":
        draw(models, groups, Path(asked.out).with_suffix(""))
    sys.exit(1 if any(row[-1] == "FAILS" for row in rows) else 0)


def row(model: Model, measured: list[Measurement]) -> list[str]:
    small, large = ([one for one in measured if is_small(one) is size] for size in (True, False))
    within = "" if not large else "holds" if abs(worst(model, large)) <= WANTED else "FAILS"
    return [
        model.learner,
        model.way,
        *(f"{one:.2g}" for one in model.coefficients),
        f"{worst(model, small):+.0%}",
        f"{worst(model, large):+.0%}" if large else "",
        worst_at(model, large) if large else "",
        within,
    ]


def far_off(model: Model) -> list[str]:
    hours = [float(model.seconds(rows, 100)) * problems / 3600 for rows, problems in FAR_OFF.values()]
    return [model.learner, model.way, *(f"{one:,.2g}" if one < 100 else f"{one:,.0f}" for one in hours)]


def worst(model: Model, measured: list[Measurement]) -> float:
    return max((model.error(one) for one in measured), key=abs)


def worst_at(model: Model, measured: list[Measurement]) -> str:
    one = max(measured, key=lambda one: abs(model.error(one)))
    return f"{one.rows:,} rows, {one.probes} probes"


if __name__ == "__main__":
    main()
