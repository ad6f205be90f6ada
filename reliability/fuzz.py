"""Everything that probcal reads from others, changed by chance: python reliability/fuzz.py --minutes 10 --seed 1

Each input is made from the seed and its own number, so ``--only KIND:NUMBER`` makes one again and shows its traceback.
An input must be read or refused with a message. Anything else is a finding: another exception, more than half a minute,
or a gigabyte. Exit code 1 if there is one. Writes results/reliability/fuzz.md.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[1:1] = [str(ROOT), str(ROOT / "benchmarks")]

from speed import machine  # noqa: E402
from subjects import Subject, subjects  # noqa: E402
from tabulate import tabulate  # noqa: E402

_PATIENCE = 30
_MEMORY = 2**30


def main() -> None:
    said = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    said.add_argument("--minutes", type=float, default=10.0)
    said.add_argument("--seed", type=int, default=1)
    said.add_argument("--only", metavar="KIND:NUMBER", help="make this input again")
    said.add_argument("-o", "--out", default=str(ROOT / "results" / "reliability" / "fuzz.md"), help="- for none")
    given = said.parse_args()
    with tempfile.TemporaryDirectory(prefix="probcal-fuzz-") as folder:
        os.environ.update(PROBCAL_CACHE_DIR=f"{folder}/cache", PROBCAL_TRUSTED="")
        os.environ.pop("PROBCAL_DATA_DIR", None)
        Path(folder, "work").mkdir()
        every = subjects(Path(folder, "work"))
        if given.only:
            kind, _, number = given.only.rpartition(":")
            again(next(one for one in every if one.kind == kind), given.seed, int(number))
            return
        counts, findings = fuzz(every, given.seed, given.minutes * 60)
    text = report(counts, findings, given.minutes, given.seed)
    print(text)
    if given.out != "-":
        Path(given.out).parent.mkdir(parents=True, exist_ok=True)
        Path(given.out).write_text(text, encoding="utf-8")
    sys.exit(1 if findings else 0)


def fuzz(every: list[Subject], seed: int, seconds: float) -> tuple[dict[str, Counter[str]], dict[str, list[str]]]:
    """(kind -> how many were read, refused, or found; finding -> the inputs that gave it), after so long."""
    counts: dict[str, Counter[str]] = {one.kind: Counter() for one in every}
    findings: dict[str, list[str]] = {}
    signal.signal(signal.SIGALRM, _too_long)
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for subject in every:
            what = tried(subject, seed, number)
            counts[subject.kind]["read" if what == "read" else "refused" if what == "refused" else "finding"] += 1
            if what not in ("read", "refused"):
                findings.setdefault(what, []).append(f"{subject.kind}:{number}")
        number += 1
    return counts, findings


def tried(subject: Subject, seed: int, number: int) -> str:
    """``read``, ``refused``, or what else came out of one input."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        signal.alarm(_PATIENCE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again(subject, seed, number)
        what = "read"
    except Exception as error:
        from probcal.errors import ProbcalError

        what = "refused" if isinstance(error, ProbcalError) else _told(error)
    finally:
        signal.alarm(0)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return f"took {grown // 2**20} MB" if grown > _MEMORY else what


def again(subject: Subject, seed: int, number: int) -> None:
    rng = random.Random(f"{seed}/{subject.kind}/{number}")
    subject.read(subject.changed(rng), rng)


def report(counts: dict[str, Counter[str]], findings: dict[str, list[str]], minutes: float, seed: int) -> str:
    rows: list[list[Any]] = [[kind, n.total(), n["refused"], n["read"], n["finding"]] for kind, n in counts.items()]
    total = sum(counts.values(), Counter())
    rows.append(["all", total.total(), total["refused"], total["read"], total["finding"]])
    headers = ["input", "tried", "refused with a message", "read", "findings"]
    table = tabulate(rows, headers, tablefmt="github", intfmt=",")
    lines = [f"- {what}: {len(inputs)}, the first is {inputs[0]}" for what, inputs in findings.items()]
    return (
        f"Written by `python reliability/fuzz.py --minutes {minutes:g} --seed {seed}`. "
        f"{machine('pydantic', 'pyyaml')}\n\n"
        f"In all: {total.total():,} inputs, {total['finding']} findings.\n\n"
        "Valid inputs with random changes. A finding is an exception without a message, half a minute, or a"
        " gigabyte.\n\n"
        f"{table}\n" + ("\n" + "\n".join(lines) + "\n" if lines else "")
    )


def _told(error: BaseException) -> str:
    frames = [one for one in traceback.extract_tb(error.__traceback__) if "/probcal/" in one.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    said = (str(error).splitlines() or [""])[0][:80]
    return f"{type(error).__name__} ({said}) at {Path(last.filename).name}:{last.lineno}"


def _too_long(*_: object) -> None:
    raise TimeoutError(f"no answer in {_PATIENCE} seconds")


if __name__ == "__main__":
    main()
