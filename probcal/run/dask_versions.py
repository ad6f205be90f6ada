"""Which versions a Dask worker has. Sent to it as source: it may lack probcal, or have another."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from platform import python_version


def versions_here(packages: list[str]) -> dict[str, str]:
    """Package -> version, "not installed" without one; ``python`` and ``probcal`` besides."""
    found = {"python": python_version()}
    try:
        import probcal

        found["probcal"] = probcal.__version__
    except Exception:
        found["probcal"] = "not installed"
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def differences(there: dict[str, str], here: dict[str, str]) -> list[str]:
    """What a worker has in another version than we; of Python only a minor version makes a difference."""
    return [
        f"{package} is {there.get(package)} there and {ours} here"
        for package, ours in here.items()
        if _told_apart(package, there.get(package, "")) != _told_apart(package, ours)
    ]


def _told_apart(package: str, version: str) -> str:
    return version.rpartition(".")[0] if package == "python" else version
