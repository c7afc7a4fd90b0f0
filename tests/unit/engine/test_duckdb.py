"""The engine over one version: exact columns, public facts, one fixed failure, and no stale data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

from dpsql.engine.base import Engine, EngineStatement
from dpsql.engine.duckdb import FILE
from dpsql.engine.duckdb import engine as engine_module
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.log import OPERATOR
from dpsql.errors import EngineFailed, InvariantBroken, OperationalError
from dpsql.owner.building import builder
from dpsql.owner.building.builder import build
from dpsql.owner.building.versions import open_engine
from dpsql.owner.in_use import LOCK
from dpsql.owner.shape import shape_of, stores_grid
from dpsql.plan.types import Type
from dpsql.policy import ColumnPolicy
from tests.unit.owner.clinic import KEY, data, policy

VISITS = '"bounded"."main"."visits"'


def statement(sql: str, *columns: tuple[str, str]) -> EngineStatement:
    """A statement over the visits."""
    return EngineStatement(sql, (), columns, frozenset({"visits"}), frozenset({"count_star", "sum", "*", "!="}))


COUNT = statement(
    f'SELECT count(*) AS n, CAST(sum("cost$grid") AS HUGEINT) AS s FROM {VISITS}', ("n", "BIGINT"), ("s", "HUGEINT")
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the clinic's database and version 1 of its bounded tables."""
    data(tmp_path)
    build(policy(tmp_path), key=KEY, version=1, directory=tmp_path / "cache")
    return tmp_path


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    """The engine over version 1."""
    engine, _ = open_engine(policy(folder), folder / "cache", 1)
    yield engine
    engine.close()


def test_a_statement_gives_exact_integers(engine: Engine) -> None:
    table = engine.run(COUNT)
    assert list(table.column("n")) == [3]
    assert isinstance(table.column("s")[0], int)
    assert engine.version == 1


def test_what_reads_public_tables_alone_is_told_from_what_is_charged(engine: Engine) -> None:
    assert isinstance(engine, DuckDBEngine)
    beside = replace(COUNT, tables=frozenset({"visits", "cities"}))
    cities = replace(COUNT, tables=frozenset({"cities"}))
    assert [engine._is_public(own) for own in (COUNT, beside, cities)] == [False, False, True]


def test_public_tables_are_known_by_their_values(engine: Engine) -> None:
    cities = engine.public["cities"]
    name, x_km = cities.columns["name"], cities.columns["x_km"]
    assert list(engine.public) == ["cities"]
    assert cities.rows == 2
    assert (name.type, name.values, name.nullable, name.multiplicity) == (Type.TEXT, ("Basel", "Bern"), False, 1)
    assert (name.low, name.high) == (None, None)
    assert (x_km.type, x_km.low, x_km.high, x_km.nullable) == (Type.REAL, Fraction(3, 2), Fraction(3, 2), True)


def test_public_columns_of_every_type_are_described(folder: Path) -> None:
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE cities AS SELECT 'c' || i % 3 AS name, i::TINYINT AS small, "
            "sum(i)::HUGEINT AS total, 2::HUGEINT << 100 AS far, DATE '2024-02-29' + i::INTEGER AS day, "
            "i % 2 = 0 AS even, INTERVAL 1 DAY AS span, 1.25::DECIMAL(9, 2) AS price, "
            "CASE WHEN i = 1 THEN 'nan'::DOUBLE WHEN i = 2 THEN 'inf'::DOUBLE ELSE i END AS odd "
            "FROM range(4) AS t(i) GROUP BY i"
        )
    build(policy(folder), key=KEY, version=2, directory=folder / "cache")
    engine, _ = open_engine(policy(folder), folder / "cache", 2)
    engine.close()
    columns = engine.public["cities"].columns
    assert {name: column.type.value for name, column in columns.items()} == {
        "name": "text",
        "small": "integer",
        "total": "integer",
        "far": "text",
        "day": "date",
        "even": "boolean",
        "odd": "real",
        "price": "real",
        "span": "text",
    }
    assert (columns["day"].low, columns["day"].high) == (date(2024, 2, 29), date(2024, 3, 3))
    assert columns["small"].values == (0, 1, 2, 3)
    assert columns["name"].multiplicity == 2
    assert (columns["odd"].low, columns["odd"].nullable) == (Fraction(0), True)
    assert columns["odd"].values == (0.0, 3.0)
    assert columns["price"].low == Fraction(5, 4)


def test_every_engine_failure_is_the_same_to_the_caller(
    engine: Engine, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    OPERATOR.addHandler(caplog.handler)
    try:
        with pytest.raises(EngineFailed) as failure:
            engine.run(statement(f"SELECT nothing AS n FROM {VISITS}", ("n", "BIGINT")))
    finally:
        OPERATOR.removeHandler(caplog.handler)
    assert str(failure.value) == EngineFailed.TEXT
    assert getattr(failure.value.__cause__, "overrun", None) is False
    assert "nothing" in caplog.text
    assert "nothing" not in str(failure.value.__cause__)
    assert capfd.readouterr() == ("", "")
    assert list(engine.run(COUNT).column("n")) == [3]


def test_an_overrun_can_be_told_from_other_failures(folder: Path) -> None:
    hasty = policy(folder).model_copy()
    object.__setattr__(hasty, "engine", hasty.engine.model_copy(update={"deadline": "1ms"}))
    engine, _ = open_engine(hasty, folder / "cache", 1)
    crossed = ", ".join(f"{VISITS} AS t{i}" for i in range(30))
    with pytest.raises(EngineFailed) as failure:
        engine.run(statement(f"SELECT CAST(sum(t0.cost * t1.cost) AS DOUBLE) AS n FROM {crossed}", ("n", "DOUBLE")))
    engine.close()
    assert getattr(failure.value.__cause__, "overrun", None) is True


def test_a_statement_that_is_read_otherwise_is_a_broken_invariant(engine: Engine) -> None:
    with pytest.raises(InvariantBroken, match="reads the statement otherwise"):
        engine.run(statement('SELECT count(*) AS n FROM "bounded"."main"."patients"', ("n", "BIGINT")))


def test_an_engine_that_does_not_stand_is_told_before_anything_is_spent(
    folder: Path, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.verify(COUNT)
    engine.close()
    (folder / "cache" / "v1" / "bounded.duckdb").write_text("no database")
    OPERATOR.addHandler(caplog.handler)
    try:
        with pytest.raises(OperationalError, match=r"^The engine is not ready\. Nothing was spent\.") as failure:
            engine.verify(COUNT)
    finally:
        OPERATOR.removeHandler(caplog.handler)
    assert not isinstance(failure.value, EngineFailed)
    assert "bounded.duckdb" in caplog.text


def test_changed_data_are_refused_until_refresh(folder: Path) -> None:
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute("INSERT INTO patients VALUES (9, 9, 'Bern')")
    with pytest.raises(
        OperationalError,
        match=r"^The data changed since version 1 was built\. The data owner must run: dpsql refresh POLICY$",
    ):
        open_engine(policy(folder), folder / "cache", 1)


def test_a_touched_source_is_looked_at_once_and_did_not_change(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(folder / "clinic.duckdb", ns=(1, 1))
    open_engine(policy(folder), folder / "cache", 1)[0].close()
    monkeypatch.setattr(builder, "in_owner_process", None)  # from then on its new time is known
    open_engine(policy(folder), folder / "cache", 1)[0].close()
    assert {file.name for file in (folder / "cache" / "v1").iterdir()} == {builder.FACTS, FILE, LOCK}
    assert {file.stat().st_mode & 0o777 for file in (folder / "cache" / "v1").iterdir()} == {0o600}


def test_a_change_that_keeps_the_size_is_seen(folder: Path) -> None:
    file = folder / "visits.csv"
    file.write_text("visit_id,patient_id,cost\n1,1,5\n")
    changed = policy(folder, visits={"source": str(file)})
    build(changed, key=KEY, version=2, directory=folder / "cache")
    file.write_text("visit_id,patient_id,cost\n1,1,6\n")
    os.utime(file, ns=(1, 1))
    with pytest.raises(OperationalError, match=r"^The data changed since version 2 was built"):
        open_engine(changed, folder / "cache", 2)


def test_a_policy_over_other_data_is_not_called_changed_data(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    data(tmp_path / "other")
    with pytest.raises(OperationalError, match=r"^The policy's tables changed"):
        open_engine(policy(tmp_path / "other"), folder / "cache", 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"visits": {"rows_per_unit": 3}},
        {"visits": {"columns": {"cost": {"type": "real", "bounds": [0, 99]}}}},
        {"patients": {"columns": {"age": {"type": "integer", "bounds": [0, 110]}}}},
    ],
)
def test_changed_tables_of_the_policy_are_refused_until_refresh(folder: Path, changes: dict[str, object]) -> None:
    with pytest.raises(OperationalError, match=r"The policy's tables changed .* dpsql refresh POLICY$"):
        open_engine(policy(folder, **changes), folder / "cache", 1)


def test_hints_may_change_without_refresh(folder: Path) -> None:
    age = {"type": "integer", "bounds": [0, 110], "nullable": True, "centre": 40}
    city = {"type": "text", "values_from": "cities.name"}
    changed = policy(folder, patients={"rows_about": 5, "rows_at_least": 2, "columns": {"age": age, "city": city}})
    assert shape_of(changed).digest == shape_of(policy(folder)).digest
    open_engine(changed, folder / "cache", 1)[0].close()


def test_a_version_that_is_not_there_is_refused(folder: Path) -> None:
    with pytest.raises(OperationalError, match="Version 2 of the bounded tables is not in"):
        open_engine(policy(folder), folder / "cache", 2)


def test_the_parent_never_loads_the_database_engine() -> None:
    root = str(Path(engine_module.__file__).parents[3])
    imports = f"import sys; sys.path.insert(0, {root!r}); import dpsql.owner.building.versions"
    program = f"{imports}; print('duckdb' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "False\n"


def test_an_integer_within_bounds_on_grid_one_is_its_own_grid_integer() -> None:
    assert not stores_grid(ColumnPolicy(type="integer", bounds=(0, 110)))
    assert stores_grid(ColumnPolicy(type="integer"))
    assert stores_grid(ColumnPolicy.model_validate({"type": "integer", "bounds": [0, 110], "grid": 10}))
    assert stores_grid(ColumnPolicy(type="real", bounds=(0, 1)))
    assert not stores_grid(ColumnPolicy(type="text"))


def test_the_locale_changes_neither_a_shape_nor_its_sources(tmp_path: Path) -> None:
    """Under LC_ALL=C a path beyond ASCII is another text, of the same bytes."""
    folder = tmp_path / "dätä"
    folder.mkdir()
    (folder / "clinic.duckdb").touch()
    root = str(Path(engine_module.__file__).parents[3])
    program = (
        f"import os, sys; sys.path.insert(0, {root!r})\n"
        "from pathlib import Path\n"
        "from dpsql.owner.building.builder import fingerprint\n"
        "from dpsql.owner.shape import shape_of\n"
        "from dpsql.errors import PolicyError\n"
        "from tests.unit.owner.clinic import policy\n"
        "shape = shape_of(policy(Path()))\n"
        "print(shape.digest, ascii(fingerprint(shape)))\n"
        "try:\n"
        "    policy(Path()).resolve(Path('spit\\xe4l'))\n"
        "except PolicyError as error:\n"
        "    print(ascii(str(error)), file=sys.stderr)\n"
    )
    said = [
        subprocess.run(
            [sys.executable, "-X", "utf8=0", "-c", program],
            cwd=folder,
            env={**os.environ, "LC_ALL": locale, "PYTHONCOERCECLOCALE": "0"},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        for locale in ("C.UTF-8", "C")
    ]
    assert said[0].stdout == said[1].stdout
    assert "dpsql" not in said[0].stderr
    assert "Set LC_ALL=C.UTF-8 where dpsql runs" in said[1].stderr
