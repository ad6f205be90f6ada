"""Test that every script of benchmarks/ can be imported. What they measure is in results/."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
OPTIONAL = {"cosmic_ray", "coverage", "dask", "distributed", "jpype", "mapie", "nannyml", "river", "weka"}


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_every_script_can_be_imported(monkeypatch, name):
    monkeypatch.syspath_prepend(str(FOLDER))
    try:
        assert import_module(name).__doc__
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] not in OPTIONAL:
            raise
        pytest.skip(f"needs {error.name}")
