"""Check that each number on the first pages is a line of docs/claims.csv, whose command makes it."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import pytest

from tests.commands import probcal

ROOT = Path(__file__).parents[2]
with (ROOT / "docs" / "claims.csv").open(encoding="utf-8", newline="") as file:
    CLAIMS = list(csv.DictReader(file))
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twenty|hundred|thousand|million)\b", re.IGNORECASE
)


def sentences(page):
    """Return the sentences of a page in one line each, with the texts of pictures, without code and navigation."""
    text = (ROOT / page).read_text(encoding="utf-8").partition("```{toctree}")[0]
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r'<img[^>]*alt="([^"]*)">', r"\1.", text)
    blocks = (" ".join(block.split()) for block in re.split(r"\n\s*\n|\n(?=[-|#*])", text))
    return [one for block in blocks for one in re.split(r"(?<=[.!?:]) (?=[A-Z*`])", block)]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_every_sentence_with_a_number_is_in_the_table_of_claims(page):
    claims = [" ".join(one["claim"].split()) for one in CLAIMS if one["page"] == page]
    found = sentences(page)
    addresses = re.compile(r"\]\([^)]*\)|`[^`]*`")
    with_numbers = [one for one in found if _NUMBER.search(addresses.sub("]", one))]
    assert [one for one in with_numbers if not any(claim in one for claim in claims)] == []
    text = " ".join(" ".join(found).split()) + (ROOT / page).read_text(encoding="utf-8")
    assert [claim for claim in claims if claim not in text] == []


@pytest.mark.parametrize("command", sorted({line for one in CLAIMS for line in one["made by"].split("; ")}))
def test_every_command_of_the_table_of_claims_exists(command):
    program, *words = shlex.split(command)
    if program == "probcal":
        assert probcal(words[0], "--help").exit_code == 0
        places = [word for word in words[1:] if word.startswith("results/")]
    else:
        assert program in ("python", "pytest")
        places = words
    assert [place for place in places if not (ROOT / place).exists()] == []
