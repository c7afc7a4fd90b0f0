"""What the owner says that tables and columns mean: it is told at every door, and alters nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pyarrow as pa
import pytest
import sqlalchemy
from sqlalchemy.exc import NoSuchTableError

import dpsql
from dpsql.cli.dots import Shell
from dpsql.owner.shape import shape_of
from dpsql.policy import load_policy
from dpsql.proxy import Proxy
from dpsql.server.flight.catalogue import listed
from dpsql.server.flight.wire import Fields, field, read
from dpsql.server.postgres.catalogue import Catalogue
from dpsql.server.postgres.inquiry import Context
from dpsql.server.postgres.questions import question_of
from dpsql.server.postgres.settings import Settings
from dpsql.server.tools import Tools
from tests.unit.server.clinic import POLICY, Clinic, guest, open_clinic, write_clinic

pytestmark = pytest.mark.chance(0, "only what is the same in every answer is compared")
TABLE, AGE = "Who was ever here; it's one row each", "Age in years at the last visit, which is " + "long ago " * 5
DESCRIBED = POLICY.replace("  people:\n", f'  people:\n    description: "{TABLE}"\n').replace(
    "age:    {", f'age:    {{description: "{AGE}", '
)
ASKED = (
    "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY sex",
    "SELECT MEDIAN(age) AS m FROM people WHERE sex = 'F'",
)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with open_clinic(tmp_path_factory.mktemp("clinic"), DESCRIBED) as found:
        yield found


@contextmanager
def opened(file: Path, text: str) -> Iterator[Proxy]:
    file.write_text(text)
    with dpsql.open(file) as proxy:
        yield proxy


def test_other_words_charge_nothing_again_and_build_nothing(tmp_path: Path) -> None:
    file = write_clinic(tmp_path)
    with opened(file, POLICY) as proxy:
        session = proxy.session(analyst="ana")
        first = [session.query(sql).rows for sql in ASKED]
        before, spent = proxy._backend.catalog.version, session.budget().spent
    for text in (DESCRIBED, DESCRIBED.replace("years", "months"), POLICY):
        with opened(file, text) as proxy:
            session = proxy.session(analyst="ana")
            answers = [session.query(sql) for sql in ASKED]
            assert [answer.rows for answer in answers] == first
            assert [answer.replayed for answer in answers] == [True, True]
            assert (proxy._backend.catalog.version, session.budget().spent) == (before, spent)


def test_the_bounded_tables_know_no_words(tmp_path: Path) -> None:
    shapes = []
    for text in (POLICY, DESCRIBED):
        (tmp_path / "clinic.yaml").write_text(text)
        shapes.append(shape_of(load_policy(tmp_path / "clinic.yaml")))
    assert shapes[0] == shapes[1]
    assert shapes[0].digest == shapes[1].digest


def test_statements_and_tools_tell_them(clinic: Clinic) -> None:
    session = clinic.proxy.session(analyst="ana")
    assert session.query("SHOW TABLES")["description"] == [TABLE]
    described = session.query("DESCRIBE people")
    assert dict(zip(described["column"], described["description"], strict=True))["age"] == AGE
    tools = Tools(session, lambda: 1.0, lambda: "")
    tables, columns = tools.list_tables(), tools.describe_table("people", 0)
    assert (tables.columns[-1], tables.rows[0][-1]) == ("description", TABLE)
    assert [row[-1] for row in columns.rows[:3]] == [None, AGE, None]


def test_postgresql_s_catalogue_has_them_before_what_else_is_known(clinic: Clinic) -> None:
    catalogue, own = Catalogue(clinic.proxy), guest(clinic)
    context = Context(own, Settings("ana"), catalogue, inside=False, changed=[])
    functions = "obj_description('people'::regclass, 'pg_class'), col_description('people'::regclass, 2)"
    told = question_of(context, f"SELECT {functions}, col_description('people'::regclass, 3)").answered(())
    facts = "private, at most 1 row of each person, about 100 rows"
    assert told.rows == [[f"{TABLE} ({facts})", f"{AGE} ([0, 99])", "F, M"]]
    sql = (
        "SELECT d.description FROM pg_catalog.pg_description d JOIN pg_catalog.pg_class c ON c.oid = d.objoid "
        "WHERE c.relname = 'people' AND d.objsubid = 2"
    )
    assert question_of(context, sql).answered(()).rows == [[f"{AGE} ([0, 99])"]]
    catalogue.close()
    own.close()


def test_sqlalchemy_reflects_them_as_comments(tmp_path: Path) -> None:
    file = write_clinic(tmp_path, DESCRIBED)
    engine = sqlalchemy.create_engine(f"dpsql:///{file}?analyst=ana")
    found = sqlalchemy.inspect(engine)
    comments = {column["name"]: column.get("comment") for column in found.get_columns("people")}
    assert (comments["age"], comments["sex"]) == (f"{AGE} ([0, 99])", "F, M")
    assert found.get_table_comment("People") == {"text": TABLE}
    with pytest.raises(NoSuchTableError):
        found.get_table_comment("nobody")
    engine.dispose()


def test_the_shell_tells_long_ones_whole(clinic: Clinic) -> None:
    told: list[str] = []
    shell = Shell(clinic.proxy.session(analyst="ana"), told.append, told.append, lambda: nullcontext(lambda *_: None))
    assert shell.take(".tables people")
    assert f"age: {AGE}" in told
    told.clear()
    assert shell.take(".tables")
    assert TABLE in told[0] and len(told) == 1


def test_flight_s_fields_have_them_as_remarks(clinic: Clinic) -> None:
    own = guest(clinic)
    body: Fields = read(field(5, 1))
    (people,) = listed("CommandGetTables", body, own, "clinic").to_pylist()
    schema = pa.ipc.read_schema(pa.py_buffer(people["table_schema"]))
    assert schema.field("age").metadata == {b"ARROW:FLIGHT:SQL:REMARKS": AGE.encode()}
    assert schema.field("sex").metadata is None
    own.close()
