"""The page: every part of every experiment, filled into its templates and put in its place at once.

What a page holds within itself: scripts known by their digest, data, pictures. None of it can end its element.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from probcal import __version__
from probcal._io import refuse_links_out, refuse_other_kinds, visible, write_whole
from probcal.errors import ProbcalError
from probcal.reporting.html.check_section import FILTERS
from probcal.reporting.html.embed import asset, data, licenses, policy, scripts
from probcal.reporting.html.sections import Experiment
from probcal.store.folder import Store

_FIRST = b"<!doctype html>"


class NothingToReport(ProbcalError):
    """No experiment has a result, or the page cannot be put where it was asked for."""


def write_report(stores: Sequence[Store], path: Path, sentence: str = "", printed: str = "") -> Path:
    """Write the experiments in ``stores`` as one web page to ``path``, which is given back.

    ``sentence`` and ``printed`` stand first, where a command has found something to say: a paragraph, and lines as in
    a terminal.

    The same results give the same page to the byte. Raises NothingToReport when nothing has been run or ``path``
    cannot be written, StoreError when a folder cannot be shown or ``path`` is a link out of it, and UnknownPaper
    when an experiment follows a paper that probcal does not have.
    """
    _refuse_other_places(path)
    experiments = [Experiment.of(store, f"e{number}") for number, store in enumerate(stores, 1)]
    if not any(one.results for one in experiments):
        folders = ", ".join(str(store.folder) for store in stores)
        raise NothingToReport(f"nothing has been run yet in {folders}; probcal run fills a folder of results")
    text = page(experiments, sentence, printed)
    try:
        write_whole(path, text)
    except OSError as error:
        raise NothingToReport(f"cannot write {path}: {error.strerror or error}; choose another with -o") from None
    return path


def page(experiments: Sequence[Experiment], sentence: str = "", printed: str = "") -> str:
    """The text of the page; the rest as ``write_report`` has it."""
    [first, *others] = experiments
    return (
        _environment()
        .get_template("page.html")
        .render(
            title="Results of " + ", ".join(one.outline.name for one in experiments) if others else first.outline.title,
            experiments=experiments,
            several=bool(others),
            sentence=sentence,
            printed=printed,
            data=data({one.id: {**one.charts.data, "reliability": one.reliable.lines} for one in experiments}),
            policy=policy(),
            style=Markup(asset("report.css")),
            scripts=[Markup(text) for text in scripts()],
            licenses=licenses(),
            version=__version__,
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("probcal.reporting.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    return environment


def _seen(value: Any) -> Any:
    """Text with what nobody sees, or what turns the direction of writing, spelt out."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _refuse_other_places(path: Path) -> None:
    if path.is_dir():
        raise NothingToReport(f"{path} is a folder; name a file with -o, such as {path / 'report.html'}")
    if not path.parent.is_dir():
        raise NothingToReport(f"{path.parent} is not there; make it first, or choose another place with -o")
    names = (path.name, f"{path.name}.new")
    refuse_links_out(path.parent, names)
    refuse_other_kinds(path.parent, names)
    if path.is_file() and path.stat().st_size and not _is_a_page(path):
        raise NothingToReport(f"{path} is there and is no web page, so it is kept; choose another name with -o")


def _is_a_page(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_FIRST)).lower() == _FIRST
