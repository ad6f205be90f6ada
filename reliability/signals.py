"""Commands that get one to five signals at any moment: python reliability/signals.py

SIGINT, SIGTERM and SIGHUP in any number and order, to the process or to its group, while a command starts, plans, works
and ends: it must be gone within two seconds of the first of them, with every process that it started, and lose nothing.
Exit code 1 where one was not, or did. Writes results/reliability/signals.md. Linux only.

    python reliability/signals.py --trials 20 --seed 2
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trial import _MANY, Tried, cut, finish, log_rows, processes_of, report_tried, run, start, stored, wait_for

from probcal.errors import StoreError

LIMIT = 2.0
"""Seconds from the first signal to the end of the last process."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PART = 13
EXPERIMENT = "few.yaml"
PHASES = ("start", "plan", "middle", "end")
RUNS = {
    "run -j 2, the process": ("-j", "2"),
    "run -j 2, its group": ("-j", "2"),
    "run -j 2, by timeout": ("-j", "2"),
    "run -j 1, its group": ("-j", "1"),
    "run --workers 2, its group": ("--workers", "2"),
}
SHARE = {"run -j 2, the process": 0.25, "run -j 2, its group": 0.25, "run --workers 2, its group": 0.06}
"""Of the trials; the others have the rest in equal parts."""

STUCK = {
    "validate, native code that holds Python's lock": "any(itertools.repeat(False))",
    "validate, code that swallows every exception": "sleep_whatever_comes()",
}
_MODULE = """
import itertools, pathlib, time
from sklearn.dummy import DummyClassifier

class Learner(DummyClassifier):
    pass

def sleep_whatever_comes():
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass

pathlib.Path("{name}").touch()
{stuck}
"""


@dataclass
class Way(Tried):
    """One kind of command and how it gets its signals. ``seconds``: to its end, trial by trial."""

    seconds: list[float] = field(default_factory=list)
    codes: Counter[int] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    sent: int = 0

    def ended(self, process: subprocess.Popen[str], first: float, about: str, first_signal: int) -> None:
        """Take up how the process ended that had its first signal at the moment ``first``."""
        in_time = wait_for(lambda: process.poll() is not None and not processes_of(process.pid), 20)
        self.seconds.append(time.monotonic() - first)
        if not in_time:
            self.wrong.append(f"{about}: processes left: {processes_of(process.pid)}")
            for one in processes_of(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        elif self.seconds[-1] > LIMIT:
            self.wrong.append(f"{about}: gone after {self.seconds[-1]:.2f} s")
        code, said = finish(process)
        self.codes[code] += 1
        self.times += 1
        unseen = code == -first_signal or (code in (-signal.SIGINT, 1) and "<frozen runpy>" in said[:200])
        expected = 128 + first_signal if first_signal == signal.SIGHUP else 130
        special = {"run -j 2, by timeout": 124, next(iter(STUCK)): -signal.SIGKILL}.get(self.way, expected)
        if code not in (0, expected, special, -signal.SIGHUP) and not unseen:
            self.wrong.append(f"{about}: exit code {code}: {said[-200:]}")
        if "Traceback" in said and not unseen:
            self.wrong.append(f"{about}: {said[-400:]}")

    def sum_up(self) -> None:
        self.seconds.sort()
        middle = self.seconds[len(self.seconds) // 2] if self.seconds else 0.0
        codes = ", ".join(f"{code}: {times}" for code, times in sorted(self.codes.items()))
        longest = max(self.seconds, default=0.0)
        self.notes.insert(0, f"{self.sent} signals; gone after {middle:.2f} s, at most {longest:.2f} s")
        self.notes += [", ".join(f"{times} at the {phase}" for phase, times in self.phases.items())] * bool(self.phases)
        self.notes.append(f"exit codes {codes}")
        print(*self.row(), sep=" | ", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--trials", type=int, default=200, help="in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the signals and their moments (%(default)s)")
    parser.add_argument("--jobs", type=int, default=3, help="ways at a time (%(default)s)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as silent:
        folder = Path(name)
        (folder / EXPERIMENT).write_text(_MANY.replace("name: many", "name: few").replace("repeats: 14", "repeats: 3"))
        code, said = run(folder, "run", EXPERIMENT, "-j", "2", "-o", "undisturbed")
        if code:
            sys.exit(said)
        server = {"PROBCAL_OPENML_SERVER": f"http://127.0.0.1:{silent.getsockname()[1]}/api/v1/xml"}
        others = {
            "fetch, of a silent server": (("fetch", "uci", "-d", "adult"), server),
            "try": (("try", str(table(folder)), "--target", "ill", "-j", "2", "--splits", "3"), {}),
            "compare": (("compare", "undisturbed"), {}),
            "report": (("report", "undisturbed", "-o", "report.html"), {}),
        }
        counts = trials_of([*RUNS, *others, *STUCK], asked.trials)
        ways: list[Callable[[], Way]] = [
            lambda one=one, part=part, n=n: runs(folder, one, part, n, asked.seed)
            for one in RUNS
            for part, n in enumerate(parts(counts[one]))
        ]
        for way, (words, more) in others.items():
            call = (folder, way, words, more, counts[way], asked.seed)
            ways.append(lambda call=call: other(*call))
        ways += [lambda one=one: stuck(folder, one, counts[one], asked.seed) for one in STUCK]
        with ThreadPoolExecutor(asked.jobs) as pool:
            found = together([ended.result() for ended in [pool.submit(way) for way in ways]])
    about = (
        "Each command gets one to five of SIGINT, SIGTERM and SIGHUP at random, up to 0.3 s apart, half of the pairs 10"
        " ms. It gets them while it starts, plans, runs and ends. A run is started again in the same folder after each,"
        f" and the last start is left undisturbed. A trial fails on: a process that exists {LIMIT:g} s after the first"
        " signal, a traceback, a finished cell that is lost or was run twice, a final result that differs"
        " from an undisturbed run, or an"
        " exit code other than 130 (SIGHUP: the end by that signal). The exit code does not count if the command had"
        " finished or Python had not started yet."
    )
    report_tried("signals", "commands with signals", about, found)


def trials_of(ways: list[str], trials: int) -> dict[str, int]:
    counts = {way: max(1, round(trials * share)) for way, share in SHARE.items()}
    rest = [way for way in ways if way not in counts]
    left = trials - sum(counts.values())
    return counts | {way: max(1, left // len(rest) + (place < left % len(rest))) for place, way in enumerate(rest)}


def parts(times: int) -> list[int]:
    """So many trials in parts, which run side by side."""
    return [_PART] * (times // _PART) + [times % _PART] * (times % _PART > 0)


def together(ways: list[Way]) -> list[Way]:
    """The parts of each way as one."""
    found: dict[str, Way] = {}
    for one in ways:
        way = found.setdefault(one.way, Way(one.way))
        way.times, way.sent = way.times + one.times, way.sent + one.sent
        way.seconds += one.seconds
        way.codes.update(one.codes)
        way.phases.update(one.phases)
        way.wrong += one.wrong
    for way in found.values():
        way.sum_up()
    return list(found.values())


def runs(folder: Path, name: str, part: int, times: int, seed: int) -> Way:
    way, chance = Way(name), random.Random(f"{seed} {name} {part}")
    results, whole = folder / f"{name.replace(' ', '-')}-{part}", folder / "undisturbed"
    cells = len(stored(whole))
    seconds = _seconds_to_plan(folder, results, RUNS[name])
    while way.times < times:
        phase = PHASES[way.times % len(PHASES)]
        if phase == "end" or len(stored(results)) > cells - 20:
            _keep(results, whole, cells - 2 if phase == "end" else 10)
        before, in_log = stored(results), log_rows(results)
        command = ("run", EXPERIMENT, *RUNS[name], "-o", str(results))
        delay = chance.uniform(0, seconds)
        if "timeout" in name:
            sent = chance.choice(SIGNALS)
            process = start(folder, *command, before=("timeout", "-s", sent.name[3:], f"{delay + 0.01:.3f}"))
            begun = time.monotonic()
            wait_for(lambda end=begun + delay: time.monotonic() >= end)
            way.sent += 1
            way.ended(process, begun + delay, f"{sent.name} by timeout after {delay:.3f} s", sent)
            way.went_on(before, results)
            continue
        process = start(folder, *command)
        if phase in ("start", "plan"):
            time.sleep(delay / 2 + (phase == "plan") * seconds / 2)
        else:
            wanted = in_log + (2 if phase == "end" else chance.randint(1, 5))
            wait_for(lambda now=wanted, one=process: one.poll() is not None or log_rows(results) >= now)
            time.sleep(chance.choice([0, chance.uniform(0, 0.2)]))
        done = before | stored(results)
        first, numbers = _send(process, chance, group="group" in name)
        way.sent += len(numbers)
        if numbers:
            way.phases[phase] += 1
            way.ended(process, first, f"{phase}: {' '.join(one.name for one in numbers)}", numbers[0])
        else:  # it was through before
            finish(process)
        try:
            way.went_on(done, results)
        except StoreError as error:
            way.wrong.append(f"{phase}: {error}")
    code, said = run(folder, "run", EXPERIMENT, "-j", "2", "-o", str(results))
    way.wrong += [f"at last exit code {code}: {said[-300:]}"] * bool(code)
    way.compare(results, whole)
    return way


def other(folder: Path, name: str, words: tuple[str, ...], more: dict[str, str], times: int, seed: int) -> Way:
    """A command of which nothing is kept but what it had written whole."""
    way, chance = Way(name), random.Random(f"{seed} {name}")
    seconds = _seconds_of(folder, words, more)
    while way.times < times:
        process = start(folder, *words, environment=more)
        time.sleep(chance.uniform(0, seconds))
        first, numbers = _send(process, chance, group=way.times % 2 == 0)
        way.sent += len(numbers)
        if numbers:
            way.ended(process, first, " ".join(one.name for one in numbers), numbers[0])
        else:
            finish(process)
            seconds *= 0.8
    if "silent" not in name:
        code, said = run(folder, *words, environment=more)
        way.wrong += [f"at last exit code {code}: {said[-300:]}"] * bool(code)
    return way


def stuck(folder: Path, name: str, times: int, seed: int) -> Way:
    """A command whose own process hears nothing; native code leaves only its exit code to others: that of SIGKILL."""
    way, chance = Way(name), random.Random(f"{seed} {name}")
    module = f"stuck_{list(STUCK).index(name)}"
    begun, config = folder / f"{module}.begun", f"{module}.yaml"
    (folder / f"{module}.py").write_text(_MODULE.format(name=begun.name, stuck=STUCK[name]))
    text = f"name: stuck\ndatasets: [wisconsin]\nlearners: {{l: {{type: {module}.Learner}}}}\nmethods: [direct]\n"
    (folder / config).write_text(text)
    while way.times < times:
        begun.unlink(missing_ok=True)
        process = start(folder, "validate", config, "--trust", module)
        if not wait_for(lambda one=process: one.poll() is not None or begun.exists()) or process.poll() is not None:
            sys.exit(f"{name}: {finish(process)}")
        first, numbers = _send(process, chance, group=way.times % 2 == 0)
        way.sent += len(numbers)
        way.ended(process, first, " ".join(one.name for one in numbers), numbers[0])
    return way


def table(folder: Path) -> Path:
    chance = random.Random(1)
    rows = [(chance.gauss(0, 1), chance.gauss(0, 1)) for _ in range(300)]
    text = [f"{a:.3f},{b:.3f},{'yes' if a + b + chance.gauss(0, 1) > 0 else 'no'}" for a, b in rows]
    path = folder / "patients.csv"
    path.write_text("\n".join(["age,weight,ill", *text]) + "\n")
    return path


def _send(process: subprocess.Popen[str], chance: random.Random, group: bool) -> tuple[float, list[signal.Signals]]:
    """(the moment of the first signal, the signals that came while the process was there)."""
    first, sent = time.monotonic(), []
    for number in [chance.choice(SIGNALS) for _ in range(chance.randint(1, 5))]:
        if process.poll() is not None:
            break
        with suppress(ProcessLookupError):
            (os.killpg if group else os.kill)(process.pid, number)
            sent.append(number)
        time.sleep(chance.choice([0.01, chance.uniform(0, 0.3)]))
    return first, sent


def _keep(results: Path, whole: Path, cells: int) -> None:
    """The undisturbed results but for the last cells."""
    shutil.rmtree(results, ignore_errors=True)
    shutil.copytree(whole, results)
    cut(results, cells, cells // 2)


def _seconds_to_plan(folder: Path, results: Path, words: tuple[str, ...]) -> float:
    """From the start of a run to its first cell."""
    begun, process = time.monotonic(), start(folder, "run", EXPERIMENT, *words, "-o", str(results))
    wait_for(lambda: process.poll() is not None or log_rows(results))
    seconds = time.monotonic() - begun
    os.killpg(process.pid, signal.SIGKILL)
    finish(process)
    wait_for(lambda: not processes_of(process.pid))
    return seconds


def _seconds_of(folder: Path, words: tuple[str, ...], more: dict[str, str]) -> float:
    """What the command takes, at most some seconds."""
    begun, process = time.monotonic(), start(folder, *words, environment=more)
    wait_for(lambda: process.poll() is not None, 15)
    seconds = time.monotonic() - begun
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    finish(process)
    return seconds


if __name__ == "__main__":
    main()
