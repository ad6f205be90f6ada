"""Test that one process at a time holds a lock, that messages name it, and that a dead one blocks nobody."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from probcal._lock import FileLock, HeldError
from probcal.data import load as data_load
from probcal.errors import StoreError
from probcal.store.folder import Store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses flock, signals and links")

HOLD = "import sys; from pathlib import Path; from probcal.store.folder import Store\n" + (
    "with Store(Path(sys.argv[1])).writing('small'): print('held', flush=True); sys.stdin.read()"
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "small")


@pytest.fixture
def other(store):
    """Start another process that writes to the folder, and wait until it does."""
    words = [sys.executable, "-c", HOLD, str(store.folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.fixture
def without_locks(monkeypatch):
    """Let the system answer like a drive without locks."""
    answer_every_lock(monkeypatch, errno.ENOSYS)


def answer_every_lock(monkeypatch, number):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)


def test_refusal_names_the_process_the_host_and_the_time(store, other):
    said = f"another probcal run is writing to .*process {other.pid} on {socket.gethostname()} since 20.* UTC"
    with pytest.raises(StoreError, match=said):
        store.writing("small").__enter__()
    with pytest.raises(StoreError, match=f"process {other.pid} "):  # the first refusal left the name of the holder
        store.writing("small").__enter__()


def test_lock_of_a_killed_process_is_free(store, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    with store.writing("small"):
        pass
    assert FileLock(store.folder / ".lock").holder() is None


def test_reader_sees_who_holds_a_lock_and_takes_nothing(store, other):
    lock = FileLock(store.folder / ".lock")
    assert lock.holder()[:2] == (other.pid, socket.gethostname())
    other.communicate("")
    assert lock.holder() is None


@pytest.mark.parametrize("text", [b"", b"\n", b"null", b'{"pid": "x"}', b"\xff" * 2000, b"[" * 1000])
def test_lock_file_of_any_content_blocks_nobody(store, text):
    store.folder.mkdir()
    (store.folder / ".lock").write_bytes(text)
    with store.writing("small"):
        pass


def test_drive_without_locks_has_one_writer_and_names_file_and_remedy(store, without_locks):
    with store.writing("small"):
        marker = store.folder / ".lock.held"
        assert json.loads(marker.read_text())["pid"] == os.getpid()
        with pytest.raises(StoreError) as refusal:
            Store(store.folder).writing("small").__enter__()
        assert f"as {marker} says (process {os.getpid()} on {socket.gethostname()} since " in str(refusal.value)
        assert "if that process has ended, remove this file" in str(refusal.value)
    assert not marker.exists()


def test_files_of_ended_runs_block_nobody_on_a_drive_without_locks(store, monkeypatch):
    with store.writing("small"):
        pass
    assert (store.folder / ".lock").exists()
    answer_every_lock(monkeypatch, errno.ENOSYS)
    for _ in range(2):
        with store.writing("small"):
            pass


def test_process_with_locks_respects_one_without_them(store):
    store.folder.mkdir()
    (store.folder / ".lock.held").write_text('{"pid": 7, "host": "far", "since": "2020-01-01 00:00 UTC"}')
    with pytest.raises(StoreError, match=r"process 7 on far since 2020-01-01 00:00 UTC"):
        store.writing("small").__enter__()
    (store.folder / ".lock.held").unlink()
    with store.writing("small"):
        pass


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.ENOLCK, errno.EIO])
def test_lock_that_the_system_refuses_is_not_called_another_run(store, monkeypatch, number):
    answer_every_lock(monkeypatch, number)
    with pytest.raises(StoreError) as refusal:
        store.writing("small").__enter__()
    assert str(refusal.value) == (
        f"cannot write to {store.folder}: .lock: {os.strerror(number)}; choose another with -o"
    )


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_lock_file_that_cannot_be_made_gives_the_reason(store, monkeypatch, number):
    real_open = os.open

    def open_but_no_lock(path, *rest, **options):
        if str(path).endswith(".lock"):
            raise OSError(number, os.strerror(number), str(path))
        return real_open(path, *rest, **options)

    monkeypatch.setattr("os.open", open_but_no_lock)
    with pytest.raises(StoreError, match=rf"cannot write to .*: \.lock: {os.strerror(number)}; choose another"):
        store.writing("small").__enter__()


@pytest.mark.parametrize("kind", ["folder", "pipe", "link inside", "dangling link"])
def test_lock_file_of_another_kind_gives_one_sentence(store, kind):
    store.folder.mkdir()
    path = store.folder / ".lock"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(store.folder / ("runs.jsonl" if kind == "link inside" else "nothing"))
        (store.folder / "runs.jsonl").write_text("kept\n")
        (store.folder / "cells.jsonl").touch()
    with pytest.raises(StoreError, match=r"\.lock"):
        store.writing("small").__enter__()
    if path.is_symlink():
        assert (store.folder / "runs.jsonl").read_text() == "kept\n"


def test_lock_ends_although_a_forked_process_lives(store):
    lock = FileLock(store.folder / ".lock")
    store.folder.mkdir()
    lock.acquire()
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    lock.release()
    FileLock(store.folder / ".lock").acquire()
    os.close(writer)
    os.waitpid(child, 0)
    os.close(reader)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EACCES, errno.ENOLCK])
def test_data_are_obtained_where_the_cache_has_no_locks(tmp_path, monkeypatch, number):
    answer_every_lock(monkeypatch, number)
    for _ in range(2):
        with data_load._one_at_a_time(tmp_path / "cache" / ".wine.lock"):
            assert not list((tmp_path / "cache").glob("*.held"))


def test_wait_for_data_of_a_process_that_hangs_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(data_load, "_MOST_WAITING_SECONDS", 0.0)
    other = FileLock(tmp_path / ".wine.lock")
    other.acquire()
    with pytest.raises(HeldError):
        FileLock(tmp_path / ".wine.lock").acquire(0.0)
    with data_load._one_at_a_time(Path(tmp_path / ".wine.lock")):
        pass
    other.release()
