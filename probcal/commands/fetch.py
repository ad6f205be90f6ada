"""``probcal fetch``"""

from __future__ import annotations

import sys

import click

from probcal.commands.options import data_dir_option, example, trusted_imports
from probcal.visible import visible


@click.command(epilog=example("probcal fetch configs/uci.yaml\nprobcal fetch uci -d adult --data-dir ~/uci"))
@click.argument("config")
@click.option("-d", "--dataset", "datasets", multiple=True, metavar="NAME", help="Only this data set; may be repeated.")
@data_dir_option
@trusted_imports
def fetch(config: str, datasets: tuple[str, ...], data_dir: str | None) -> None:
    """Bring the data sets of CONFIG into the cache, and check them; runs nothing."""
    from probcal.config import find_config, read_experiment
    from probcal.data.load import data_folder
    from probcal.run.data_step import obtain_all

    selection = read_experiment(find_config(config)).selected(datasets)
    step = obtain_all(selection.cards_read(), data_folder(data_dir), lambda line: None)
    for name, source in step.sources.items():
        click.echo(visible(f"{name}: {source}"))
    for why in step.missing.values():
        click.echo(visible(f"no data: {why}"), err=True)
    sys.exit(1 if step.missing else 0)
