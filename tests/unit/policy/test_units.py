"""A table without a unit column is owned through a chain of keys, which must lead to one and leave its name free."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dpsql.errors import InvariantBroken
from dpsql.policy import Policy, TablePolicy, Via

Load = Callable[..., Policy]
Refusal = Callable[..., str]

VISITS = "unit: pid\n    rows_per_unit: 12"
KEYED = (VISITS, f"key: visit_id\n    {VISITS}")
DRUGS = """\
  drugs:
    unit: {via: visits, on: visit}
    rows_per_unit: 40
    columns: {name: {type: text}}
"""
DOSES = """\
  doses:
    unit: {via: drugs, on: drug_id}
    rows_per_unit: 80
    columns: {grams: {type: real, bounds: [0, 9]}}
"""


def chain(*tables: str) -> tuple[str, str]:
    """The change that adds tables to the clinic."""
    return "  towns: {public", "".join(tables) + "  towns: {public"


def test_the_unit_is_called_as_at_the_end_of_the_chain(load: Load) -> None:
    policy = load(KEYED, chain(DRUGS.replace("rows_per", "key: drug_id\n    rows_per"), DOSES))
    assert policy.tables["drugs"].unit == Via(via="visits", on="visit")
    assert {name: table.unit_column for name, table in policy.tables.items() if not table.public} == dict.fromkeys(
        ("people", "visits", "drugs", "doses"), "pid"
    )


def test_references_identify_what_the_key_does_that_they_refer_to(load: Load) -> None:
    policy = load(KEYED, chain(DRUGS.replace("rows_per", "key: drug_id\n    rows_per"), DOSES))
    assert {name: policy.identities(name) for name in ("people", "visits", "drugs", "doses")} == {
        "people": {"pid": None},
        "visits": {"pid": None, "visit_id": "visits.visit_id"},
        "drugs": {"visit": "visits.visit_id", "drug_id": "drugs.drug_id"},
        "doses": {"drug_id": "drugs.drug_id"},
    }


def test_a_key_that_is_a_reference_identifies_what_it_refers_to(load: Load) -> None:
    policy = load(
        KEYED,
        chain(
            DRUGS.replace("rows_per", "key: visit\n    rows_per"),
            DOSES.replace("drug_id", "visit_number"),
        ),
    )
    assert policy.identities("drugs") == {"visit": "visits.visit_id"}
    assert policy.identities("doses") == {"visit_number": "visits.visit_id"}


def test_a_reference_to_a_key_that_is_the_unit_is_the_unit(load: Load) -> None:
    policy = load((VISITS, VISITS.replace("pid", "{via: people, on: person}")))
    assert policy.tables["visits"].unit_column == "pid"
    assert policy.identities("visits") == {"person": None}
    assert load((VISITS, VISITS.replace("pid", "{via: people, on: pid}"))).identities("visits") == {"pid": None}


def test_a_table_outside_of_a_policy_cannot_know_where_its_chain_ends() -> None:
    table = TablePolicy.model_validate(
        {"unit": {"via": "visits", "on": "visit_id"}, "rows_per_unit": 1, "columns": {"name": {"type": "text"}}}
    )
    with pytest.raises(InvariantBroken):
        _ = table.unit_column


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("{via: towns, on: name}", "clinic.yaml:20:17: tables.visits.unit.via: towns is not a private table of this"),
        ("{via: lost, on: name}", "clinic.yaml:20:17: tables.visits.unit.via: lost is not a private table of this"),
        ("{via: visits, on: x}", "clinic.yaml:20:17: tables.visits.unit.via: visits to visits is a circle; end it"),
        ("{via: people, by: pid}", "tables.visits.unit.by: there is no such key here; write "),
    ],
)
def test_a_chain_must_lead_to_a_unit(refusal: Refusal, unit: str, expected: str) -> None:
    assert expected in refusal((VISITS, VISITS.replace("pid", unit)))


def test_a_chain_leads_by_keys(refusal: Refusal) -> None:
    assert (
        "clinic.yaml:26:17: tables.drugs.unit.via: visits has no key; write key: COLUMN there, the one that visit "
        "refers to" in refusal(chain(DRUGS))
    )


def test_a_long_circle_is_shown(refusal: Refusal) -> None:
    tables = (
        DRUGS.replace("visits", "doses").replace("rows_per", "key: a\n    rows_per"),
        DOSES.replace("rows_per", "key: b\n    rows_per"),
    )
    assert "drugs to doses to drugs is a circle" in refusal(chain(*tables))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            ("{name: {", "{PID: {"),
            "clinic.yaml:29:15: tables.drugs.columns.PID: pid is how the unit of drugs is called",
        ),
        (("on: visit}", "on: pid}"), "tables.drugs.unit.on: pid is how the unit of drugs is called, through visits; "),
        (("rows_per", "key: pid\n    rows_per"), "tables.drugs.key: pid is how the unit of drugs is called"),
    ],
)
def test_no_other_column_has_the_name_of_the_unit(refusal: Refusal, change: tuple[str, str], expected: str) -> None:
    message = refusal(KEYED, chain(DRUGS.replace(*change)))
    assert expected in message
    assert "another name, in a view" in message


@pytest.mark.parametrize("name", ["person", "pid"])
def test_a_reference_that_is_the_unit_is_no_column_for_analysts(refusal: Refusal, name: str) -> None:
    message = refusal(
        (VISITS, VISITS.replace("pid", f"{{via: people, on: {name}}}")),
        ("cost: {", f"{name}: {{type: integer}}\n      cost: {{"),
    )
    assert f"tables.visits.columns.{name}: {name} is the unit, which no answer may show" in message
