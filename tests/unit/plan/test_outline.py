"""Columns, types and the types of parameters, before any value is known: nothing is priced."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.plan.types import Type
from dpsql.session import Session
from tests.unit.server.clinic import open_clinic


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with open_clinic(tmp_path_factory.mktemp("clinic")) as clinic:
        yield clinic.proxy.session(analyst="ana")


def test_an_outline_that_was_kept_is_that_of_its_own_text_and_values(session: Session) -> None:
    texts = ["SELECT COUNT(*) AS N FROM people", "SELECT COUNT(*) AS n FROM people", "select count(*) AS N from people"]
    for _ in range(2):
        assert [session.outline(sql).columns for sql in texts] == [("N",), ("n",), ("N",)]
        with pytest.raises(ProgrammingError):
            session.outline("SELECT COUNT(*) FROM people WHERE age > ?", ())
        assert session.outline("SELECT COUNT(*) FROM people WHERE age > ?").parameters == (Type.INTEGER,)


def test_an_outline_of_an_own_table_follows_the_table(session: Session) -> None:
    sql, make = "SELECT * FROM mine", "CREATE SYNTHETIC TABLE mine WITH (epsilon = 1) AS SELECT {} FROM people"
    for columns in (("sex",), ("sex", "smokes")):
        session.query(make.format(", ".join(columns)))
        assert session.outline(sql).columns == columns
        session.query("DROP TABLE mine")
        with pytest.raises(UnsupportedQuery):
            session.outline(sql)


@pytest.mark.parametrize(
    ("sql", "types", "parameters"),
    [
        ("SELECT sex, COUNT(*), AVG(weight) FROM people WHERE age >= ? GROUP BY sex", "text integer real", "integer"),
        (
            "SELECT COUNT(*) FROM people WHERE sex = $2 AND born BETWEEN $1 AND DATE '1990-01-02'",
            "integer",
            "date text",
        ),
        (
            "SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY 2 LIMIT ? OFFSET ?",
            "text integer",
            "integer integer",
        ),
        ("SELECT AVG(weight + ?) FROM people WHERE sex IN (?, 'F') AND NOT smokes", "real", "real text"),
        ("SELECT COUNT(*) FROM people WHERE born = CAST(? AS DATE)", "integer", "date"),
        ("SELECT smokes, born, MAX(age) FROM people GROUP BY smokes, born", "boolean date integer", ""),
        ("SELECT * FROM (SELECT COUNT(*) AS n FROM people) t LIMIT 10", "integer", ""),
        ("SELECT COUNT(*) FROM people WHERE sex LIKE ?", "integer", "text"),
        ("SELECT COUNT(*) FROM people WHERE sex ILIKE $1 AND sex <> $2 AND age > $3", "integer", "text text integer"),
        ("SELECT COUNT(*) FROM people WHERE starts_with(sex, ?)", "integer", "text"),
        ("SELECT date_trunc(?, born), COUNT(*) FROM people GROUP BY 1", "timestamp integer", "text"),
        ("SELECT COUNT(*) FROM people WHERE sex LIKE '%' || $1::VARCHAR || '%'", "integer", "text"),
        (
            "SELECT percentile_cont($1) WITHIN GROUP (ORDER BY age), QUANTILE_DISC(age, $2) FROM people",
            "real integer",
            "real real",
        ),
        ("SELECT percentile_cont($1::FLOAT) WITHIN GROUP (ORDER BY age) FROM people", "real", "real"),
        ("SELECT sex, COUNT(*) FROM people GROUP BY 1 LIMIT $1::INTEGER", "text integer", "integer"),
        ("SELECT COUNT(*) FROM people WHERE born >= $1::TIMESTAMP WITHOUT TIME ZONE", "integer", "timestamp"),
    ],
)
def test_an_outline_has_types_of_columns_and_of_parameters(
    session: Session, sql: str, types: str, parameters: str
) -> None:
    before = session.budget()
    outline = session.outline(sql)
    assert outline.types == tuple(map(Type, types.split()))
    assert outline.parameters == tuple(map(Type, parameters.split()))
    assert len(outline.columns) == len(outline.types)
    assert session.budget() == before


def test_what_is_refused_whatever_the_values_are_has_no_outline(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="nope"):
        session.outline("SELECT COUNT(*) FROM people WHERE nope = ? LIMIT ?")
    with pytest.raises(ProgrammingError, match="Only a SELECT"):
        session.outline("SHOW BUDGET")
