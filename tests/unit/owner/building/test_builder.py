"""A version of the bounded tables is built whole or not at all, privately, and from every kind of source."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.duckdb import FILE
from dpsql.engine.log import OPERATOR
from dpsql.errors import OperationalError, PolicyError
from dpsql.owner.building import builder
from dpsql.owner.building.builder import build, version_directory
from dpsql.owner.in_use import LOCK
from tests.connected import connected
from tests.unit.owner.clinic import KEY, data, policy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the clinic's database."""
    data(tmp_path)
    return tmp_path


def built(folder: Path, version: int = 1, **changes: Any) -> Path:
    """The bounded file of a new version."""
    build(policy(folder, **changes), key=KEY, version=version, directory=folder / "cache")
    return version_directory(folder / "cache", version) / FILE


def rows(file: Path, sql: str) -> list[tuple[Any, ...]]:
    """What a bounded file holds."""
    with connected(file, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def test_the_bounded_file_holds_cleaned_and_capped_tables(folder: Path) -> None:
    file = built(folder)
    assert rows(file, "SELECT patient_id, age, city FROM bounded.main.patients WHERE patient_id < 3 ORDER BY ALL") == [
        (1, 30, "Basel"),
        (2, 110, "Bern"),
    ]
    assert rows(file, "SELECT patient_id, count(*) FROM visits GROUP BY 1 ORDER BY 1") == [(1, 2), (2, 1)]
    assert rows(file, 'SELECT cost, "cost$grid" FROM visits WHERE patient_id = 2') == [(100.0, 10_000)]
    assert rows(file, "SELECT * FROM cities ORDER BY name") == [("Basel", 1.5), ("Bern", None)]


def test_nothing_of_it_is_readable_to_others(folder: Path) -> None:
    file = built(folder)
    for directory in (folder / "cache", file.parent):
        assert directory.stat().st_mode & 0o777 == 0o700
    for inside in file.parent.iterdir():
        assert inside.stat().st_mode & 0o777 == 0o600
    assert {inside.name for inside in file.parent.iterdir()} == {FILE, builder.FACTS, LOCK}


def test_the_same_data_and_key_make_the_same_view_again(folder: Path) -> None:
    everything = "SELECT * FROM visits ORDER BY ALL"
    assert rows(built(folder, 1), everything) == rows(built(folder, 2), everything)


def test_building_a_version_again_replaces_it(folder: Path) -> None:
    built(folder)
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("INSERT INTO patients VALUES (9, 9, 'Bern')")
    assert rows(built(folder), "SELECT age FROM patients WHERE patient_id = 9") == [(9,)]


def test_versions_before_the_last_are_removed(folder: Path) -> None:
    for version in (1, 2, 3):
        built(folder, version)
    assert sorted(path.name for path in (folder / "cache").glob("v*")) == ["v2", "v3"]


def test_progress_names_public_steps_and_ends_at_one(folder: Path) -> None:
    steps: list[tuple[str, float]] = []
    build(policy(folder), key=KEY, version=1, directory=folder / "cache", progress=lambda *step: steps.append(step))
    assert [step for step, _ in steps] == [
        "building cities",
        "building patients",
        "counting values of patients",
        "adding up patients",
        "building visits",
        "counting values of visits",
        "adding up visits by rank",
        "adding up visits",
        "done",
    ]
    assert [share for _, share in steps] == sorted(share for _, share in steps)
    assert steps[-1][1] == 1.0


def test_a_failed_build_leaves_what_was_there(folder: Path) -> None:
    file = built(folder)
    before = file.read_bytes()
    with pytest.raises(PolicyError, match=r"visits\.cost is declared date"):
        built(folder, visits={"columns": {"cost": {"type": "date"}}})
    assert file.read_bytes() == before
    assert list((folder / "cache").glob(".building*")) == []


def test_what_a_killed_build_left_is_removed_by_the_next(folder: Path) -> None:
    left = folder / "cache" / ".building-dead"
    left.mkdir(parents=True)
    (left / "bounded.duckdb").write_text("half a file")
    with builder.alone(folder / "cache"):
        assert not left.exists()


def test_who_waits_for_another_build_is_told_and_not_for_ever(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "PATIENCE", 0.01)
    told: set[tuple[str, float]] = set()
    with (
        builder.alone(folder / "new" / "cache"),
        pytest.raises(OperationalError, match="by another process for an hour"),
        builder.alone(folder / "new" / "cache", lambda *step: told.add(step)),
    ):
        pass
    assert told == {("waiting for another process that builds", 0.0)}


def test_a_cache_that_cannot_be_written_is_named(folder: Path) -> None:
    (folder / "cache").write_text("a file, no directory")
    for build_it in (lambda: built(folder), lambda: builder.alone(folder / "cache").__enter__()):
        with pytest.raises(OperationalError, match=r"cannot be written in .*/cache: Not a directory\. .*engine\.cache"):
            build_it()


def test_every_new_level_of_the_cache_is_private_under_any_umask(folder: Path) -> None:
    before = os.umask(0)
    try:
        with builder.alone(folder / "new" / "cache"):
            pass
    finally:
        os.umask(before)
    assert {(folder / "new" / x).stat().st_mode & 0o777 for x in (".", "cache")} == {0o700}
    assert (folder / "new" / "cache" / ".lock").stat().st_mode & 0o777 == 0o600


def test_data_that_change_meanwhile_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = iter([[["a", 1, 1]], [["a", 1, 2]]])
    monkeypatch.setattr(builder, "fingerprint", lambda _: next(marks))
    with pytest.raises(OperationalError, match="changed while"):
        built(folder)
    assert not version_directory(folder / "cache", 1).exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"visits": {"unit": "nobody"}}, "visits.nobody is in the policy but not in the data"),
        ({"visits": {"key": "nothing"}}, "visits.nothing is in the policy but not in the data"),
        ({"visits": {"columns": {"price": {"type": "real"}}}}, "visits.price is in the policy but not in the data"),
        ({"patients": {"unit": "city", "columns": {"age": {"type": "integer"}}}}, "an integer in visits.patient_id"),
        ({"visits": {"source": "missing.parquet"}}, "There is no file .*missing.parquet"),
        ({"visits": {"source": "/etc/hostname"}}, "no Parquet or CSV file by its name"),
    ],
)
def test_a_schema_that_differs_from_the_policy_is_named(folder: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        built(folder, **changes)


def test_a_table_that_is_not_there_is_named(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("DROP TABLE visits")
    with pytest.raises(PolicyError, match="no table or view visits"):
        built(folder)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("SELECT * FROM 'visits.parquet'", r"visits reads .*visits.parquet by a relative path, .* write source: "),
        ("SELECT * FROM read_parquet(['visits.parquet'])", "visits reads .*visits.parquet by a relative path"),
        ("SELECT * FROM kept", "The view visits is in the database, but cannot be read: a table or file that it names"),
    ],
)
def test_a_view_that_cannot_be_read_is_not_called_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, view: str, message: str
) -> None:
    monkeypatch.chdir(folder)
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("COPY visits TO 'visits.parquet'")
        connection.execute("ALTER TABLE visits RENAME TO kept")
        connection.execute(f"CREATE VIEW visits AS {view}")
        connection.execute("DROP TABLE kept")
    with pytest.raises(PolicyError, match=message):
        built(folder)


def test_a_view_over_files_by_their_whole_path_is_read(folder: Path) -> None:
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute(f"COPY visits TO '{folder / 'visits.parquet'}'")
        connection.execute("DROP TABLE visits")
        connection.execute(f"CREATE VIEW visits AS SELECT * FROM '{folder / 'visits.parquet'}'")
    built(folder)


def test_a_database_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match="There is no file"):
        built(tmp_path)


def test_other_failures_have_a_fixed_text_and_go_to_the_owners_log(
    folder: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "visits.parquet").write_text("this is no parquet file")
    OPERATOR.addHandler(caplog.handler)
    try:
        with pytest.raises(OperationalError, match=r"^The data could not be read\. The data owner's log"):
            built(folder, visits={"source": str(folder / "visits.parquet")})
    finally:
        OPERATOR.removeHandler(caplog.handler)
    assert "parquet" in caplog.text.lower()
    assert capfd.readouterr() == ("", "")


@pytest.mark.every(2)
@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "tsv"])
def test_files_are_sources_too(folder: Path, kind: str) -> None:
    file = folder / f"it's visits.{kind}"
    escaped = str(file).replace("'", "''")
    options = {"parquet": "FORMAT parquet", "tsv": "FORMAT csv, DELIMITER '\t'"}.get(kind, "FORMAT csv")
    everything = "SELECT * FROM visits ORDER BY ALL"
    expected = rows(built(folder, 1), everything)
    with connected(folder / "clinic.duckdb", read_only=True) as connection:
        connection.execute(f"COPY visits TO '{escaped}' ({options})")
    got = rows(built(folder, 2, visits={"source": str(file)}), everything)
    if kind == "parquet":
        assert got == expected
    else:  # keys are text there, and so hash otherwise: other rows above the cap may stay
        assert len(got) == len(expected)
        assert [row for row in got if row[0] == 2] == [(2, "12", 100.0, 10_000, 1, 1, 5)]


def test_values_of_a_csv_file_that_are_no_numbers_read_as_null(folder: Path) -> None:
    file = folder / "visits.csv"
    file.write_text("patient_id,visit_id,cost\n1,1,5\n4,4,much\n5,5,\n")
    got = rows(built(folder, visits={"source": str(file)}), "SELECT patient_id, cost FROM visits ORDER BY ALL")
    assert got == [(1, 5.0), (4, None), (5, None)]


@pytest.mark.parametrize("line", ["2,2", '3,3,"7",8', '3,"oops', '3,"a"b,1'])
def test_a_line_of_a_csv_file_that_is_no_row_fails_the_build(folder: Path, line: str) -> None:
    """Leaving it out would take lines of other people along, which no sensitivity covers."""
    good = "".join(f"{i},{i},5\n" for i in range(10, 18))
    file = folder / "visits.csv"
    file.write_text(f"patient_id,visit_id,cost\n{line}\n{good}")
    with pytest.raises(OperationalError, match="a line that is no row"):
        built(folder, visits={"source": str(file)})


def test_a_source_is_never_written_to(folder: Path) -> None:
    source = folder / "clinic.duckdb"
    before, status = source.read_bytes(), source.stat()
    built(folder)
    assert source.read_bytes() == before
    assert source.stat().st_mtime_ns == status.st_mtime_ns
    assert {path.name for path in folder.iterdir()} == {"clinic.duckdb", "cache"}


@pytest.mark.slow
def test_ten_million_visits_are_bounded_in_two_minutes(tmp_path: Path) -> None:
    data(tmp_path)
    with connected(tmp_path / "clinic.duckdb") as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE visits AS "
            "SELECT i AS visit_id, hash(i + 1) % 30000 / 100.0::DOUBLE AS cost, "
            "floor(1000000 * pow(hash(i) % 1000000 / 1000000.0, 1.5))::BIGINT AS patient_id "
            "FROM range(10000000) AS t(i)"
        )
    begun = time.monotonic()
    file = built(tmp_path, visits={"rows_per_unit": 12})
    assert time.monotonic() - begun < 120
    assert rows(file, "SELECT max(n) FROM (SELECT count(*) AS n FROM visits GROUP BY patient_id)") == [(12,)]
    assert os.path.getsize(file) < 1 << 30  # noqa: PTH202 - the size alone
