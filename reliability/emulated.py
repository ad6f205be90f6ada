"""Compute witnesses on emulated processors: python reliability/emulated.py [120] [--cpu Haswell EPYC-Milan]

Needs qemu-user (``apt-get install qemu-user``) and takes some minutes. Draws cheap witnesses, computes them under
qemu-x86_64 as that processor would, with the declared instruction set, and compares them with the stored ones. The
emulator itself crashes on some. Each is computed in a process of its own, so that this ends no other.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from probcal.config.experiment import read_experiment
from probcal.runner.fit_predict import limit_blas_threads
from probcal.runner.instruction_set import level_environment
from probcal.runner.witness.cells import WitnessCell, compute_group, find_cells
from probcal.runner.witness.record import Witness, load

ROOT = Path(__file__).parents[1]
MOST_SECONDS = 0.3


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute witnesses on emulated processors.")
    parser.add_argument("times", type=int, nargs="?", default=120, help="number of witnesses (%(default)s)")
    parser.add_argument("--cpu", nargs="+", default=["Haswell", "EPYC-Milan", "Skylake-Client"], help="names of qemu")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help="this process is emulated already")
    args = parser.parse_args()
    if args.inside:
        print_states(args.times, args.seed)
        return
    if not shutil.which("qemu-x86_64"):
        sys.exit("install qemu-user first")
    failed = False
    for number, cpu in enumerate(args.cpu):
        words = [str(args.times), "--seed", str(args.seed + number), "--inside"]
        command = ["qemu-x86_64", "-cpu", cpu, sys.executable, __file__, *words]
        environment = {**os.environ, **level_environment(), "PYTHONPATH": str(ROOT)}
        ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        states = Counter(line.partition(":")[0].partition(" by ")[0] for line in ended.stdout.splitlines())
        failed = failed or "changed" in states or not states["equal"]
        print(f"{cpu}: {', '.join(f'{n} {state}' for state, n in states.most_common())}", flush=True)
        print("".join(f"  {line}\n" for line in ended.stdout.splitlines() if line.startswith(("rounding", "changed"))))
    sys.exit(1 if failed else 0)


def print_states(n: int, seed: int) -> None:
    """Print a line for each of ``n`` witnesses, drawn from all experiments without Java."""
    limit_blas_threads()
    groups: defaultdict[str, list[Witness]] = defaultdict(list)
    for witness in load(ROOT / "tests" / "witnesses" / "embedded.parquet"):
        if witness.seconds < MOST_SECONDS:
            groups[witness.experiment].append(witness)
    chance = random.Random(seed)
    orders = [chance.sample(group, len(group)) for group in groups.values()]
    longest = max(map(len, orders))
    witnesses = [order[place] for place in range(longest) for order in orders if place < len(order)]
    cells = find_cells(witnesses, [read_experiment(path) for path in sorted((ROOT / "configs").glob("*.yaml"))])
    without_java = [one for one in witnesses if one.name in cells and "weka" not in learner_path(cells[one.name])]
    for witness in without_java[:n]:
        print(f"{state_of(witness, cells[witness.name])}: {witness.name}", flush=True)


def learner_path(item: WitnessCell) -> str:
    return item.cell.column.learner.path


def state_of(witness: Witness, cell: WitnessCell) -> str:
    """Return the state of a witness that a new process computes, or ``emulator crashed``."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        result = compute_group([cell], None)[witness.name]
        os.write(writer, json.dumps(witness.compare(result) if isinstance(result, Witness) else [result, 0]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        text = file.read()
    os.waitpid(process, 0)
    if not text:
        return "emulator crashed"
    state, gap = json.loads(text)
    return f"{state} by {gap:.1g}" if gap else str(state)


if __name__ == "__main__":
    main()
