"""Test that ``probcal help`` and ``probcal version`` print the same text as the options."""

import pytest

from probcal.cli.main import main
from tests.commands import probcal


@pytest.mark.parametrize("name", sorted(main.commands))
def test_help_of_a_command_equals_its_help_option(name):
    shown = probcal("help", name)
    assert shown.exit_code == 0
    assert shown.stdout == probcal(name, "--help").stdout
    assert f" {name} " in shown.stdout.splitlines()[0]


def test_help_alone_lists_all_commands():
    assert probcal("help").stdout == probcal("--help").stdout


def test_help_of_an_unknown_command_suggests_a_near_one():
    refused = probcal("help", "tabel")
    assert refused.exit_code == 2
    assert 'error: there is no command "tabel"; did you mean "table"? (there are: apply, audit, ' in refused.stderr


def test_version_equals_the_version_option():
    shown = probcal("version")
    assert shown.exit_code == 0
    assert shown.stdout == probcal("--version").stdout
    assert shown.stdout.startswith("probcal, version ")
