"""Which picture an answer is, by its columns; and what its columns are, by its statement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.answers.answer import Answer, public
from dpsql.answers.plots.series import Series, seen
from dpsql.answers.plots.shapes import SHAPES, shape_of
from dpsql.plan.over_answers.roles import ColumnRole
from dpsql.plan.types import Type
from tests.sql.databases import build
from tests.unit.answers.plots.drawn import COORDINATE, COVARIANCE, DAYS, KEY, VALUE, answer_of

TEXT, INTEGER, REAL, DATE = Type.TEXT, Type.INTEGER, Type.REAL, Type.DATE
N = ("n", INTEGER, VALUE)
AGES = [(age, 10) for age in range(50)]
CENTRES = [("id", INTEGER, KEY), ("x", REAL, COORDINATE), ("y", REAL, COORDINATE)]
MATRIX = [("variable", TEXT, KEY), ("x", REAL, COVARIANCE), ("y", REAL, COVARIANCE)]


def columns_of(answer: Answer) -> list[Series]:
    named = zip(answer.columns, answer.types, answer.roles, strict=True)
    return [
        Series(name, kind, role, [row[i] for row in answer.rows], answer.ends(i))
        for i, (name, kind, role) in enumerate(named)
    ]


def kind(answer: Answer) -> str:
    return shape_of(seen(columns_of(answer))).name


@pytest.mark.parametrize(
    ("shape", "answer"),
    [
        ("nothing", answer_of([("city", TEXT, KEY), N], [])),
        ("single", answer_of([N], [(5,)])),
        ("single", answer_of([N, ("mean", REAL, VALUE)], [(5, 1.5)])),
        ("groups", answer_of([("city", TEXT, KEY), N], [("Rome", 5), ("Troy", 1)])),
        ("groups", answer_of([("city", TEXT, KEY), N], [("Rome", 5)])),
        ("groups", answer_of([N], [(5,), (6,)])),
        ("groups", answer_of([("day", DATE, KEY), N], [(DAYS[0], 5)])),
        ("groups", answer_of([("age", INTEGER, KEY), N], [(1, 5), (1, 6), (2, 7)])),
        ("histogram", answer_of([("age", INTEGER, KEY), N], AGES[:40])),
        ("histogram", answer_of([("city", TEXT, KEY), ("age", INTEGER, KEY), N], [("Rome", 1, 5), ("Rome", 2, 6)])),
        ("line", answer_of([("age", INTEGER, KEY), N], AGES[:41])),
        ("line", answer_of([("day", DATE, KEY), N], [(day, 5) for day in DAYS])),
        ("line", answer_of([("city", TEXT, KEY), ("day", DATE, KEY), N], [("Rome", day, 5) for day in DAYS])),
        ("line", answer_of([("day", DATE, KEY), N], [(DAYS[0], 5), (DAYS[1], 5), (None, 5)])),
        ("points", answer_of(CENTRES, [(1, 0.5, 0.5)])),
        ("points", answer_of(CENTRES[1:], [(0.5, 0.5)])),
        ("matrix", answer_of(MATRIX, [("x", 1.0, 0.5), ("y", 0.5, 1.0)])),
        ("groups", answer_of(MATRIX, [("x", 1.0, 0.5)])),
        ("groups", public(("name", "people"), (TEXT, INTEGER), [("Rome", 5), ("Troy", 6)])),
        ("histogram", public(("year", "people"), (INTEGER, INTEGER), [(1, 5), (2, 6)])),
        ("single", public(("people",), (INTEGER,), [(5,)])),
    ],
)
def test_the_first_shape_that_fits_is_drawn(shape: str, answer: Answer) -> None:
    assert kind(answer) == shape


def test_every_shape_is_one_that_an_answer_has() -> None:
    assert [shape.name for shape in SHAPES] == ["nothing", "matrix", "points", "single", "line", "histogram", "groups"]


def test_time_is_the_axis_before_numbers_and_numbers_before_names() -> None:
    keys = [("city", TEXT, KEY), ("day", DATE, KEY), ("age", INTEGER, KEY)]
    rows: list[tuple[Any, ...]] = [("Rome", DAYS[i % 3], i, 5) for i in range(6)]
    drawn = seen(columns_of(answer_of([*keys, N], rows)))
    assert drawn.axis is not None
    assert drawn.axis.name == "day"
    assert [*drawn.panels] == [f"city: Rome, age: {i}" for i in range(6)]


def test_public_rows_that_one_name_tells_apart_are_no_small_multiples() -> None:
    rows = [("Rome", "Italy", 5), ("Troy", "Turkey", 6)]
    drawn = seen(columns_of(public(("name", "country", "people"), (TEXT, TEXT, INTEGER), rows)))
    assert [key.name for key in drawn.keys] == ["name"]


def test_ends_that_are_columns_are_not_drawn() -> None:
    wide = answer_of([("city", TEXT, KEY), N], [("Rome", 5)]).with_intervals()
    drawn = seen(columns_of(wide))
    assert wide.columns == ("city", "n", "n_low", "n_high")
    assert [own.name for own in (*drawn.keys, *drawn.values)] == ["city", "n"]
    assert wide.with_intervals() == wide


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Session]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("roles")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


@pytest.mark.parametrize(
    ("sql", "roles"),
    [
        ("SELECT employed, COUNT(*) AS n FROM people GROUP BY 1", "KEY VALUE"),
        ("SELECT employed, n FROM (SELECT employed, COUNT(*) AS n FROM people GROUP BY 1)", "KEY VALUE"),
        (
            "SELECT SUM(n) AS m, COUNT(*) AS k FROM (SELECT employed, COUNT(*) AS n FROM people GROUP BY 1)",
            "VALUE VALUE",
        ),
        ("SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low, COUNT(*) > 3 AS many FROM people", "VALUE END OTHER"),
        ("SELECT 'all' AS who, AVG_VECTOR(age, height) FROM people", "KEY COORDINATE COORDINATE"),
        ("SELECT age AS k, COUNT(*) * 2 AS n FROM people GROUP BY 1", "KEY VALUE"),
    ],
)
def test_the_statement_says_what_its_columns_are(session: dpsql.Session, sql: str, roles: str) -> None:
    assert " ".join(role.name for role in session.query(sql, epsilon=1).roles) == roles


def test_centres_and_covariances_are_told_from_other_numbers(session: dpsql.Session) -> None:
    from dpsql.plan.over_answers.roles import roles_of
    from dpsql.plan.plans import Plan
    from dpsql.sql import syntax
    from dpsql.sql.parse import parse

    def planned(sql: str) -> tuple[ColumnRole, ...]:
        statement = parse(sql)
        assert isinstance(statement, syntax.QueryStatement)
        plan = session._plan(statement.select, ())
        assert isinstance(plan, Plan)
        return roles_of(plan)

    centres = "dp_kmeans((SELECT age, height FROM people), k => 2, bound => 200, scale => (1, 100))"
    assert planned(f"SELECT * FROM {centres}") == (KEY, COORDINATE, COORDINATE)
    assert planned(f"SELECT id, age + 1 AS older FROM {centres}") == (KEY, VALUE)
    assert planned("SELECT * FROM dp_covariance((SELECT age, height FROM people))") == (KEY, COVARIANCE, COVARIANCE)
