"""A first policy, what is said of it and of the data."""

from __future__ import annotations

import duckdb

from dpsql.policy.schema import schema_text
from tests.unit.cli.clinic import POLICY, Clinic, Ran, assert_one_clear_error


def test_check_is_content_with_data_that_fit(clinic: Clinic) -> None:
    ran = clinic.with_rows_per_unit(10).dpsql("check", "clinic.yaml")
    assert ran == Ran(0, "The policy is sound. The data fit it.\n", "")


def test_check_says_where_bounds_are_still_to_be_measured(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("bounds: [0, 400]", "bounds: auto"))
    ran = clinic.dpsql("check", "clinic.yaml")
    assert ran.code == 1
    assert "has bounds: auto, and no facts yet." in ran.out
    assert "The policy does not open yet: bounds are auto. Columns without any: 1." in ran.err


def test_check_says_once_what_several_columns_have_alike(clinic: Clinic) -> None:
    policy = clinic.folder / "clinic.yaml"
    text = policy.read_text().replace("bounds: [0, 400]}", "bounds: auto}, paid: {type: real, bounds: auto}")
    policy.write_text(text)
    with duckdb.connect(str(clinic.folder / "clinic.duckdb")) as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN paid DOUBLE")
    ran = clinic.dpsql("check", "clinic.yaml")
    (row,) = [line for line in ran.out.splitlines() if "has bounds: auto" in line]
    assert row.split(maxsplit=2)[:2] == ["error", "visits"]
    assert "  Each of 2 columns (cost, paid): has bounds: auto, and no facts yet." in row
    assert "Columns without any: 2." in ran.err


def test_check_tells_the_owner_exact_shares(clinic: Clinic) -> None:
    ran = clinic.with_rows_per_unit(4).dpsql("check", "clinic.yaml")
    assert ran.code == 0
    assert "60.0000%" in ran.out
    assert ran.out.endswith(
        "The policy can be used. Answers leave out 60.0% of the rows of visits, which are beyond rows_per_unit: 4 of "
        "their unit. See the warnings above.\n"
    )


def test_check_names_the_share_of_values_that_answers_take_for_others(clinic: Clinic) -> None:
    """The visits cost 0 to 400 or so: 84% of them within the narrower bounds."""
    with duckdb.connect(str(clinic.folder / "clinic.duckdb")) as connection:
        connection.execute("UPDATE visits SET cost = CASE WHEN rowid % 25 < 4 THEN 300 ELSE 5 END")
    policy = clinic.with_rows_per_unit(10).folder / "clinic.yaml"
    policy.write_text(policy.read_text().replace("[0, 400]", "[0, 100]"))
    ran = clinic.dpsql("check", "clinic.yaml")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == (
        "The policy can be used. Answers are about other values than the data hold: 16.0% of the values of visits.cost "
        "count as the nearer bound, which takes 61% off their total. See the warnings above."
    )


def test_check_says_that_queries_are_refused_until_a_refresh(clinic: Clinic) -> None:
    clinic.with_rows_per_unit(10).dpsql("refresh", "clinic.yaml")
    assert clinic.dpsql("check", "clinic.yaml").out == "The policy is sound. The data fit it.\n"
    clinic.with_rows_per_unit(12)
    ran = clinic.dpsql("check", "clinic.yaml")
    assert "The policy's tables changed since version 1 was built. Queries are refused until you run: dpsql" in ran.out
    assert ran.out.endswith("The policy is sound, but queries are refused until you run dpsql refresh.\n")
    assert clinic.dpsql("query", "clinic.yaml", "SELECT COUNT(*) FROM visits", "--analyst", "ana").code == 1
    clinic.dpsql("refresh", "clinic.yaml")
    assert clinic.dpsql("check", "clinic.yaml").out == "The policy is sound. The data fit it.\n"
    with duckdb.connect(str(clinic.folder / "clinic.duckdb")) as connection:
        connection.execute("INSERT INTO visits SELECT * REPLACE (5000 AS patient_id) FROM visits LIMIT 1")
    assert (
        "The data changed since version 2 was built. Queries are refused until you"
        in clinic.dpsql("check", "clinic.yaml").out
    )


def test_check_ends_with_code_1_where_the_policy_cannot_be_used(clinic: Clinic) -> None:
    (clinic.folder / "clinic.yaml").write_text(POLICY.replace("ROWS", "10").replace("cost:", "price:"))
    ran = clinic.dpsql("check", "clinic.yaml")
    assert ran.code == 1
    assert "price" in ran.out
    assert "do not fit the policy" in ran.err


def test_check_says_on_a_line_of_its_own_that_the_database_does_not_open(clinic: Clinic) -> None:
    (clinic.folder / "clinic.duckdb").unlink()
    assert_one_clear_error(clinic.dpsql("check", "clinic.yaml"), "There is no file")


def test_a_statement_in_the_place_of_the_policy_is_told_where_it_belongs(clinic: Clinic) -> None:
    ran = clinic.dpsql("query", "SELECT COUNT(*) FROM visits", "clinic.yaml", "--analyst", "ana")
    assert (ran.code, "the policy file comes first, then the statement" in ran.err) == (2, True)


def test_schema_prints_the_json_schema(clinic: Clinic) -> None:
    assert clinic.dpsql("schema") == Ran(0, schema_text(), "")
