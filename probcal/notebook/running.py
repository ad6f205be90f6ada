"""``probcal.run``: run an experiment from Python, as the command ``probcal run`` does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from probcal._io import printable
from probcal.components.trust import trusting
from probcal.config.experiment import Experiment, find_config, parse_experiment, read_experiment
from probcal.data.load import data_folder
from probcal.errors import FileProblems, ProbcalError, Problem
from probcal.notebook.results import ExperimentResults, as_names
from probcal.runner.description import small_experiment
from probcal.runner.run import run_experiment
from probcal.runner.run_options import RunOptions
from probcal.yaml_file import YamlFile

# Name of the file that a mapping stands for, in messages and in the results folder.
_FILE_NAME = "config"


class _QuotingDumper(yaml.SafeDumper):
    """Write every text in quotes, because our reader follows YAML 1.2 and PyYAML writes YAML 1.1."""


_QuotingDumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def run(
    config: Mapping[str, Any] | Path | str,
    *,
    output: Path | str | None = None,
    jobs: int = 1,
    datasets: str | Sequence[str] = (),
    learners: str | Sequence[str] = (),
    methods: str | Sequence[str] = (),
    seed: int | None = None,
    data_dir: Path | str | None = None,
    small: bool = False,
    timeout: float | None = None,
    retry_failed: bool = False,
    fail_fast: bool = False,
    trust: str | Sequence[str] = (),
    say: Callable[[str], None] | None = None,
) -> ExperimentResults:
    """Run an experiment and return its results. Only missing and stale cells run.

    The checks and the messages are those of ``probcal run``. Interrupt it at any time: the same call continues.

    Parameters
    ----------
    config : mapping, Path or str
        A mapping with the keys of an experiment file, the path of such a file, or the name of a shipped one.
    output : Path or str, default=None
        Folder of the results. None means ``results/NAME``.
    jobs : int, default=1
        Number of cells at a time.
    datasets, learners, methods : str or sequence of str, default=()
        Names of those to run. An empty sequence selects all.
    seed : int, default=None
        Seed of splits and fits. None means the seed of the experiment.
    data_dir : Path or str, default=None
        Folder of original data files. None means the folder in PROBCAL_DATA_DIR, if it is set.
    small : bool, default=False
        Whether to run one repetition on at most 1,000 rows with 10 probes, as ``--quick``. NAME then ends with
        ``-quick``.
    timeout : float, default=None
        Seconds after which a cell is stopped. None means no limit.
    retry_failed : bool, default=False
        Whether failed cells run again.
    fail_fast : bool, default=False
        Whether to stop at the first cell that fails.
    trust : str or sequence of str, default=()
        Names below which classes may be imported, such as ``my_module``. Your modules may lie in the current folder.
    say : callable, default=None
        Receives each line as str. None prints to stderr.

    Returns
    -------
    ExperimentResults
        Results in the folder. ``failed`` lists the cells that failed.

    Raises
    ------
    ProbcalError
        If the config or the data have a mistake, or a package is missing. No result was changed.
    ValueError
        If ``jobs`` is below 1, or ``timeout`` is not positive.
    """
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if timeout is not None and timeout <= 0:
        raise ValueError(f"timeout must be positive, not {timeout}")
    print_line = say or (lambda line: print(printable(line), file=sys.stderr))
    with trusting(*as_names(trust)), _hidden_main():
        experiment = _read_experiment(config)
        if seed is not None:
            experiment = replace(experiment, seed=seed)
        if small:
            experiment = small_experiment(experiment)
        selection = experiment.select(*map(as_names, (datasets, learners, methods)))
        folder = Path(output) if output else Path("results") / experiment.name
        originals = data_folder(None if data_dir is None else str(data_dir))
        options = RunOptions(folder, originals, jobs, timeout, retry_failed, fail_fast, command="the same call")
        run_experiment(experiment, selection, options, print_line)
    return ExperimentResults(folder)


def _read_experiment(config: Mapping[str, Any] | Path | str) -> Experiment:
    if not isinstance(config, Mapping | Path | str):
        raise ProbcalError(
            f"the config has the type {type(config).__name__}; give a mapping, a path, or the name of a shipped one"
        )
    if not isinstance(config, Mapping):
        return read_experiment(find_config(str(config)))
    try:
        text = yaml.dump(_python_values(dict(config)), Dumper=_QuotingDumper, sort_keys=False, allow_unicode=True)
    except (yaml.YAMLError, RecursionError) as error:
        cause = error.args[-1] if error.args else error
        raise ProbcalError(
            f"the config holds {cause!r}, which no file can hold; use text, numbers, lists and mappings"
        ) from None
    try:
        return parse_experiment(YamlFile(Path(_FILE_NAME), text))
    except FileProblems as error:  # the lines are those of a text that nobody sees
        raise FileProblems(error.path, [Problem(0, problem.message) for problem in error.problems]) from None


def _python_values(value: Any) -> Any:
    """Return ``value`` with Python's own numbers in place of those of NumPy, which loops over arrays give."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {name: _python_values(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        raise ProbcalError(f"the config holds the set {value!r}, which has no order; give a list")
    return [_python_values(item) for item in value] if isinstance(value, list | tuple) else value


@contextmanager
def _hidden_main() -> Iterator[None]:
    """Keep worker processes from importing the script that calls this, which would run it again."""
    main = sys.modules["__main__"]
    names: dict[str, Any] = vars(main)  # type: ignore[assignment]  # mypy knows the types of some
    before: dict[str, Any] = {name: names[name] for name in ("__file__", "__spec__") if name in names}
    try:
        names.update(__file__=None, __spec__=None)
        yield
    finally:
        names.pop("__file__")
        names.update(before)
