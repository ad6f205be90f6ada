"""Draws how far c can be from c_emp: python docs/figures/calibration_bound.py [FOLDER], by default beside this file.

Writes calibration_bound.png and calibration_bound.svg, the same to the byte whenever the same matplotlib draws them.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from probcal.metrics import asymptotic_calibration_bound, calibration_bound
from probcal.reporting.drawing import drawing_style, save_figure

COLOURS = {0.01: "#009E73", 0.05: "#D55E00", 0.1: "#0072B2"}
"""Okabe & Ito's, for each delta."""
DELTA = "\N{GREEK SMALL LETTER DELTA}"
ROWS = [round(n) for n in np.geomspace(1e2, 1e6, 81)]


def theorem_2(n: int, delta: float) -> float:
    """Eps of Theorem 2 of Gao, Parameswaran & Peng (2017) for one classifier.

    The complexity is that of Massart's lemma: n rows hold at most n (n + 1) / 2 + 1 intervals.
    """
    complexity = math.sqrt(2 * math.log(n * (n + 1) / 2 + 1) / n)
    return 2 * (complexity + math.sqrt(2 * math.log(8 / delta) / n))


def figure() -> Figure:
    drawn = Figure(figsize=(6, 4), layout="constrained")
    axes = drawn.subplots()
    for delta, colour in COLOURS.items():
        axes.plot(ROWS, [calibration_bound(n, delta) for n in ROWS], color=colour, label=f"{DELTA} = {delta}")
        axes.plot(ROWS, [asymptotic_calibration_bound(n, delta) for n in ROWS], "--", color=colour)
    paper = [(n, theorem_2(n, 0.05)) for n in ROWS]
    axes.plot(*zip(*((n, eps) for n, eps in paper if eps <= 1), strict=True), ":", color="black")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(ROWS[0], ROWS[-1])
    axes.set_ylim(1e-3, 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(which="major", color="#cccccc", linewidth=0.6)
    axes.grid(which="minor", color="#eeeeee", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_xlabel("Held-out rows n")
    axes.set_ylabel("|c \N{MINUS SIGN} c_emp| is at most")
    title = f"One fixed classifier: how far c can be from c_emp, but for a share {DELTA} of samples"
    axes.set_title(title, fontsize="medium")
    kinds = [
        Line2D([], [], color="#555555", linestyle=style, label=label)
        for style, label in (
            (":", f"Theorem 2 with Massart's lemma, {DELTA} = 0.05"),
            ("-", "calibration_bound: every n"),
            ("--", "asymptotic_calibration_bound: large n, rms \N{LESS-THAN OR EQUAL TO} 0.5"),
        )
    ]
    axes.add_artist(axes.legend(loc="upper right", frameon=True, fontsize="small"))
    axes.legend(handles=kinds, loc="lower left", frameon=True, fontsize="small")
    return drawn


def main(folder: Path) -> None:
    with drawing_style():
        save_figure(figure(), folder / "calibration_bound")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
