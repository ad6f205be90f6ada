"""Build the file of witnesses, or compute them again and say what changed.

    python -m probcal.runner.witness build
    python -m probcal.runner.witness check
    python -m probcal.runner.witness update
    python -m probcal.runner.witness fill

There are two sets. ``embedded`` needs no data files, and proves the code. ``files`` has a cell of every setting and
data set of the experiments on data files, and is computed if ``--data-dir`` names the folder of original data files.

``check`` ends with exit code 1 if a cell failed, or if a number changed and no component that made it has a new
numerics version (``probcal/numerics.toml``). ``update`` stores the changed witnesses of components with a new version.
Where all are equal, or the changed ones are stored, both add the code to the file of proofs.

``fill`` computes the witnesses of new settings in the set ``embedded``, and removes those of settings that no
experiment has any more. It leaves the others as they are. Use it after an edit of the configs.

Beside the file lies a JSON file with the package versions that computed it. With other versions a difference is
reported, and proves nothing about the code.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from probcal.config.experiment import Experiment
from probcal.runner.identity import used_components
from probcal.runner.instruction_set import lacking_flags
from probcal.runner.witness.cells import (
    WitnessCell,
    compute,
    embedded_cells,
    file_cells,
    find_cells,
    witnessed_experiments,
)
from probcal.runner.witness.proof import PROOFS, add_proof
from probcal.runner.witness.record import (
    Failure,
    State,
    Witness,
    load,
    other_versions,
    reasons_not_computed,
    risen_since,
    save,
)

EMBEDDED, FILES = "embedded.parquet", "files.parquet"


def main(words: Sequence[str] | None = None) -> int:
    """Build or check witnesses. Return 1 if a number changed or a witness could not be built."""
    summary = (__doc__ or "").partition("\n\n")[0]
    parser = argparse.ArgumentParser(prog="python -m probcal.runner.witness", description=summary)
    parser.add_argument("action", choices=("build", "check", "update", "fill"))
    parser.add_argument("--configs", type=Path, default=Path("configs"), help="folder of experiments (%(default)s)")
    parser.add_argument("--witnesses", type=Path, default=Path("tests/witnesses"), help="(%(default)s)")
    parser.add_argument("--results", type=Path, default=Path("results"), help="for the times of cells (%(default)s)")
    parser.add_argument("--data-dir", type=Path, help="folder of original data files, for the set of files, too")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes (%(default)s)")
    args = parser.parse_args(words)
    experiments = witnessed_experiments(args.configs, args.witnesses)
    if lacking := lacking_flags():
        print(f"this processor lacks {', '.join(sorted(lacking))}, so numbers may differ for this reason alone")
    embedded = args.witnesses / EMBEDDED
    if args.action == "build":
        _build(list(embedded_cells(experiments)), embedded, args.jobs)
        if args.data_dir:
            _build(list(file_cells(experiments, args.results)), args.witnesses / FILES, args.jobs, args.data_dir)
        return 0
    if args.action == "fill":
        return _fill(experiments, embedded, args.jobs)
    _, missing = _planned(experiments, load(embedded), reasons_not_computed(embedded))
    if missing:
        print(f"{len(missing)} settings have no witness yet, such as {missing[0].name}")
        print("Add them with python -m probcal.runner.witness fill")
        return 1
    stores_changed = args.action == "update"
    code = 0
    if args.data_dir:
        code = _check(experiments, args.witnesses / FILES, args.jobs, stores_changed, args.data_dir)
    return _check(experiments, embedded, args.jobs, stores_changed) or code


def _build(cells: list[WitnessCell], path: Path, jobs: int, data_folder: Path | None = None) -> None:
    results = compute(cells, jobs, {}, data_folder)
    witnesses = [result for result in results.values() if isinstance(result, Witness)]
    reasons = {name: result for name, result in sorted(results.items()) if isinstance(result, str)}
    save(witnesses, path, reasons)
    print(f"{path}: {len(witnesses)} witnesses")
    _print_reasons(results)


def _fill(experiments: Sequence[Experiment], path: Path, jobs: int) -> int:
    """Add the missing witnesses, and remove those that nothing plans any more. Return 1 if one could not be added."""
    if versions := other_versions(path):
        # One list of versions stands beside the file, so all of its witnesses need the same.
        print(f"{path} was computed with other package versions ({versions}): install those, or build all anew")
        return 1
    if risen := risen_since(path):
        print(f"these have a new version: {', '.join(sorted(risen))}; update the witnesses first")
        return 1
    stored, reasons = load(path), reasons_not_computed(path)
    planned, missing = _planned(experiments, stored, reasons)
    results = compute(missing, jobs, {})
    _print_reasons(results)
    if failed := [name for name, result in results.items() if isinstance(result, Failure)]:
        print(f"nothing is stored, because {len(failed)} cells failed: {', '.join(sorted(failed))}")
        return 1
    added = [result for result in results.values() if isinstance(result, Witness)]
    kept = [witness for witness in stored if witness.name in planned]
    reasons |= {name: result for name, result in results.items() if isinstance(result, str)}
    save([*kept, *added], path, {name: reason for name, reason in sorted(reasons.items()) if name in planned})
    print(f"{path}: {len(added)} witnesses added, {len(stored) - len(kept)} removed")
    return 0


def _planned(
    experiments: Sequence[Experiment], stored: Sequence[Witness], reasons: Collection[str]
) -> tuple[set[str], list[WitnessCell]]:
    """Return the names of all embedded cells, and those cells that have neither a witness nor a reason for none."""
    cells = list(embedded_cells(experiments))
    known = {witness.name for witness in stored} | set(reasons)
    return {item.name for item in cells}, [item for item in cells if item.name not in known]


def _check(
    experiments: Sequence[Experiment], path: Path, jobs: int, stores_changed: bool, data_folder: Path | None = None
) -> int:
    stored = load(path)
    cells = find_cells(stored, experiments, on_files=data_folder is not None)
    seconds = {witness.name: witness.seconds for witness in stored}
    results = compute(list(cells.values()), jobs, seconds, data_folder)
    states: dict[str, State] = {}
    components = {name: used_components(item.cell) for name, item in cells.items()}
    for witness in stored:
        result = results.get(witness.name, "no experiment plans this cell any more")
        state: State = "failed" if isinstance(result, Failure) else "not computed"
        gap = 0.0
        if isinstance(result, Witness):
            state, gap = witness.compare(result)
        states[witness.name] = state
        if state == "changed" and isinstance(result, Witness):
            components[witness.name] = tuple(witness.changed_metrics(result)) or components[witness.name]
        if state == "rounding" or state == "changed":
            print(f"{state}: {witness.name} (largest difference {gap:.2g})")
    _print_reasons(results)
    counts = Counter(states.values())
    print(f"witnesses: {', '.join(f'{n} {state}' for state, n in sorted(counts.items()))}")
    if (counts["changed"] or counts["failed"]) and (versions := other_versions(path)):
        print(f"computed with other package versions ({versions}), so this proves nothing about the code")
        return 0
    if counts["failed"]:
        print(f"{counts['failed']} witnesses failed, which no new version explains")
        return 1
    risen = risen_since(path)
    undeclared = {name for name, state in states.items() if state == "changed" and not risen & {*components[name]}}
    if undeclared:
        equal = {name: components[name] for name, state in states.items() if state == "equal"}
        explanation = explain({name: components[name] for name in undeclared}, equal)
        print(f"{len(undeclared)} witnesses changed, and no component that made them has a new version:")
        for name, n in explanation.items():
            print(f"  {name}: explains {n}")
        print("If this is meant, raise the version in probcal/numerics.toml, say why there, and update the witnesses.")
        return 1
    moved = {part for name, state in states.items() if state == "changed" for part in components[name]}
    for name in sorted(risen - moved):
        print(f"{name} has a new version, and no witness of it changed")
    if counts["changed"] and not stores_changed:
        print("All changed witnesses belong to components with a new version: python -m probcal.runner.witness update")
        return 1
    if stores_changed and (counts["changed"] or risen):
        current = [results[old.name] if states[old.name] == "changed" else old for old in stored]
        save([item for item in current if isinstance(item, Witness)], path, reasons_not_computed(path))
        print(f"{path}: {counts['changed']} witnesses are stored anew")
    if data_folder is None and not other_versions(path) and add_proof(counts, path.with_name(PROOFS.name)):
        print(f"added the proof of this code to {path.with_name(PROOFS.name)}")
    return 0


def explain(changed: Mapping[str, Collection[str]], equal: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return a smallest set of components that explains the changed witnesses: component -> changed witnesses.

    ``changed`` and ``equal`` map each witness to its components. Each step takes the component of whose witnesses the
    largest share changed, which is a greedy set cover. Components that only occur together, such as a map and its
    classifier, cannot be told apart, and stand in one text: ``sigmoid or sigmoid map``.
    """
    left = {name: frozenset(components) for name, components in changed.items()}
    explanation: dict[str, int] = {}
    while any(left.values()):
        parts_left = sorted(set().union(*left.values()))
        users = {part: frozenset(name for name, parts in left.items() if part in parts) for part in parts_left}
        quiet = {part: sum(part in parts for parts in equal.values()) for part in users}
        best = max(users, key=lambda part: (len(users[part]) / (len(users[part]) + quiet[part]), len(users[part])))
        rivals = sorted(part for part in users if (users[part], quiet[part]) == (users[best], quiet[best]))
        explanation[" or ".join(rivals)] = len(users[best])
        left = {name: components for name, components in left.items() if name not in users[best]}
    return explanation


def _print_reasons(results: Mapping[str, Witness | str]) -> None:
    reasons = Counter(result for result in results.values() if isinstance(result, str))
    for reason, n in reasons.most_common():
        print(f"not computed, {n} cells: {reason}")


if __name__ == "__main__":
    raise SystemExit(main())
