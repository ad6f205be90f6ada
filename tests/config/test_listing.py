"""``probcal list``: what an experiment can name."""

from __future__ import annotations

from probcal.config.experiment import config_names, find_config, read_experiment
from tests.commands import probcal


def test_every_shipped_experiment_is_listed_with_its_title():
    lines = probcal("list", "configs").stdout.splitlines()[2:]
    told = dict(line.split(maxsplit=1) for line in lines)
    assert told == {name: read_experiment(find_config(name)).title for name in config_names()}
