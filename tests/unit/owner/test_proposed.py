"""Who may be protected is read off names and declared keys, and nothing else."""

from __future__ import annotations

from dpsql.engine.database import SourceType, TableSchema
from dpsql.owner.proposed import Link, links, names_somebody, units

WHOLE, TEXT, REAL = SourceType("BIGINT", "integer"), SourceType("VARCHAR", "text"), SourceType("DOUBLE", "real")


def table(*columns: str, keys: tuple[tuple[str, ...], ...] = (), **references: tuple[str, str]) -> TableSchema:
    return TableSchema(tuple((name, WHOLE) for name in columns), keys=keys, references=references)


def test_a_name_that_speaks_of_people_comes_first_then_what_more_tables_have() -> None:
    tables = {"visits": table("visit_id", "ward_id", "patient_id"), "wards": table("ward_id", "beds")}
    assert units(tables) == ["patient_id", "ward_id", "visit_id"]


def test_values_that_are_no_names_and_names_that_are_shown_are_no_units() -> None:
    columns = (("customer_id", REAL), ("customer_name", TEXT), ("customer_no", TEXT))
    assert units({"sales": TableSchema(columns)}) == ["customer_no"]


def test_a_survey_without_any_such_column_has_none() -> None:
    assert units({"survey": TableSchema((("age", WHOLE), ("income", REAL), ("happy", TEXT)))}) == []


def test_rows_find_their_unit_in_their_own_column_or_along_declared_and_named_keys() -> None:
    tables = {
        "people": table("PERSON_ID", "age"),
        "orders": table("order_id", "person_id"),
        "lines": table("line_id", "order_id"),
        "stamps": table("line", "at", line=("lines", "line_id")),
        "towns": table("town_id"),
    }
    assert links(tables, "person_id") == {
        "people": Link("PERSON_ID"),
        "orders": Link("person_id"),
        "lines": Link("order_id", "orders", "order_id"),
        "stamps": Link("line", "lines", "line_id"),
    }


def test_keys_are_found_of_tables_with_other_plurals() -> None:
    tables = {
        "people": table("person_id"),
        "diagnoses": table("diagnosis_id", "person_id"),
        "therapies": table("therapy_id", "diagnosis_id"),
        "dishes": table("dish_id", "therapy_id"),
        "meals": table("meal", "dish_id"),
        "serie": table("series_id"),
    }
    found = links(tables, "person_id")
    assert [(name, link.via) for name, link in found.items()] == [
        ("people", None), ("diagnoses", None), ("therapies", "diagnoses"), ("dishes", "therapies"), ("meals", "dishes"),
    ]  # fmt: skip


def test_columns_that_tell_who_somebody_is_are_known_by_name() -> None:
    assert all(map(names_somebody, ("name", "first_name", "EMail", "home_address", "phone")))
    assert not any(map(names_somebody, ("ward", "filename", "shipping", "renamed")))
