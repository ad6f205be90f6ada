"""``probcal validate``"""

from __future__ import annotations

import click

from probcal.cli.options import TRUST, config_argument, manual, trusted_imports


@click.command(
    short_help="Check an experiment without running anything.",
    epilog=manual(
        "probcal validate configs/uci.yaml\nprobcal validate mine.yaml --trust my_module",
        environment=TRUST,
        exits={0: "it is fine", 2: "it is not (every fault is told with its line), or what it needs is not installed"},
    ),
)
@config_argument
@trusted_imports
def validate(config: str) -> None:
    """Check the experiment CONFIG without running anything.

    CONFIG is a YAML file, or the name of a shipped experiment. The cards of its data sets are checked too, and that
    every learner and method can be made with its parameters and has what it needs: packages, Weka, Java. All faults
    are reported at once. Editors tell most of them as they are typed, see probcal schema --help.
    """
    from probcal.config.experiment import find_config, read_experiment
    from probcal.runner.cells import cells_of
    from probcal.runner.plan import refuse_unmet

    experiment = read_experiment(find_config(config))
    refuse_unmet(cells_of(experiment))
    click.echo(
        f"{experiment.path} is fine; data sets: {len(experiment.cards)}, columns: {len(experiment.columns)}, "
        f"cells: {len(cells_of(experiment))}"
    )
