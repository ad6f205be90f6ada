"""Which versions a Dask worker has. Sent to it as source: it may lack probcal, or have another."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version


def versions_here(packages: list[str]) -> dict[str, str]:
    """Package -> version, "not installed" without one; of ``python``, which is always told, two numbers."""
    found = {"python": "{}.{}".format(*sys.version_info)}
    try:
        import probcal

        found["probcal"] = probcal.__version__
    except Exception:
        found["probcal"] = "not installed"
    for package in packages:
        if package not in found:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                found[package] = "not installed"
    return found


def differences(there: dict[str, str], here: dict[str, str]) -> list[str]:
    """What a worker has in another version than we."""
    return [
        f"{package} is {there.get(package)} there and {ours} here"
        for package, ours in here.items()
        if there.get(package) != ours
    ]
