"""The files of experiments: their names and paths. Nothing here needs pydantic, which takes long to import."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from probcal._io import shipped
from probcal.errors import ProbcalError, did_you_mean

_TABLE_ENDINGS = {".csv", ".tsv", ".parquet", ".arff", ".xlsx", ".xlsm", ".xls", ".ods"}


def config_names() -> list[str]:
    """Return the names of the shipped experiments, sorted."""
    return sorted(path.stem for path in shipped("configs").glob("*.yaml"))


def find_config(name: str) -> Path:
    """Return ``name`` as a path, or the path of the shipped experiment of that name.

    Raises ProbcalError when neither exists.
    """
    path = Path(name)
    # A folder of that name holds results and no experiment. A Path would raise an error for a name that is too long.
    is_shipped = name in config_names() and not os.path.isfile(path)
    if not is_shipped and os.path.isfile(path) and _TABLE_ENDINGS & {ending.lower() for ending in path.suffixes}:
        raise ProbcalError(
            f"{name} is a table, and an experiment is a YAML file; to rank learners and methods on a table, type: "
            f"probcal try {shlex.quote(name)} --target COLUMN"
        )
    if not is_shipped and (path.suffix in (".yaml", ".yml") or os.path.exists(path)):
        return path
    if is_shipped:
        return shipped("configs") / f"{name}.yaml"
    raise ProbcalError(
        f'there is no file "{name}" and no shipped experiment of that name'
        f"{did_you_mean(name, config_names())} (shipped: {', '.join(config_names())})"
    )
