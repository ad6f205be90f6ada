"""Install the probcal of the commit that the GitHub Action belongs to, with extras.

``action.yml`` sets the variables ACTION_PATH, EXTRAS and INSTALL. The last one is an input of the past. It named what
pip installs, and the name probcal belongs to another project on the Python package index. Needs Python and pip alone.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path


def main() -> int:
    """Install probcal and return the exit code."""
    extras, old_value = os.environ.get("EXTRAS", ""), os.environ.get("INSTALL", "")
    source = Path(os.environ["ACTION_PATH"]).resolve()
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if old_value:
        return _refuse(f"the action has no input install any more; {_instead_of(old_value)}")
    names = extras.replace(",", " ").split()
    unknown = sorted({*names} - {*project["optional-dependencies"]})
    if unknown:
        known = ", ".join(project["optional-dependencies"])
        return _refuse(f"probcal has no extra {unknown[0]!r}; write names of this list into extras: {known}")
    requirement = f"{project['name']}[{','.join(names)}] @ {source.as_uri()}"
    # isolated, so that no module in the root of the user's repository runs
    command = [sys.executable, "-I", "-m", "pip", "install", "--disable-pip-version-check", requirement]
    return subprocess.run(command).returncode


def _instead_of(value: str) -> str:
    """Return what to write instead of ``install: value``."""
    found = re.search(r"\[([\w, -]*)\]", value)
    instead = f"write  extras: {found[1].replace(' ', '')}  instead" if found else "remove it"
    return f"{instead}, because the action installs its own probcal (packages of yours need a step of their own before)"


def _refuse(fault: str) -> int:
    print(f"error: {fault}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
