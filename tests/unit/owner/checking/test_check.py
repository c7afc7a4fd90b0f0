"""The owner learns exactly how data and policy differ, and never a value of a row."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.database import TableSchema
from dpsql.engine.duckdb.types import source_type
from dpsql.errors import PolicyError
from dpsql.owner.advice.recommend import unmeasured
from dpsql.owner.checking.budget_report import budget_findings
from dpsql.owner.checking.check import check
from dpsql.owner.checking.partition_report import partition_findings
from dpsql.owner.finding import verdict
from dpsql.owner.template import first_policy
from dpsql.policy import Policy
from tests.connected import connected
from tests.unit.owner.clinic import data, policy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the clinic's database."""
    data(tmp_path)
    return tmp_path


def found(
    folder: Path, **changes: Any
) -> dict[tuple[str | None, str | None, str], tuple[int | None, Fraction | None, str]]:
    """The findings: (table, column, first words) to (count, share, severity)."""
    return {
        (finding.table, finding.column, " ".join(finding.what.split()[:4])): (
            finding.count,
            finding.share,
            finding.severity,
        )
        for finding in check(policy(folder, **changes))
    }


def test_every_difference_is_counted_exactly(folder: Path) -> None:
    assert found(folder) == {
        ("patients", "patient_id", "rows have no unit."): (1, Fraction(1, 5), "warning"),
        ("patients", "patient_id", "units repeat, though they"): (1, Fraction(1, 3), "warning"),
        ("patients", "patient_id", "rows repeat the key"): (1, Fraction(1, 5), "warning"),
        ("patients", "age", "values are outside the"): (1, Fraction(1, 5), "warning"),
        ("patients", "age", "values are NULL though"): (1, Fraction(1, 5), "warning"),
        ("patients", "city", "values are outside the"): (1, Fraction(1, 5), "warning"),
        ("visits", "patient_id", "units have more than"): (1, Fraction(1, 2), "warning"),
        ("visits", "patient_id", "rows are beyond rows_per_unit:"): (2, Fraction(1, 3), "warning"),
        ("visits", "visit_id", "rows have no key."): (1, Fraction(1, 6), "warning"),
        ("visits", "visit_id", "rows repeat a key"): (1, Fraction(1, 6), "warning"),
        ("visits", "visit_id", "rows share their key"): (1, Fraction(1, 6), "warning"),
        ("visits", "cost", "values are NaN. They"): (1, Fraction(1, 6), "warning"),
        ("visits", "cost", "values are outside the"): (1, Fraction(1, 6), "warning"),
    }


def test_of_values_outside_the_bounds_it_is_told_how_much_of_the_total_they_are(tmp_path: Path) -> None:
    data(tmp_path)
    with connected(tmp_path / "clinic.duckdb") as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE visits AS SELECT i % 100 AS patient_id, i AS visit_id, "
            "CASE i WHEN 7 THEN 99100.0 WHEN 8 THEN 'inf'::DOUBLE ELSE 1.0 END AS cost FROM range(1000) AS r(i)"
        )
    (told,) = (own for own in check(policy(tmp_path)) if own.column == "cost" and "outside" in own.what)
    assert told.what.startswith("values are outside the bounds. They are moved to the nearer bound: of all that they")
    assert told.of_total == pytest.approx(0.98, abs=0.02)
    assert "which takes 99% off their total" in verdict([told], refused=False)


def test_a_key_of_several_columns_is_counted_as_the_bounded_table_reads_it(folder: Path) -> None:
    columns = {"visit_id": {"type": "integer", "bounds": [10, 11]}}  # 12 is moved to 11
    counted = found(folder, visits={"key": ["patient_id", "visit_id"], "columns": columns, "rows_per_unit": 4})
    assert counted[("visits", None, "rows have no key,")] == (1, Fraction(1, 6), "warning")
    assert counted[("visits", None, "rows repeat a key")] == (2, Fraction(1, 3), "warning")


def test_texts_that_are_cut_are_counted_with_their_units(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN note VARCHAR")
        connection.execute("UPDATE visits SET note = CASE WHEN patient_id = 1 THEN 'long note' ELSE 'note' END")
    columns = {"note": {"type": "text", "max_length": 4, "nullable": True}}
    cut = next(
        one for one in check(policy(folder, visits={"columns": columns})) if one.read_as == "their first letters"
    )
    assert cut.what == "texts, of 1 unit, are longer than max_length: 4. They are cut; write more to keep more."
    assert (cut.table, cut.column, cut.severity) == ("visits", "note", "warning")
    assert cut.count and cut.share == Fraction(cut.count, 6)
    kept = check(policy(folder, visits={"columns": {"note": {"type": "text"}}}))
    assert not [one for one in kept if one.column == "note" and one.read_as]


def test_data_that_fit_give_no_finding(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("CREATE OR REPLACE TABLE patients AS SELECT 1 AS patient_id, 30 AS age, 'Bern' AS city")
        connection.execute(
            "CREATE OR REPLACE TABLE visits AS SELECT 1 AS patient_id, 10 AS visit_id, 5.0::DOUBLE AS cost"
        )
    assert check(policy(folder)) == []


def test_values_from_a_column_of_another_type_are_named_with_the_type_to_declare(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("CREATE TABLE wards AS SELECT 7 AS number")
    ward = {"city": {"type": "text", "values_from": "wards.number"}}
    found = check(policy(folder, wards={"public": True}, patients={"columns": ward}))
    (error,) = (one for one in found if one.severity == "error")
    assert (error.table, error.column) == ("patients", "city")
    assert "is declared text, but takes its values from wards.number, INTEGER. Declare type: integer or" in error.what


def test_rows_that_repeat_a_key_or_lack_one_are_left_out_in_the_verdict(folder: Path) -> None:
    columns = {"visit_id": {"type": "integer", "bounds": [10, 11]}}  # 12 is moved to 11
    visits = {"key": ["patient_id", "visit_id"], "columns": columns, "rows_per_unit": 4}
    said = verdict(check(policy(folder, visits=visits)), refused=False)
    assert "16.7% of the rows of visits, which have no key (" in said
    assert "33.3% of the rows of visits, which repeat a key of their unit (" in said


def test_no_finding_shows_a_value(folder: Path) -> None:
    text = " ".join(finding.what for finding in check(policy(folder)))
    for value in ("Paris", "200", "7.5", "8.5"):
        assert value not in text


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ({"visits": {"columns": {"price": {"type": "real"}}}}, ("visits", "price"), "not in the data"),
        ({"visits": {"columns": {"cost": {"type": "date"}}}}, ("visits", "cost"), "declared date, but the data hold"),
        ({"visits": {"unit": "nobody"}}, ("visits", "nobody"), "not in the data"),
        ({"visits": {"key": "nothing"}}, ("visits", "nothing"), "not in the data"),
        ({"cities": {"key": "nothing"}}, ("cities", "nothing"), "not in the data"),
        ({"visits": {"source": "missing.csv"}}, ("visits", None), "There is no file"),
        (
            {"patients": {"unit": "city", "columns": {"age": {"type": "integer"}}}},
            (None, None),
            "an integer in visits.patient_id and a text in patients.city",
        ),
    ],
)
def test_what_makes_the_policy_unusable_is_an_error(
    folder: Path, changes: dict[str, Any], where: tuple[str | None, str | None], words: str
) -> None:
    errors = [finding for finding in check(policy(folder, **changes)) if finding.severity == "error"]
    assert any((error.table, error.column) == where and words in error.what for error in errors)


def test_a_false_floor_is_an_error(folder: Path) -> None:
    floor = ("visits", None, "rows are left by")  # patient 1 keeps 2 of 4 rows, patient 2 both of 2
    assert floor not in found(folder, visits={"rows_at_least": 4})
    assert found(folder, visits={"rows_at_least": 5})[floor] == (4, None, "error")


def test_fewer_units_than_a_group_needs_is_a_warning(folder: Path) -> None:
    hidden = ("visits", None, "units are there, fewer")
    assert hidden not in found(folder, visits={"min_units": 2})
    assert found(folder, visits={"min_units": 3})[hidden] == (2, None, "warning")


def test_a_table_of_nobody_is_a_warning_that_names_no_key_of_the_policy(folder: Path) -> None:
    with connected(next(folder.glob("*.duckdb"))) as connection:
        connection.execute("DELETE FROM visits")
    told = {finding.what for finding in check(policy(folder)) if finding.table == "visits"}
    assert "units are there. Every answer is noise alone." in told
    assert not any("min_units" in what for what in told)
    hidden = ("visits", None, "units are there, fewer")
    assert found(folder, visits={"min_units": 2})[hidden] == (0, None, "warning")


def test_a_false_floor_of_units_is_an_error(folder: Path) -> None:
    plain = policy(folder).model_dump(exclude_unset=True)
    for floor, wrong in ((3, False), (4, True)):
        section = {"assume": "iid", "base_partition": ["age"], "gamma_limit": Decimal("0.9"), "row_floor": floor}
        findings = check(Policy.model_validate({**plain, "random_dp": {"patients": section}}))
        assert wrong == any(f.what.startswith("units are there, fewer than row_floor: 4") for f in findings)


def test_random_dp_is_counted_or_refused_before_anything_is_built(folder: Path) -> None:
    plain = policy(folder).model_dump(exclude_unset=True)
    section = {"assume": "exchangeable", "base_partition": ["city"], "gamma_limit": Decimal("0.01"), "row_floor": 1000}
    (note,) = partition_findings(Policy.model_validate({**plain, "random_dp": {"patients": section}}))
    assert (note.severity, "cells and at least 1000 units, so gamma 0.00" in note.what) == ("note", True)
    (error,) = partition_findings(
        Policy.model_validate({**plain, "random_dp": {"patients": section | {"row_floor": 9}}})
    )
    assert (error.severity, "which is above gamma_limit 0.01" in error.what) == ("error", True)


def test_a_public_key_that_repeats_is_an_error(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("INSERT INTO cities VALUES ('Bern', 3)")
    assert found(folder)[("cities", "name", "rows repeat a value")] == (1, Fraction(1, 3), "error")


def test_a_database_that_does_not_open_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="There is no file"):
        check(policy(tmp_path))


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["BLOB", "INTERVAL", "TIME", "BIT"])
def test_what_init_says_cannot_be_used_is_refused(folder: Path, kind: str) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute(f"ALTER TABLE visits ADD COLUMN odd {kind}")
        types = dict(connection.execute("SELECT column_name, column_type FROM (DESCRIBE visits)").fetchall())
    columns = TableSchema(tuple((name, source_type(held)) for name, held in types.items()))
    assert "# odd: its type cannot be used as it is" in first_policy("x", "duckdb", {}, {"visits": columns})
    cure = "write epoch(x), its seconds, in a view" if kind == "INTERVAL" else "cast it in a view"
    assert cure in first_policy("x", "duckdb", {}, {"visits": columns})
    where = ("visits", "odd", "visits.odd is declared text,")
    assert found(folder, visits={"columns": {"odd": {"type": "text"}}})[where] == (None, None, "error")


def test_numbers_kept_as_text_are_parsed_and_the_owner_is_told(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN floor VARCHAR DEFAULT '3'")
    columns = {"floor": {"type": "integer", "bounds": [0, 9]}}
    assert found(folder, visits={"columns": columns})["visits", "floor", "is declared integer, but"] == (
        None,
        None,
        "warning",
    )


def test_times_with_a_zone_are_read_as_utc_and_the_owner_is_told(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("ALTER TABLE visits ADD COLUMN seen TIMESTAMPTZ")
    columns = {"seen": {"type": "timestamp"}}
    where = ("visits", "seen", "has time zones in")
    assert found(folder, visits={"columns": columns})[where] == (None, None, "warning")


def test_times_with_a_zone_in_a_file_are_local_in_the_view_that_the_owner_is_told_of(folder: Path) -> None:
    file = folder / "seen.parquet"
    with connected(folder / "clinic.duckdb") as connection:
        rows = "SELECT 1 AS patient_id, TIMESTAMPTZ '2024-06-15 23:30:00+00' AS \"at\""
        connection.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
    seen = {"unit": "patient_id", "rows_per_unit": 1, "columns": {"at": {"type": "timestamp"}}}
    (told,) = (one.what for one in check(policy(folder, seen=seen | {"source": str(file)})) if one.column == "at")
    assert "cast it in a DuckDB file with a view over it, and name that file: CREATE VIEW seen AS SELECT" in told
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute(told[told.index("CREATE VIEW") :].removesuffix("."))
        assert connection.execute('SELECT CAST("at" AS VARCHAR) FROM seen').fetchall() == [("2024-06-16 01:30:00",)]
    assert not [one for one in check(policy(folder, seen=seen)) if one.column == "at"]


def test_texts_with_an_offset_are_read_as_utc_and_the_owner_is_told_of_how_many(folder: Path) -> None:
    (folder / "seen.csv").write_text("patient_id,at\n1,2024-06-15T10:15:00+02:00\n2,2024-06-15T10:15:00\n2,noon\n")
    columns = {"at": {"type": "timestamp", "nullable": True}}
    seen = {"unit": "patient_id", "rows_per_unit": 2, "source": str(folder / "seen.csv"), "columns": columns}
    told = {key: finding for key, finding in found(folder, seen=seen).items() if key[0] == "seen"}
    assert told == {
        ("seen", "at", "values have an offset,"): (1, Fraction(1, 3), "warning"),
        ("seen", "at", "values are no timestamp."): (1, Fraction(1, 3), "warning"),
    }


def with_budget(folder: Path, **budget: Any) -> Policy:
    """The clinic's policy with another budget."""
    plain = policy(folder).model_dump(exclude_unset=True)
    return Policy.model_validate({**plain, "budget": plain["budget"] | budget})


def test_a_delta_that_is_large_for_so_few_people_is_a_warning(folder: Path) -> None:
    total = {"epsilon": 1, "delta": Decimal("0.01")}
    (finding,) = budget_findings(with_budget(folder, total=total))
    assert (finding.severity, finding.count) == ("warning", 3)  # patients 1 to 3: the rows of nobody are no unit
    assert "Write at most 0.0033." in finding.what
    assert budget_findings(with_budget(folder, total=total | {"delta": Decimal("0.003")})) == []


def test_an_analyst_who_is_promised_more_than_the_total_holds_is_a_warning(folder: Path) -> None:
    analysts = {"ana": {"epsilon": 2, "delta": Decimal("1e-9")}, "bob": {"epsilon": 1}}
    (finding,) = budget_findings(with_budget(folder, analysts=analysts))
    assert finding.what == (
        "analyst ana: epsilon 2 is above the total's 1, and delta 1e-9 is above the total's 0. The total ends first."
    )


def test_analysts_who_are_promised_more_together_than_the_total_holds_are_a_note(folder: Path) -> None:
    total = {"epsilon": 3}
    analysts = {"ana": {"epsilon": 2}, "bob": {"epsilon": 2}, "*": {"epsilon": Decimal("0.5")}}
    (finding,) = budget_findings(with_budget(folder, total=total, analysts=analysts))
    assert (finding.severity, finding.what) == (
        "note",
        "together analysts are promised epsilon 4.5, more than the total's 3: who asks first is served.",
    )
    assert budget_findings(with_budget(folder, total={"epsilon": 5}, analysts=analysts)) == []


def test_a_cap_that_drowns_a_count_of_the_rows_is_a_warning_until_it_is_lower(folder: Path) -> None:
    plain = policy(folder).model_dump(exclude_unset=True)
    plain["tables"]["visits"] |= {"rows_per_unit": 1024, "rows_about": 5000}
    plain["budget"]["per_query"] = {"epsilon": Decimal("0.1")}
    (finding,) = unmeasured(Policy.model_validate(plain))
    assert (finding.table, finding.severity) == ("visits", "warning")
    assert finding.what.startswith("rows_per_unit: 1024 drowns a COUNT(*): ±30,676 at the price of a query")
    plain["tables"]["visits"]["rows_per_unit"] = 100
    assert not list(unmeasured(Policy.model_validate(plain)))


DRUGS = {
    "unit": {"via": "visits", "on": "visit"},
    "rows_per_unit": 2,
    "columns": {"name": {"type": "text"}},
}


def prescribed(folder: Path, *visits: str) -> None:
    """Adds a table of drugs, each prescribed on a visit of this number."""
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("CREATE TABLE drugs (visit INTEGER, name TEXT)")
        for visit in visits:
            connection.execute(f"INSERT INTO drugs VALUES ({visit}, 'a drug')")


def test_what_a_chain_of_keys_finds_is_counted(folder: Path) -> None:
    prescribed(folder, "10", "11", "10", "12", "99", "99", "NULL")  # visit 12 is of patients 1 and 2
    drugs = {key: values for key, values in found(folder, drugs=DRUGS).items() if key[0] == "drugs"}
    assert drugs == {
        ("drugs", "visit", "rows refer to no"): (1, Fraction(1, 7), "warning"),
        ("drugs", "visit", "rows refer to a"): (2, Fraction(2, 7), "warning"),
        ("drugs", "visit", "rows belong to several"): (1, Fraction(1, 7), "warning"),
        ("drugs", "patient_id", "units have more than"): (1, Fraction(1, 2), "warning"),  # patient 1 has four
        ("drugs", "patient_id", "rows are beyond rows_per_unit:"): (2, Fraction(2, 5), "warning"),
    }


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drugs": DRUGS | {"unit": {"via": "visits", "on": "lost"}}}, "drugs.lost is in the policy but not in the"),
        ({"drugs": DRUGS, "visits": {"unit": "nobody"}}, "visits.nobody is in the policy but not in the data"),
        ({"drugs": DRUGS, "visits": {"source": "missing.csv"}}, "drugs is owned through visits, which cannot be read"),
        ({"drugs": DRUGS | {"key": "lost"}}, "drugs.lost is in the policy but not in the data"),
    ],
)
def test_a_chain_that_cannot_be_followed_is_an_error(folder: Path, changes: dict[str, Any], words: str) -> None:
    prescribed(folder, "10")
    errors = [finding for finding in check(policy(folder, **changes)) if finding.severity == "error"]
    assert any(error.table == "drugs" and words in error.what for error in errors)
