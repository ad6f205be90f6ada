"""A fixed list of bad inputs, each given to the real command: python reliability/bad_inputs.py

Every input has its own folder and its own process, which may take two minutes and a gigabyte. It must end with the
exit code and the message of its case, without a traceback; what must not be printed, written or run is not. Exit
code 1 unless all do. Writes results/reliability/bad_inputs.md.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import re
import resource
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[1:1] = [str(ROOT), str(ROOT / "benchmarks")]

from bad_case import Case  # noqa: E402
from bad_configs import CARDS, IMPORTS, PATHS, YAML  # noqa: E402
from bad_data import ARFF, CACHE, FILES  # noqa: E402
from bad_results import EXPERIMENTS, LINES, PIPES, TEXTS  # noqa: E402
from bad_tables import TABLES  # noqa: E402
from speed import machine  # noqa: E402
from tabulate import tabulate  # noqa: E402

_PATIENCE = 120
_MEMORY_MB = 1024
_LONGEST = 100
CASES = [*YAML, *CARDS, *PATHS, *IMPORTS, *LINES, *TABLES, *EXPERIMENTS, *PIPES, *TEXTS, *FILES, *ARFF, *CACHE]


@dataclass(frozen=True)
class Answer:
    """What one input got. ``fault``: what was not as it has to be, empty when all was."""

    code: int | None
    said: str
    memory: int
    fault: str


def main() -> None:
    from bad_servers import cases

    from tests.openml_server import OpenMLServer

    given = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    usual = ROOT / "results" / "reliability" / "bad_inputs.md"
    given.add_argument("-o", "--out", default=str(usual), help="- for none")
    given.add_argument("--only", default="", metavar="PATTERN", help="those whose KIND: NAME has this")
    words = given.parse_args()
    with OpenMLServer() as server:
        every = [one for one in (*CASES, *cases(server)) if re.search(words.only, f"{one.kind}: {one.what}")]
        answers = list(answered(every))
    text = report(every, answers)
    print(text)
    if words.out != "-":
        Path(words.out).parent.mkdir(parents=True, exist_ok=True)
        Path(words.out).write_text(text, encoding="utf-8")
    sys.exit(1 if any(one.fault for one in answers) else 0)


def answered(cases: Iterable[Case]) -> Iterable[Answer]:
    """What each of ``cases`` gets, from a process that has imported what they need."""
    with tempfile.TemporaryDirectory(prefix="probcal-bad-") as folder:
        sound = _sound(Path(folder, "sound"))
        for number, case in enumerate(cases):
            here = Path(folder, f"case {number}")
            shutil.copytree(sound, here)
            yield answer(case, here)
            shutil.rmtree(here)


def answer(case: Case, folder: Path) -> Answer:
    """What ``case`` gets in ``folder``, which holds what every case finds there."""
    case.put(folder)
    child = multiprocessing.get_context("fork").Process(target=_type, args=(case, folder))
    child.start()
    child.join(_PATIENCE)
    if child.is_alive():
        child.kill()
        child.join()
        return Answer(None, "", 0, f"took more than {_PATIENCE} seconds")
    said = (folder / ".said").read_text(encoding="utf-8").replace(str(folder), "…")
    memory = int((folder / ".memory").read_text())
    faults = [
        *([f"exit code {child.exitcode}, not {case.code}"] if child.exitcode != case.code else []),
        *([f"does not say {case.says!r}"] if case.says not in said else []),
        *(f"says {text!r}" for text in (*case.never, "Traceback (most recent") if text in said),
        *(f"has made {name}" for name in case.absent if (folder / name).exists()),
        *([f"took {memory} MB"] if memory > _MEMORY_MB else []),
    ]
    return Answer(child.exitcode, said, memory, "; ".join(faults))


def report(cases: list[Case], answers: list[Answer]) -> str:
    rows = [[_cell(one.kind), _cell(one.what), f"`probcal {one.words}`", got.code, _message(one, got)]
            for one, got in zip(cases, answers, strict=True)]  # fmt: skip
    wrong = [f"- {one.kind}: {one.what}: {got.fault}" for one, got in zip(cases, answers, strict=True) if got.fault]
    headers = ["kind", "input", "command", "exit code", "what it says"]
    table = tabulate(rows, headers, tablefmt="github", disable_numparse=True)
    most = max(one.memory for one in answers)
    return (
        f"Written by `python reliability/bad_inputs.py`. {machine('pydantic', 'pyyaml', 'openml')}\n\n"
        f"In all: {len(cases)} bad inputs, {len(wrong)} not answered as expected, "
        f"{sum('Traceback (most recent' in one.said for one in answers)} tracebacks.\n\nMost memory of one command: "
        f"{'under 500 MB' if most < 500 else f'{most} MB'} (1,024 MB are allowed).\n\n{table}\n"
        + ("\n" + "\n".join(wrong) + "\n" if wrong else "")
    )


def _sound(folder: Path) -> Path:
    """What every case finds: a config, a card with its file, and the results of a run."""
    (folder / "mine").mkdir(parents=True)
    (folder / "mine.yaml").write_text(
        "name: mine\ntitle: Mine\ncolumns: {a: numeric, b: nominal, f1..f2: infer, y: target}\npositive: 1\n"
        "split: {kind: holdout, train_fraction: 0.5}\nexpect: {rows: 12, columns: 4}\n"
        "files:\n  - {format: delimited, header: true, column_names: {q: a}, files: [{name: mine.csv}]}\n"
    )
    rows = "".join(f"{row},{'xy'[row % 2]},{row},k{row},{row % 2}\n" for row in range(12))
    (folder / "mine" / "mine.csv").write_text("q,b,f1,f2,y\n" + rows)
    (folder / "small.yaml").write_text("name: small\ndatasets: [mine.yaml]\nlearners: [tree]\nmethods: [direct]\n")
    (folder / "drawn.yaml").write_text((folder / "small.yaml").read_text() + "curves: [roc]\n")
    for name, config in (("results", "small.yaml"), ("drawn", "drawn.yaml")):
        run = Case("", "", f"run {config} -o {name} --data-dir .", 0, "all cells are done")
        if (got := answer(run, folder)).fault:
            raise SystemExit(f"the sound run {got.fault}: {got.said}")
    return folder


def _type(case: Case, folder: Path) -> None:
    """The command of ``case`` as if typed in ``folder``, in this process, which ends with it."""
    from probcal.cli.main import main

    os.chdir(folder)
    for name in ("PROBCAL_DATA_DIR", "PROBCAL_TRUSTED", "PROBCAL_OPENML_SERVER", "PROBCAL_LARGEST_MB"):
        os.environ.pop(name, None)
    os.environ.update(PROBCAL_CACHE_DIR=str(folder / "cache"), PYTHONPATH=str(ROOT), **case.environment)
    sys.path[:] = [one for one in sys.path if one not in ("", os.getcwd())]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open(".said", "wb", buffering=0) as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        code = 0
        try:
            main(case.words.split(), prog_name="probcal", standalone_mode=True)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
            code = 1
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    Path(".memory").write_text(str(grown // 1024))
    os._exit(code)


def _message(case: Case, got: Answer) -> str:
    """The line that holds what had to be said."""
    said = re.sub(r"127\.0\.0\.1:[0-9]+", "127.0.0.1", got.said)  # a port of the system's choice
    lines = [line for line in said.splitlines() if case.says in line] or said.splitlines() or [""]
    line = lines[0].removeprefix("error: ")
    at = max(0, line.find(case.says) + len(case.says) - _LONGEST)
    return _cell(("…" if at else "") + line[at : at + _LONGEST] + ("…" if len(line) > at + _LONGEST else ""))


def _cell(text: str) -> str:
    return "".join(f"\\{one}" if one in "\\|*`<_$[" else one for one in text)


if __name__ == "__main__":
    main()
