"""A first policy, what is said of it and of the data."""

from __future__ import annotations

import duckdb

from dpsql.policy.schema import schema_text
from tests.unit.cli.clinic import POLICY, Clinic, Ran, assert_one_clear_error


def test_init_writes_a_policy_beside_the_database_that_says_what_to_fill_in(clinic: Clinic) -> None:
    (clinic.folder / "clinic.yaml").unlink()
    ran = clinic.dpsql("init", "clinic.duckdb")
    then = "dpsql advise clinic.yaml --quote, and dpsql check clinic.yaml"
    assert ran == Ran(0, f"Wrote clinic.yaml. Fill in what it marks FILL_IN, then: {then}\n", "")
    assert "cost: {type: integer" in (clinic.folder / "clinic.yaml").read_text()
    assert_one_clear_error(clinic.dpsql("check", "clinic.yaml"), "still to be filled in")


def test_init_reads_csv_and_parquet_files_as_tables_of_their_own(clinic: Clinic) -> None:
    (clinic.folder / "rides.csv").write_text("rider,fare\n1,2.5\n")
    duckdb.execute(f"COPY (SELECT 1 AS rider, 30 AS age) TO '{clinic.folder}/riders.parquet' (FORMAT parquet)")
    assert clinic.dpsql("init", "rides.csv", "riders.parquet", "--unit", "rider", "--output", "new.yaml").code == 0
    text = (clinic.folder / "new.yaml").read_text()
    assert "engine: {kind: duckdb, memory: 2GiB" in text
    assert 'rides:\n    source: "rides.csv"\n    unit: rider ' in text
    assert "# fare: {type: TYPE}" in text
    assert "# age: {type: integer, bounds: auto}" in text
    assert "# rider" not in text
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb", "rides.csv"), "Name one database, or files")
    (clinic.folder / "more").mkdir()
    (clinic.folder / "more" / "rides.csv").write_text("rider\n1\n")
    assert_one_clear_error(clinic.dpsql("init", "rides.csv", "more/rides.csv"), "Two files have one name")


def test_a_file_whose_name_is_no_table_s_is_a_table_of_a_plain_name(clinic: Clinic) -> None:
    (clinic.folder / "bike-rides 2.csv").write_text("rider,fare-paid\n1,2.5\n")
    text = clinic.dpsql("init", "bike-rides 2.csv", "--unit", "rider", "--output", "-").out
    assert '  bike_rides_2:\n    source: "bike-rides 2.csv"\n    unit: rider ' in text
    assert '# "fare-paid": not a plain name; rename the column in the file\n' in text
    (clinic.folder / "bike_rides_2.csv").write_text("rider\n1\n")
    assert_one_clear_error(clinic.dpsql("init", "bike-rides 2.csv", "bike_rides_2.csv"), "Two files have one name")


def test_init_never_overwrites(clinic: Clinic) -> None:
    before = (clinic.folder / "clinic.yaml").read_text()
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb"), "clinic.yaml exists", "--output")
    assert (clinic.folder / "clinic.yaml").read_text() == before


def test_init_prints_on_request_and_names_the_database_from_where_the_policy_will_lie(clinic: Clinic) -> None:
    assert 'database: "clinic.duckdb"' in clinic.dpsql("init", "clinic.duckdb", "--output", "-").out
    (clinic.folder / "policies").mkdir()
    assert clinic.dpsql("init", "clinic.duckdb", "--output", "policies/new.yaml").code == 0
    assert 'database: "../clinic.duckdb"' in (clinic.folder / "policies" / "new.yaml").read_text()


def test_init_holds_no_value_of_the_data(clinic: Clinic) -> None:
    with duckdb.connect("named.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 'Xanthippe' AS name, 918273 AS amount")
    text = clinic.dpsql("init", "named.duckdb", "--output", "-").out
    assert "amount" in text
    assert "Xanthippe" not in text
    assert "918273" not in text


def test_init_of_a_missing_database_or_folder_is_one_clear_error(clinic: Clinic) -> None:
    assert_one_clear_error(clinic.dpsql("init", "none.duckdb"), "none.duckdb is not a file")
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb", "--output", "no/p.yaml"), "No such file", "no/p.yaml")


def test_check_is_content_with_data_that_fit(clinic: Clinic) -> None:
    ran = clinic.with_rows_per_unit(10).dpsql("check", "clinic.yaml")
    assert ran == Ran(0, "The policy is sound. The data fit it.\n", "")


def test_check_tells_the_owner_exact_shares(clinic: Clinic) -> None:
    ran = clinic.with_rows_per_unit(4).dpsql("check", "clinic.yaml")
    assert ran.code == 0
    assert "60.0000%" in ran.out
    assert ran.out.endswith("The policy is sound. It can be used as it is.\n")


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
