"""Test what Windows and macOS need: imports without Unix modules, spawned workers and valid file names."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import PureWindowsPath

import pytest

from tests.source_trees import PACKAGE, trees

UNIX_ONLY = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "readline"}
ABSENT_ON_WINDOWS = {
    "os": ["fork", "killpg", "setpgid", "getpgid", "register_at_fork"],
    "signal": ["SIGHUP", "SIGKILL", "SIGALRM", "setitimer", "pthread_sigmask"],
}

WITHOUT_UNIX = """
import importlib, os, pkgutil, signal, sys
import distributed, joblib, loky, matplotlib.pyplot, numba, openml, sklearn.datasets, tqdm, xgboost  # own guards
for name in {blocked}:
    sys.modules[name] = None
for module, names in {absent}.items():
    for name in names:
        vars(sys.modules[module]).pop(name, None)
sys.platform = "darwin"  # so that nothing takes this for Linux; the standard library of win32 cannot be imported here
import probcal
names = [one.name for one in pkgutil.walk_packages(probcal.__path__, "probcal.")]
for name in names:
    if not name.endswith(("__main__", "fork_server")):
        importlib.import_module(name)
from probcal.cli.main import main
main(["validate", "quickstart"], standalone_mode=False)
print(len(names) > 200)
"""
SPAWNED = """
import multiprocessing, sys
from multiprocessing import forkserver
from probcal.runner import worker
if __name__ == "__main__":
    import probcal
    worker.CONTEXT = multiprocessing.get_context("spawn")
    config = {"name": "mine", "datasets": ["wine-first"], "learners": ["tree", "gaussian_nb"], "methods": ["isotonic"]}
    found = probcal.run(config, output=sys.argv[1], jobs=2, say=lambda line: None)
    print("spawn" if forkserver._forkserver._forkserver_pid is None else "forkserver", found.frame.to_json())
"""


def test_no_unix_module_is_imported_without_a_guard():
    unguarded = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in trees().items()
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and ({alias.name for alias in node.names} | {getattr(node, "module", None)}) & UNIX_ONLY
    ]
    assert unguarded == []


@pytest.mark.slow
def test_every_module_imports_without_unix_features(tmp_path):
    code = WITHOUT_UNIX.format(blocked=sorted(UNIX_ONLY - {"posix"}), absent=ABSENT_ON_WINDOWS)
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=clean(), capture_output=True, text=True)
    assert said.stdout.endswith("True\n"), said.stdout + said.stderr


def clean() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}


@pytest.mark.slow
def test_spawned_workers_give_the_same_numbers(tmp_path):
    script, found = tmp_path / "script.py", []
    for name, text in (("spawn", SPAWNED), ("forkserver", SPAWNED.replace('"spawn"', '"forkserver"'))):
        script.write_text(text, encoding="utf-8")
        said = subprocess.run(
            [sys.executable, script, tmp_path / name], cwd=tmp_path, env=clean(), capture_output=True, text=True
        )
        assert said.returncode == 0, said.stderr
        method, _, frame = said.stdout.partition(" ")
        assert method == name
        found.append(frame)
    assert found[0] == found[1]


def test_results_folder_names_are_valid_on_windows():
    from probcal.store import folder

    names = [*folder._FILES, *folder._FOLDERS, *folder._RUN_FILES]
    assert all(not set(name) & set('<>:"/\\|?*') and not PureWindowsPath(name).is_reserved() for name in names)
