"""Test every way in which a user's module reaches its helpers, and which of their changes count."""

import contextlib
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from probcal.runner import user_code
from probcal.runner.user_code import user_digests, user_imports

ROOT = Path(__file__).parents[2]


def digests(*modules, folders):
    """Return ``user_digests`` as a new process does that finds modules in ``folders`` first."""
    path = [*sys.path]
    sys.path[:0] = map(str, folders)
    try:
        forget()
        with contextlib.chdir(folders[0]):
            return user_digests(*modules)
    finally:
        sys.path[:] = path
        forget()


def forget():
    importlib.invalidate_caches()
    for function in vars(user_code).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def of_mine(folder):
    return digests("mine", folders=[folder])


WAYS = {
    "three imports deep": ({"mine.py": "import a", "a.py": "import b", "b.py": "import c"}, "c.py"),
    "inside a function": ({"mine.py": "def f():\n    from helper import g\n    return g()"}, "helper.py"),
    "from . import": ({"mine.py": "import box", "box/__init__.py": "from . import part"}, "box/part.py"),
    "from .. import": (
        {
            "mine.py": "import box.deep.x",
            "box/__init__.py": "",
            "box/deep/__init__.py": "",
            "box/deep/x.py": "from .. import part",
        },
        "box/part.py",
    ),
    "import_module": ({"mine.py": "import importlib\nm = importlib.import_module('helper')"}, "helper.py"),
    "import_module, relative": (
        {
            "mine.py": "import box",
            "box/__init__.py": "from importlib import import_module as _\nimport importlib\n"
            "importlib.import_module('.part', 'box')",
        },
        "box/part.py",
    ),
    "__import__": ({"mine.py": "m = __import__('helper')"}, "helper.py"),
    "a star": ({"mine.py": "from helper import *"}, "helper.py"),
    "a star, of what a package names": (
        {"mine.py": "from box import *", "box/__init__.py": "__all__ = ['part']"},
        "box/part.py",
    ),
    "a folder without __init__.py": ({"mine.py": "from space.part import x"}, "space/part.py"),
    "the package above": ({"mine.py": "import box.part", "box/part.py": ""}, "box/__init__.py"),
    "an attribute of a package": ({"mine.py": "import box as b\ny = b.part.x", "box/__init__.py": ""}, "box/part.py"),
    "only where something is missing": (
        {"mine.py": "try:\n    import not_there\nexcept ImportError:\n    import helper"},
        "helper.py",
    ),
    "beside a file that does not parse": ({"mine.py": "import old, helper", "old.py": "print 'old'"}, "helper.py"),
    "beside an import that goes too high": ({"mine.py": "def f():\n    from .. import x\nimport helper"}, "helper.py"),
    "from one that is too deep to walk": ({"mine.py": "import helper\nx = " + " + ".join(["1"] * 900)}, "helper.py"),
}


def test_code_of_a_module_is_its_own_and_that_of_imported_user_modules(tmp_path):
    write(tmp_path, {"mine.py": "import a, probcal.methods.probing, sklearn.tree", "a.py": "import b.c", "b/c.py": ""})
    write(tmp_path, {"b/__init__.py": "from . import more", "b/more.py": "", "b/unused.py": ""})
    assert of_mine(tmp_path).keys() == {"mine", "a", "b", "b.c", "b.more"}


@pytest.mark.parametrize("way", WAYS)
def test_edited_helper_counts_for_every_kind_of_import(tmp_path, way):
    files, helper = WAYS[way]
    write(tmp_path, {**files, helper: "x = 1\n"})
    before = of_mine(tmp_path)
    write(tmp_path, {helper: "x = 2\n"})
    after = of_mine(tmp_path)
    name = helper.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert [one for one in after if after[one] != before.get(one)] == [name]


def test_moved_function_is_followed_to_its_module(tmp_path):
    write(tmp_path, {"mine.py": "from a import f", "a.py": "def f(): return 1", "b.py": "x = 1"})
    assert "b" not in of_mine(tmp_path)
    write(tmp_path, {"a.py": "from b import f", "b.py": "def f(): return 1"})
    moved = of_mine(tmp_path)
    write(tmp_path, {"b.py": "def f(): return 2"})
    edited = of_mine(tmp_path)
    assert [one for one in edited if edited[one] != moved[one]] == ["b"]


@pytest.mark.slow
def test_main_program_does_not_count_as_code(tmp_path):
    files = {
        "mine.py": "def f():\n    import __main__\n    from __main__ import g\n    import helper",
        "helper.py": "",
        "program.py": "import box\nfrom probcal.runner import user_code\nprint(sorted(user_code.user_digests('mine')))",
        "box/__init__.py": "",
    }
    write(tmp_path, files)
    elsewhere = of_mine(tmp_path)
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    for program in (["program.py"], ["-m", "program"]):
        command = [sys.executable, "-B", *program]
        done = subprocess.run(command, env=path, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert eval(done.stdout) == sorted(elsewhere)
    assert {"mine", "helper"} == {name for name in elsewhere if not name.startswith("probcal.")}


def test_the_bytes_of_a_compiled_module_count(tmp_path):
    write(tmp_path, {"mine.py": "import fast", "fast.abi3.so": "one"})
    before = of_mine(tmp_path)
    write(tmp_path, {"fast.abi3.so": "two"})
    assert before["fast"] != of_mine(tmp_path)["fast"]


def test_editable_install_counts_as_user_code(tmp_path):
    """Imitate ``pip install -e``: a line in a .pth file, and the version stays the same."""
    write(tmp_path, {"project/placed/__init__.py": "x = 1", "mine/mine.py": "import placed"})
    folders = [tmp_path / "mine", tmp_path / "project", ROOT]
    before = digests("mine", folders=folders)
    write(tmp_path, {"project/placed/__init__.py": "x = 2"})
    assert before["placed"] != digests("mine", folders=folders)["placed"]


def test_namespace_package_counts_only_outside_site_packages(tmp_path):
    files = {"mine.py": "import space.own, space.theirs", "space/own.py": "", "site-packages/space/theirs.py": ""}
    write(tmp_path, files)
    found = digests("mine", folders=[tmp_path, tmp_path / "site-packages", ROOT])
    assert "space.own" in found and "space.theirs" not in found


PLAIN = """
from b import c
import a
from typing import TYPE_CHECKING

def f(x, y=1):
    z: int = 2
    return x + y + z

@register
def g(x: int): return x

class Learner:
    share: float = 0.5
    def fit(self, X, y):
        return self
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from b import c\nimport a\n", "import a\nfrom b import c\n"),
        ("TYPE_CHECKING\n", "TYPE_CHECKING\nif TYPE_CHECKING:\n    import helper\n"),
        ("(x, y=1)", "(x: int, y: 'float' = 1) -> float"),
        ("z: int = 2", "z: float = 2  # levels"),
        ("(self, X, y):", '(self, X: list, y):\n        """Fits."""\n'),
        ("(self, X, y):", "(\n        self, X,\n        y  # labels\n    ):"),
    ],
)
def test_edits_without_effect_do_not_count(tmp_path, old, new):
    write(tmp_path, {"mine.py": PLAIN, "helper.py": ""})
    before = of_mine(tmp_path)
    assert old in PLAIN
    write(tmp_path, {"mine.py": PLAIN.replace(old, new)})
    assert of_mine(tmp_path) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("share: float", "share: int"),
        ("y=1", "y=1.0"),
        ("int = 2", "int = True"),
        ("def f", "@register\ndef f"),
        ("def g(x: int)", "def g(x: str)"),
        ("from b import c\nimport a\n", "import a\nfrom b import c as a\n"),
    ],
)
def test_edits_with_possible_effect_count(tmp_path, old, new):
    write(tmp_path, {"mine.py": PLAIN})
    before = of_mine(tmp_path)
    write(tmp_path, {"mine.py": PLAIN.replace(old, new)})
    assert of_mine(tmp_path)["mine"] != before["mine"]


def test_order_of_imports_of_one_name_counts(tmp_path):
    write(tmp_path, {"mine.py": "from a import f\nfrom b import f\n", "star.py": "from a import *\nfrom b import f\n"})
    before = digests("mine", "star", folders=[tmp_path])
    write(tmp_path, {"mine.py": "from b import f\nfrom a import f\n", "star.py": "from b import f\nfrom a import *\n"})
    after = digests("mine", "star", folders=[tmp_path])
    assert before["mine"] != after["mine"] and before["star"] != after["star"]


def test_source_of_the_package_and_of_installed_packages_is_not_read():
    assert user_digests("probcal.methods.probing", "sklearn.tree", "lightgbm") == {}


def test_public_classes_that_user_code_imports_have_their_import_paths(tmp_path, monkeypatch):
    lines = ["import probcal", "from probcal import SigmoidCalibrator", "X = probcal.IsotonicCalibrator"]
    (tmp_path / "uses_ours.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    assert {
        "probcal.methods.calibrators.sigmoid.SigmoidCalibrator",
        "probcal.methods.calibrators.isotonic.IsotonicCalibrator",
    } <= user_imports("uses_ours")
