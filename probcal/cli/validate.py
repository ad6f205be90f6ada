"""``probcal validate``"""

from __future__ import annotations

import click

from probcal.cli import options


@options.command(
    "Check an experiment without running anything.",
    "probcal validate configs/uci.yaml\nprobcal validate mine.yaml --trust my_module",
    environment=options.TRUST,
    exits={0: "no fault", 2: "faults, each printed with its line, or a package is not installed"},
)
@options.config_argument
@options.trusted_imports
def validate(config: str) -> None:
    """Check the experiment CONFIG without running anything.

    CONFIG is a YAML file, or the name of a shipped experiment. The command also checks the cards of its data sets, the
    parameters of learners and methods, and required packages such as Weka and Java. All wrong keys and types are
    reported at once, each with its line. If there are none, all other faults are. An editor can show most faults while
    you type: see probcal schema --help.
    """
    from probcal.config.experiment import find_config, read_experiment
    from probcal.runner.cell import cells_of
    from probcal.runner.plan import refuse_unmet_requirements

    experiment = read_experiment(find_config(config))
    refuse_unmet_requirements(cells_of(experiment), experiment.weka)
    click.echo(
        f"{experiment.path} is fine; data sets: {len(experiment.cards)}, columns: {len(experiment.columns)}, "
        f"cells: {len(cells_of(experiment))}"
    )
