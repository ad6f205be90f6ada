"""Measure how many mutants change a witness: python benchmarks/witness_mutation.py --folder DIR [-o FILE.csv]

The mutants are those of ``mutation.py``, in lines of numeric code that a witness reaches. Those that a fast test kills
are judged: witnesses that reach the line are computed until one is changed by the rule of ``Witness.compare``, fails or
hangs. Of many witnesses those of various learners and methods are chosen, and the cheapest are computed first.

All runs in the declared instruction set, and without numba's compiler. So lines of compiled functions are recorded like
others, and no mutant waits for the compiler. Without it some sums round in another way. Therefore mutants are compared
with witnesses of the same mode and the unchanged code, and not with the stored ones. Lines that run only when a module
is imported are reached by all that reaches another line of it.

The column ``why`` is written by hand for mutants that change no witness, see ``REASONS``. ``--share`` counts them.
Needs ``pip install -e '.[mutation]'`` and Linux.
"""

from __future__ import annotations

import argparse
import ast
import csv
import functools
import gc
import json
import os
import pickle
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import coverage
import yaml
from mutants import modules_of, mutant_of, sample
from mutation import RESULTS, ROOT, in_child, judge, mutated, reached_lines
from scipy.stats import binomtest

COLUMNS = [
    *("seed", "part", "module", "line", "column", "operator", "occurrence", "mutant", "killed", "reaching", "computed"),
    *("witness", "change", "seconds", "why"),
]
REASONS = {
    "input": "the line refuses input or reads forms of input that no cell has",
    "speed": "the line decides how fast the same labels are found, or when the slow way is taken",
    "no number": "the line changes no number of a cell",
    "gap": "with other data or settings a number changes, so a witness is missing",
}
"""First words of ``why``, before a colon. What a witness changes only since a repair has another text there."""
LONGEST_WITNESS = 60
"""Seconds after which a witness hangs. Without a mutant each takes a few."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--killed", type=int, default=200, help="number of killed mutants to judge (%(default)s)")
    parser.add_argument("--draws", type=int, default=450, help="number of mutants to draw at most (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=20, help="seconds of tests, and of witnesses, for one mutant")
    parser.add_argument("--most", type=int, default=30, help="witnesses for one mutant (%(default)s)")
    parser.add_argument("--until", help="draw no more after this time of the day, such as 03:25")
    parser.add_argument("--again", type=Path, help="judge the mutants of this CSV file that changed no witness again")
    parser.add_argument("--share", type=Path, help="print the share of this CSV file, and judge nothing")
    parser.add_argument("--folder", type=Path, help="keeps the copy of the code and what reaches it")
    parser.add_argument("-o", dest="out", type=Path, default=RESULTS / "witnesses.csv")
    options = parser.parse_args()
    if options.share:
        print(share_text(csv.DictReader(options.share.open())))
        return
    if not options.folder:
        parser.error("--folder is required")
    if "NUMBA_DISABLE_JIT" not in os.environ:
        _start_again()
    parts = yaml.safe_load(Path(__file__).with_name("mutation.yaml").read_text())["numeric"]
    root = options.folder.resolve() / "probcal"
    unused = shutil.ignore_patterns(".git", ".venv", "predictions.bin")
    shutil.copytree(ROOT, root, ignore=unused, dirs_exist_ok=True)
    os.environ["PYTHONPATH"] = f"{root}:{os.environ.get('PYTHONPATH', '')}"  # for tests that start probcal
    witnesses, of_lines = recorded_witnesses(root, parts)
    tests = {kind: sorted({one for part in parts.values() for one in part[kind]}) for kind in ("modules", "tests")}
    of_tests = reached_lines(root, options.folder.resolve(), "tests", tests)
    chance = random.Random(options.seed)
    if options.again:
        rows = list(csv.DictReader(options.again.open()))
    else:
        rows = sample(root, parts, lambda row: bool(reaching(root, row, of_lines)), options.draws, chance)
        chance.shuffle(rows)
        rows = [{"seed": options.seed} | row for row in rows]
    done = []
    with options.out.open("w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        for row in rows:
            if not options.again:
                row |= judge(root, row, *of_tests, options.longest) | {"seconds": 0}
            if row["killed"] == "yes" and not row.get("witness"):
                row |= _judge_by_witnesses(root, row, reaching(root, row, of_lines), witnesses, options)
            table.writerow(row)
            file.flush()
            done.append(row)
            is_late = options.until and time.strftime("%H:%M") >= options.until
            if not options.again and (is_late or sum(one["killed"] == "yes" for one in done) == options.killed):
                break
    print(share_text(done))


def _start_again() -> None:
    """Start this script again with the instruction set and without a compiler. Libraries read this when they load."""
    from probcal.runner.instruction_set import level_environment

    settings = {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | level_environment() | settings)


def share_text(rows: Iterable[dict]) -> str:
    """Return the share of killed mutants that change a witness, with its interval of 95 %, and the counts by part."""
    killed = [row for row in rows if row["killed"] == "yes"]
    found = Counter(row["part"] for row in killed if row["witness"])
    n = len(killed)
    if not n:
        return "no mutant was killed"
    interval = binomtest(found.total(), n).proportion_ci()
    text = f"{found.total()} of {n} killed mutants change a witness: {found.total() / n:.1%}"
    text += f" (95 % interval {interval.low:.1%} to {interval.high:.1%})\n"
    for part, total in sorted(Counter(row["part"] for row in killed).items()):
        text += f"  {part}: {found[part]} of {total}\n"
    text += f"  how: {dict(Counter(row['change'] for row in killed if row['witness']))}\n"
    why = Counter((row.get("why") or "unknown").partition(":")[0] for row in killed if not row["witness"])
    text += "".join(f"  {kind}, {why[kind]}: {reason}\n" for kind, reason in REASONS.items() if why[kind])
    interval = binomtest(found.total(), found.total() + why["gap"]).proportion_ci()
    share = found.total() / (found.total() + why["gap"])
    return text + f"of those that can change a number: {share:.1%} ({interval.low:.1%} to {interval.high:.1%})"


def reaching(root: Path, row: dict, of_lines: dict[str, dict[str, list[str]]]) -> set[str]:
    """Return what reaches the statement of a mutant. What runs on import is reached by all that reach the module."""
    lines = of_lines.get(row["module"], {})
    span = _statements(root / row["module"]).get(int(row["line"]), [])
    if span is None:
        return set().union(*lines.values())
    return set().union(*(lines.get(str(number), ()) for number in span))


@cache
def _statements(path: Path) -> dict[int, range | None]:
    """Return line -> the lines of its statement, without the body of an ``if`` or loop, and None outside functions."""
    spans: dict[int, range | None] = {}

    def visit(node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.stmt, ast.ExceptHandler)):
                body = getattr(child, "body", None)
                last = max(body[0].lineno - 1, child.lineno) if body else child.end_lineno
                span = range(child.lineno, last + 1)
                spans.update(dict.fromkeys(span, span if inside else None))
            visit(child, inside or isinstance(child, ast.FunctionDef))

    visit(ast.parse(path.read_text()), False)
    return spans


def recorded_witnesses(root: Path, parts: dict) -> tuple[dict[str, dict], dict[str, dict[str, list[str]]]]:
    """Return the learner, method, data set and seconds of each witness, and the witnesses that reach each line."""
    out, modules = root.parent / "witnesses.json", [path for part in parts.values() for path in modules_of(root, part)]
    if not out.exists():
        for work in (lambda: _record(root, modules, out), lambda: _drop_unequal(root, out)):
            if in_child(root, work, 3600):
                sys.exit(f"the witnesses could not be computed, see {root / 'output.txt'}")
    witnesses, lines, text = json.loads(out.read_text())
    print(text, file=sys.stderr)
    return witnesses, lines


def _record(root: Path, modules: list[Path], out: Path) -> int:
    """Compute each witness as if it were the only one, and write what it reached and predicted."""
    from probcal.runner.fit_predict import limit_blas_threads
    from probcal.runner.witness.cells import compute_group, find_cells, witnessed_experiments
    from probcal.runner.witness.record import Witness, load

    limit_blas_threads()
    stored = {one.name: one for one in load(root / "tests/witnesses/embedded.parquet")}
    cells = find_cells(list(stored.values()), witnessed_experiments(root / "configs", root / "tests/witnesses"))
    tracer = coverage.Coverage(data_file=None, include=[str(path) for path in modules], messages=False)
    witnesses, computed, states = {}, {}, Counter()
    tracer.start()
    for name, item in cells.items():
        for function in gc.get_objects():  # data and fits that an earlier witness left
            if isinstance(function, functools._lru_cache_wrapper) and function.__module__.startswith("probcal."):
                function.cache_clear()
        start = time.time()
        tracer.switch_context(name)
        result = compute_group([item], None)[name]
        tracer.switch_context("")
        states[stored[name].compare(result)[0] if isinstance(result, Witness) else result] += 1
        if isinstance(result, Witness):
            computed[name] = item, result
            names = {"learner": result.learner, "method": result.method, "dataset": result.dataset}
            witnesses[name] = names | {"seconds": round(time.time() - start, 3)}
    tracer.stop()
    data = tracer.get_data()
    lines = {
        str(Path(file).relative_to(root)): {line: sorted({*names} - {""}) for line, names in contexts.items()}
        for file, contexts in ((file, data.contexts_by_lineno(file)) for file in data.measured_files())
    }
    out.with_suffix(".pickle").write_bytes(pickle.dumps(computed))
    text = f"unchanged code against the stored witnesses: {dict(states)}"
    out.with_suffix(".all.json").write_text(json.dumps([witnesses, lines, text]))
    return 0


def _drop_unequal(root: Path, out: Path) -> int:
    """Compute all witnesses once more, and leave out those that are not equal without a mutant."""
    witnesses, lines, text = json.loads(out.with_suffix(".all.json").read_text())
    states = dict(_states(root, witnesses))
    unequal = {name for name, state in states.items() if state not in ("equal", "rounding")}
    witnesses = {name: one for name, one in witnesses.items() if name not in unequal}
    lines = {
        module: {line: [name for name in names if name in witnesses] for line, names in of_module.items()}
        for module, of_module in lines.items()
    }
    text += f"\nagainst the same in this mode: {dict(Counter(states.values()))}, left out: {sorted(unequal)}"
    out.write_text(json.dumps([witnesses, lines, text]))
    return 0


def _states(root: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and state of each witness, computed with the present code of ``root``."""
    from probcal.runner.fit_predict import limit_blas_threads
    from probcal.runner.witness.cells import compute_group
    from probcal.runner.witness.record import Witness

    limit_blas_threads()
    computed = pickle.loads((root.parent / "witnesses.pickle").read_bytes())
    for name in names:
        item, reference = computed[name]
        result = compute_group([item], None)[name]
        yield name, reference.compare(result)[0] if isinstance(result, Witness) else "fails"


def chosen(names: Iterable[str], witnesses: dict[str, dict], most: int) -> list[str]:
    """Return at most so many witnesses of various learners and methods, the cheapest first."""
    seen: Counter[object] = Counter()
    ranks = {}
    for name in sorted(names, key=lambda name: witnesses[name]["seconds"]):
        one = witnesses[name]
        kinds = one["learner"], (one["method"], one["dataset"])
        ranks[name] = sum(seen[kind] for kind in kinds)
        seen.update(kinds)
    selection = sorted(ranks, key=lambda name: ranks[name])[:most]
    return sorted(selection, key=lambda name: witnesses[name]["seconds"])


def _judge_by_witnesses(root: Path, row: dict, names: set[str], witnesses: dict, options: argparse.Namespace) -> dict:
    """Return the first witness that changes, fails or hangs with a mutant, and how."""
    queue, log = chosen(names, witnesses, options.most), root.parent / "judged.txt"
    log.write_text("")

    def work() -> int:
        end = time.time() + options.longest
        with log.open("a") as file:
            for name, state in _states(root, queue):
                print(name, state, sep="\t", file=file, flush=True)
                if state in ("changed", "fails"):
                    return 1
                if time.time() > end:
                    break
        return 0

    start = time.time()
    with mutated(root / row["module"], mutant_of(root, row)):
        code = in_child(root, work, options.longest + LONGEST_WITNESS)
    computed = [line.split("\t") for line in log.read_text().splitlines()]
    found = {"witness": "", "change": ""}
    if code == 1:
        found = dict(zip(("witness", "change"), computed[-1], strict=True))
    elif code:  # the one that was being computed
        found = {"witness": queue[len(computed)], "change": "hangs" if code == -1 else "fails"}
    found |= {"reaching": len(names), "computed": len(computed), "seconds": round(time.time() - start, 1)}
    print(f"     {found['change'] or 'NO WITNESS'} {found['seconds']} s {found['witness']}", file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
