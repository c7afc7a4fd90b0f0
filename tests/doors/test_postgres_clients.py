"""Clients of PostgreSQL that people have, each asking a real server: `docs/server.md` has the table of them.

The noise is real: what is asserted of numbers holds whatever was drawn.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.doors.conftest import Served

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "noise is drawn; nothing of it is asserted")]
CLIENTS = Path(__file__).parent / "clients"
JDBC = Path("/usr/share/java/postgresql.jar")
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def said(*command: str | Path, reads: str = "") -> list[str]:
    """What a program prints, line by line."""
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, input=reads)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return [line.rstrip() for line in (ran.stdout + ran.stderr).splitlines()]


def program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; Debian has it in {package}")
    return found


def test_psql(served: Served) -> None:
    psql = program("psql", "postgresql-client")
    commands = [
        "\\d",
        "\\d people",
        "\\d+ people",
        "\\dt+",
        "\\l",
        "\\dn",
        "\\du",
        "\\df",
        "\\di",
        BY_SEX,
        "SET intervals = on",
        BY_SEX,
    ]
    lines = said(psql, served.url, "-X", "-A", "-t", *(part for own in commands for part in ("-c", own)))
    assert "public|people|table|owner" in lines
    assert "age|bigint|||" in lines
    assert any(line.startswith("weight|") and line.endswith("|In kilograms ([0, 200])") for line in lines)
    assert any(line.startswith("public|people|table|owner|") and "|Whoever was ever here (" in line for line in lines)
    assert sum(line.startswith("F|") for line in lines) == 2
    assert any("Cost: nothing, this was released before" in line for line in lines)
    refused = subprocess.run(
        [psql, served.url, "-X", "-c", "SELECT person FROM people"], capture_output=True, text=True
    )
    assert "               ^" in refused.stderr  # below the name
    assert "HINT:  COUNT(DISTINCT person) counts people." in refused.stderr


def test_psql_over_tls_believes_the_certificate(served: Served) -> None:
    psql = program("psql", "postgresql-client")
    if served.certificate is None:
        pytest.skip("openssl is not installed; Debian has it in openssl")
    safe = f"{served.url}?sslmode=verify-full&sslrootcert={served.certificate}"
    assert any("SSL connection" in line for line in said(psql, safe, "-X", "-c", "\\conninfo"))


def test_psycopg(served: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    notices: list[str] = []
    with psycopg.connect(served.url, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        for binary in (False, True):
            cursor = connection.cursor(binary=binary)
            sql = "SELECT sex, born, smokes, COUNT(*) AS n FROM people WHERE age >= %s AND born >= %s GROUP BY ALL"
            rows = cursor.execute(sql, (30, date(1990, 1, 1))).fetchall()
            assert [type(value) for value in rows[0]] == [str, date, bool, int]
        assert any(notice.startswith("Cost: nothing, this was released before") for notice in notices)
        with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
            connection.execute("SELECT person FROM people")
        assert refused.value.diag.statement_position == "8"
        with pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
            connection.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1000) COUNT(*) FROM people")
        with connection.transaction():
            connection.execute("SELECT 1")
        with connection.cursor().copy(f"COPY ({BY_SEX}) TO STDOUT (FORMAT BINARY)") as copy:
            copy.set_types(["text", "int8"])
            assert [sex for sex, _ in copy.rows()] == ["F", "M"]
        ages = "SELECT age, COUNT(*) AS n FROM people WHERE age < %s GROUP BY age"
        with connection.transaction(), connection.cursor("named", binary=True) as cursor:
            cursor.itersize = 7
            cursor.execute(ages, (25,))
            assert cursor.fetchone()[0] == 0
            cursor.scroll(2)
            assert [age for age, _ in cursor] == [*range(3, 25)]
    with pytest.raises(psycopg.OperationalError, match="wrong"):
        psycopg.connect(served.url.replace(served.token, "guess"))


def test_asyncpg(served: Served) -> None:
    asyncpg = pytest.importorskip("asyncpg")

    async def ask() -> Any:
        connection = await asyncpg.connect(served.url)
        by_sex = "SELECT sex, COUNT(*) AS n FROM people WHERE age >= $1 AND sex IN ($2, 'F') GROUP BY sex"
        rows = await connection.fetch(by_sex, 10, "M")
        prepared = await connection.prepare("SELECT AVG(weight) AS w FROM people WHERE born = $1")
        mean = await prepared.fetchval(date(1990, 1, 1))
        async with connection.transaction():
            ages = "SELECT age, COUNT(*) AS n FROM people WHERE age < 25 GROUP BY age"
            count = len([row async for row in connection.cursor(ages, prefetch=7)])
        written = BytesIO()
        tag = await connection.copy_from_query(BY_SEX, output=written, format="csv", header=True)
        assert (tag, written.getvalue()[:8]) == ("COPY 2", b"sex,n\nF,")
        text = "SELECT smokes, COUNT(*) AS n FROM people WHERE sex = $1 GROUP BY smokes"
        assert await connection.copy_from_query(text, "F", output=written, format="binary") == "COPY 2"
        with pytest.raises(asyncpg.FeatureNotSupportedError):
            await connection.prepare("SELECT person FROM people")
        await connection.close()
        async with asyncpg.create_pool(served.url, min_size=1, max_size=2) as pool:
            one = await pool.fetchval("SELECT COUNT(*) FROM people WHERE age = ANY($1)", [7, 8])
            one = one is not None
        return [row["sex"] for row in rows], type(mean), count, one

    assert asyncio.run(ask()) == (["F", "M"], float, 25, True)


def test_sqlalchemy_and_pandas(served: Served) -> None:
    pytest.importorskip("psycopg")
    alchemy, pandas = pytest.importorskip("sqlalchemy"), pytest.importorskip("pandas")
    engine = alchemy.create_engine(served.url.replace("postgresql://", "postgresql+psycopg://"))
    found = alchemy.inspect(engine)
    assert found.get_table_names() == ["people"]
    columns = {column["name"]: (str(column["type"]), column["comment"]) for column in found.get_columns("people")}
    assert columns["age"] == ("BIGINT", "[0, 99]")
    assert not found.get_indexes("people") + found.get_foreign_keys("people")
    table = alchemy.Table("people", alchemy.MetaData(), autoload_with=engine)
    query = alchemy.select(table.c.sex, alchemy.func.count().label("n")).where(table.c.age > 20).group_by(table.c.sex)
    frame = pandas.read_sql(query, engine)
    assert list(frame.columns) == ["sex", "n"]
    assert list(frame["sex"]) == ["F", "M"]
    with engine.connect().execution_options(stream_results=True) as connection:
        assert [len(chunk) for chunk in pandas.read_sql(query, connection, chunksize=1)] == [1, 1]
    engine.dispose()


def test_adbc(served: Served) -> None:
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with adbc.connect(served.url) as connection, connection.cursor() as cursor:
        cursor.execute(BY_SEX)
        assert cursor.fetch_arrow_table().column("sex").to_pylist() == ["F", "M"]
        cursor.execute("SELECT COUNT(*) AS n FROM people WHERE age >= $1", (30,))
        assert len(cursor.fetchall()) == 1
        assert connection.adbc_get_table_schema("people").names[:2] == ["person", "age"]


def test_pgcli(served: Served) -> None:
    pytest.importorskip("pgcli")
    pgcli = Path(sys.executable).with_name("pgcli")
    if not pgcli.exists():
        pytest.skip("pgcli is not in this environment")
    lines = said(pgcli, served.url, "-c", BY_SEX, "-c", "\\dt")
    assert any(line.startswith("| F ") for line in lines)
    assert "| public | people | table | owner |" in lines


def test_jdbc(served: Served) -> None:
    java = program("java", "default-jdk-headless")
    if not JDBC.exists():
        pytest.skip(f"{JDBC} is not there; Debian has it in libpostgresql-jdbc-java")
    url = f"jdbc:postgresql://127.0.0.1:{served.port}/clinic"
    lines = said(java, "-cp", JDBC, CLIENTS / "Client.java", url, "ana", served.token)
    assert lines[:3] == ["table people", "person text", "age int8"]
    assert "key" not in lines
    assert sum(line.startswith("F is ") for line in lines) == 3
    assert sum("this was released before" in line for line in lines) >= 2
    assert lines[-3:] == ["rows 25", "refused 0A000", "valid true"]


def test_node_postgres(served: Served) -> None:
    node, modules = program("node", "npm"), Path(".venv/node_modules").absolute()
    if not (modules / "pg").exists():
        pytest.skip("the package pg of npm is not installed: tests/doors/install does it")
    ran = subprocess.run(
        [node, CLIENTS / "client.js", served.url], capture_output=True, text=True, timeout=60,
        env={"NODE_PATH": str(modules), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("Cost: "), ran.stderr
    assert any(line.startswith("F is ") for line in lines)
    assert lines[-1] == "refused 0A000 at 8"


def test_r(served: Served) -> None:
    r = program("Rscript", "r-cran-rpostgresql")
    found = subprocess.run([r, "-e", "library(RPostgreSQL)"], capture_output=True, check=False)
    if found.returncode:
        pytest.skip("RPostgreSQL is not installed; Debian has it in r-cran-rpostgresql")
    lines = said(r, CLIENTS / "client.R", str(served.port), served.token)
    assert lines[:2] == ["table people", "person age sex born weight smokes"]
    assert any(line.strip().startswith("F is ") for line in lines)
