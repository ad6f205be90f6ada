"""Short tables of what an experiment can name."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from tabulate import tabulate

from probcal._io import shipped
from probcal.components.registry import Builtin
from probcal.errors import ProbcalError, did_you_mean

if TYPE_CHECKING:
    from probcal.data.card import Card


def listing(kind: str) -> str:
    """Return a table of the ``datasets``, ``learners``, ``methods``, ``metrics``, ``papers`` or ``configs``."""
    from probcal.learners.registry import known_learners
    from probcal.methods.registry import known_methods

    if kind == "learners":
        return _components(known_learners()) + "\nAny other scikit-learn classifier by its import path."
    if kind == "methods":
        return _components(known_methods()) + "\nAny other meta-estimator by its import path."
    return {"datasets": _datasets, "metrics": _metrics, "papers": _papers, "configs": _configs}[kind]()


def shipped_text(name: str) -> str:
    """Return the file of a shipped experiment, or of the card of a data set. Raises ProbcalError for another name."""
    from probcal.config.experiment import config_names
    from probcal.data.card import card_names

    folders = {**dict.fromkeys(card_names(), "datasets"), **dict.fromkeys(config_names(), "configs")}
    if name not in folders:
        raise ProbcalError(
            f'there is no shipped experiment or data set "{name}"{did_you_mean(name, folders)}'
            ' ("probcal list configs" and "probcal list datasets" show them)'
        )
    lines = (shipped(folders[name]) / f"{name}.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    # Its first line may name a schema by a path that holds beside the shipped file only.
    return "".join(lines[lines[0].startswith("# yaml-language-server") :])


def _components(table: dict[str, Builtin]) -> str:
    return tabulate(
        [[name, component.about, component.path] for name, component in table.items()], ["name", "what it is", "class"]
    )


def _datasets() -> str:
    from probcal.data.card import card_names, find_card, read_card

    cards = [read_card(find_card(name)) for name in card_names()]
    rows = [
        [card.name, card.expect.rows, card.expect.columns, card.split.kind, _source(card), card.title] for card in cards
    ]
    return tabulate(rows, ["name", "rows", "columns", "split", "from", "title"])


def _source(card: Card) -> str:
    if card.openml:
        return f"OpenML {card.openml.id}"
    return "scikit-learn" if card.bundled else "generated" if card.generator else "files only"


def _metrics() -> str:
    from probcal.metrics import ABOUT_COST, COST, METHOD_METRICS, NAMED, metric_named
    from probcal.metrics.plugins import metric_names

    descriptions = {name: metric_named(name).help for name in NAMED if name not in METHOD_METRICS}
    descriptions |= {COST: ABOUT_COST, **{name: metric_named(name).help for name in METHOD_METRICS}, **metric_names()}
    return tabulate(descriptions.items(), ["name", "what it is"])


def _papers() -> str:
    from probcal.components.plugins import declarations
    from probcal.papers.published import PublishedPaper, paper_names

    plugins = {name: plugin for name, plugin in declarations("papers").items() if name not in paper_names()}
    papers, faults = {name: PublishedPaper.read(name) for name in paper_names()}, []
    for name in plugins:
        try:
            papers[name] = PublishedPaper.read(name)
        except ProbcalError as error:
            faults.append(f"{name} cannot be read: {error}")
    faults += [f"{name} is a paper of {plugin.package}" for name, plugin in plugins.items() if name in papers]
    rows: list[list[object]] = [
        [
            name,
            paper.short,
            len(paper.tables),
            sum(len(table.numbers) for table in paper.tables.values()),
            len(paper.claims),
        ]
        for name, paper in papers.items()
    ]
    citations = (
        fill(f"{name}: {paper.citation}", 100, subsequent_indent="  ", break_on_hyphens=False)
        for name, paper in papers.items()
    )
    header = ["name", "paper", "tables", "numbers", "claims"]
    legend = "tables: printed tables of one metric each; numbers: their entries; claims: sentences that are tested"
    remark = "Nalbantov & Ivanov print figures and no numbers: probcal run isoprobability computes their surfaces"
    return "\n".join([tabulate(rows, header), *faults, "", legend, remark, "", *citations])


def _configs() -> str:
    from probcal.config.experiment import config_names, find_config
    from probcal.yaml_file import YamlFile

    rows = [[name, YamlFile.read(find_config(name)).data["title"]] for name in config_names()]
    return tabulate(rows, ["name", "title"]) + "\nprobcal show NAME prints the file of one, to copy it."
