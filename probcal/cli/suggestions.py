"""What a shell offers after TAB: names and files that a command takes. Nothing is imported that takes long.

A function here is the ``shell_complete`` of an argument or option: it gets what stands on the line so far.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from probcal._io import shipped

_PLAIN = re.compile(r"[\w./~+-]+", re.ASCII)
"""What no shell reads as anything but a word; other names are left to the shell's own completion of files."""
_LARGEST = 1_000_000
"""Bytes of a file that is read while somebody waits for a word."""
_LONGEST = 30_000
"""Letters of YAML that are read, in a tenth of a second; the longest shipped experiment has 3,300."""


def configs(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Shipped experiments, and YAML files in the folder that the word leads into."""
    yaml_files = [path for path in _beside(word) if path.suffix in (".yaml", ".yml")]
    return _offered([*_stems("configs"), *map(str, yaml_files)], word) or _left_to_the_shell(word, "file")


def datasets(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """The data sets of the config on the line; all that are shipped where it names none."""
    names = _told(context).get("datasets")
    return _offered(map(_card_name, names) if isinstance(names, list) else _stems("datasets"), word)


def learners(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """The learners of the config on the line, and their variants; those with a short name where it names none."""
    from probcal.learners.registry import LEARNERS

    return _offered(_of_section(context, "learners") or LEARNERS, word)


def methods(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """As ``learners``, of methods."""
    from probcal.methods.registry import METHODS

    return _offered(_of_section(context, "methods") or METHODS, word)


def components(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Learners and methods with a short name."""
    from probcal.learners.registry import LEARNERS
    from probcal.methods.registry import METHODS

    return _offered([*LEARNERS, *METHODS], word)


def results(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Folders that hold an experiment's results, or folders of such ones."""
    found = []
    for path in _beside(word):
        with suppress(OSError):
            below = [one.parent for one in path.glob("*/experiment.json")]
            found += [path, *below] if below or (path / "experiment.json").exists() else []
    return _offered(map(str, found), word) or _left_to_the_shell(word, "dir")


def files(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Any file."""
    return _left_to_the_shell(word, "file")


def folders(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Any folder."""
    return _left_to_the_shell(word, "dir")


def _offered(names: Iterable[str], word: str) -> list[CompletionItem]:
    matching = sorted({name for name in names if name.startswith(word) and _PLAIN.fullmatch(name)})
    return [CompletionItem(name) for name in matching]


def _left_to_the_shell(word: str, kind: str) -> list[CompletionItem]:
    return [CompletionItem(word, type=kind)]


def _stems(kind: str) -> list[str]:
    return [path.stem for path in shipped(kind).glob("*.yaml")]


def _beside(word: str) -> list[Path]:
    """What lies in the folder that the word leads into and begins as its last part."""
    folder, part = (Path(word), "") if word.endswith("/") else (Path(word).parent, Path(word).name)
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.name.startswith(part) and (part or path.name[0] != ".")]
    return []


def _card_name(dataset: object) -> str:
    """What a data set of the experiment is called, which may be named by the path of its card."""
    return Path(str(dataset)).stem if str(dataset).endswith((".yaml", ".yml")) else str(dataset)


def _of_section(context: click.Context, section: str) -> list[str]:
    """The entries of a section of the config on the line, and their variants."""
    from probcal.config.components import families

    return [one for name, variants in families(_told(context), section).items() for one in (name, *variants)]


def _told(context: click.Context) -> dict[str, object]:
    """What the config on the line says, or that of the results there; nothing where none can be read."""
    import yaml

    from probcal.config.yaml_file import Loader

    with suppress(OSError, ValueError, LookupError, TypeError, yaml.YAMLError, RecursionError):
        told = yaml.load(_config_text(context), Loader)
        return told if isinstance(told, dict) else {}
    return {}


def _config_text(context: click.Context) -> str:
    named = [context.params.get(name) for name in ("config", "folder", "folders")]
    # behind an option that still lacks its value, click has not told arguments apart
    given = next(filter(None, [*named, *context.args]), "")
    first = str(given[0] if isinstance(given, list | tuple) else given)
    if first in _stems("configs"):
        return _small(shipped("configs") / f"{first}.yaml")
    kept = Path(first) / "experiment.json"
    text = str(json.loads(_small(kept))["config"]) if kept.is_file() else _small(Path(first))
    if len(text) > _LONGEST:
        raise ValueError(first)
    return text


def _small(path: Path) -> str:
    """Raises OSError where there is no file, or one for which a person would have to wait."""
    if not path.is_file() or path.stat().st_size > _LARGEST:
        raise OSError(path)
    return path.read_text(encoding="utf-8")
