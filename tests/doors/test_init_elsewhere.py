"""`dpsql init` of data that lie on a server: names, types and declared keys alone, as of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsql.policy import load_policy
from examples.postgres import Server
from examples.spark import Server as Sail
from tests.unit.cli.clinic import Clinic, assert_one_clear_error

pytestmark = pytest.mark.doors
PRICES = ("3", "1", "0.1")


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Clinic:
    """A command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return Clinic(tmp_path, capsys)


def of(text: str, table: str) -> str:
    """What a policy's text says of a table."""
    return text.partition(f"\n  {table}:\n")[2].partition("\n  visits:\n")[0]


def test_postgresql_says_what_its_tables_declare(server: Server, here: Clinic) -> None:
    with server.connect("postgres") as connection:
        connection.execute("CREATE DATABASE declared")
    with server.connect("declared") as connection:
        connection.execute("CREATE TABLE people (id bigint PRIMARY KEY, born date, name text, paid numeric(8, 2))")
        connection.execute("CREATE TABLE stays (id int, room int, stay_id int UNIQUE, person bigint REFERENCES people)")
        connection.execute(
            "CREATE TABLE visits (stay int REFERENCES stays (stay_id), ward text, PRIMARY KEY (stay, ward))"
        )
        connection.execute("COMMENT ON TABLE people IS 'Whoever was ever here'")
        connection.execute("COMMENT ON COLUMN people.paid IS 'In francs'")
        connection.execute("INSERT INTO people VALUES (77, '1977-07-07', 'Mallory', 1.5)")
    source = f"postgresql:///declared?host={server.folder}&user=owner"
    text = here.dpsql("init", source, "--output", "-", "--unit", "person").out
    assert f'engine: {{kind: postgres, dsn: "{source}", memory' in text
    assert "unit: person" in of(text, "stays") and "# stay_id: {type: integer, bounds: auto}" in text
    assert "unit: {via: stays, on: stay}" in text and "key: [stay, ward]" in text
    assert '# paid: {type: decimal, bounds: auto, grid: 1.0e-2, description: "In francs"}' in of(text, "people")
    assert '    description: "Whoever was ever here"\n' in of(text, "people")
    assert not any(value in text for value in ("77", "Mallory"))


@pytest.mark.chance(0, "of the answer, only its price is looked at")
def test_what_it_writes_opens_once_it_is_filled_in(server: Server, here: Clinic) -> None:
    with server.connect("postgres") as connection:
        connection.execute("CREATE DATABASE polled")
    with server.connect("polled") as connection:
        connection.execute("CREATE TABLE poll (person int PRIMARY KEY, age int)")
        connection.execute("CREATE SCHEMA dpsql_bounded")
    assert "Wrote" in here.dpsql("init", server.dsn("polled"), "--unit", "person").out
    file = here.folder / "polled.yaml"
    text = file.read_text()
    for price in PRICES:
        text = text.replace("FILL_IN}", f"{price}}}", 1)
    file.write_text(text.replace("# age: {type: integer, bounds: auto}", "age: {type: integer, bounds: [0, 9]}"))
    assert load_policy(file).tables["poll"].rows_per_unit == 1
    assert (
        "Cost: epsilon 0.1" in here.dpsql("query", "polled.yaml", "SELECT COUNT(*) FROM poll", "--analyst", "ana").out
    )


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("postgresql://owner:secret@nowhere/hospital", "Leave it out, and write it into ~/.pgpass"),
        ("host=nowhere password=secret dbname=hospital", "Leave it out, and write it into ~/.pgpass"),
        ("postgresql://owner@nowhere:port/hospital", "PostgreSQL does not answer"),
        ("dbname=hospital colour=red", "does not read this connection string"),
        ("postgresql:///hospital?host=/nowhere&connect_timeout=1", "PostgreSQL does not answer"),
    ],
)  # fmt: skip
def test_what_is_no_such_database_is_one_clear_error(source: str, told: str, here: Clinic) -> None:
    ran = here.dpsql("init", source, "--output", "-")
    assert_one_clear_error(ran, told)
    assert "secret" not in ran.err


def test_a_cluster_says_what_it_has(cluster: Sail, here: Clinic) -> None:
    with cluster.asked() as session:
        session.told("DROP TABLE IF EXISTS stays")
        session.told("CREATE TABLE stays AS SELECT 1 AS patient_id, 'A' AS ward, CAST(2 AS DECIMAL(9, 3)) AS paid")
    text = here.dpsql("init", cluster.remote, "--output", "-", "--unit", "PATIENT_ID").out
    assert f'engine: {{kind: spark, remote: "{cluster.remote}", memory' in text
    assert "unit: patient_id" in of(text, "stays") and "# paid: {type: decimal, bounds: auto, grid: 1.0e-3}" in text
    assert_one_clear_error(here.dpsql("init", "sc://127.0.0.1:1", "--output", "-"), "Spark")
