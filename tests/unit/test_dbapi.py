"""Connections and cursors, beyond what the compliance suite asks."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from dpsql import dbapi
from dpsql.answers.answer import Answer, public
from dpsql.dbapi import DATETIME, NUMBER, STRING, Connection, Cursor
from dpsql.errors import Error, InterfaceError, ProgrammingError, UnsupportedQuery
from dpsql.plan.types import Parameters, Type
from dpsql.privacy.loss import PrivacyLoss

THREE = public(("city", "n"), (Type.TEXT, Type.INTEGER), [("Rome", 3), ("Troy", 1), ("Ur", 2)])
NOTHING = public((), (), [])


class Scripted:
    """A session that answers known statements, refuses all others and remembers what it was asked."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []

    def query(self, sql: str, parameters: Parameters = ()) -> Answer:
        self.asked.append((sql, parameters))
        if sql not in self.answers:
            raise UnsupportedQuery("is not in the script.", construct="statement")
        return self.answers[sql]


@pytest.fixture
def session() -> Scripted:
    return Scripted({"three": THREE, "set": NOTHING})


@pytest.fixture
def cursor(session: Scripted) -> Cursor:
    return Connection(session, close=lambda: None).cursor()


def test_parameters_reach_the_session_with_their_types(session: Scripted, cursor: Cursor) -> None:
    values = [None, True, 1, 0.5, Decimal("0.1"), "x", date(2024, 1, 1)]
    cursor.execute("three", values)
    assert session.asked == [("three", tuple(values))]
    assert [type(value) for value in session.asked[0][1]] == [type(value) for value in values]


def test_names_reach_the_session_as_a_mapping(session: Scripted, cursor: Cursor) -> None:
    cursor.execute("three", {"city": "Bern"})
    assert session.asked == [("three", {"city": "Bern"})]


@pytest.mark.parametrize("parameters", ["text", b"bytes", 7, None])
def test_parameters_that_are_no_sequence_are_refused_before_the_session_is_asked(
    session: Scripted, cursor: Cursor, parameters: Any
) -> None:
    with pytest.raises(InterfaceError, match=r"came as one value of type .*Write a list with one value for each"):
        cursor.execute("three", parameters)
    assert session.asked == []


def test_the_whole_answer_stays_at_hand(cursor: Cursor) -> None:
    assert cursor.execute("three").answer is THREE
    assert list(cursor) == THREE.rows
    assert cursor.answer is THREE


def test_description_has_names_and_types(cursor: Cursor) -> None:
    cursor.execute("three")
    assert cursor.description == [
        ("city", Type.TEXT, None, None, None, None, None),
        ("n", Type.INTEGER, None, None, None, None, None),
    ]
    assert [column[1] == NUMBER for column in cursor.description] == [False, True]
    assert [column[1] == STRING for column in cursor.description] == [True, False]
    assert DATETIME == Type.DATE
    assert DATETIME != Type.TEXT


def test_a_statement_without_columns_has_no_rows_to_fetch(cursor: Cursor) -> None:
    cursor.execute("set")
    assert (cursor.description, cursor.rowcount) == (None, -1)
    with pytest.raises(InterfaceError, match="no rows to fetch"):
        cursor.fetchall()


def test_a_refused_statement_leaves_no_older_answer_behind(cursor: Cursor) -> None:
    cursor.execute("three")
    with pytest.raises(UnsupportedQuery):
        cursor.execute("other")
    assert (cursor.description, cursor.rowcount) == (None, -1)
    with pytest.raises(InterfaceError, match="Call execute first"):
        cursor.fetchone()


def test_fetching_goes_on_where_it_stopped(cursor: Cursor) -> None:
    cursor.execute("three")
    assert cursor.fetchone() == ("Rome", 3)
    assert cursor.fetchmany(0) == []
    assert cursor.fetchmany(-1) == []
    assert cursor.fetchmany() == [("Troy", 1)]
    assert cursor.fetchall() == [("Ur", 2)]
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])
    assert cursor.execute("three").fetchone() == ("Rome", 3)


def test_fetched_rows_are_the_callers_to_change(cursor: Cursor) -> None:
    cursor.execute("three").fetchall().clear()
    assert len(cursor.answer) == 3


def test_a_closed_cursor_refuses_everything(cursor: Cursor) -> None:
    cursor.execute("three")
    cursor.close()
    cursor.close()
    for use in (lambda: cursor.execute("three"), cursor.fetchone, cursor.fetchall, lambda: cursor.answer):
        with pytest.raises(InterfaceError, match="cursor is closed"):
            use()
    assert cursor.description is None


def test_a_closed_connection_refuses_its_cursors_and_closes_once(session: Scripted) -> None:
    closed: list[str] = []
    connection = Connection(session, close=lambda: closed.append("closed"))
    cursor = connection.cursor().execute("three")
    connection.close()
    connection.close()
    assert closed == ["closed"]
    for use in (connection.cursor, connection.commit, connection.rollback, cursor.fetchone):
        with pytest.raises(InterfaceError, match="connection is closed"):
            use()


def test_with_closes_connection_and_cursor(session: Scripted) -> None:
    with Connection(session, close=lambda: None) as connection:
        with connection.cursor() as cursor:
            cursor.execute("three")
        with pytest.raises(InterfaceError, match="cursor is closed"):
            cursor.fetchone()
        assert connection.execute("three").fetchone() == ("Rome", 3)
    with pytest.raises(InterfaceError, match="connection is closed"):
        connection.cursor()


def test_threads_share_a_connection(session: Scripted) -> None:
    connection = Connection(session, close=lambda: None)
    found: list[list[tuple[Any, ...]]] = []
    threads = [threading.Thread(target=lambda: found.append(connection.execute("three").fetchall())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [THREE.rows] * 8


@pytest.mark.parametrize(
    ("name", "value", "statement"),
    [
        ("epsilon", 0.1, "SET epsilon = 0.1"),
        ("delta", Decimal("1E-9"), "SET delta = 1E-9"),
        ("max_groups_per_unit", 3, "SET max_groups_per_unit = 3"),
        ("mechanism", "it's", "SET mechanism = 'it''s'"),
    ],
)
def test_an_option_of_connect_is_a_SET_of_the_connection(
    name: str, value: str | float | Decimal, statement: str
) -> None:
    assert dbapi.set_statement(name, value) == statement


POLICY = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb, cache: cache}
neighbours: add_remove
budget:
  ledger: ledger/clinic.ledger.db
  mark: mark
  composition: basic
  total: {epsilon: 3}
  analysts: {ana: {epsilon: 2}}
  per_query: {epsilon: 0.5}
tables:
  visits:
    unit: patient_id
    rows_per_unit: 10
    columns:
      cost: {type: integer, bounds: [0, 400]}
      seen_on: {type: date, bounds: [2020-01-01, 2025-12-31]}
      ward: {type: text, values: [north, south]}
"""


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The policy of a database of 1,000 visits."""
    folder = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT i % 100 AS patient_id, i % 400 AS cost, "
            "DATE '2020-01-01' + CAST(i AS INTEGER) AS seen_on, "
            "CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END AS ward FROM range(1000) t(i)"
        )
    (folder / "ledger").mkdir()
    (folder / "clinic.yaml").write_text(POLICY)
    return folder / "clinic.yaml"


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_a_connection_answers_from_a_policy_file(clinic: Path) -> None:
    with dbapi.connect(clinic, analyst="ana", epsilon=0.25) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "SELECT ward, COUNT(*) AS n FROM visits WHERE seen_on >= ? AND cost < ? GROUP BY ward",
            [date(2021, 1, 1), 300],
        )
        assert [row[0] for row in cursor.fetchall()] == ["north", "south"]
        assert cursor.description is not None
        assert [(column[0], column[1]) for column in cursor.description] == [("ward", Type.TEXT), ("n", Type.INTEGER)]
        assert cursor.answer.cost.epsilon == 0.25
        assert len(cursor.answer.interval("n")) == 2
        assert cursor.execute("SHOW BUDGET").answer.rows[0][2] == 1.75


@pytest.mark.chance(0, "asserts nothing of the draws")
def test_SET_and_OPTIONS_overrule_what_connect_was_given(clinic: Path) -> None:
    with dbapi.connect(clinic, analyst="ana", epsilon=0.25) as connection:
        clause = "WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.125)"
        assert connection.execute(f"SELECT {clause} SUM(cost) FROM visits").answer.cost.epsilon == 0.125
        connection.execute("SET epsilon = 0.0625")
        assert connection.execute("SELECT SUM(cost) FROM visits").answer.cost.epsilon == 0.0625


def test_constants_alone_are_answered_for_nothing(clinic: Path) -> None:
    with dbapi.connect(clinic, analyst="ana") as connection:
        cursor = connection.execute("SELECT 1 AS one, upper(?) AS x", ["a"])
        assert (cursor.fetchall(), cursor.answer.cost.epsilon) == ([(1, "A")], 0)
        for text in ("SELECT current_date", "SELECT random()", "SELECT COUNT(*)", "SELECT cost"):
            with pytest.raises(connection.NotSupportedError):
                connection.execute(text)


def test_refusals_are_the_exceptions_of_PEP_249(clinic: Path) -> None:
    with dbapi.connect(clinic, analyst="ana") as connection:
        with pytest.raises(connection.NotSupportedError):
            connection.execute("DELETE FROM visits")
        with pytest.raises(connection.OperationalError, match="costs epsilon 50"):
            connection.execute("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 50) COUNT(*) FROM visits")
        with pytest.raises(connection.Error):
            connection.execute("SELECT COUNT(*) FROM visits WHERE cost < ?", [])
        with pytest.raises(connection.ProgrammingError, match="list"):
            connection.execute("SELECT COUNT(*) FROM visits WHERE cost < ?", [[1]])


def test_an_unknown_option_of_connect_is_refused_and_leaves_nothing_open(clinic: Path) -> None:
    with pytest.raises(Error, match="epsilom"):
        dbapi.connect(clinic, analyst="ana", epsilom=0.1)


@pytest.mark.parametrize(("name", "value"), [("epsilon = 9; SET x", 1), ("", 1), ("epsilon", None), ("epsilon", [1])])
def test_an_option_that_is_none_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ProgrammingError, match=r"Write a (name|number)"):
        dbapi.set_statement(name, value)


NOISED = Answer(
    *(("city", "n"), (Type.TEXT, Type.INTEGER), [("Rome", 3), ("Troy", 1)], PrivacyLoss(), (), False, True, 0.95),
    lambda column, level: [(1, 5), (0, 2)] if column == 1 else [],
)


def test_intervals_are_columns_where_the_connection_shows_them() -> None:
    connection = Connection(Scripted({"noised": NOISED}), close=lambda: None)
    cursor = connection.cursor()
    assert cursor.execute("SET intervals = on").fetchall() == [("intervals", "on")]
    assert cursor.execute("noised").fetchall() == [("Rome", 3, 1, 5), ("Troy", 1, 0, 2)]
    assert [column[0] for column in cursor.description or ()] == ["city", "n", "n_low", "n_high"]
    assert list(cursor.answer.df(intervals=True).columns) == ["city", "n", "n_low", "n_high"]
    connection.intervals = False
    assert cursor.execute("noised").fetchall() == NOISED.rows


def test_frames_have_the_rows_that_are_left() -> None:
    cursor = Connection(Scripted({"noised": NOISED}), close=lambda: None).cursor()
    assert cursor.execute("noised").fetch_arrow_table().to_pylist()[1] == {"city": "Troy", "n": 1}
    assert cursor.execute("noised").fetchone() == ("Rome", 3)
    frame = cursor.df()
    assert frame["n"].tolist() == [1]
    assert frame.attrs["dpsql_errors"].startswith("Half the width of the 95% intervals: n ± 1.")
    assert cursor.fetchdf().empty
    assert cursor.execute("noised").pl().rows() == NOISED.rows
