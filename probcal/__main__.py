"""The program ``probcal``, also as ``python -m probcal``."""

from probcal.interruption import ending_once, handle_signals
from probcal.standard_streams import prepare_streams


def main() -> None:
    """Run the command line. Signals are handled from before its first import on."""
    prepare_streams()
    handle_signals()
    with ending_once():
        from probcal.cli import main as commands

        commands(prog_name="probcal")


if __name__ == "__main__":
    main()
