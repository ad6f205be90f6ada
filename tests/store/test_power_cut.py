"""Test that a kill or a power cut between any two writes of a run loses no stored result and blocks no later run.

A recorder notes every write, sync and rename in a folder. After a kill, the system still has all writes. After a power
cut, a disk may have kept only what was synced, of contents and of names, or any mixture of the two.
"""

import os
import shutil
import sys

import numpy as np
import pytest

from probcal.store.cell_result import CellResult
from probcal.store.folder import Store

_WRITES = {"write", "flush", "close", "truncate", "replace", "unlink", "fsync"}
_LINUX = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the name of a synced file is read from /proc")


class Disk:
    """Record the states in which a power cut or a kill could leave a folder."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.promised = folder, frozenset()
        self.after_kills, self.after_power_cuts = [], []
        self._synced, self._names = {}, {}
        """File -> its content, and name -> file, as of their last syncs. A file is the number of a first sight."""
        self._file_of_inode, self._n_files = {}, 0
        monkeypatch.setattr(os, "fsync", self._recorded(os.fsync))

    def __enter__(self):
        sys.setprofile(self._hook)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _recorded(self, fsync):
        def recorded(number):
            fsync(number)
            path = os.readlink(f"/proc/self/fd/{number}")
            files = self._files()
            if path == str(self.folder):
                self._names = {name: file for name, (file, _) in files.items()}
            elif os.path.basename(path) in files:
                file, content = files[os.path.basename(path)]
                self._synced[file] = content
            self._note()

        return recorded

    def _hook(self, frame, event, function):
        if event == "c_return" and getattr(function, "__name__", "") in _WRITES:
            sys.setprofile(None)
            self._note()
            sys.setprofile(self._hook)

    def _files(self):
        """Return name -> file and content."""
        paths = [path for path in self.folder.iterdir() if path.name != ".lock"] if self.folder.is_dir() else []
        inodes = {path.name: path.stat().st_ino for path in paths}
        known, self._file_of_inode = self._file_of_inode, {}  # the system uses the number of a removed file again
        for inode in inodes.values():
            self._n_files += inode not in known
            self._file_of_inode[inode] = known.get(inode, self._n_files)
        return {path.name: (self._file_of_inode[inodes[path.name]], path.read_bytes()) for path in paths}

    def _note(self):
        files = self._files()
        now = {name: content for name, (_, content) in files.items()}
        current = dict(files.values())
        self._keep(self.after_kills, now)
        new_names = {name: file for name, (file, _) in files.items()}
        one_new_name = ({**self._names, name: file} for name, file in new_names.items())
        for names in (new_names, self._names, *one_new_name):
            synced = {name: self._synced.get(file, b"") for name, file in names.items()}
            written = {name: current.get(file, synced[name]) for name, file in names.items()}
            half = {name: content[: (len(synced[name]) + len(content)) // 2] for name, content in written.items()}
            for state in (synced, written, half):
                self._keep(self.after_power_cuts, state)

    def _keep(self, states, state):
        if (self.promised, state) not in states:
            states.append((self.promised, state))


def result(number, status="done", run="run1"):
    metrics = {"rms": 0.25 + number / 100} if status == "done" else {}
    return CellResult("adult", number, "j48", "direct", status, run, 1.0, {"data": "abc"}, metrics)


def write(store, disk, numbers, *, failed=()):
    with store.writing("small"):
        store._next_sync = 0.0
        store.write_experiment({"name": "small"})
        for number in numbers:
            store._next_sync = 0.0  # so that every result is synced before the next
            status, run = ("failed", "run2") if number in failed else ("done", "run1")
            store.add(result(number, status, run), np.array([0, 1], np.int8), np.array([0.25, number / 100]))
            disk.promised |= {result(number).id}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Return the states of a run of two parts. The second part adds a failed attempt to a done result."""
    disk = Disk(tmp_path / "results", monkeypatch)
    with disk:
        write(Store(disk.folder), disk, range(3))
        write(Store(disk.folder), disk, (3, 1), failed=(1,))
    monkeypatch.undo()
    return disk


def restore(folder, state):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in state.items():
        (folder / name).write_bytes(content)
    return Store(folder)


@_LINUX
@pytest.mark.parametrize("kind", ["after_kills", "after_power_cuts"])
def test_no_cut_between_two_writes_loses_a_result(recorded, tmp_path, kind):
    states = getattr(recorded, kind)
    assert len(states) > 25
    for promised, state in states:
        store = restore(tmp_path / "cut", state)
        stored = store.results()
        assert promised <= stored.keys()
        for name, one in stored.items():
            assert (one.status, one.metrics) == ("done", result(one.repetition).metrics)
            if name in promised:
                y, p = store.predictions(one)
                assert (y.tolist(), p.tolist()) == ([0, 1], [0.25, one.repetition / 100])


@_LINUX
def test_a_run_goes_on_after_every_cut(recorded, tmp_path):
    for _, state in recorded.after_kills + recorded.after_power_cuts:
        store = restore(tmp_path / "cut", state)
        with store.writing("small"):
            store.write_experiment({"name": "small"})
            for number in range(4):
                store.add(result(number))
        assert {name: one.metrics for name, one in store.results().items()} == {
            result(number).id: result(number).metrics for number in range(4)
        }
        assert store.experiment() == {"name": "small"}
        assert len((store.folder / "cells.jsonl").read_text().splitlines()) == 1
