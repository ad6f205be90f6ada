"""The table of what research/split_search.py tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from tabulate import tabulate

from research.split_generators import GENERATORS
from research.split_search import read

EARLIER_SEARCHES = [
    ["Kr-vs-kp", "MLC++ chess.data and chess.test", "1", "misses"],
    ["Ionosphere", "MLC++ ionosphere.data and ionosphere.test", "1", "misses"],
    ["Liver", "MLC++ liver-disorder.data and liver-disorder.test", "1", "misses"],
    ["Mushroom", "MLC++ mushroom.data and mushroom.test", "1", "misses"],
    [
        "Kr-vs-kp",
        "java.util.Random, glibc, drand48, MSVC, Mersenne Twister, BSD random, seeds to 4,000; shuffled, sorted or "
        "drawn row by row",
        "3.9 million",
        "miss",
    ],
]
"""Attempts by another program, before this one. Their lines are not in tried.csv."""

NOTE = """# The splits that are not known: what was tried

Langford & Zadrozny (2005) print numbers of fifteen data sets. The splits of seven are known. A candidate for one of the
others is tested by columns that draw nothing: naive Bayes (NB), its sigmoid (SigNB), then J48 and Log of Weka 3.4.1.
**distance** is the largest difference between the NB numbers of the nearest candidate and the printed ones, in units of
the last digit. A candidate passes a column if all its finite numbers are at most one unit off. The last four columns
count the candidates that pass this column and those before it.

Candidates pass NB by chance, for it has only two or three numbers, and some pass SigNB as well.
[inference.md](inference.md) says how many to expect. A split is found when one passes **all**. Mushroom is the
exception: its printed J48 and Log are 0.000 for every split, so only NB and SigNB tell. There a candidate would count
if the same program and seed gave the numbers of another data set too.

Go on with other seeds. Seeds that were tried are left out:

```
export PROBCAL_WEKA_JAR=.../weka-3.4.1/weka.jar PROBCAL_DATA_DIR=...
python -m research.split_search kr-vs-kp --generator java --seeds 0:4000
```

The paper prints no sizes, only "66%" and "33%". So each shuffle is cut at 66 %, 2/3 and 67 %, rounded down and up, and
either end trains. Each seed of a random number generator gives 46 to 90 candidates.
"""
HEADER = ["data set", "generator", "seeds", "candidates", "distance", "nearest", "NB", "SigNB", "J48", "all"]


def write(folder: Path) -> None:
    """Write table.md into ``folder`` from tried.csv and passed.csv."""
    lines = sorted(read(folder / "tried.csv"), key=_place)
    body = [_summary(list(group)) for _, group in groupby(lines, key=_place)]
    descriptions = [[name, generator.about] for name, generator in GENERATORS.items()]
    text = "\n".join(
        [
            NOTE,
            _table(body, HEADER),
            "\n## Candidates that pass NB, SigNB and J48\n",
            _passed_table(read(folder / "passed.csv")),
            "\n## The generators\n",
            _table(descriptions, ["generator", "what it does"]),
            "\n## Tried before, by another program\n",
            "These attempts are reported here as they were told. Their candidates are not counted above.\n",
            _table(EARLIER_SEARCHES, ["data set", "generator", "candidates", "result"]),
            "",
        ]
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table.md").write_text(text, encoding="utf-8")


def _place(line: dict[str, str]) -> tuple[str, int]:
    return line["dataset"], list(GENERATORS).index(line["generator"])


def _summary(lines: list[dict[str, str]]) -> list[str]:
    """Return the line of the table for one data set and generator."""
    nearest = min(lines, key=lambda line: float(line["distance"]))
    name = lines[0]["generator"]
    sums = [sum(int(line[key]) for line in lines) for key in ("candidates", "nb", "sig_nb", "j48", "all_columns")]
    seeds = ", ".join(_ranges((int(line["first_seed"]), int(line["last_seed"]) + 1) for line in lines))
    return [
        lines[0]["dataset"],
        name,
        seeds if GENERATORS[name].seeded else "none",
        f"{sums[0]:,}",
        f"{float(nearest['distance']):.1f}",
        nearest["nearest"],
        *map(str, sums[1:]),
    ]


def _ranges(blocks: Iterable[tuple[int, int]]) -> Iterator[str]:
    """Yield the ranges that touching blocks of seeds make together."""
    start = end = None
    for first, stop in sorted(blocks):
        if first != end:
            if start is not None:
                yield f"{start}:{end}"
            start = first
        end = stop
    if start is not None:
        yield f"{start}:{end}"


def _passed_table(lines: list[dict[str, str]]) -> str:
    """Return the table of candidates, the ones that passed more columns of Weka's first."""
    if not lines:
        return "None."
    lines = sorted(lines, key=lambda line: (bool(line["missed"]), -len(line["tested"].split()), line["dataset"]))
    body = [
        [
            line["dataset"],
            line["generator"],
            f"{line['variant']}, seed {line['seed']}",
            line["nb"],
            line["sig_nb"],
            line["tested"] or "not tested",
        ]
        for line in lines
    ]
    return _table(body, ["data set", "generator", "candidate", "NB", "SigNB", "Weka's columns: distance"])


def _table(body: list[list[str]], header: list[str]) -> str:
    return tabulate(body, header, "github", disable_numparse=True)
