"""Whatever may be taken for an aggregate is planned, or refused with what is possible there, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.plan.aggregates import CALLS, NAMES, Takes
from dpsql.plan.rows.chosen import CHOOSING
from dpsql.plan.rows.per_unit import INSIDE
from dpsql.session import Session
from tests.turns import in_turns
from tests.unit.mechanisms.shop import policy, sessions

TABLES = """
  stays:
    unit: pid
    rows_per_unit: 3
    columns:
      day: {type: integer, bounds: [0, 9]}
      cost: {type: integer, bounds: [0, 9]}
"""
MADE = "CREATE TABLE stays AS FROM (VALUES (1, 1, 2), (1, 5, 3), (2, 2, 4)) AS t(pid, day, cost);"
PLACES = {
    "inside one unit, as a condition": (
        "SELECT COUNT(*) AS n FROM stays WHERE pid IN (SELECT pid FROM stays GROUP BY pid HAVING {} > 1)"
    ),
    "inside one unit, as a value": "SELECT AVG(v) AS n FROM (SELECT pid, {} AS v FROM stays GROUP BY pid)",
    "of all rows": "SELECT {} AS n FROM stays",
    "over answers": "SELECT {} AS n FROM (SELECT day, COUNT(*) AS cost FROM stays GROUP BY day)",
    "as a window": "SELECT day, {} OVER () AS n FROM (SELECT day, COUNT(*) AS cost FROM stays GROUP BY day)",
}
ARGUMENTS = ("", "*", "day", "day > 3", "day, cost", "day, 2", "DISTINCT day", "day ORDER BY cost")
POSSIBLE = "COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR, BOOL_AND, arg_min(x, y), arg_max(x, y), first(x "


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("per_unit"), MADE, policy(TABLES))


def refusal(session: Session, sql: str) -> str:
    """What an analyst is told; '' where it has a price."""
    try:
        session.explain(sql, epsilon=1)
    except (UnsupportedQuery, ProgrammingError) as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(("name", "place"), in_turns([(name,) for name in sorted(NAMES)], [(at,) for at in PLACES]))
def test_every_name_of_an_aggregate_is_planned_or_refused_wherever_it_stands(
    session: Session, name: str, place: str
) -> None:
    for arguments in ARGUMENTS:
        refusal(session, PLACES[place].format(f"{name}({arguments})"))


@pytest.mark.every(2)
@pytest.mark.parametrize("name", sorted(NAMES - INSIDE.keys()))
def test_what_does_not_stand_inside_one_unit_names_what_does(session: Session, name: str) -> None:
    if name in CHOOSING or (name in CALLS and CALLS[name].takes in (Takes.COUNT_IF, Takes.ANY, Takes.ALL)):
        return  # they count, compare, or choose a row there
    for place in list(PLACES.values())[:2]:
        told = refusal(session, place.format(f"{name}(day)"))
        assert f"{name.upper()} at 1:" in told
        assert "inside one unit it is not supported." in told
        assert POSSIBLE in told


CHOSEN = (
    "CASE WHEN day > 1 THEN pid END",
    "CASE WHEN day > 1 THEN pid ELSE NULL END",
    "CASE WHEN day > 1 THEN CASE WHEN cost > 3 THEN pid END END",
    "IF(day > 1, pid, NULL)",
)
COMPUTED = (
    "CASE WHEN day > 1 THEN NULL ELSE pid END",
    "CASE WHEN day > 1 THEN pid WHEN cost > 3 THEN pid END",
    "CASE WHEN day > 1 THEN pid END = '2'",
    "CASE WHEN CASE WHEN day > 1 THEN pid END = '2' THEN 1 END",
    "COALESCE(CASE WHEN day > 1 THEN pid END, pid)",
    "COALESCE(CASE WHEN day > 1 THEN pid END, CASE WHEN cost > 3 THEN pid END)",
    "NULLIF(CASE WHEN day > 1 THEN pid END, '2')",
    "CASE WHEN day > 1 THEN pid END IS NULL",
    "upper(CASE WHEN day > 1 THEN pid END)",
    "CASE WHEN pid IS NULL THEN pid END",
)
FILTERS = ("", " FILTER (WHERE cost < 4)")


@pytest.mark.parametrize("counted", ["COUNT({})", "COUNT(DISTINCT {})"])
@pytest.mark.parametrize("expression", CHOSEN)
def test_a_unit_is_counted_where_conditions_hold_whatever_its_type(
    session: Session, counted: str, expression: str
) -> None:
    # Of the three stays, days 1, 5 and 2 with costs 2, 3 and 4: the unit is a number, which the plan does not know.
    places = PLACES["inside one unit, as a value"].replace("AVG(v)", "SUM(v)"), PLACES["of all rows"]
    for filtered in FILTERS:
        met = [day > 1 and ("cost > 3" not in expression or cost > 3) and (not filtered or cost < 4)
               for day, cost in ((1, 2), (5, 3), (2, 4))]  # fmt: skip
        for place in places:
            sql = place.format(counted.format(expression) + filtered)
            assert session.query(sql, epsilon=1).rows == [(sum(met),)], sql


@pytest.mark.every(3)
@pytest.mark.parametrize("call", ["COUNT({})", "COUNT(DISTINCT {})", "COUNT_IF({})", "COUNT(*) FILTER (WHERE {})"])
@pytest.mark.parametrize("expression", COMPUTED)
def test_nothing_is_computed_from_what_may_be_a_unit(session: Session, call: str, expression: str) -> None:
    for place in ("inside one unit, as a value", "of all rows"):
        for filtered in FILTERS if "FILTER" not in call else ("",):
            assert refusal(session, PLACES[place].format(call.format(expression) + filtered))


@pytest.mark.parametrize(
    "condition",
    [
        "CASE WHEN COUNT(*) > 1 THEN pid END = '2'",
        "upper(IF(MAX(day) > 1, pid, NULL)) = '2'",
        "CASE WHEN COUNT(*) > 1 THEN pid END IS NULL",
    ],
)
def test_no_group_of_one_unit_is_chosen_by_whose_it_is(session: Session, condition: str) -> None:
    told = refusal(session, f"SELECT COUNT(*) FROM (SELECT pid FROM stays GROUP BY pid HAVING {condition}) AS s")
    assert "pid" in told
    assert "could single out a person" in told
