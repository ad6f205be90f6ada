"""Test that nothing installs probcal by its name from an index, and that the lines of the pages install it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_distribution import PROJECT

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


def test_pages_have_lines_for_a_checkout_a_wheel_and_an_address():
    lines = lines_of_pages()
    assert lines[0].startswith("pip wheel ")
    for piece in ("pip install .", "pip install '.[weka]'", "pip install dist/probcal_runner-", f"git+{_ADDRESS}@",
                  "uvx --from dist/", "pipx run --spec dist/", "@ file://$PWD"):  # fmt: skip
        assert any(piece in line for line in lines), piece


def test_extras_in_install_lines_exist():
    named = {name for line in lines_of_pages() for found in re.findall(r"\[(.+?)\]", line) for name in found.split(",")}
    assert {"plots", "weka"} <= named <= {*PROJECT["optional-dependencies"]}
