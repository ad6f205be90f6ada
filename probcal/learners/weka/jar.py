"""The jar file of Weka: the installed one, or the one that ``PROBCAL_WEKA_JAR`` names, and which release it is."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from probcal.distribution import install_line
from probcal.errors import ProbcalError

INSTALL = install_line("weka")
VARIABLE = "PROBCAL_WEKA_JAR"
_VERSION = "weka/core/version.txt"
# sha256 of a jar of a release that does not say which it is -> the release.
_WITHOUT_VERSION = {"60ce66906803dfb057e61f35130276fe80f12f71b459fd6a7d9ef9a51dbba93d": "3.4.1"}


class WekaMissing(ProbcalError, ImportError):
    """Report that Weka, its bridge or a Java runtime is missing, or cannot be used in this process."""


def weka_jar() -> Path:
    """Return the jar file that ``PROBCAL_WEKA_JAR`` names, or the installed one.

    Raises WekaMissing, with what to do, where there is none.
    """
    if named := os.environ.get(VARIABLE):
        if not Path(named).is_file():
            raise WekaMissing(f"{VARIABLE} is {named}, which is not a file; name a weka.jar, or unset it")
        jar_version(named)
        return Path(named).resolve()
    spec = find_spec("weka")  # of python-weka-wrapper3, whose Python code is not imported
    jar = Path(spec.origin).parent / "lib" / "weka.jar" if spec and spec.origin else None
    if jar is None or not jar.is_file():
        raise WekaMissing(f"Weka is not installed; install it with: {INSTALL}")
    return jar


def named_version() -> str | None:
    """Return release and digest of the jar that ``PROBCAL_WEKA_JAR`` names, or None where it names none.

    A text such as ``3.4.1, sha256 60ce66906803``. Where the jar is not there it says so, and nothing is raised.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    try:
        return jar_version(named)
    except WekaMissing:
        return "not a jar of Weka"


@cache
def jar_version(jar: str) -> str:
    """Return release and digest of a jar, as ``named_version`` does. Raises WekaMissing if it is no Weka."""
    try:
        digest = hashlib.sha256(Path(jar).read_bytes()).hexdigest()
        with ZipFile(jar) as content:
            content.getinfo("weka/core/Instances.class")
            told = content.read(_VERSION).decode().strip() if _VERSION in content.namelist() else None
    except (OSError, BadZipFile, KeyError, UnicodeDecodeError):
        raise WekaMissing(f"{jar} is no jar file of Weka; name one with {VARIABLE}, or unset it") from None
    release = (told or "").replace("-", ".") or _WITHOUT_VERSION.get(digest, "of unknown release")
    return f"{release}, sha256 {digest[:12]}"


def is_release(version: str, wanted: str) -> bool:
    """Return whether ``version``, as ``jar_version`` returns it, is of release ``wanted``, such as 3.4.1 or 3.9."""
    return f"{version.partition(',')[0]}.".startswith(f"{wanted}.")


def other_release(wanted: str) -> str | None:
    """Return why Weka here is not of release ``wanted``, such as 3.4.1 or 3.9, with what to do, or None if it is."""
    try:
        found = jar_version(str(weka_jar()))
    except WekaMissing as error:
        return str(error)
    if is_release(found, wanted):
        return None
    return f"the experiment is of Weka {wanted}, and the Weka here is {found}; name its jar file with {VARIABLE}"
