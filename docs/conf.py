"""How the pages are built: ``make docs``. Sources are the Markdown files of docs and the tables in results.

The folder that Sphinx reads is the project's, so that links from a page to ../results or ../probcal lead to the same
file here as on a code host.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

import probcal
from probcal.methods.registry import FAMILIES

HERE = Path(__file__).parent

project = "probcal"
author = "the probcal authors"
copyright = f"2026, {author}"
version = release = probcal.__version__
root_doc = "docs/index"
include_patterns = [
    "docs/*.md", "docs/_gallery/*.rst", "docs/reference/*.md", "results/**.md", "CHANGELOG.md", "CONTRIBUTING.md",
]  # fmt: skip
exclude_patterns = [".venv", "build", "dist", "docs/_build", "probcal", "tests", "results/theory"]
LINKED = (
    "anchors", "c45-agreement", "commands", "ensembles", "harness", "maps", "measure", "metrics", "one_row",
    "protection_study", "two-cores",
)  # fmt: skip
"""Tables of speed that are pages of their own. The others are quoted."""
exclude_patterns += [
    f"results/speed/{path.name}"
    for path in sorted((HERE.parent / "results" / "speed").glob("*.md"))
    if path.stem not in LINKED
]
# what `probcal table` and the benchmarks write without a heading is quoted in pages, not read as one
exclude_patterns += ["results/quickstart", "results/*-quick", "results/reliability/summary*"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
sphinx_gallery_conf = {
    "examples_dirs": "docs/gallery",  # seen from the folder that Sphinx reads
    "gallery_dirs": "docs/_gallery",
    "abort_on_example_error": True,
    "capture_repr": (),
    "download_all_examples": False,
    "write_computation_times": False,  # they would make every build another one
    "min_reported_time": 3600,
    "show_signature": False,
    "within_subsection_order": "ExampleTitleSortKey",
    "remove_config_comments": True,
}
myst_enable_extensions = ["html_image"]  # a picture with a width, which a code host shows too
smartquotes = False
highlight_language = "none"

myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

napoleon_google_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]  # a list like that of the parameters
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_format = "short"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {
    "inherited-members": "BaseEstimator, ClassifierMixin, MetaEstimatorMixin, tuple, Exception, int",
    "exclude-members": "set_fit_request, set_score_request, set_predict_request, set_predict_proba_request, "
    "get_metadata_routing",
}
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!probcal\.).*"),  # of other projects: the pages are built without a network
    ("py:class", r"probcal\.\w+\.\w+\..*"),  # types in signatures that are no part of the public surface
]

html_theme = "furo"
html_title = f"probcal {version}"
html_additional_pages = {"index": "to_the_first_page.html"}
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_copy_source = False
html_show_sphinx = False

TITLES = {
    "results/published-readings/confirmed": "Readings of ProbNB and ProbSVM, chosen and confirmed",
    "results/audit/ranking": "Langford & Zadrozny (2005), ranking of unstated settings",
    "results/discretisation/differences": "Five discretisations of Probing, differences",
    "results/kernels/differences": "Probing with an RBF kernel, differences",
    "results/peers": "Each method and metric compared with another package",
    "results/protection-simulated/gains": "What protection gains on simulated streams",
    "results/protection-speed": "Cost of a step of protection",
    "results/speed/commands": "Speed: a run, its status and its table",
    "results/speed/ensembles": "Speed: Probing around ensembles",
    "results/speed/harness": "Speed: the runner",
    "results/speed/maps": "Speed: maps of a million rows",
    "results/speed/measure": "Speed: commands on large files",
    "results/speed/metrics": "Speed: metrics of a million predictions",
    "results/speed/anchors": "Maps, models and decisions beside other packages",
    "results/speed/c45-agreement": "Trees of Weka's J48 and of C4.5 here, node for node",
    "results/speed/protection_study": "What protected forecasters lose on nine streams",
    "results/speed/one_row": "Speed: one row at a time",
    "results/speed/two-cores": "Speed: where the second core goes",
    "results/reliability/bad_inputs": "Reliability: bad inputs",
    "results/reliability/cells": "Reliability: cells that misbehave",
    "results/reliability/changed_data": "Reliability: changed data and cards",
    "results/reliability/data_race": "Reliability: data replaced during a run",
    "results/reliability/environments": "Reliability: environments",
    "results/reliability/fuzz": "Reliability: random changes of inputs",
    "results/reliability/kills": "Reliability: killed runs",
    "results/reliability/places": "Reliability: full disks and other places",
    "results/reliability/two_hosts": "Reliability: two machines on one folder",
    "results/reliability/signals": "Reliability: signals",
    "results/reliability/weka_routes": "Reliability: ways to a file through Weka",
    "results/reliability/workers": "Reliability: the cost of a worker",
}
"""Titles of tables that a command or a benchmark writes without a heading."""

def give_a_title(text: str, page: str) -> str:
    """Tables that a command wrote without a heading are pages all the same."""
    return text if text.lstrip().startswith("# ") else f"# {TITLES.get(page, f'{page}.md')}\n\n{text}"


def as_printed(text: str) -> list[str]:
    """What stands under a command's options, line by line as in a terminal."""
    return ["::", "", *(f"    {line}" for line in text.replace("\b\n", "").splitlines()), ""] if text else []


def with_methods(text: str) -> str:
    """Return ``text`` with every ``.. methods-of:: FAMILY`` as the classes of that family in the registry."""

    def classes(found: re.Match[str]) -> str:
        names = [path.rpartition(".")[2] for path, family in FAMILIES.items() if family == found[1]]
        return "\n".join(f".. autoclass:: probcal.{name}\n   :members:" for name in names)

    return re.sub(r"^\.\. methods-of:: (\w+)$", classes, text, flags=re.MULTILINE)


_INTERVAL = r"\[[-+\d.,\N{MINUS SIGN}\N{INFINITY} ]+\]"
_NUMBER_WITH_INTERVAL = re.compile(rf"[\d.]*\d(?: ± [\d.]+| {_INTERVAL})+| ?{_INTERVAL}")


def keep_together(text: str) -> str:
    """Return ``text`` with no-break spaces inside ``.012 [.003, .021]`` and ``.65 ± .02``."""
    return _NUMBER_WITH_INTERVAL.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)


def keep_table_numbers_together(_app: Any, tree: nodes.document) -> None:
    for entry in tree.findall(nodes.entry):
        for text in [*entry.findall(nodes.Text)]:
            text.parent.replace(text, nodes.Text(keep_together(text)))


def setup(app: Any) -> None:
    def source(_app: Any, page: str, text: list[str]) -> None:
        text[0] = with_methods(text[0])
        if page.startswith("results/"):
            text[0] = give_a_title(text[0], page)

    def epilog(_app: Any, context: Any, lines: list[str]) -> None:
        lines[:] = as_printed(context.command.epilog or "")

    app.connect("source-read", source)
    app.connect("doctree-read", keep_table_numbers_together)
    app.connect("sphinx-click-process-epilog", epilog)
