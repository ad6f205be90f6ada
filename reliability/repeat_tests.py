"""Repeat ``make test`` in fresh clones: python reliability/repeat_tests.py 10 --busy 4

Each repetition clones this repository and adds a line to results/reliability/repeated_tests.csv. The script counts
failed tests, runs that do not end, and lost processes. It ends with exit code 1 if there was one of them.
"""

from __future__ import annotations

import argparse
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from probcal._io import csv_text

ROOT = Path(__file__).parents[1]
OUT = ROOT / "results" / "reliability" / "repeated_tests.csv"
_LONGEST_SECONDS = 3600
_LOAD = "while True: sum(range(10**6))"


@dataclass(frozen=True)
class Repetition:
    """Hold what became of one ``make test``."""

    started: str
    commit: str
    user: str
    busy: int
    load: float
    seconds: int
    exit_code: int | None
    hung: bool
    passed: int
    failed: int
    lost: int
    names: str

    @property
    def is_good(self) -> bool:
        """Return whether every test passed, the run ended, and no process was lost."""
        return self.exit_code == 0 and self.passed > 0 and not (self.hung or self.failed or self.lost)


def main() -> None:
    args = _arguments()
    found = []
    with busy(args.busy):
        for _ in range(args.times):
            found.append(repetition(args))
            append(found[-1])
            print(found[-1], flush=True)
    bad = [one for one in found if not one.is_good]
    print(f"{len(found)} repetitions, {len(bad)} of them bad")
    sys.exit(1 if bad else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Repeat make test in fresh clones.")
    parser.add_argument("times", type=int, help="number of repetitions")
    parser.add_argument("--busy", type=int, default=0, help="number of processes that keep the processors busy")
    parser.add_argument("--user", default="", help="run as this user (only root may)")
    parser.add_argument("--venv", type=Path, help="virtual environment that all clones share (default: one for each)")
    args = parser.parse_args()
    args.venv = args.venv and args.venv.resolve()
    return args


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the processors busy with so many processes."""
    started = [subprocess.Popen([sys.executable, "-c", _LOAD]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def repetition(args: argparse.Namespace) -> Repetition:
    """Clone the repository, run ``make test`` in the clone, and remove it."""
    folder = Path(tempfile.mkdtemp(prefix="repeat-"))
    try:
        clone, home = folder / "clone", folder / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=clone, capture_output=True, text=True, check=True
        ).stdout.strip()
        environment = {**os.environ, "HOME": str(home)}
        environment.pop("PYTHONPATH", None)  # of this script
        command = ["make", "test"]
        if args.venv:
            command.append(f"VENV={args.venv}")
            environment["PYTHONPATH"] = str(clone)
            _install_once(args.venv, clone)
        if args.user:
            _give(folder, args.user)
        started, load, start = datetime.now(UTC), os.getloadavg()[0], time.monotonic()
        code, text = _run(command, clone, environment, args.user)
        return Repetition(
            started=started.isoformat(timespec="seconds"),
            commit=commit,
            user=args.user or pwd.getpwuid(os.getuid()).pw_name,
            busy=args.busy,
            load=round(load, 1),
            seconds=round(time.monotonic() - start),
            exit_code=code,
            hung=code is None,
            passed=sum(map(int, re.findall(r"\b(\d+) passed", text))),
            failed=len(_failed(text)),
            lost=len(re.findall(r"node down: |the process of the Java tests was lost", text)),
            names="; ".join(_failed(text)),
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _install_once(venv: Path, clone: Path) -> None:
    """Install the environment from the first clone. The others use it with code of their own (``PYTHONPATH``)."""
    stamps = [venv / ".installed", venv / ".installed-test"]
    if not all(stamp.exists() for stamp in stamps):
        subprocess.run(["make", f"VENV={venv}", str(stamps[1])], cwd=clone, check=True)
    for stamp in stamps:
        stamp.touch()


def _give(folder: Path, user: str) -> None:
    entry = pwd.getpwnam(user)
    for path in (folder, *folder.rglob("*")):
        os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)


def _run(command: list[str], clone: Path, environment: dict[str, str], user: str) -> tuple[int | None, str]:
    """Run the command in a session of its own. Return its exit code, None if it did not end, and its output."""
    group = pwd.getpwnam(user).pw_gid if user else None
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command,
            cwd=clone,
            env=environment,
            user=user or None,
            group=group,
            extra_groups=[] if user else None,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(_LONGEST_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        text = output.read()
    if code:
        print(text, flush=True)
    return code, text


def _failed(text: str) -> list[str]:
    return sorted(set(re.findall(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", text, re.MULTILINE)))


def append(one: Repetition) -> None:
    """Add a line to the table, which this makes if it is not there."""
    header = [] if OUT.exists() else [[field.name for field in fields(Repetition)]]
    with OUT.open("a", encoding="utf-8", newline="") as file:
        file.write(csv_text([*header, asdict(one).values()]))


if __name__ == "__main__":
    main()
