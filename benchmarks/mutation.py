"""Measure how many mutants the fast tests kill: python benchmarks/mutation.py [--mutants N] [--seed N] [-o FILE.csv]

cosmic-ray makes the mutants, one small change each. ``mutation.yaml`` lists the modules and their tests. Each mutant
runs the tests that reach its line, one process at a time. A failure, a crash and a timeout kill it.
``python benchmarks/mutation_summary.py`` writes the summary. Needs ``pip install -e '.[mutation]'`` and Linux.
"""

from __future__ import annotations

import argparse
import ast
import csv
import importlib
import itertools
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import coverage
import pytest
import yaml
from mutants import modules_of, mutant_of, sample

for _name in ("hypothesis", "openml", "pandas", "pydantic", "scipy.stats", "sklearn.ensemble", "sklearn.svm"):
    importlib.import_module(_name)  # once, for all the processes that are forked

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results" / "mutation"
ARGUMENTS = ["-q", "-m", "not slow", "-p", "no:xdist", "-p", "no:cacheprovider"]
_TICKS = itertools.count(10**9)
COLUMNS = ["part", "module", "line", "column", "operator", "occurrence", "mutant", "killed", "seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="checkout to mutate a copy of")
    parser.add_argument("--layout", default="after", help="section of mutation.yaml for this checkout")
    parser.add_argument("--modules", help="only modules whose path contains this")
    parser.add_argument("--mutants", type=int, default=250, help="sample size, spread evenly over the parts")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=20, help="seconds of tests for one mutant")
    parser.add_argument("--again", type=Path, help="take this CSV file for the sample and run its survivors again")
    parser.add_argument("--reach", type=Path, help="folder that keeps which test reaches which lines")
    parser.add_argument("-o", dest="out", type=Path, default=RESULTS / "after.csv")
    options = parser.parse_args()
    parts = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())[options.layout]
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "probcal"
        shutil.copytree(options.root, root, ignore=shutil.ignore_patterns(".git", ".venv", "predictions.bin"))
        os.environ["PYTHONPATH"] = str(root)  # for tests that start probcal
        if options.again:
            rows = list(csv.DictReader(options.again.open()))
        else:
            name_part = options.modules or ""
            rows = sample(
                root, parts, lambda row: name_part in row["module"], options.mutants, random.Random(options.seed)
            )
        survivors = [row for row in rows if row.get("killed") != "yes"]
        names = sorted({row["part"] for row in survivors})
        records = {name: reached_lines(root, options.reach or root, name, parts[name]) for name in names}
        with options.out.open("w", newline="") as file:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            for row in rows:
                if row in survivors:
                    row |= judge(root, row, *records[row["part"]], options.longest)
                table.writerow(row)
                file.flush()


def reached_lines(
    root: Path, folder: Path, name: str, part: dict
) -> tuple[dict[str, dict[str, list[str]]], dict[str, float]]:
    """Return the tests that reach each line of each module, and the seconds of each test and test file."""
    out = folder / f"{name}.json"
    if not out.exists() and in_child(root, lambda: _record(root, part, out), 3600) not in (0, 1):
        sys.exit(f"the tests of {name} could not be run, see {root / 'output.txt'}")
    lines, seconds, failures = json.loads(out.read_text())
    print(f"{name}: {len(seconds)} tests and files, failing without a mutant: {failures}", file=sys.stderr)
    return lines, seconds


def _record(root: Path, part: dict, out: Path) -> int:
    """Run the tests of ``part``. What runs in a fixture is reached by every test of the file."""
    tracer = coverage.Coverage(data_file=None, include=[str(path) for path in modules_of(root, part)], messages=False)
    seconds: dict[str, float] = defaultdict(float)
    failures: set[str] = set()

    class Recorder:
        def pytest_runtest_setup(self, item: pytest.Item) -> None:
            tracer.switch_context(item.nodeid.split("::")[0])

        def pytest_runtest_call(self, item: pytest.Item) -> None:
            tracer.switch_context(item.nodeid.split("[")[0])

        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            seconds[report.nodeid.split("[")[0]] += report.duration
            seconds[report.nodeid.split("::")[0]] += report.duration
            if report.failed:
                failures.add(report.nodeid.split("[")[0])

    tracer.start()
    code = pytest.main([*ARGUMENTS, *part["tests"]], plugins=[Recorder()])
    tracer.stop()
    data = tracer.get_data()
    lines = {}
    for file in data.measured_files():
        tests = data.contexts_by_lineno(file).items()
        lines[str(Path(file).relative_to(root))] = {line: sorted(set(names) - failures - {""}) for line, names in tests}
    out.write_text(json.dumps([lines, seconds, sorted(failures)]))
    return int(code)


def judge(root: Path, row: dict, lines: dict, seconds: dict, max_seconds: float) -> dict:
    """Return whether the tests that reach this mutant kill it: the quickest ones, up to ``max_seconds`` in all."""
    path, line = root / row["module"], int(row["line"])
    code, mutant = path.read_text(), mutant_of(root, row)
    new_lines = [b for a, b in zip(code.splitlines(), mutant.splitlines(), strict=False) if a != b] or ["(gone)"]
    module_lines = lines.get(row["module"], {})
    functions = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef))
    in_function = any(node.body[0].lineno <= line <= node.end_lineno for node in functions)
    # A statement counts where it begins. What runs when the module is imported is reached by all of its tests.
    statement = max((int(n) for n in module_lines if int(n) <= line), default=line)
    tests = (module_lines.get(str(statement)) if in_function else None) or set().union(*module_lines.values())
    tests = {test for test in tests if "::" not in test or test.split("::")[0] not in tests}
    start = time.time()
    killed = "no"
    if tests:
        queue = sorted(tests, key=lambda test: seconds.get(test, 0.0))
        totals = list(itertools.accumulate(seconds.get(test, 0.0) for test in queue))
        selection = [test for test, total in zip(queue, totals, strict=True) if total <= max_seconds] or queue[:1]
        arguments, limit = [*ARGUMENTS, "-x", *selection], 30 + 5 * min(max_seconds, totals[-1])
        with mutated(path, mutant):
            if in_child(root, lambda: int(pytest.main(arguments)), limit):
                killed = "yes"
    duration = time.time() - start
    print(
        f"{killed:4} {duration:5.1f} s {row['module']}:{line} {row['operator']}: {new_lines[0].strip()}",
        file=sys.stderr,
    )
    return {"mutant": new_lines[0].strip(), "killed": killed, "seconds": round(duration, 1)}


@contextmanager
def mutated(path: Path, mutant: str) -> Iterator[None]:
    """Have ``mutant`` as the code of a module within the block."""
    code, times = path.read_text(), path.stat()
    path.write_text(mutant)
    os.utime(path, (0, next(_TICKS)))  # a time of its own, so that no compiled file of another mutant is loaded
    try:
        yield
    finally:
        path.write_text(code)
        os.utime(path, (0, times.st_mtime))


def in_child(root: Path, work, limit: float) -> int:
    """Run ``work`` in a forked process and return its exit code, or -1 after ``limit`` seconds."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setsid()
            os.chdir(root)
            sys.path.insert(0, str(root))
            output = os.open(root / "output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            code = work()
        finally:
            os._exit(code)
    end = time.time() + limit
    while time.time() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -1


if __name__ == "__main__":
    main()
