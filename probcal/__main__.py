"""Run the program ``probcal``, also as ``python -m probcal``."""

import atexit
import gc

from probcal.runner.interruption import end_once, handle_signals, prepare_streams

_OBJECTS_PER_COLLECTION = 20_000
"""New objects between two searches for garbage. Python's 700 searches the results of a large folder again and again."""


def main() -> None:
    """Run the command line. Signals are handled before the first heavy import."""
    prepare_streams()
    handle_signals()
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    # The end of Python would search the results of a large folder for garbage, which takes a third of a second.
    atexit.register(gc.freeze)
    with end_once():
        from probcal.distribution import tell_of_namesake

        tell_of_namesake()
        from probcal.cli.main import main as commands

        commands(prog_name="probcal")


if __name__ == "__main__":
    main()
