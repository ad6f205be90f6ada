"""Build the file of witnesses, or compute them again and say what changed.

    python -m probcal.runner.witness build
    python -m probcal.runner.witness check

Beside the file lies a JSON file with the package versions that computed it. With other versions a difference is
reported, and proves nothing about the code.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from probcal.config.experiment import Experiment, read_experiment
from probcal.runner.processor import lacking_flags
from probcal.runner.witness.cells import compute, embedded_cells, find_cells
from probcal.runner.witness.record import State, Witness, load, other_versions, save

FILE = "embedded.parquet"


def main(words: Sequence[str] | None = None) -> int:
    """Build or check witnesses. Return 1 if a number changed or a witness could not be built."""
    parser = argparse.ArgumentParser(prog="python -m probcal.runner.witness", description=_summary(__doc__))
    parser.add_argument("action", choices=("build", "check"))
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="folder of experiments (%(default)s)")
    parser.add_argument("--witnesses", type=Path, default=Path("tests/witnesses"), help="(%(default)s)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes (%(default)s)")
    args = parser.parse_args(words)
    experiments = [read_experiment(path) for path in sorted(args.configs.glob("*.yaml"))]
    if lacking := lacking_flags():
        print(f"this processor lacks {', '.join(sorted(lacking))}, so numbers may differ for this reason alone")
    act = _build if args.action == "build" else _check
    return act(experiments, args.witnesses / FILE, args.jobs)


def _summary(text: str | None) -> str:
    return (text or "").partition("\n\n")[0]


def _build(experiments: Sequence[Experiment], path: Path, jobs: int) -> int:
    results = compute(list(embedded_cells(experiments)), jobs, {})
    witnesses = [result for result in results.values() if isinstance(result, Witness)]
    reasons = {name: result for name, result in sorted(results.items()) if isinstance(result, str)}
    save(witnesses, path, reasons)
    print(f"{path}: {len(witnesses)} witnesses")
    _print_reasons(results)
    return 0


def _check(experiments: Sequence[Experiment], path: Path, jobs: int) -> int:
    stored = load(path)
    cells = find_cells(stored, experiments)
    seconds = {witness.name: witness.seconds for witness in stored}
    results = compute(list(cells.values()), jobs, seconds)
    counts: Counter[State] = Counter()
    for witness in stored:
        result = results.get(witness.name, "no experiment plans this cell any more")
        state, gap = witness.compare(result) if isinstance(result, Witness) else ("not computed", 0.0)
        counts[state] += 1
        if state == "rounding" or state == "changed":
            print(f"{state}: {witness.name} (largest difference {gap:.2g})")
    _print_reasons(results)
    print(f"witnesses: {', '.join(f'{n} {state}' for state, n in sorted(counts.items()))}")
    if not counts["changed"]:
        return 0
    if versions := other_versions(path):
        print(f"computed with other package versions ({versions}), so this proves nothing about the code")
        return 0
    print(
        "The code computes other numbers than before. If this is meant, build the witnesses anew "
        "(python -m probcal.runner.witness build), and say in the commit which numbers changed and why."
    )
    return 1


def _print_reasons(results: Mapping[str, Witness | str]) -> None:
    reasons = Counter(result for result in results.values() if isinstance(result, str))
    for reason, n in reasons.most_common():
        print(f"not computed, {n} cells: {reason}")


if __name__ == "__main__":
    raise SystemExit(main())
