"""A first policy of an unknown source: from a pipe by options, on a terminal by questions."""

from __future__ import annotations

import errno
import os
import re
from decimal import Decimal

import duckdb
import pytest
from typer.testing import CliRunner

from dpsql.cli import init as room
from dpsql.cli.app import app
from dpsql.policy import load_policy
from tests.unit.cli.clinic import Clinic, Ran, assert_one_clear_error


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
    assert "\nname: new\n" in text
    assert "ledger: new.ledger.db " in text
    assert "engine: {kind: duckdb, memory: 2GiB" in text
    assert 'rides:\n    source: "rides.csv"\n    unit: rider\n' in text
    assert "# fare: {type: real, bounds: auto}" in text
    assert "# age: {type: integer, bounds: auto}" in text
    assert "# rider" not in text
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb", "rides.csv"), "Name one database, or files")
    (clinic.folder / "more").mkdir()
    (clinic.folder / "more" / "rides.csv").write_text("rider\n1\n")
    both = "Two files have one name", "rides.csv and more/rides.csv"
    assert_one_clear_error(clinic.dpsql("init", "rides.csv", "more/rides.csv"), *both)
    (clinic.folder / "more" / "rides.old.csv").write_text("rider,fare\n1,2\n")
    assert_one_clear_error(clinic.dpsql("init", "more"), "more/rides.csv", "more/rides.old.csv", " and ")


def test_init_tells_of_files_that_it_leaves_out(clinic: Clinic) -> None:
    (clinic.folder / "rides").mkdir()
    (clinic.folder / "rides" / "old.csv").write_text("rider,fare\n1,2.5\n")
    duckdb.execute(f"COPY (SELECT 1 AS rider) TO '{clinic.folder}/rides/new.parquet' (FORMAT parquet)")
    ran = clinic.dpsql("init", "rides", "--unit", "rider", "--output", "new.yaml")
    assert ran.code == 0
    assert ran.err.startswith("Left out: rides/old.csv. Of a folder the files of one ending are read")
    assert ran.err.endswith("Name others beside it: dpsql init rides rides/old.csv\n")
    ran = clinic.dpsql("init", "rides", "rides/old.csv", "--unit", "rider", "--output", "both.yaml")
    assert (ran.code, ran.err) == (0, "")
    assert "rides/old.csv" in (clinic.folder / "both.yaml").read_text()


def test_a_file_whose_name_is_no_table_s_is_a_table_of_a_plain_name(clinic: Clinic) -> None:
    (clinic.folder / "bike-rides 2.csv").write_text("rider,fare-paid\n1,2.5\n")
    text = clinic.dpsql("init", "bike-rides 2.csv", "--unit", "rider", "--output", "-").out
    assert '  bike_rides_2:\n    source: "bike-rides 2.csv"\n    rename:  ' in text
    assert '      fare_paid: "fare-paid"\n    unit: rider\n' in text
    (clinic.folder / "bike_rides_2.csv").write_text("rider\n1\n")
    both = "Two files have one name", "bike-rides 2.csv and bike_rides_2.csv"
    assert_one_clear_error(clinic.dpsql("init", "bike-rides 2.csv", "bike_rides_2.csv"), *both)


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


def test_init_leaves_nothing_where_it_cannot_write_all(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    before = {*clinic.folder.iterdir()}
    assert_one_clear_error(clinic.dpsql("init", "clinic.duckdb", "--output", "new.yaml"), "No space left", "new.yaml")
    assert {*clinic.folder.iterdir()} == before


def test_init_knows_a_unit_that_is_there_in_any_case_and_refuses_one_that_is_not(clinic: Clinic) -> None:
    assert "unit: patient_id\n" in clinic.dpsql("init", "clinic.duckdb", "--unit", "PATIENT_ID", "--output", "-").out
    ran = clinic.dpsql("init", "clinic.duckdb", "--unit", "patent", "--output", "-")
    assert_one_clear_error(ran, "No table has a column patent. Write --unit with one of: patient_id, visit_id.")


def test_init_of_files_with_the_same_columns_says_that_they_may_be_one_table(clinic: Clinic) -> None:
    (clinic.folder / "rides").mkdir()
    for month in ("jan", "feb"):
        (clinic.folder / "rides" / f"{month}.csv").write_text("rider,fare\n1,2.5\n")
    assert "have the same columns" in clinic.dpsql("init", "rides/jan.csv", "rides/feb.csv", "--output", "two.yaml").out
    assert clinic.dpsql("init", "rides").code == 0
    assert 'rides:\n    source: "rides/*.csv"' in (clinic.folder / "rides.yaml").read_text()
    assert (
        clinic.dpsql("init", "rides/*.csv", "--output", "-").out == clinic.dpsql("init", "rides", "--output", "-").out
    )


def asked(clinic: Clinic, monkeypatch: pytest.MonkeyPatch, source: str, *answers: str) -> str:
    """What a terminal shows while these answers are typed; the policy lies beside the source."""
    monkeypatch.setattr(room, "_on_terminal", lambda: True)
    ran = CliRunner().invoke(app, ["init", source], input="".join(f"{answer}\n" for answer in answers))
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_on_a_terminal_the_owner_is_asked_and_the_policy_opens_as_it_is(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE orders (order_id INTEGER, customer_id INTEGER, email VARCHAR, urgent BOOLEAN)")
        connection.execute("CREATE TABLE towns (name VARCHAR)")
    typed = ("nobody", "", "y", "", "", "40", "0 x", "9,0", "1, 500", "2", "none", "0", "0.5", "")
    shown = asked(clinic, monkeypatch, "shop.duckdb", *typed)
    assert "column [customer_id]: " in shown
    assert "No table has a column nobody" in shown
    assert "Nothing in towns leads to customer_id." in shown
    assert "(all but email)" in shown
    assert shown.count("Write two of them, such as 0 110, the lower one first.") == 2
    assert shown.count("Write a number above 0") == 2
    assert "Read it once, then: dpsql check shop.yaml, and ask: dpsql shell shop.yaml" in shown
    policy = load_policy(clinic.folder / "shop.yaml")
    assert policy.tables["orders"].unit == "customer_id"
    assert list(policy.tables["orders"].columns) == ["order_id", "urgent"]
    assert policy.tables["orders"].rows_per_unit == 40
    assert policy.tables["orders"].columns["order_id"].bounds == (1, 500)
    assert policy.tables["towns"].public
    assert [policy.budget.total.epsilon, policy.budget.analysts["*"].epsilon] == [2, Decimal("0.5")]


def test_on_a_terminal_the_values_of_a_text_are_asked_and_stand_in_the_policy(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "SELECT 1 AS rider, 'a' AS zone, 'b' AS note, 2 AS \"no.\""
    duckdb.execute(f"COPY ({rows}) TO '{clinic.folder}/rides.parquet' (FORMAT parquet)")
    answers = ("", "", "", "", 'A, B b,A, "C"', "", "", "", "", "", "1", "2e-7")
    shown = asked(clinic, monkeypatch, "rides.parquet", *answers)
    assert "Groups of open texts (note) need a delta," in shown
    assert "no (integer)" in shown  # as the policy calls it
    assert shown.count("Write a number such as 1e-7, or -.") == 1
    budget = load_policy(clinic.folder / "rides.yaml").budget
    deltas = budget.total.delta, budget.analysts["*"].delta, budget.per_query.delta
    assert deltas == (Decimal("2e-7"), Decimal("2e-7"), Decimal("2e-9"))
    assert "Of text, every value there is" in shown
    columns = load_policy(clinic.folder / "rides.yaml").tables["rides"].columns
    assert columns["zone"].values == ("A", "B b", '"C"')
    assert columns["note"].values is None


def test_on_a_terminal_an_enum_s_values_are_shown_and_taken(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    with duckdb.connect("shop.duckdb") as connection:
        connection.execute("CREATE TABLE calls (customer_id INTEGER, level ENUM ('low', 'high, or not'))")
    shown = asked(clinic, monkeypatch, "shop.duckdb", "", "", "", "", "=", "", "", "")
    assert "level (text), an ENUM of low, high, or not; = for these, if no data made that list: " in shown
    assert load_policy(clinic.folder / "shop.yaml").tables["calls"].columns["level"].values == ("low", "high, or not")


def test_the_column_of_the_protected_person_is_no_text_that_is_grouped_by(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "SELECT 'a' AS rider, 'b' AS zone"
    duckdb.execute(f"COPY ({rows}) TO '{clinic.folder}/rides.parquet' (FORMAT parquet)")
    assert "Groups of open texts (zone) need a delta," in asked(clinic, monkeypatch, "rides.parquet", *[""] * 8, "-")
    duckdb.execute(f"COPY (SELECT 'a' AS rider, 1 AS zone) TO '{clinic.folder}/alone.parquet' (FORMAT parquet)")
    assert "need a delta" not in asked(clinic, monkeypatch, "alone.parquet", *[""] * 8)


def test_an_owner_may_want_no_delta(clinic: Clinic, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb.execute(f"COPY (SELECT 1 AS rider, 'a' AS zone) TO '{clinic.folder}/rides.parquet' (FORMAT parquet)")
    asked(clinic, monkeypatch, "rides.parquet", *[""] * 8, "-")
    assert load_policy(clinic.folder / "rides.yaml").budget.total.delta == 0


def test_what_a_csv_file_writes_otherwise_is_proposed_and_read_by_check(clinic: Clinic) -> None:
    rows = ["1;1.234,50;31.12.2024;31.12.2024 23:59;ja;NULL", "2;-;02.01.2024;01.02.2024 00:00;nein;Bern"]
    (clinic.folder / "rides.csv").write_text("\n".join(["rider;fare;day;seen;paid;town", *rows, ""]))
    written = clinic.dpsql("init", "rides.csv", "--unit", "rider", "--output", "-").out
    assert '      dateformat: "%d.%m.%Y"     # such as 31.12.2024\n' in written
    assert not [
        text
        for text in (*rows[0].split(";")[1:3], "02.01.2024", "Bern")
        if text in written.replace("such as 31.12.2024", "").replace("31.12.2024, 1,5", "")
    ]
    text = re.sub(r"^      # (\w+: [{])", r"      \1", written, flags=re.MULTILINE)
    text = text.replace("bounds: auto", "bounds: [0, 9999]").replace("FILL_IN", "1").replace("1024", "1")
    (clinic.folder / "new.yaml").write_text(text)
    types = [column.type for column in load_policy(clinic.folder / "new.yaml").tables["rides"].columns.values()]
    assert types == ["real", "date", "timestamp", "boolean", "text"]
    told = clinic.dpsql("check", "new.yaml").out
    assert "rides" in told
    assert "are written" not in told


def test_where_no_column_is_a_person_the_policy_says_what_to_do(
    clinic: Clinic, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clinic.folder / "survey.csv").write_text("age,happy\n30,yes\n")
    shown = asked(clinic, monkeypatch, "survey.csv", "", "", "", "", "")
    assert "column [-]: " in shown
    assert "Fill in what it marks FILL_IN" in shown
    text = (clinic.folder / "survey.yaml").read_text()
    assert "unit: FILL_IN                # the column of the protected person; or public: true" in text
    assert "number the rows once and keep the numbers" in text


@pytest.mark.parametrize("first", ["1017,Alice,HIV", "name,2021-03-02,x", "a,-2.5,b"])
def test_a_csv_file_that_begins_with_a_row_is_told(clinic: Clinic, first: str) -> None:
    (clinic.folder / "rides.csv").write_text(f"{first}\n")
    ran = clinic.dpsql("init", "rides.csv")
    assert ran.code == 0
    assert "The first line of rides.csv holds" in ran.err
    (clinic.folder / "rides.csv").write_text("rider,fare 2,day_2021\n1,2,3\n")
    assert clinic.dpsql("init", "rides.csv", "--output", "other.yaml").err == ""
