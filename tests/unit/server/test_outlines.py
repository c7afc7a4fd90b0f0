"""What statements return, known before they are asked; ends of intervals as columns."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.errors import ProgrammingError
from dpsql.plan.types import Type
from dpsql.server.core import Guest
from tests.unit.server.clinic import COUNT, Clinic

pytestmark = pytest.mark.chance(0, "no noise is drawn")
TABLE = "CREATE SYNTHETIC TABLE syn WITH (epsilon = 0.5) AS SELECT born, sex FROM people"


@pytest.fixture(scope="module")
def ana(clinic: Clinic) -> Iterator[Guest]:
    server = clinic.server
    guest = server.guest(server.bearer(clinic.tokens["ana"], "test", "here"), "test", "here")
    yield guest
    guest.close()


@pytest.mark.parametrize(
    "sql",
    [COUNT, "SHOW BUDGET", "SHOW TABLES", "DESCRIBE people", f"EXPLAIN {COUNT}", "SET epsilon = 0.25",
     "SET intervals = off", TABLE, "SELECT sex, COUNT(*) FROM syn GROUP BY sex", "DROP TABLE syn"],
)  # fmt: skip
def test_every_statement_has_the_columns_that_were_foretold(sql: str, ana: Guest) -> None:
    spent = ana.ask("budget", lambda session: session.budget().spent)
    foretold = ana.outline(sql)
    assert ana.ask("budget", lambda session: session.budget().spent) == spent
    wide, answer = ana.outline(sql, intervals=True), ana.query(sql)
    assert (foretold.columns, foretold.types) == (answer.columns, answer.types)
    if "SELECT" in sql and "CREATE" not in sql:
        again = ana.query(sql, intervals=True)
        assert (wide.columns, wide.types) == (again.columns, again.types)


@pytest.mark.parametrize(
    ("sql", "bars"),
    [
        ("SELECT sex, COUNT(*) AS n, AVG(weight) AS w FROM people GROUP BY sex", "no yes yes"),
        ("SELECT sex, born, n + 1 FROM (SELECT sex, born, COUNT(*) AS n FROM people GROUP BY 1, 2) t", "no no yes"),
        ("SELECT 1 AS x, COUNT(*) > 50 AS many FROM people", "no no"),
        ("SHOW BUDGET", ""),
    ],
)  # fmt: skip
def test_which_columns_have_intervals_is_public(sql: str, bars: str, ana: Guest) -> None:
    assert " ".join("yes" if has else "no" for has in ana.outline(sql).bars) == bars
    wide, answer = ana.outline(sql, intervals=True), ana.query(sql, intervals=True)
    assert (wide.columns, wide.types) == (answer.columns, answer.types)
    assert all(len(row) == len(wide.columns) for row in answer.rows)


def test_what_is_explained_takes_the_parameters_of_its_select(ana: Guest) -> None:
    sql = "EXPLAIN SELECT COUNT(*) AS n FROM people WHERE sex = ANY(?) AND age > ?"
    foretold, answer = ana.outline(sql), ana.query(sql, [["F"], 30])
    assert (foretold.columns, foretold.types) == (answer.columns, answer.types)
    assert (foretold.parameters, set(foretold.lists)) == ((Type.TEXT, Type.INTEGER), {0})
    table = f"EXPLAIN {TABLE} WHERE age > ?"
    foretold, answer = ana.outline(table), ana.query(table, [30])
    assert (foretold.columns, foretold.types) == (answer.columns, answer.types)


def test_ends_stand_behind_their_number(ana: Guest) -> None:
    ana.query("SET intervals = on")
    answer = ana.query(COUNT)
    assert answer.columns == ana.outline(COUNT).columns == ("n", "n_low", "n_high")
    ((_, low, high),) = answer.rows
    assert (low, high) == answer.interval("n")[0]
    ana.query("SET intervals = off")


def test_intervals_are_on_or_off_and_only_their_own_session_knows(clinic: Clinic, ana: Guest) -> None:
    assert ana.query("SET intervals = on").rows == [("intervals", "on")]
    assert ana.intervals
    ana.query("SET SESSION intervals TO off;")
    assert not ana.intervals
    for refused in ("SET intervals = maybe", "SET intervalls = on"):
        with pytest.raises(ProgrammingError):
            ana.query(refused)


@pytest.mark.parametrize("sql", ["SET intervals = maybe", "SET intervalls = on", "SET epsilon = -1"])
def test_a_SET_that_is_refused_has_no_columns(sql: str, ana: Guest) -> None:
    for asked in (ana.query, ana.outline):
        with pytest.raises(ProgrammingError):
            asked(sql)


def test_parameters_with_names_are_refused_before_their_values_come(ana: Guest) -> None:
    for sql in ("SELECT COUNT(*) FROM people WHERE age > $age", "SELECT $age + 1", f"{TABLE} WHERE age > $age"):
        for asked in (sql, f"EXPLAIN {sql}"):
            with pytest.raises(ProgrammingError, match=r"names its parameters.*or write \? for each"):
                ana.outline(asked)


def test_parameters_that_are_known_are_planned_with(ana: Guest) -> None:
    sql = "SELECT ? AS x, COUNT(*) FROM people WHERE age >= ?"
    assert [kind.value for kind in ana.outline(sql).types] == ["null", "integer"]
    assert [kind.value for kind in ana.outline(sql, ["a", 3]).types] == ["text", "integer"]
    with pytest.raises(ProgrammingError, match="takes 2 values"):
        ana.outline(sql, [1])
