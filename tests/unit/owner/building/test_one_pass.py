"""One pass over sorted rows makes the table that windows over each unit's rows make, of many rows too."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import duckdb
import pytest

from dpsql.engine.database import Parts, SourceTable
from dpsql.engine.dialect import Dialect
from dpsql.engine.duckdb.database import DuckDBDatabase, looked
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.duckdb.ranges import Range
from dpsql.errors import InvariantBroken
from dpsql.owner.building.numbered import carried
from dpsql.owner.building.one_pass import in_parts, one_pass
from dpsql.owner.building.owners import Owners
from dpsql.owner.building.views import build_private
from dpsql.owner.shape import ColumnShape, Shape, TableShape
from dpsql.plan.catalog import NUMBER, RANK, ROW, place_name, rank_digits
from tests.connected import connected
from tests.turns import in_turns

KEY = bytes(range(32))
ROWS = 200_000
"""Rows of the source: more than DuckDB keeps in one group of rows, 122,880, so that several are written."""
COLUMNS = (
    ColumnShape("cost", "real", Fraction(0), Fraction(20)),
    ColumnShape("kind", "text", values=("b", "a")),
    ColumnShape("day", "date"),
)
VISITS = TableShape("visits", None, False, "person", "visit", 4, COLUMNS, identities={"person": None, "visit": "v"})
KEYS = {
    "a key": replace(VISITS),
    "a key of two": replace(VISITS, key=None, unique=("visit", "kind")),
    "no key": replace(VISITS, key=None, identities={"person": None}),
}
WHO = {
    "whole numbers": "CAST(hash(i // 2, 1) % 60000 AS BIGINT) - 500",
    "texts": "'ß' || CAST(hash(i // 2, 1) % 60000 AS VARCHAR)",
}
"""Some three rows a person, so that a cap of four cuts many."""
MADE = """
CREATE OR REPLACE TABLE source.main.visits AS
SELECT CASE WHEN i % 97 > 0 THEN {who} END AS person,
       CASE WHEN i % 89 > 0 THEN CAST(hash(i // 3, 2) % 100 AS INTEGER) END AS visit,
       hash(i // 3, 3) % 300 / 10 AS cost, ['a', 'b', NULL, 'c'][CAST(1 + hash(i // 3, 4) % 4 AS INTEGER)] AS kind,
       DATE '2024-01-01' + CAST(hash(i // 2, 5) % 3 AS INTEGER) AS day
FROM range({rows}) AS numbers(i)
"""
"""Visits of a person that say the same, others with the same key, and some with neither person nor key."""


class Elsewhere(DuckDBDatabase):
    """DuckDB as an engine whose windows over all rows come in no order."""

    @property
    def dialect(self) -> Dialect:
        """DuckDB's words, without numbers beside the rows."""
        return replace(DUCKDB, counts=False)


def built(engine: duckdb.DuckDBPyConnection, kind: type[DuckDBDatabase], table: TableShape) -> None:
    """Builds the bounded table."""
    engine.execute("DROP TABLE IF EXISTS bounded.main.visits")
    database = kind(engine, KEY.hex())
    source = database.table("visits", None)
    build_private(database, table, source, Owners(Shape("duckdb", {}, (table,)), {"visits": source}))


def read(engine: duckdb.DuckDBPyConnection, columns: str) -> list[tuple[Any, ...]]:
    """Columns of the bounded table, row by row as they lie."""
    return engine.execute(f"SELECT {columns} FROM bounded.main.visits").fetchall()


def alike(engine: duckdb.DuckDBPyConnection, table: TableShape, without: str = "") -> int:
    """How many rows both ways give, the same in the same order, but for columns that one of them alone has."""
    built(engine, Elsewhere, table)
    engine.execute("CREATE OR REPLACE TABLE bounded.main.elsewhere AS FROM bounded.main.visits")
    built(engine, DuckDBDatabase, table)
    own = f"(SELECT * {without} FROM bounded.main.visits) AS v POSITIONAL JOIN bounded.main.elsewhere AS e"
    ((same, rows),) = engine.execute(
        f"SELECT count(*) FILTER (WHERE v IS NOT DISTINCT FROM e), count(*) FROM {own}"
    ).fetchall()
    assert same == rows
    return int(rows)


@pytest.mark.parametrize(("key", "who"), in_turns([(key,) for key in KEYS], [(who,) for who in WHO]))
def test_the_table_is_that_of_windows_over_each_unit(engine: duckdb.DuckDBPyConnection, who: str, key: str) -> None:
    engine.execute(MADE.format(who=WHO[who], rows=ROWS))
    place = f'"{place_name("kind")}"'
    assert alike(engine, KEYS[key], f'EXCLUDE ("{NUMBER}", "{ROW}", {place})') > ROWS // 4
    numbers = f'"{NUMBER}" = dense_rank() OVER (ORDER BY person) - 1 AS same'
    assert engine.execute(f"SELECT DISTINCT same FROM (SELECT {numbers} FROM bounded.main.visits)").fetchall() == [
        (True,)
    ]
    assert set(read(engine, f"DISTINCT kind, {place}")) - {(None, 2)} == {("a", 0), ("b", 1)}


@pytest.mark.parametrize("told", ["kind", "CAST(hash(visit, 8) % 12 AS BIGINT)"], ids=["texts", "numbers"])
def test_listed_texts_are_sorted_as_their_places_and_written_as_they_are(
    engine: duckdb.DuckDBPyConnection, told: str
) -> None:
    listed = ("ß", "", "it's", "10", "4", "😀", "B", "b", "b ")
    engine.execute(MADE.format(who=WHO["texts"], rows=ROWS // 20))
    found = ", ".join(DUCKDB.text(text) for text in (*listed, "a", "4.0"))
    engine.execute(
        f"CREATE OR REPLACE TABLE source.main.visits AS SELECT * REPLACE ({told} AS kind) FROM (SELECT * REPLACE "
        f"([{found}][CAST(1 + hash(visit, 7) % {len(listed) + 3} AS BIGINT)] AS kind) FROM source.main.visits)"
    )
    columns = (replace(COLUMNS[1], values=listed), COLUMNS[2])
    table = replace(KEYS["a key"], columns=columns)
    assert carried(table) == [columns[0]]
    assert alike(engine, table, f'EXCLUDE ("{NUMBER}", "{ROW}", "{place_name("kind")}")') > ROWS // 80
    places = dict(enumerate(sorted(listed)))
    kinds = read(engine, f'DISTINCT kind, "{place_name("kind")}"')
    assert len(kinds) > 2
    assert all(kind == places.get(place) for kind, place in kinds)


def test_what_is_hashed_or_ordered_by_is_sorted_as_it_is() -> None:
    assert carried(KEYS["a key"]) == [COLUMNS[1]]
    assert carried(KEYS["a key of two"]) == carried(KEYS["no key"]) == []
    assert carried(replace(VISITS, unit="kind")) == []
    assert carried(replace(VISITS, columns=(replace(COLUMNS[1], type="integer", values=(2, 1)),))) == []


@pytest.mark.every(2)
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("key", KEYS)
def test_one_row_of_a_unit_is_the_one_that_is_chosen_elsewhere(
    engine: duckdb.DuckDBPyConnection, who: str, key: str
) -> None:
    engine.execute(MADE.format(who=WHO[who], rows=ROWS // 10))
    assert alike(engine, replace(KEYS[key], rows_per_unit=1)) > ROWS // 100
    assert engine.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '%anew'").fetchall() == []


@pytest.mark.parametrize("key", KEYS)
def test_rows_whose_hashes_begin_alike_are_placed_as_elsewhere(
    engine: duckdb.DuckDBPyConnection, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one digit of the hash, so that it often happens."""
    monkeypatch.setattr("dpsql.owner.building.caps.SHOWN", 1)
    engine.execute(MADE.format(who="CAST(i % 50 AS BIGINT)", rows=ROWS // 20))
    table = replace(KEYS[key], rows_per_unit=150)
    assert alike(engine, table, f'EXCLUDE ("{NUMBER}", "{ROW}", "{place_name("kind")}")') > ROWS // 200


def test_of_rows_with_one_key_one_stays_wherever_they_stand(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute(MADE.format(who="7", rows=5_000))
    built(engine, DuckDBDatabase, replace(VISITS, rows_per_unit=1_000))
    first = read(engine, f'"{RANK}", * EXCLUDE "{RANK}"')
    engine.execute("CREATE OR REPLACE TABLE source.main.visits AS FROM source.main.visits AS v ORDER BY hash(v)")
    built(engine, DuckDBDatabase, replace(VISITS, rows_per_unit=1_000))
    assert read(engine, f'"{RANK}", * EXCLUDE "{RANK}"') == first
    assert [place for place, *_ in first] == list(range(1, 101))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (
            "VARCHAR",
            ["", "a", "N", "1:", "ß😀", "10", *("é" * n for n in (17, 18, 19)), *("x" * n for n in range(30, 40))],
        ),
        ("BIGINT", ["0", "-1", str(2**63 - 1), str(-(2**63))]),
        ("DATE", ["2024-02-29", "infinity"]),
        ("TIMESTAMP", ["2024-02-29 01:02:03", "2024-02-29 01:02:03.000004"]),
        ("DOUBLE", ["0.1", "1e+300", "nan"]),
        ("BOOLEAN", ["true", "false"]),
    ],
)
def test_values_are_told_apart_in_parts_as_in_one_text(kind: str, values: list[str]) -> None:
    one, parts = DUCKDB.call("told_apart", "x"), DUCKDB.call("parts_told_apart", "x")
    listed = ", ".join(f"({value})" for value in ("NULL", *map(DUCKDB.text, values)))
    rows = f"(SELECT CAST(v AS {kind}) AS x FROM (VALUES {listed}) AS t(v))"
    with connected() as connection:
        found = connection.execute(f"SELECT {one}, concat({parts}), concat({parts}, {parts}) FROM {rows}").fetchall()
    told = ["N", *(f"{len(value.encode())}:{value}" for value in values)]
    assert found == [(text, text, text + text) for text in told]


class Heard(DuckDBDatabase):
    """DuckDB that keeps which ranges it found."""

    found: ClassVar[list[Range]] = []

    def _ranges(self, parts: Parts) -> list[Range]:
        """The ranges."""
        self.found[:] = super()._ranges(parts)
        return self.found


class Miscounted(DuckDBDatabase):
    """DuckDB that counts one unit less before each range."""

    def _ranges(self, parts: Parts) -> list[Range]:
        """The ranges."""
        return [replace(found, units=max(found.units - 1, 0)) for found in super()._ranges(parts)]


@pytest.mark.every(3)
@pytest.mark.parametrize("cap", [1, 4])
@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("key", KEYS)
def test_a_table_is_the_same_where_its_rows_are_sorted_range_by_range(
    engine: duckdb.DuckDBPyConnection, who: str, key: str, cap: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 5_000)
    engine.execute(MADE.format(who=WHO[who], rows=ROWS // 8))
    table = replace(KEYS[key], rows_per_unit=cap)
    built(engine, DuckDBDatabase, table)
    engine.execute("CREATE OR REPLACE TABLE bounded.main.elsewhere AS FROM bounded.main.visits")
    built(engine, Heard, replace(table, rows_about=ROWS // 8))
    assert len(Heard.found) == 5
    both = "bounded.main.visits AS v POSITIONAL JOIN bounded.main.elsewhere AS e"
    ((same, rows),) = engine.execute(
        f"SELECT count(*) FILTER (WHERE v IS NOT DISTINCT FROM e), count(*) FROM {both}"
    ).fetchall()
    assert same == rows > ROWS // 80
    built(engine, DuckDBDatabase, table)  # nothing is left of the ranges
    assert engine.execute(f"SELECT count(*) FROM {both} WHERE v IS DISTINCT FROM e").fetchall() == [(0,)]


@pytest.mark.every(2)
@pytest.mark.parametrize("who", [WHO["whole numbers"], "CAST(hash(i // 2, 1) % 60000 AS BIGINT) * 150_000_000_000_000"])
def test_ranges_begin_with_the_number_of_units_before_however_these_are_counted(
    engine: duckdb.DuckDBPyConnection, who: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By bits or not, near to each other or as far apart as whole numbers of 64 bits are."""
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 10_000)
    engine.execute(MADE.format(who=who, rows=ROWS // 4))
    found = list[list[Range]]()
    for span in (2**24, 0):
        monkeypatch.setattr("dpsql.engine.duckdb.database.SPAN", span)
        built(engine, Heard, replace(VISITS, rows_about=ROWS // 4))
        found.append([*Heard.found])
    assert found[0] == found[1]
    assert len(found[0]) == 5
    for own in found[0][1:]:
        counted = "SELECT count(DISTINCT person) FROM source.main.visits WHERE visit IS NOT NULL AND person < ?"
        assert engine.execute(counted, [own.low]).fetchall() == [(own.units,)]


def test_places_are_written_as_numbers_of_32_bits(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute(MADE.format(who="7", rows=100))
    for most in (4, 100_000):
        built(engine, DuckDBDatabase, replace(VISITS, rows_per_unit=most))
        assert set(read(engine, f'typeof("{RANK}")')) == {("INTEGER",)}
    built(engine, DuckDBDatabase, replace(VISITS, rows_per_unit=2**31))
    assert set(read(engine, f'typeof("{RANK}")')) == {("BIGINT",)}


@pytest.mark.parametrize(
    ("rows", "numbered", "found"),
    [
        ([(1, 1, 0), (1, 2, 0), (2, 1, 1)], True, (0, 0, 0)),
        ([(1, 2, 0), (1, 1, 0), (2, 1, 1)], True, (1, 0, 0)),
        ([(2, 1, 0), (1, 2, 1)], True, (1, 0, 0)),
        ([(1, 1, 0), (1, 1, 0), (2, 1, 1)], True, (0, 1, 0)),
        ([(1, 1, 1)], True, (0, 0, 1)),
        ([(1, 1, 0), (2, 1, 2), (2, 2, 3)], True, (0, 0, 2)),
        ([(1, 1, 0), (2, 1, 0)], True, (0, 0, 1)),
        ([(1, 1, 9), (2, 1, 7)], False, (0, 0, 0)),
    ],
)
def test_one_look_counts_rows_that_fall_are_alike_or_misnumbered(
    engine: duckdb.DuckDBPyConnection, rows: list[tuple[int, ...]], numbered: bool, found: tuple[int, ...]
) -> None:
    engine.execute("CREATE OR REPLACE TABLE bounded.main.looked (unit BIGINT, place INTEGER, number INTEGER)")
    engine.executemany("INSERT INTO bounded.main.looked VALUES (?, ?, ?)", rows)
    sql = looked("looked", ["unit", "place"], ("unit", "number") if numbered else None)
    assert engine.execute(sql).fetchall() == [found]


@pytest.mark.every(2, 1)
@pytest.mark.parametrize(("most", "width"), [(2**31 - 1, "INTEGER"), (1000, "BIGINT")])
def test_units_and_places_are_one_number_of_as_many_bytes_as_they_need(
    engine: duckdb.DuckDBPyConnection, most: int, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.engine.duckdb.database.MOST_NARROW", most)
    engine.execute(MADE.format(who=WHO["whole numbers"], rows=ROWS))
    for table in KEYS.values():
        built(engine, DuckDBDatabase, table)
        digits = rank_digits(table.rows_per_unit)
        assert 2 ** (digits - 1) <= table.rows_per_unit < 2**digits
        whole = f'"{ROW}" = CAST("{NUMBER}" AS BIGINT) * {2**digits} + "{RANK}"'
        assert read(engine, f'DISTINCT {whole}, typeof("{ROW}")') == [(True, width)]
        assert read(engine, f'count(DISTINCT "{ROW}") = count(*)') == [(True,)]


def test_where_there_are_too_few_units_all_rows_are_sorted_at_once(
    engine: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 1_000)
    engine.execute(MADE.format(who="CASE WHEN i % 2 = 0 THEN 7 END", rows=5_000))
    built(engine, Heard, replace(VISITS, rows_per_unit=1_000, rows_about=5_000))
    assert Heard.found == [Range(None, None, 0)]
    assert len(read(engine, f'DISTINCT "{RANK}"')) == 100


class Ready:
    """A connection that says of each statement that it is all but done."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def query_progress(self) -> float:
        """Percent."""
        return 100.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class Telling(DuckDBDatabase):
    """DuckDB that keeps how much was done while ranges were looked for."""

    told: ClassVar[list[float]] = []

    def _ranges(self, parts: Parts) -> list[Range]:
        """The ranges."""
        found = super()._ranges(parts)
        self.told.append(self.done())
        return found


def test_looking_for_ranges_is_not_told_as_the_whole(
    engine: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 1_000)
    engine.execute(MADE.format(who=WHO["whole numbers"], rows=ROWS // 20))
    connection: Any = Ready(engine)
    built(connection, Telling, replace(VISITS, rows_about=4_000))
    assert Telling.told == [0.0]


def test_units_that_are_not_numbered_one_by_one_end_the_build(
    engine: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 1_000)
    engine.execute(MADE.format(who=WHO["whole numbers"], rows=ROWS // 20))
    with pytest.raises(InvariantBroken, match="numbered"):
        built(engine, Miscounted, replace(VISITS, rows_about=2_000))


def test_from_two_million_rows_on_two_processors_write() -> None:
    parts = in_parts("rows", replace(VISITS, rows_about=2_000_000), SourceTable("visits", {}, True, DUCKDB))
    assert parts == Parts("rows", '"person"', 2, f'"{NUMBER}"')


@pytest.mark.parametrize("table", [replace(VISITS, rows_about=10**6), replace(VISITS, rows_about=10**9, via="people")])
def test_small_tables_and_chains_of_keys_are_read_once(table: TableShape) -> None:
    assert in_parts("rows", table, SourceTable("visits", {}, True, DUCKDB)) is None


def test_a_better_guess_of_the_rows_builds_nothing_anew() -> None:
    guesses = [Shape("duckdb", {}, (replace(VISITS, rows_about=rows),)) for rows in (10**4, 10**9)]
    assert len({shape.digest for shape in guesses}) == len({shape.digest_of("visits") for shape in guesses}) == 1


def test_text_is_read_once_and_a_large_table_in_sixteen_ranges() -> None:
    table = replace(VISITS, rows_about=10**9)
    assert in_parts("rows", table, SourceTable("visits", {}, False, DUCKDB)) is None
    parts = in_parts("rows", table, SourceTable("visits", {}, True, DUCKDB))
    assert parts == Parts("rows", '"person"', 16, f'"{NUMBER}"')


def test_rows_that_come_in_another_order_end_the_build(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute("SET VARIABLE key = 'secret'")
    rows = "SELECT i % 3 AS person, i AS visit, 0.0 AS cost, 'a' AS kind, NULL AS day FROM range(10) AS numbers(i)"
    sql = one_pass(rows, ["person", "visit", "cost", "kind", "day"], VISITS, DUCKDB)
    assert len(engine.execute(sql).fetchall()) == 10
    for order in ('ORDER BY "person" DESC,', 'ORDER BY "person", "$hash" DESC,'):
        with pytest.raises(duckdb.Error, match="do not lie in order"):
            engine.execute(sql.replace('ORDER BY "person",', order)).fetchall()
