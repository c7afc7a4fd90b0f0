"""A table to whose files others come is a whole build's, to the bit; where nobody proved that, it is one."""

from __future__ import annotations

import csv
import random
import shutil
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql.engine.duckdb import FILE
from dpsql.engine.duckdb.database import DuckDBDatabase
from dpsql.engine.duckdb.ranges import Filling
from dpsql.owner.building import appended, views
from dpsql.owner.building.builder import build, data_digest_of, version_directory
from dpsql.worker import wire
from tests.connected import connected
from tests.turns import in_turns
from tests.unit.owner.clinic import KEY, data, policy

Row = tuple[Any, ...]
HEADER = ("patient_id", "visit_id", "cost", "kind", "day", "city")
TYPES = ("BIGINT", "BIGINT", "DOUBLE", "VARCHAR", "DATE", "VARCHAR")
VISITS: dict[str, Any] = {
    "unit": "patient_id",
    "key": None,
    "columns": {
        "cost": {"type": "real", "bounds": [0, 100], "grid": Decimal("0.01")},
        "kind": {"type": "text", "values": ["b", "a"]},
        "day": {"type": "date"},
        "city": {"type": "text", "values_from": "cities.name"},
    },
}
KEYS: dict[str, Any] = {"no key": None, "a key": "visit_id", "a key of two": ["visit_id", "kind"]}
COLUMNS: dict[str, Any] = {"a key of two": {"visit_id": {"type": "integer", "bounds": [0, 9]}}}
CAPS = (1, 2, 40)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the clinic's database, its cities as a file, and no visits."""
    file = data(tmp_path)
    for name in ("cities", "patients"):
        with connected(file, read_only=True) as connection:
            connection.execute(f"COPY {name} TO '{tmp_path / name}.parquet'")
    (tmp_path / "visits").mkdir()
    return tmp_path


@pytest.fixture
def how(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """How the last build made each table that it did not make anew."""
    found, calls, again = dict[str, str](), list[str](), DuckDBDatabase.again

    def watched(database: DuckDBDatabase, names: Sequence[str], place: Path, make: Any) -> bool:
        calls.clear()
        stands = again(database, names, place, make)
        if stands:
            found.update(dict.fromkeys(names, "appended" if calls else "copied"))
        return stands

    def told(stored: str, *others: Any) -> str:
        calls.append(stored)
        return appended.appended(stored, *others)

    monkeypatch.setattr(DuckDBDatabase, "again", watched)
    monkeypatch.setattr(views, "appended", told)
    yield found


def drawn(dice: random.Random, many: int) -> list[Row]:
    """Visits of few people, of whom some have neither name nor key; many are alike, or alike but for a column."""

    def one() -> Row:
        return (
            dice.choice([None, *range(-2, 12)]),
            dice.choice([None, *range(8)]),
            dice.choice([None, float("nan"), -0.0, 0.0, 3.14159, 99.999, 1e9, dice.random() * 100]),
            dice.choice([None, "a", "b", "c"]),
            dice.choice([None, date(2024, 1, 1) + timedelta(days=dice.randrange(3))]),
            dice.choice([None, "Basel", "Bern", "Paris"]),
        )

    rows = [one() for _ in range(many)]
    return rows + [dice.choice(rows) for _ in range(many // 4)]


def written(folder: Path, name: str, rows: Sequence[Row], kind: str = "parquet") -> None:
    """A file of visits."""
    file = folder / "visits" / f"{name}.{kind}"
    if kind == "csv":
        with file.open("w", newline="") as lines:
            csv.writer(lines).writerows([HEADER, *rows])
        return
    values = ", ".join(f"unnest(${at})::{TYPES[at - 1]} AS {name}" for at, name in enumerate(HEADER, 1))
    lists = [list(column) for column in zip(*rows, strict=True)]
    with connected() as connection:
        connection.execute(f"COPY (SELECT {values}) TO '{file}'", lists)


def built(
    folder: Path, version: int, cache: str = "cache", kind: str = "parquet", key: bytes = KEY, **changes: Any
) -> dict[str, list[Row]]:
    """Columns with their types, and rows as they lie, of all tables of a new version, and what is kept beside them."""
    own: dict[str, Any] = {name: {"source": str(folder / f"{name}.parquet")} for name in ("cities", "patients")}
    own |= {"visits": {**VISITS, "source": str(folder / "visits" / f"**/*.{kind}")}}
    for name, change in changes.items():
        own[name] = None if change is None else own.get(name, {}) | change
    build(policy(folder, **own), key=key, version=version, directory=folder / cache)
    place, found = version_directory(folder / cache, version), dict[str, list[Row]]()
    with connected(place / FILE, read_only=True) as connection:
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            types = [row[:2] for row in connection.execute(f'DESCRIBE "{name}"').fetchall()]
            rows = connection.execute(f'FROM "{name}"').fetchall()
            found[name] = [*types, *(tuple(map(repr, row)) for row in rows)]  # -0.0 is no 0.0
    return found | {"kept": [(wire.decode((place / "facts.json").read_bytes()),)]}


def same(folder: Path, version: int, how: dict[str, str], wanted: str, **changes: Any) -> dict[str, list[Row]]:
    """Tables of a new version, which are those of a whole build; that of visits was made in the wanted way."""
    how.clear()
    found = built(folder, version, **changes)
    assert how.get("visits", "anew") == wanted
    shutil.rmtree(folder / "whole", ignore_errors=True)
    whole = built(folder, version, "whole", **changes)
    assert found == whole
    assert data_digest_of(folder / "cache", version) == data_digest_of(folder / "whole", version)
    return found


def anew(folder: Path, version: int, how: dict[str, str], **changes: Any) -> None:
    """Builds a new version, whose table of visits is made anew."""
    how.clear()
    built(folder, version, **changes)
    assert "visits" not in how


@pytest.mark.parametrize(
    ("key", "cap", "kind", "shown"),
    in_turns(
        [(key,) for key in KEYS], [(cap, kind, shown) for cap in CAPS for kind, shown in (("parquet", 8), ("csv", 1))]
    ),
)
def test_the_table_is_that_of_a_whole_build(
    folder: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch, key: str, cap: int, kind: str, shown: int
) -> None:
    """Also where hashes often begin alike, over two refreshes, of which the second brings a file with nobody's rows."""
    monkeypatch.setattr("dpsql.owner.building.caps.SHOWN", shown)
    dice = random.Random(f"{key} {cap}")
    visits = {"key": KEYS[key], "rows_per_unit": cap, "columns": VISITS["columns"] | COLUMNS.get(key, {})}
    for number in range(2):
        written(folder, f"m{number}", drawn(dice, 40), kind)
    words: dict[str, Any] = {"kind": kind, "visits": visits, "patients": None}
    built(folder, 1, **words)
    written(folder, "a", drawn(dice, 40), kind)
    same(folder, 2, how, "appended", **words)
    written(folder, "n", drawn(dice, 5), kind)
    written(folder, "z", [(None, 1, 2.0, "a", None, None)], kind)
    same(folder, 3, how, "appended", **words)


def test_units_come_before_between_and_behind_those_that_are_there(folder: Path, how: dict[str, str]) -> None:
    def row(unit: int, visit: int) -> Row:
        return (unit, visit, 1.0, "a", None, "Bern")

    visits = {"key": "visit_id", "rows_per_unit": 2}
    written(folder, "old", [row(unit, visit) for unit in (5, 7, 9) for visit in range(3)])
    before = built(folder, 1, visits=visits)
    written(folder, "new", [row(unit, visit) for unit in (1, 6, 10) for visit in range(3)])
    after = same(folder, 2, how, "appended", visits=visits)
    width = len(HEADER) + 6  # grid, rank, number, both as one, two places
    assert [len(own["visits"]) - width for own in (before, after)] == [6, 12]


MANY = {"key": "visit_id", "rows_per_unit": 4, "rows_about": 40_000}
"""Words on a table whose rows are sorted in four ranges, where these are of 10,000 rows."""


@pytest.fixture
def many(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of which a version is built, of many visits in ranges, to which a file came since."""
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 10_000)
    for name, low, high in (("old", 0, 40_000), ("new", 40_000, 41_000)):
        values = "CAST(hash(i) % 9000 AS BIGINT) AS patient_id, i AS visit_id, 1.5 AS cost, 'a' AS kind"
        more = f"NULL::DATE AS day, 'Bern' AS city FROM range({low}, {high}) AS t(i)"
        with connected() as connection:
            connection.execute(f"COPY (SELECT {values}, {more}) TO '{folder / 'visits' / name}.parquet'")
        if name == "old":
            built(folder, 1, visits=MANY)
    return folder


def heard(monkeypatch: pytest.MonkeyPatch, fails: int = -1) -> list[int]:
    """The places of ranges that are filled; one of them fails once."""
    filled, own = list[int](), Filling._put

    def put(filling: Filling, hand: duckdb.DuckDBPyConnection, place: int) -> None:
        filled.append(place)
        if len(filled) == fails:
            raise duckdb.IOException("the disk is gone")
        own(filling, hand, place)

    monkeypatch.setattr(Filling, "_put", put)
    return filled


def test_a_table_of_many_rows_is_made_range_by_range(
    many: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = heard(monkeypatch)
    found = built(many, 2, visits=MANY)
    assert how["visits"] == "appended"
    assert sorted(filled) == [0, 0, 1, 1, 2, 2, 3, 3]  # the table, and what its units have in all
    monkeypatch.setattr("dpsql.owner.building.one_pass.PART", 10**9)
    assert found == built(many, 2, "whole", visits=MANY)


def test_what_fails_between_two_ranges_is_built_anew(
    many: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = heard(monkeypatch, fails=2)
    found = built(many, 2, visits=MANY)
    assert "visits" not in how
    assert sorted(filled[-4:]) == [0, 1, 2, 3] and len(filled) > 9
    assert found == built(many, 2, "whole", visits=MANY)


@pytest.fixture
def grown(folder: Path) -> Path:
    """A folder of which a version is built, to which a file came since."""
    dice = random.Random("grown")
    for number in range(2):
        written(folder, f"m{number}", drawn(dice, 30))
    built(folder, 1)
    written(folder, "n", drawn(dice, 5))
    return folder


def test_what_only_grew_is_appended_and_the_rest_copied(grown: Path, how: dict[str, str]) -> None:
    same(grown, 2, how, "appended")
    how.clear()
    built(grown, 3)
    assert set(how.values()) == {"copied"}


@pytest.mark.slow
def test_more_files_than_there_were_build_anew(grown: Path, how: dict[str, str]) -> None:
    for number in range(2):
        written(grown, f"o{number}", drawn(random.Random(number), 5))
    anew(grown, 2, how)


def test_a_file_that_is_gone_builds_anew(grown: Path, how: dict[str, str]) -> None:
    (grown / "visits" / "m0.parquet").unlink()
    anew(grown, 2, how)


@pytest.mark.slow
def test_a_file_of_another_name_builds_anew(grown: Path, how: dict[str, str]) -> None:
    (grown / "visits" / "m0.parquet").rename(grown / "visits" / "m9.parquet")
    anew(grown, 2, how)


def test_a_file_that_holds_something_else_builds_anew(grown: Path, how: dict[str, str]) -> None:
    written(grown, "m0", drawn(random.Random("another"), 30))
    anew(grown, 2, how)


def test_another_secret_builds_anew(grown: Path, how: dict[str, str]) -> None:
    anew(grown, 2, how, key=bytes(32))


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "visits",
    [
        {"rows_per_unit": 3},
        {"key": "visit_id"},
        {"columns": VISITS["columns"] | {"day": {"type": "date", "bounds": [date(2024, 1, 2), date(2024, 1, 3)]}}},
        {"unit": {"via": "patients", "on": "patient_id"}},
    ],
    ids=["cap", "key", "bounds", "via"],
)
def test_other_words_of_the_policy_build_anew(grown: Path, how: dict[str, str], visits: dict[str, Any]) -> None:
    anew(grown, 2, how, visits=visits)


@pytest.mark.slow
def test_a_chain_of_keys_builds_anew(folder: Path, how: dict[str, str]) -> None:
    visits = {"unit": {"via": "patients", "on": "patient_id"}}
    dice = random.Random("chain")
    written(folder, "m", drawn(dice, 30))
    built(folder, 1, visits=visits)
    written(folder, "n", drawn(dice, 5))
    anew(folder, 2, how, visits=visits)


@pytest.mark.slow
def test_another_domain_builds_anew(grown: Path, how: dict[str, str]) -> None:
    with connected() as connection:
        connection.execute(f"COPY (SELECT 'Paris' AS name, 1.5 AS x_km) TO '{grown / 'cities.parquet'}'")
    anew(grown, 2, how)


@pytest.mark.every(2)
@pytest.mark.parametrize("changed", ["dpsql.owner.building.again.version", "dpsql.owner.building.caps.SHOWN"])
def test_other_software_builds_anew(
    grown: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch, changed: str
) -> None:
    monkeypatch.setattr(changed, (lambda _: "another") if changed.endswith("version") else 7)
    anew(grown, 2, how)


@pytest.mark.slow
def test_another_time_zone_builds_anew(grown: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By it, a time becomes another day."""
    own = DuckDBDatabase.attach

    def elsewhere(database: DuckDBDatabase, source: dict[str, str]) -> None:
        database.rows("SET TimeZone = 'America/New_York'")
        own(database, source)

    monkeypatch.setattr(DuckDBDatabase, "attach", elsewhere)
    anew(grown, 2, how)
    assert how == {}


def test_a_damaged_version_builds_anew(grown: Path, how: dict[str, str]) -> None:
    file = version_directory(grown / "cache", 1) / FILE
    file.write_bytes(b"no database" + file.read_bytes()[11:])
    same(grown, 2, how, "anew")


def test_a_version_without_the_table_builds_anew(grown: Path, how: dict[str, str]) -> None:
    with connected(version_directory(grown / "cache", 1) / FILE) as connection:
        connection.execute("DROP TABLE visits")
    same(grown, 2, how, "anew")


def test_a_version_that_tells_of_no_files_builds_anew(grown: Path, how: dict[str, str]) -> None:
    """Those of before this was built."""
    file = version_directory(grown / "cache", 1) / "facts.json"
    facts = wire.decode(file.read_bytes())
    del facts["files"]
    file.write_bytes(wire.encode(facts))
    anew(grown, 2, how)


def test_rows_that_do_not_come_in_order_build_anew(
    grown: Path, how: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def falls(*arguments: Any) -> str:
        return appended.appended(*arguments).replace('ORDER BY "patient_id", "$rank"', 'ORDER BY "patient_id" DESC')

    monkeypatch.setattr(views, "appended", falls)
    visits = {"key": "visit_id", "rows_per_unit": 3}
    built(grown, 2, visits=visits)
    written(grown, "o", drawn(random.Random("falls"), 5))
    same(grown, 3, how, "anew", visits=visits)
