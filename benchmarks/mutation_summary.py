"""Summarise the samples of mutants: python benchmarks/mutation_summary.py

Reads ``results/mutation/*.csv`` and writes ``summary.md`` there. ``equivalent.csv`` lists, with a reason, the survivors
whose behaviour no test can tell from the original's.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

RESULTS = Path(__file__).resolve().parents[1] / "results" / "mutation"
SAMPLES = {
    "before": "commit 1479f7a, before the restructuring, with the tests of that time, slow ones too",
    "first": "after the restructuring, with the fast tests as they were then",
    "after": "the same mutants as `first`, with the tests that were written for its survivors",
    "fresh": "mutants of another seed, drawn and run when those tests were finished, the quickest 20 seconds of them",
    "moved": "mutants of seed 7, after slow tests had moved to `make test-all`",
    "repaired": "the same mutants as `moved`, with the tests that were written for its survivors",
    "seed8": "mutants of seed 8, with the tests that were written for its survivors",
    "seed9": "mutants of seed 9, with the tests that were written for its survivors",
    "seed10": "mutants of seed 10, drawn and run when those tests were finished",
}


def summary() -> str:
    """Return the shares of killed mutants by sample and part."""
    key = ["sample", "module", "line", "column", "operator", "occurrence"]
    samples = [name for name in SAMPLES if (RESULTS / f"{name}.csv").exists()]
    rows = pd.concat([pd.read_csv(RESULTS / f"{name}.csv").assign(sample=name) for name in samples])
    rows = rows.merge(pd.read_csv(RESULTS / "equivalent.csv")[[*key, "reason"]], on=key, how="left", validate="1:1")
    rows["killed"], rows["equivalent"] = rows["killed"] == "yes", rows["reason"].notna()
    if (rows["killed"] & rows["equivalent"]).any():
        sys.exit("equivalent.csv lists a mutant that was killed")
    text = "# Mutants that the tests kill\n\nWritten by `python benchmarks/mutation_summary.py`.\n\n"
    text += "Each mutant is one change by cosmic-ray at a random place. It runs the tests of\n"
    text += "`benchmarks/mutation.yaml` that reach its line.\n\n"
    text += "".join(f"- **{name}**: {SAMPLES[name]}\n" for name in samples)
    text += "\n| sample | part | mutants | killed | equivalent | survive | killed of all | killed of non-equivalent |\n"
    text += "|---|---|---:|---:|---:|---:|---:|---:|\n"
    for name in samples:
        sample_rows = rows[rows["sample"] == name]
        for part, group in [*sample_rows.groupby("part", sort=False), ("**all**", sample_rows)]:
            n, killed, equivalent = len(group), group["killed"].sum(), group["equivalent"].sum()
            shares = f"{killed / n:.1%} | {killed / (n - equivalent):.1%}"
            text += f"| {name} | {part} | {n} | {killed} | {equivalent} | {n - killed - equivalent} | {shares} |\n"
    for name in samples:
        survivors = rows[(rows["sample"] == name) & ~rows["killed"]]
        text += f"\n## Mutants of `{name}` that no test kills\n\n"
        text += "".join(_line(row) for row in survivors.to_dict("records")) or "None.\n"
    return text


def _line(row: dict) -> str:
    mutant = row["mutant"].replace("`", "'")
    verdict = f"equivalent: {row['reason']}" if row["equivalent"] else "**survives**"
    return f"- `{row['module']}:{row['line']}` `{mutant}`: {verdict}\n"


if __name__ == "__main__":
    (RESULTS / "summary.md").write_text(summary())
