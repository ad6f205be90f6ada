"""Versions of packages, of Python and of Weka: those on this machine against those that another one or a run recorded.

Commands that only read results use this module, so it imports nothing heavy.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version

from probcal import __version__

WEKA_JAR = "weka.jar"
"""Stands for a package where PROBCAL_WEKA_JAR names the jar file that computes."""
_NOT_INSTALLED, _NOT_NAMED = "not installed", "not named by PROBCAL_WEKA_JAR"


def installed_version(package: str) -> str:
    try:
        return version(package)
    except (PackageNotFoundError, ValueError):  # the file of a stranger may hold an empty name
        return _NOT_INSTALLED


def python_version() -> str:
    """Return two numbers of the version of Python, because its own ``sum`` of floats rounds differently since 3.12."""
    return "{}.{}".format(*sys.version_info)


def named_weka() -> str | None:
    """Return release and digest of the jar file that PROBCAL_WEKA_JAR names, or None."""
    from probcal.learners.weka.jvm import named_version  # imports pandas, which most commands do not need

    return named_version()


def version_differences(versions: Mapping[str, str]) -> str:
    """Return in words which of ``versions``, those of another machine, differ here. The text is empty without one."""
    local_versions = _local_versions(versions)
    return "; ".join(
        f"{name} is {local_versions[name]} there and {value} here"
        for name, value in versions.items()
        if local_versions[name] != value
    )


def other_versions(versions: Mapping[str, str], recorded: Mapping[str, str]) -> str:
    """Return which of the present ``versions`` a run ``recorded`` otherwise: ``made with scipy 1.16.0, here is …``."""
    changes = [
        f"made with {name} {recorded[name]}, here is {value}"
        for name, value in versions.items()
        if name in recorded and recorded[name] != value
    ]
    return "; ".join(changes)


def other_installed_versions(recorded: Mapping[str, str]) -> str:
    """Return the same for all packages of ``recorded`` that are installed here."""
    versions = _local_versions(recorded)
    present = {name: text for name, text in versions.items() if text not in (_NOT_INSTALLED, _NOT_NAMED)}
    return other_versions(present, recorded)


def _local_versions(names: Iterable[str]) -> dict[str, str]:
    versions = {name: installed_version(name) for name in names} | {"python": python_version(), "probcal": __version__}
    if WEKA_JAR in versions:
        versions[WEKA_JAR] = named_weka() or _NOT_NAMED
    return versions
