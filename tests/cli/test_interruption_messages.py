"""Test that each command says after an interruption what is true of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from probcal.cli.main import main
from tests.commands import probcal

KEPT_CELLS = "interrupted; cells that ended are kept, the same command goes on from there"
OTHERS = {
    "run": KEPT_CELLS,
    "try": KEPT_CELLS,
    "fetch": "interrupted; data sets that were fetched whole stay in the cache",
    "measure": "interrupted; the same command starts again from the beginning",
}


def interrupt(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", sorted(main.commands))
def test_only_commands_that_keep_something_say_so(name, monkeypatch):
    command = main.commands[name]
    monkeypatch.setattr(command, "callback", interrupt)
    monkeypatch.setattr(command, "params", [])
    result = probcal(name)
    assert (result.exit_code, result.stderr) == (130, f"\n{OTHERS.get(name, 'interrupted')}\n")


@pytest.mark.parametrize("name", sorted(main.commands))
def test_help_of_exit_code_130_is_the_message(name):
    text = " ".join(probcal(name, "--help").stdout.split())
    assert f"130 {OTHERS.get(name, 'interrupted')}" in text


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_interrupted_measurement_keeps_nothing_and_says_so(tmp_path):
    words = ("measure", "-", "-p", "p", "-t", "y", "--report", "r.html")
    process = subprocess.Popen(
        [sys.executable, "-m", "probcal", *words],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    process.stdin.write(b"p,y\n" + b".5,1\n.5,0\n" * 200_000)  # more than a pipe holds, so the command reads it
    process.stdin.flush()
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, said) == (130, f"\n{OTHERS['measure']}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="uses a pseudo-terminal and SIGINT")
def test_interrupted_intervals_leave_the_values_and_say_so(tmp_path):
    import pty

    (tmp_path / "p.csv").write_text("p,y\n" + ".3,1\n.6,0\n.7,1\n.2,0\n" * 50_000)
    ours, theirs = pty.openpty()
    words = ("measure", "p.csv", "-p", "p", "-t", "y", "--draws", "100000", "--report", "r.html")
    process = subprocess.Popen(
        [sys.executable, "-m", "probcal", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    said = b""
    while b"which are made now" not in said:
        said += os.read(ours, 4096)
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    while chunk := _read(ours):
        said += chunk
    assert process.returncode == 130
    assert b"AUC                0.7500  0.7478 to 0.7522" in said
    assert said.decode().split("\r\n")[-2] == (
        "interrupted; the values above are final, their bootstrap intervals are missing, and no file was written"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


def _read(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # nobody can write to it any more
        return b""
