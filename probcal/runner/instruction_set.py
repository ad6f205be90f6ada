"""The instruction set that computes: environment variables that give every x86-64 processor the same numbers.

Libraries choose their code by the processor that they find, and other code rounds in another way. These variables make
them choose as on a processor of a declared level. Most are read when a library is loaded, so they must be set before
the process that computes starts.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from probcal.runner.interruption import restart

LEVEL: Final = "x86-64-v3"
"""The level of AVX2 and FMA. Every x86-64 server since 2015 has it, and most laptops."""
WIDE_LEVEL: Final = "x86-64-v4"
"""The level of AVX-512, on which most of the committed results were made."""
_NEEDED_FLAGS = {
    LEVEL: frozenset(("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")),
    WIDE_LEVEL: frozenset(("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
}
_NUMPY_GROUPS = "X86_V4 AVX512_ICL AVX512_SPR"
"""Groups of instructions above the level, as numpy 2.4 and newer name them."""
_OLD_NUMPY_GROUPS = "AVX512F AVX512CD AVX512_KNL AVX512_KNM AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
_FIRST_NUMPY_WITH_LEVELS = (2, 4)


def level_environment(level: str = LEVEL) -> dict[str, str]:
    """Return the variables under which libraries compute as on a processor of ``level``."""
    if level == WIDE_LEVEL:
        return {"OPENBLAS_CORETYPE": "SkylakeX"}  # numpy and the C library choose by the processor
    numpy_version = tuple(int(part) for part in version("numpy").split(".")[:2])
    has_levels = numpy_version >= _FIRST_NUMPY_WITH_LEVELS
    return {
        "OPENBLAS_CORETYPE": "Haswell",  # numpy and scipy bring an OpenBLAS each
        "NPY_DISABLE_CPU_FEATURES": _NUMPY_GROUPS if has_levels else _OLD_NUMPY_GROUPS,
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": "",  # those of the named processor, not those of this one
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD",
    }


@contextmanager
def instructions(level: str | None) -> Iterator[None]:
    """Set the variables of a level, which processes read that start inside the context. None changes nothing."""
    changed = level_environment(level) if level else {}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def restart_with(level: Any) -> None:
    """Start the command again under the variables of a declared level, unless it has them."""
    if level == LEVEL and sys.platform == "linux" and not has_level(level):
        restart(level_environment(level))


def has_level(level: str) -> bool:
    """Return whether this process was started under the variables of a level."""
    return all(os.environ.get(name) == value for name, value in level_environment(level).items())


def recorded_level(run: Mapping[str, Any]) -> str:
    """Return the level that made the results of a run: the declared one, or that of its kernels of linear algebra."""
    if run.get("instructions") in _NEEDED_FLAGS:
        return str(run["instructions"])
    libraries = run.get("linear_algebra")
    kernels = {str(name).rpartition(" ")[2] for name in libraries} if isinstance(libraries, list) else set()
    return WIDE_LEVEL if "SkylakeX" in kernels else LEVEL


def lacking_flags(cpuinfo: Path = Path("/proc/cpuinfo"), level: str = LEVEL) -> frozenset[str]:
    """Return the instructions of ``level`` that this processor lacks. None are known to be lacking without a list."""
    if not cpuinfo.is_file():
        return frozenset()
    lines = (line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if line.startswith("flags"))
    flags = next(lines, "").partition(":")[2].split()
    return _NEEDED_FLAGS[level] - frozenset(flags) if flags else frozenset()


def processor_name(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the name of this processor, such as ``AMD EPYC 9R14``. It is empty where the system tells none."""
    if not cpuinfo.is_file():
        return platform.processor()
    lines = (line for line in cpuinfo.read_text(encoding="utf-8").splitlines() if line.startswith("model name"))
    return next(lines, "").partition(":")[2].strip()
