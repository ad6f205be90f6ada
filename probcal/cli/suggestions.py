"""Shell completion: the names and files that arguments and options offer after TAB, without slow imports.

Each function here is the ``shell_complete`` of an argument or option, and gets the words already on the line.
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

_PLAIN_NAME = re.compile(r"[\w./~+-]+", re.ASCII)
"""Names that every shell reads as one word. The shell's own completion of files handles other names."""
_LARGEST_FILE = 1_000_000
"""Largest file in bytes that is read while somebody waits for a word."""
_LONGEST_TEXT = 30_000
"""Largest number of letters of YAML to read, which takes a tenth of a second.

The longest shipped experiment has 3,300.
"""


def configs(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer shipped experiments, and YAML files in the folder of the word."""
    yaml_files = [path for path in _matching_paths(word) if path.suffix in (".yaml", ".yml")]
    return _completion_items([*_stems("configs"), *map(str, yaml_files)], word) or _shell_completion(word, "file")


def shipped_files(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer shipped experiments and data sets."""
    return _completion_items([*_stems("configs"), *_stems("datasets")], word)


def datasets(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the data sets of the config on the line, or all shipped ones if there is no config."""
    names = _config_content(context).get("datasets")
    return _completion_items(map(_card_name, names) if isinstance(names, list) else _stems("datasets"), word)


def learners(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the learners of the config on the line and their variants, or those with a short name."""
    from probcal.learners.registry import known_learners

    return _completion_items(_section_names(context, "learners") or known_learners(), word)


def methods(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the methods of the config on the line and their variants, or those with a short name."""
    from probcal.methods.registry import known_methods

    return _completion_items(_section_names(context, "methods") or known_methods(), word)


def maps(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the maps that calibrate given probabilities."""
    from probcal.methods.registry import map_paths

    return _completion_items(map_paths(), word)


def metrics(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the metrics."""
    from probcal.metrics.registry import NAMED

    return _completion_items(NAMED, word)


def measures(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the measures of a trial, then the metrics."""
    from probcal.metrics.registry import NAMED
    from probcal.try_table.measures import MEASURES

    return _completion_items([*MEASURES, *(name for name in NAMED if name not in MEASURES)], word)


def commands(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer the commands of probcal."""
    group = context.find_root().command
    return _completion_items(group.commands if isinstance(group, click.Group) else (), word)


def components(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer learners and methods with a short name."""
    from probcal.learners.registry import known_learners
    from probcal.methods.registry import known_methods

    return _completion_items([*known_learners(), *known_methods()], word)


def results(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer folders that hold results, or folders of such folders."""
    folders = []
    for path in _matching_paths(word):
        with suppress(OSError):
            subfolders = [file.parent for file in path.glob("*/experiment.json")]
            folders += [path, *subfolders] if subfolders or (path / "experiment.json").exists() else []
    return _completion_items(map(str, folders), word) or _shell_completion(word, "dir")


def files(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer any file."""
    return _shell_completion(word, "file")


def folders(context: click.Context, _: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer any folder."""
    return _shell_completion(word, "dir")


def _completion_items(names: Iterable[str], word: str) -> list[CompletionItem]:
    matching = sorted({name for name in names if name.startswith(word) and _PLAIN_NAME.fullmatch(name)})
    return [CompletionItem(name) for name in matching]


def _shell_completion(word: str, kind: str) -> list[CompletionItem]:
    return [CompletionItem(word, type=kind)]


def _stems(kind: str) -> list[str]:
    return [path.stem for path in shipped(kind).glob("*.yaml")]


def _matching_paths(word: str) -> list[Path]:
    """Return the paths in the folder of the word whose names begin with its last part."""
    folder, part = (Path(word), "") if word.endswith("/") else (Path(word).parent, Path(word).name)
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.name.startswith(part) and (part or path.name[0] != ".")]
    return []


def _card_name(dataset: object) -> str:
    # An experiment may also name a data set by the path of its card.
    return Path(str(dataset)).stem if str(dataset).endswith((".yaml", ".yml")) else str(dataset)


def _section_names(context: click.Context, section: str) -> list[str]:
    """Return the entries of a section of the config on the line, and their variants."""
    from probcal.yaml_file import entries, named_items

    return [
        key
        for name, entry in entries(_config_content(context), section).items()
        for key in (name, *(f"{name}.{variant}" for variant in named_items(entry.get("variants"))))
    ]


def _config_content(context: click.Context) -> dict[str, object]:
    """Return the config on the line, or of the results there. Return an empty one if it cannot be read."""
    import yaml

    from probcal.yaml_file import Loader

    # A person who completes a word must never see a traceback.
    with suppress(OSError, ValueError, LookupError, TypeError, yaml.YAMLError, RecursionError):
        config = yaml.load(_config_text(context), Loader)  # noqa: S506  # its base is the safe loader
        return config if isinstance(config, dict) else {}
    return {}


def _config_text(context: click.Context) -> str:
    values = [context.params.get(name) for name in ("config", "folder", "folders")]
    # while an option lacks its value, click has not assigned the arguments yet
    value = next(filter(None, [*values, *context.args]), "")
    first = str(value[0] if isinstance(value, list | tuple) else value)
    if first in _stems("configs"):
        return _read_small_file(shipped("configs") / f"{first}.yaml")
    outline = Path(first) / "experiment.json"
    text = str(json.loads(_read_small_file(outline))["config"]) if outline.is_file() else _read_small_file(Path(first))
    if len(text) > _LONGEST_TEXT:
        raise ValueError(first)
    return text


def _read_small_file(path: Path) -> str:
    """Return the text of a file. Raise OSError if it is missing, or too large to read while a person waits."""
    if not path.is_file() or path.stat().st_size > _LARGEST_FILE:
        raise OSError(path)
    return path.read_text(encoding="utf-8")
