"""``probcal fetch``"""

from __future__ import annotations

import sys

import click

from probcal._io import visible
from probcal.cli.options import (
    DATA,
    MISTAKE,
    TRUST,
    config_argument,
    data_dir_option,
    dataset_option,
    manual,
    trusted_imports,
)


@click.command(
    short_help="Bring an experiment's data sets into the cache.",
    epilog=manual(
        "probcal fetch configs/uci.yaml\nprobcal fetch uci -d adult --data-dir ~/uci",
        environment=(*DATA, *TRUST),
        exits={0: "all are there", 1: "a data set is not to be had; where to get it is said", **MISTAKE},
    ),
)
@config_argument
@dataset_option
@data_dir_option
@trusted_imports
def fetch(config: str, datasets: tuple[str, ...], data_dir: str | None) -> None:
    """Bring the data sets of CONFIG into the cache, and check them; runs nothing.

    CONFIG is a YAML file, or the name of a shipped experiment. Each data set is read from its original files where
    they are (--data-dir), else downloaded from OpenML, and compared with what its card expects. Afterwards probcal
    run needs no network.
    """
    from probcal.config.experiment import find_config, read_experiment
    from probcal.data.load import data_folder
    from probcal.runner.data_step import obtain_all

    selection = read_experiment(find_config(config)).selected(datasets)
    step = obtain_all(selection.cards_read(), data_folder(data_dir), lambda line: None)
    for name, source in step.sources.items():
        click.echo(visible(f"{name}: {source}"))
    for why in step.missing.values():
        click.echo(visible(f"no data: {why}"), err=True)
    sys.exit(1 if step.missing else 0)
