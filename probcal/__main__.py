"""``python -m probcal``."""

from probcal.cli import main

main(prog_name="probcal")
