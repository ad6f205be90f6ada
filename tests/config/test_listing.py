"""Test ``probcal list``, which lists the names that an experiment can use."""

from __future__ import annotations

import pytest

from probcal.config.experiment import config_names, find_config, read_experiment
from probcal.papers.published import PublishedPaper, paper_names
from tests.commands import probcal


@pytest.mark.slow
def test_every_shipped_experiment_is_listed_with_its_title():
    lines = probcal("list", "configs").stdout.splitlines()[2:]
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told == {name: read_experiment(find_config(name)).title for name in config_names()}


def test_every_paper_is_listed_with_citation_and_counts():
    text = probcal("list", "papers").stdout
    for name in paper_names():
        paper = PublishedPaper.read(name)
        line = next(line for line in text.splitlines() if line.startswith(f"{name} "))
        n_numbers = sum(len(table.numbers) for table in paper.tables.values())
        assert paper.short in line
        assert [int(one) for one in line.split()[-3:]] == [len(paper.tables), n_numbers, len(paper.claims)]
        assert paper.citation in " ".join(text.split())
