"""`dpsql advise` on the command line."""

from __future__ import annotations

import pytest

from tests.unit.cli.clinic import Clinic, assert_one_clear_error


def test_a_quote_says_the_price_and_what_stays_empty(clinic: Clinic) -> None:
    ran = clinic.dpsql("advise", "clinic.yaml", "--quote")
    assert ran.code == 0
    assert ran.out.startswith(
        "Facts cost epsilon 0.05, once a table version, charged to the total and to every account."
    )
    assert not (clinic.folder / "clinic.ledger.db").exists() or "advise" not in clinic.dpsql("log", "clinic.yaml").out


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_facts_are_printed_written_and_free_the_second_time(clinic: Clinic) -> None:
    first = clinic.dpsql("advise", "clinic.yaml", "--epsilon", "0.5", "--write")
    assert first.code == 0
    again = clinic.dpsql("advise", "clinic.yaml")
    assert again.code == 0
    assert again.out.startswith("These facts were bought before: they are free.\n")
    assert "dpsql advise --epsilon 0.5: facts of version" in clinic.dpsql("log", "clinic.yaml").out


def test_what_cannot_be_paid_is_one_clear_error(clinic: Clinic) -> None:
    assert_one_clear_error(
        clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1000"), "Facts are charged to every account"
    )
    assert_one_clear_error(clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1e-15"), "buys no facts")
