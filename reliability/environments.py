"""Ordinary surroundings that a program seldom meets on its author's machine: python reliability/environments.py

Streams that are closed, full or read by nobody, temporary folders with long names or none, a home that cannot be
written, other locales, few open files: ``probcal run``, ``table``, ``try`` and ``check`` either work in each as
anywhere else, to the last byte, or end with one line that says why. The program that downloads from OpenML ends with
the command that started it. Exit code 1 where one did not. Writes results/reliability/environments.md. Linux only;
read-only folders need the right to mount, which the file says where it was missing.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from trial import ROOT, Tried, differences, finish, processes_of, report_tried, start, wait_for

_SMALL = """
name: small
seed: 7
repeats: 2
datasets: [wine-first]
learners: {tree: {params: {max_depth: 3}}}
methods: {direct: {}, probing: {params: {n_probes: 3}}}
"""
CHECKED = "documents"
NOISE = ("Traceback", "Exception ignored", "leaked", "Fatal Python error")


@dataclass(frozen=True)
class Place:
    """``shell``: what leads to the command, which is ``"$@"`` there.

    ``codes``, ``says``: how a command ends that cannot work there, and why.
    ``commands``: those that cannot; None: none can. ``seen``: whether stdout can be read.
    """

    name: str
    shell: str
    environment: dict[str, str] = field(default_factory=dict)
    codes: tuple[int, ...] = ()
    says: str = ""
    commands: tuple[str, ...] | None = None
    seen: bool = True
    mounts: bool = False
    folder: str = "work"
    encoding: str = "utf-8"

    def can(self, command: str) -> bool:
        return not self.codes or (self.commands is not None and command not in self.commands)


def places(folder: Path) -> list[Place]:
    long, shut = folder / ("long-" + 90 * "x"), folder / "shut"
    long.mkdir()
    shut.mkdir()
    read_only = f'mount --bind "{shut}" "{shut}" && mount -o remount,ro,bind "{shut}" && '
    ascii_only = {"PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    full, broken = "No space left on device", ("table", "try", "check")
    return [
        Place("nothing out of the way", 'exec "$@"'),
        Place("TMPDIR of 120 characters", 'exec "$@"', {"TMPDIR": str(long)}),
        Place("TMPDIR that is not there", 'exec "$@"', {"TMPDIR": str(folder / "not" / "there")}),
        Place("TMPDIR that cannot be written", f'{read_only} exec "$@"', {"TMPDIR": str(shut)}, mounts=True),
        Place("stdin closed", 'exec "$@" <&-'),
        Place("stdout closed", 'exec "$@" >&-', seen=False),
        Place("stderr closed", 'exec "$@" 2>&-'),
        Place("all three closed", 'exec "$@" <&- >&- 2>&-', seen=False),
        Place("stdout full", 'exec "$@" >/dev/full', codes=(2,), says=full, commands=broken, seen=False),
        Place("stderr full", 'exec "$@" 2>/dev/full'),
        Place("stdout read by nobody", '"$@" | true; exit ${PIPESTATUS[0]}', codes=(1,), commands=broken, seen=False),
        Place("stdout read by head -1", '"$@" | head -1 >&2; exit ${PIPESTATUS[0]}', codes=(0, 1), commands=broken,
              seen=False),
        Place("stderr read by nobody", '"$@" 2> >(true)'),
        Place("a current folder that was removed", 'mkdir gone; cd gone; rmdir ../gone; exec "$@"', codes=(2,),
              says="error: the current folder was removed"),
        Place("HOME that cannot be written", f'{read_only} exec "$@"', {"HOME": str(shut)}, codes=(2,),
              says="choose another folder with PROBCAL_CACHE_DIR", commands=("try",), mounts=True),
        Place("HOME that is not there", 'exec "$@"', {"HOME": str(folder / "not" / "there")}),
        Place("no HOME", 'unset HOME; exec "$@"'),
        Place("no environment at all", 'exec env -i PATH=/usr/bin:/bin PYTHONPATH="$PYTHONPATH" "$@"'),
        Place("the locale C, in ASCII", 'exec "$@"', {"LC_ALL": "C", **ascii_only}),
        Place("a locale that is not there", 'exec "$@"', {"LC_ALL": "xx_XX.ISO-8859-1"}),
        Place("streams in Latin-1", 'exec "$@"', {"PYTHONIOENCODING": "latin-1"}, encoding="latin-1"),
        Place("TERM=dumb", 'exec "$@"', {"TERM": "dumb"}),
        Place("TERM is not set", 'unset TERM; exec "$@"'),
        Place("umask 077", 'umask 077; exec "$@"'),
        Place("64 open files", 'ulimit -n 64; exec "$@"'),
        Place("no /dev/shm", 'mount -t tmpfs -o ro,size=4k none /dev/shm && exec "$@"', mounts=True),
        Place("a space and other letters in the path", 'exec "$@"', folder="my wörk 数据"),
        Place("started with SIGHUP and SIGINT ignored", "trap '' HUP INT; exec \"$@\""),
    ]  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="env") as name:
        folder = Path(name)
        (folder / "work").mkdir()
        prepare(folder / "work")
        usual, *unusual = places(folder)
        tried, whole = at(folder, usual, {})
        with ThreadPoolExecutor(2) as pool:
            ends = [pool.submit(at, folder, one, whole) for one in unusual]
            ends += [pool.submit(downloader, folder, one) for one in (signal.SIGKILL, signal.SIGHUP, signal.SIGTERM)]
            found = [tried, *(end.result()[0] for end in ends)]
    about = (
        "Each environment runs `run -j 2`, `table`, `try` and `check`. A trial fails on: an exit code, output or result"
        " that differs from the usual environment, or, where a command cannot work, an exit code that differs from the"
        " one named. It also fails on a traceback, a warning of Python, a command that does not say why it cannot work,"
        " or a process that is left."
    )
    report_tried("environments", "commands", about, found)


def prepare(work: Path) -> None:
    (work / "small.yaml").write_text(_SMALL)
    shutil.copytree(ROOT / "results" / CHECKED, work / "checked")
    chance = random.Random(1)
    rows = [(chance.gauss(0, 1), chance.gauss(0, 1)) for _ in range(60)]
    text = [f"{a:.3f},{b:.3f},{'yes' if a + b > 0 else 'no'}" for a, b in rows]
    (work / "patients.csv").write_text("\n".join(["age,weight,ill", *text]) + "\n")


def at(folder: Path, place: Place, usual: dict[str, str]) -> tuple[Tried, dict[str, str]]:
    """(what was seen there, the output of each command). ``usual``: those of a usual place."""
    tried, outputs, work = Tried(place.name), {}, folder / place.folder
    if place.mounts and not _may_mount():
        tried.notes.append("not tried: it needs the right to mount")
        return tried, {}
    if not work.exists():
        work.mkdir()
        prepare(work)
    own = Path(tempfile.mkdtemp(dir=work, prefix="own"))  # the commands of several places run side by side
    shutil.copytree(work / "checked", own / "checked")
    for name in ("small.yaml", "patients.csv"):
        shutil.copy(work / name, own / name)
    few = ("--splits", "2", "-l", "tree", "-m", "direct")
    results, trial = own / "results", own / "trial"
    commands = {
        "run": ("run", own / "small.yaml", "-j", "2", "-o", results),
        "table": ("table", results),
        "try": (
            "try",
            own / "patients.csv",
            "--target",
            "ill",
            *few,
            "-o",
            trial,
        ),
        "check": ("check", own / "checked"),
    }
    said = []
    for command, words in commands.items():
        code, printed, told = _run(own, place, tuple(map(str, words)))
        tried.times += 1
        outputs[command] = printed.replace(str(own), "")
        where, expected = f"{command}: ", (0,) if place.can(command) else place.codes
        tried.wrong += [f"{where}{noise}: {told[-300:]}" for noise in NOISE if noise in told + printed]
        tried.wrong += [f"{where}exit code {code}, not one of {expected}: {told[-200:]}"] * (code not in expected)
        if not place.can(command):
            said.append(f"{command} ends with {' or '.join(map(str, expected))}")
            tried.wrong += [f"{where}does not say {place.says!r}: {told[-200:]}"] * (place.says not in told)
            one_line = sum(line.startswith("error: ") for line in told.splitlines()) == bool(place.says)
            tried.wrong += [f"{where}not one line of why: {told}"] * (not one_line)
        elif place.seen and usual and command != "try" and _plain(outputs[command]) != _plain(usual[command]):
            tried.wrong.append(f"{where}other output")
    if place.can("run") and not tried.wrong and usual:
        tried.wrong += [f"{cell} differs" for cell in differences(results, folder / "usual")]
    if not usual:
        shutil.copytree(results, folder / "usual")
    tried.notes.append("; ".join(said) or "all work")
    print(*tried.row(), sep=" | ", flush=True)
    return tried, outputs


def _plain(text: str) -> str:
    """What is the same in every encoding."""
    return text.encode("ascii", "backslashreplace").decode()


def _run(own: Path, place: Place, words: tuple[str, ...]) -> tuple[int, str, str]:
    """(exit code, what came on stdout, what came on stderr)."""
    before = [*(["unshare", "-m"] if place.mounts else []), "bash", "-c", place.shell, "bash"]
    with (own / "printed").open("wb+") as printed, (own / "told").open("wb+") as told:
        process = start(
            own, *words, before=before, stdout=printed, stderr=told, text=False,
            environment={"PROBCAL_CACHE_DIR": "", "HOME": str(own), **place.environment},
        )  # fmt: skip
        code = process.wait(600)
        wait_for(lambda: not processes_of(process.pid), 20)
        left = processes_of(process.pid)
        for file in (printed, told):
            file.seek(0)
        said = told.read().decode(place.encoding, "replace") + (f"Traceback: processes left {left}" if left else "")
        return code, printed.read().decode(place.encoding, "replace"), said


def downloader(folder: Path, number: signal.Signals) -> tuple[Tried, dict[str, str]]:
    """A fetch of a server that never answers, ended: the program that downloads has to be gone with it."""
    tried = Tried(f"{number.name} to probcal fetch, alone, while it downloads")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(120)
        server = {"PROBCAL_OPENML_SERVER": f"http://127.0.0.1:{silent.getsockname()[1]}/api/v1/xml"}
        for _ in range(5):
            process = start(folder / "work", "fetch", "uci", "-d", "adult", environment=server)
            connection = silent.accept()[0]  # it has asked, and waits for an answer
            tried.wrong += ["no program downloads"] * (len(processes_of(process.pid)) < 2)
            os.kill(process.pid, number)
            finish(process)
            gone = wait_for(lambda one=process: not processes_of(one.pid), 2)
            tried.wrong += ["it lives on"] * (not gone)
            for one in processes_of(process.pid):
                os.kill(one, signal.SIGKILL)
            connection.close()
            tried.times += 1
    tried.notes.append("gone with it")
    print(*tried.row(), sep=" | ", flush=True)
    return tried, {}


def _may_mount() -> bool:
    try:
        return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    main()
