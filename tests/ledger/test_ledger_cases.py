"""Each row of docs/ledger.md: compiled and plain do the same, in the way that the page says."""

import pathlib
import re

import pytest
from both_ways import difference, ledger
from ledger_cases import CASES

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "ledger.md"
ROWS = {*range(1, 52)} - {11, 12}
"""Row 11 is the policies (test_policy.py); row 12 is about tensors."""


@pytest.mark.parametrize("name", CASES)
def test_same(name):
    assert difference(CASES[name][0]) is None


@pytest.mark.parametrize("name", [name for name, (_, _, pended, _) in CASES.items() if pended is not None])
def test_pended(name):
    case, _, pended, _ = CASES[name]
    effects, kept = ledger(case)
    assert [text for text in pended if text not in effects] == [], (effects, kept)


@pytest.mark.parametrize("name", [name for name, (_, _, pended, real) in CASES.items() if pended is None and not real])
def test_neither(name):
    """Neither virtual cases nor those that no row calls real are checked further; they must interpret."""
    ledger(CASES[name][0])


@pytest.mark.parametrize("name", [name for name, (_, _, _, real) in CASES.items() if real])
def test_real(name):
    effects, kept = ledger(CASES[name][0])
    assert kept, effects


def test_every_row_has_a_case():
    assert ROWS <= {number for _, numbers, _, _ in CASES.values() for number in numbers}


def test_page_names_every_case():
    named = set(re.findall(r"`(\w+)`", PAGE.read_text()))
    assert set(CASES) <= named
    assert {int(number) for number in re.findall(r"^\| (\d+) \|", PAGE.read_text(), re.M)} >= ROWS | {11}
