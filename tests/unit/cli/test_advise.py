"""`dpsql advise` on the command line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsql.advising import advise
from dpsql.testing_samplers import Noiseless
from tests.unit.cli.clinic import Clinic, assert_one_clear_error


def test_a_quote_says_the_price_and_what_stays_empty(clinic: Clinic) -> None:
    ran = clinic.dpsql("advise", "clinic.yaml", "--quote")
    assert ran.code == 0
    assert ran.out.startswith(
        "Facts cost epsilon 0.05, once a table version, charged to the total and to every account."
    )
    assert not (clinic.folder / "clinic.ledger.db").exists() or "advise" not in clinic.dpsql("log", "clinic.yaml").out


@pytest.mark.chance(2e-13, "100 patients of one bin stay below 23: Laplace noise of scale 8/3 below -77")
def test_facts_are_printed_written_and_free_the_second_time(clinic: Clinic) -> None:
    first = clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1.5", "--write")
    assert first.code == 0
    again = clinic.dpsql("advise", "clinic.yaml")
    assert again.code == 0
    assert again.out.startswith("These facts were bought before: they are free.\n")
    assert "dpsql advise --epsilon 1.5: facts of version" in clinic.dpsql("log", "clinic.yaml").out


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_whom_a_price_leaves_little_is_told_in_the_quote_and_at_the_charge(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("{ana: {epsilon: 2}}", "{ana: {epsilon: 2}, ben: {epsilon: 1}}"))
    said = "It leaves ben 0 of 1.\n"
    assert said in clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1", "--quote").out
    charged = clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1")
    assert said in charged.out + charged.err
    again = clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1.5", "--quote")
    assert "Ana cannot pay it; ben cannot pay it." in again.out
    assert "leaves" not in clinic.dpsql("advise", "clinic.yaml", "--quote").out


def test_what_cannot_be_paid_is_one_clear_error(clinic: Clinic) -> None:
    assert_one_clear_error(
        clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1000"), "Facts are charged to every account"
    )
    assert_one_clear_error(clinic.dpsql("advise", "clinic.yaml", "--epsilon", "1e-15"), "buys no facts")


def test_what_finds_no_bounds_is_the_last_thing_said_and_no_policy_to_be_used(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("bounds: [0, 400]", "bounds: auto"))
    assert advise(policy, epsilon=Fraction(1, 1000), sampler=Noiseless(), write=True).charged
    ran = clinic.dpsql("advise", "clinic.yaml", "--write")
    assert ran.code == 1
    assert ran.out == "These facts were bought before: they are free.\nvisits: nothing stands above the noise.\n"
    assert "No value but 0 was found above the noise of: visits.cost." in ran.err
    checked = clinic.dpsql("check", "clinic.yaml")
    assert checked.code == 1
    assert "the facts hold no value but 0 above their noise" in checked.out
    assert "can be used" not in checked.out


def test_a_public_table_needs_no_bounds_and_is_told_so_before_the_charge(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    public = "  wards:\n    public: true\n    columns: {beds: {type: integer, bounds: auto}}\n"
    policy.write_text(policy.read_text().replace("tables:\n", f"tables:\n{public}"))
    for command in ("advise", "check"):
        assert_one_clear_error(
            clinic.dpsql(command, "clinic.yaml"), "wards.columns.beds.bounds: a public table is returned as it is"
        )


def test_a_table_of_which_nothing_is_found_is_the_last_thing_said_and_no_success(clinic: Clinic) -> None:
    assert advise(clinic.folder / "clinic.yaml", epsilon=Fraction(1, 1000), sampler=Noiseless()).unseen == ("visits",)
    ran = clinic.dpsql("advise", "clinic.yaml")
    assert (ran.code, "visits: nothing stands above the noise.\n" in ran.out) == (1, True)
    assert "The facts tell nothing of visits: no count stands above the noise." in ran.err
