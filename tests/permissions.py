"""Make the permissions of files count for root, which ignores them."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_VERSION = 0x20080522  # from <linux/capability.h>, as are the two bits
_IGNORE_PERMISSIONS = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
_EFFECTIVE = 0  # of six words: effective, permitted, inheritable, and the upper halves of the three


@contextmanager
def permissions_count() -> Iterator[None]:
    """Let this thread read and write only what the permissions of files allow it, as for any other user."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("root ignores permissions, and only Linux lets a thread of root give up this right")
    old = _capabilities()
    try:
        _set_capabilities([old[_EFFECTIVE] & ~_IGNORE_PERMISSIONS, *old[1:]])
        yield
    finally:
        _set_capabilities(old)


def _capabilities() -> list[int]:
    words = (ctypes.c_uint32 * 6)()
    _call("capget", words)
    return list(words)


def _set_capabilities(words: list[int]) -> None:
    _call("capset", (ctypes.c_uint32 * 6)(*words))


def _call(name: str, words: ctypes.Array[ctypes.c_uint32]) -> None:
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)  # 0 is the calling thread
    if getattr(ctypes.CDLL(None, use_errno=True), name)(header, words):
        raise OSError(ctypes.get_errno(), f"{name} failed")
