"""What `dpsql advise` takes for the number of rows and units: before it counts, and after."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from tests.unit.test_advising import POLICY, advised
from tests.unit.test_advising import policy as policy


def test_a_quote_says_how_many_units_it_needs_and_how_many_there_are_taken_to_be(policy: Path) -> None:
    policy.write_text(POLICY.replace("8000", "100000").replace("rows_per_unit: 64", "rows_per_unit: 1024"))
    told = advised(policy, quote=True).quote
    said = re.search(r"a table of fewer than ([\d,]+) units may stay empty.* taken to be: orders about 10,000\.", told)
    assert said is not None
    less = re.search(r"fewer than ([\d,]+) units", advised(policy, quote=True, epsilon=Fraction(1, 8)).quote)
    assert less is not None
    needs, needs_more = (int(own[1].replace(",", "")) for own in (said, less))
    assert needs_more == pytest.approx(4 * needs, rel=0.05)


def test_a_quote_says_where_it_rests_on_a_number_of_rows_that_nobody_wrote(policy: Path) -> None:
    quotes = []
    for written in ("    rows_about: 10000\n", ""):
        policy.write_text(POLICY.replace("    rows_about: 8000\n", written))
        quotes.append(advised(policy, quote=True, epsilon=Fraction(1, 100)).quote)
    said = " No rows_about is written for orders: it is taken to be 10,000, or rows_at_least where that is more. Write"
    assert [said in quote for quote in quotes] == [False, True]
    assert quotes[1].index(said) < quotes[1].index(" So these would stay empty: orders, orders.price.")


@pytest.mark.every(2)
@pytest.mark.parametrize(("guess", "kept"), [(7600, True), (9000, True), (100, False), (300_000, False)])
def test_the_owners_rows_about_stays_where_the_facts_do_not_contradict_it(policy: Path, guess: int, kept: bool) -> None:
    policy.write_text(POLICY.replace("8000", str(guess)))
    report = advised(policy, write=True)
    assert (f"rows_about: {guess}\n" in policy.read_text()) == kept
    assert any(change.startswith("tables.orders.rows_about") for change in report.changes) != kept
