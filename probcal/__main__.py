"""Run the program ``probcal``, also as ``python -m probcal``."""

from probcal.runner.interruption import end_once, handle_signals, prepare_streams


def main() -> None:
    """Run the command line. Signals are handled before the first heavy import."""
    prepare_streams()
    handle_signals()
    with end_once():
        from probcal.distribution import tell_of_namesake

        tell_of_namesake()
        from probcal.cli.main import main as commands

        commands(prog_name="probcal")


if __name__ == "__main__":
    main()
