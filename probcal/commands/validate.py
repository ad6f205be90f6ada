"""``probcal validate``"""

from __future__ import annotations

import click

from probcal.commands.options import example, trusted_imports


@click.command(epilog=example("probcal validate configs/uci.yaml"))
@click.argument("config")
@trusted_imports
def validate(config: str) -> None:
    """Check the experiment CONFIG without running anything; all faults are reported at once."""
    from probcal.config import find_config, read_experiment
    from probcal.run.plan import cells_of

    experiment = read_experiment(find_config(config))
    click.echo(
        f"{experiment.path} is fine; data sets: {len(experiment.cards)}, columns: {len(experiment.columns)}, "
        f"cells: {len(cells_of(experiment))}"
    )
