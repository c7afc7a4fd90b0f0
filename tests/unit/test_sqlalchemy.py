"""SQLAlchemy, pandas, polars and JupySQL over the dialect: the libraries themselves, on a small hospital."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.exc import ArgumentError, NoSuchTableError, NotSupportedError

import dpsql
from tests.unit.test_readme import ROOT, imported

pytestmark = pytest.mark.chance(0, "asserts nothing of the draws")

registry.register("dpsql", "dpsql.sqlalchemy", "DpsqlDialect")  # as the entry point of an installed dpsql does
SEX = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY sex"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("alchemy")
    shutil.copy(ROOT / "policies" / "hospital.yaml", home)
    policy = (home / "hospital.yaml").read_text().replace("budget:\n", "budget:\n  mark: mark\n")
    (home / "hospital.yaml").write_text(policy.replace("engine: {", f"engine: {{cache: {home / 'cache'}, "))
    imported(ROOT / "examples" / "hospital.py").build(home / "hospital.duckdb", patients=300, visits=900)
    return home


@pytest.fixture(scope="module")
def engine(folder: Path) -> Iterator[sa.Engine]:
    own = sa.create_engine(f"dpsql:///{folder}/hospital.yaml?analyst=ana&epsilon=0.02")
    yield own
    own.dispose()


@pytest.fixture(scope="module")
def tables(engine: sa.Engine) -> dict[str, sa.Table]:
    metadata = sa.MetaData()
    metadata.reflect(engine)
    return dict(metadata.tables)


def spent(engine: sa.Engine) -> str:
    with engine.connect() as connection:
        return str(connection.exec_driver_sql("SHOW BUDGET").all())


def test_tables_columns_and_types_are_the_policys_and_cost_nothing(engine: sa.Engine) -> None:
    before, inspector = spent(engine), sa.inspect(engine)
    assert inspector.get_table_names() == ["patients", "visits", "cities"]
    columns = {column["name"]: column for column in inspector.get_columns("patients")}
    assert [*columns] == ["patient_id", "age", "sex", "city", "weight", "consent"]
    assert isinstance(columns["age"]["type"], sa.BigInteger)
    assert columns["age"]["comment"] == "[0, 110]"
    assert columns["weight"]["nullable"]
    assert isinstance(columns["patient_id"]["type"], sa.types.NullType)
    assert str(columns["patient_id"]["comment"]).startswith("privacy unit: ")
    assert inspector.has_table("visits")
    assert not inspector.has_table("nothing")
    assert (inspector.get_pk_constraint("visits")["constrained_columns"], inspector.get_foreign_keys("visits")) == (
        [],
        [],
    )
    assert (inspector.get_view_names(), inspector.get_schema_names(), inspector.get_indexes("visits")) == ([], [], [])
    with pytest.raises(NoSuchTableError):
        inspector.get_columns("nothing")
    assert spent(engine) == before


count = sa.func.count


def selects(tables: dict[str, sa.Table]) -> Iterator[Any]:
    patients, visits, cities = tables["patients"].c, tables["visits"].c, tables["cities"].c
    people = sa.select(count().label("n")).select_from(tables["patients"])
    by_sex = sa.select(patients.sex, count().label("n")).group_by(patients.sex)
    yield by_sex.order_by(count().desc()).limit(2).offset(1)
    yield sa.select(sa.func.avg(visits.cost).label("mean")).where(visits.visited_on >= date(2024, 1, 1))
    yield people.where(patients.sex.in_(["F", "M"]), patients.age.between(10, 20), patients.weight.is_not(None))
    yield people.where(patients.sex.in_([]))
    yield people.where(patients.sex.ilike("f%"), patients.sex.not_ilike("m%"), patients.sex.like("F%"))
    yield people.where(patients.sex.contains("F"), patients.sex.icontains("f"), patients.sex.startswith("F"))
    yield (
        people.where(sa.cast(visits.visited_on, sa.DateTime) >= sa.cast("2024-01-01", sa.DateTime))
        .select_from(tables["visits"])
        .where(visits.patient_id == patients.patient_id)
    )
    yield sa.select(sa.func.percentile_cont(0.5).within_group(patients.age))
    yield people.where(patients.age / 2 > 20.5, patients.age // 10 == 2, patients.age % 2 == 0, sa.true())
    yield people.where(sa.exists().where(visits.patient_id == patients.patient_id, visits.cost > 100))
    yield sa.select(cities.name).order_by(cities.name).limit(2)
    joined = tables["visits"].join(tables["patients"], visits.patient_id == patients.patient_id)
    yield sa.select(patients.sex, sa.func.avg(visits.cost)).select_from(joined).group_by(patients.sex)
    yield sa.select(sa.case((patients.sex == "F", "f"), else_="o").label("s"), count()).group_by("s")
    yield sa.select(sa.extract("year", visits.visited_on).label("y"), count().label("n")).group_by("y")
    yield sa.select(sa.func.sum(sa.cast(patients.age, sa.Float)), count().filter(patients.age > 50))
    yield sa.select(count(sa.distinct(visits.patient_id)))
    inner = by_sex.subquery()
    yield sa.select(inner.c.sex, (inner.c.n * 2).label("order"))
    yield sa.select(sa.func.sum(by_sex.cte("w").c.n))
    yield by_sex.prefix_with("WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.01)").having(count() > -1000)


def test_selects_of_the_core_compile_and_run(engine: sa.Engine, tables: dict[str, sa.Table]) -> None:
    with engine.connect() as connection:
        for select in selects(tables):
            result = connection.execute(select)
            assert len(result.keys()) == len(select.selected_columns), str(select)
            assert result.all(), str(select)


def test_constants_alone_are_answered(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT 1")) == connection.scalar(sa.select(sa.literal(1))) == 1


def test_a_refusal_keeps_its_class_and_its_words(engine: sa.Engine, tables: dict[str, sa.Table]) -> None:
    with engine.connect() as connection, pytest.raises(NotSupportedError, match="Add it to GROUP BY") as caught:
        connection.execute(sa.select(tables["patients"].c.sex))
    assert isinstance(caught.value.orig, dpsql.UnsupportedQuery)


def test_pandas_reads_without_a_warning(engine: sa.Engine, tables: dict[str, sa.Table]) -> None:
    frame = pandas.read_sql(SEX, engine)
    assert (list(frame.columns), list(frame["sex"])) == (["sex", "n"], ["F", "M", "X"])
    assert pandas.read_sql("SELECT COUNT(*) AS n FROM patients WHERE age > ?", engine, params=(40,)).shape == (1, 1)
    asked = sa.text("SELECT COUNT(*) AS n FROM patients WHERE age > :least")
    assert pandas.read_sql(asked, engine, params={"least": 40}).shape == (1, 1)
    assert pandas.read_sql("cities", engine)["population"].dtype == "int64"


def test_polars_reads(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        frame = polars.read_database(SEX, connection)
    assert frame.schema == {"sex": polars.String, "n": polars.Int64}


def test_intervals_of_the_url_are_columns(folder: Path) -> None:
    engine = sa.create_engine(f"dpsql://ana@/{folder}/hospital.yaml?epsilon=0.02&intervals=on&mechanism=laplace")
    frame = pandas.read_sql(SEX, engine)
    engine.dispose()
    assert list(frame.columns) == ["sex", "n", "n_low", "n_high"]
    assert ((frame["n_low"] < frame["n"]) & (frame["n"] < frame["n_high"])).all()


@pytest.mark.parametrize(
    "url",
    ["dpsql://", "dpsql:///a.yaml", "dpsql://?analyst=ana", "dpsql://ana@host/a.yaml", "dpsql://ana:secret@/a.yaml",
     "dpsql:///a.yaml?analyst=ana&epsilon=1&epsilon=2"],
)  # fmt: skip
def test_a_url_that_says_too_little_or_too_much_is_told_what_to_write(url: str) -> None:
    with pytest.raises(
        ArgumentError, match=r"Write (dpsql:///hospital\.yaml\?analyst=ana&epsilon=0\.1|it once)"
    ) as caught:
        sa.create_engine(url).connect()
    assert "secret" not in str(caught.value)


def test_the_sql_magic_of_jupysql_asks(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PLOOMBER_STATS_ENABLED", "false")
    monkeypatch.setenv("PLOOMBER_VERSION_CHECK_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(
        sys.modules, "pyspark", None
    )  # JupySQL loads it, and Spark's client alone ends the process then
    from IPython.core.interactiveshell import InteractiveShell
    from sql.connection import ConnectionManager
    from traitlets.config import Config

    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))  # its file will be gone
    try:
        shell.run_line_magic("load_ext", "sql")
        shell.run_line_magic("sql", f"dpsql:///{folder}/hospital.yaml?analyst=ana&epsilon=0.02")
        frame = shell.run_line_magic("sql", SEX).DataFrame()
        assert list(frame["sex"]) == ["F", "M", "X"]
    finally:
        ConnectionManager.close_all()
        shell.clear_instance()
