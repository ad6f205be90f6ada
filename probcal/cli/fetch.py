"""``probcal fetch``"""

from __future__ import annotations

import sys

import click

from probcal._io import printable
from probcal.cli import options


@options.command(
    "Fetch the data sets of an experiment into the cache.",
    "probcal fetch configs/uci.yaml\nprobcal fetch uci -d adult --data-dir ~/uci",
    environment=(*options.DATA, *options.TRUST),
    interrupted="interrupted; data sets that were fetched whole stay in the cache",
    exits={0: "all are in the cache", 1: "a data set is missing; the message says where to get it"},
)
@options.config_argument
@options.dataset_option
@options.data_dir_option
@options.trusted_imports
def fetch(config: str, datasets: tuple[str, ...], data_dir: str | None) -> None:
    """Fetch the data sets of CONFIG into the cache, check them, and run nothing.

    CONFIG is a YAML file, or the name of a shipped experiment. A data set is read from its original files if you have
    them (--data-dir). Otherwise it is downloaded from OpenML. It is then checked against its card. Afterwards probcal
    run needs no network.
    """
    from probcal.config.experiment import find_config, read_experiment
    from probcal.data.load import data_folder
    from probcal.runner.data_step import obtain_all

    selection = read_experiment(find_config(config)).select(datasets)
    step = obtain_all(selection.used_cards(), data_folder(data_dir), lambda line: None)
    for name, source in step.sources.items():
        click.echo(printable(f"{name}: {source}"))
    for card, fingerprint in step.fingerprints.items():
        if card.expect.fingerprint is None:
            click.echo(printable(f"{card.name}: fingerprint {fingerprint}, which its card can name"), err=True)
    for reason in step.missing.values():
        click.echo(printable(f"no data: {reason}"), err=True)
    sys.exit(1 if step.missing else 0)
