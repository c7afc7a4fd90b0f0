"""Lists as parameters: all their values, and refusals that say what to pass."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from dpsql.charging import Spoken
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.plan.types import Type
from dpsql.session import Session
from dpsql.sql.parse import parse
from tests.unit.server.clinic import open_clinic

ANY = "SELECT COUNT(*) AS n FROM people WHERE age = ANY(?)"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with open_clinic(tmp_path_factory.mktemp("clinic")) as clinic:
        yield clinic.proxy.session(analyst="ana")


def test_a_list_stands_for_its_values_and_is_the_same_statement_as_in(session: Session) -> None:
    first = session.query(ANY, [[7, 8, None]])
    assert first["n"] == [4]
    for sql, values in (
        ("SELECT COUNT(*) AS n FROM people WHERE age IN (?, ?, ?)", (7, 8, None)), (ANY, [(7, 8, None)])
    ):  # fmt: skip
        assert session.query(sql, values).replayed
    assert session.query("SELECT COUNT(*) AS n FROM people WHERE age = ANY($2) AND sex = $1", ["F", (7, 8)])["n"] == [2]
    array: Any = [np.array([7, 8])]
    assert session.query(ANY, array)["n"] == [4]
    assert session.query("SELECT COUNT(*) AS n FROM people WHERE sex <> ALL(?)", [["F"]])["n"] == [50]


NAMED = "SELECT COUNT(*) AS n FROM people WHERE sex = $sex AND age = ANY($Ages) AND age <> $age AND sex = $SEX"


def test_names_take_a_mapping_and_are_the_same_statement_as_numbers(session: Session) -> None:
    assert session.query(NAMED, {"AGES": (7, 8), "age": 9, "sex": "F"})["n"] == [2]
    numbered = "SELECT COUNT(*) AS n FROM people WHERE sex = $1 AND age = ANY($2) AND age <> $3 AND sex = $1"
    assert session.query(numbered, ["F", (7, 8), 9]).replayed
    assert session.query(NAMED, {"sex": "F", "ages": (7, 8), "age": 9}).replayed
    assert session.query("EXPLAIN " + NAMED, {"sex": "F", "ages": (7, 8), "age": 9}).rows
    assert session.explain(NAMED, {"sex": "F", "ages": [7], "age": 9}).cost == session.price(
        NAMED, {"sex": "F", "ages": [7], "age": 9}
    )
    assert session.query_all([(NAMED, {"sex": "F", "ages": (7, 8), "age": 9})])[0].replayed
    own = session.outline(NAMED)
    assert own.parameters == (Type.TEXT, Type.INTEGER, Type.INTEGER)
    assert own.lists == {1}
    assert session.query("SHOW BUDGET", {}).rows


@pytest.mark.parametrize(
    ("sql", "parameters", "told"),
    [
        (NAMED, ["F", [7], 8], "names its parameters. Pass a mapping of their values, {'sex': ..,"),
        (NAMED, {"sex": "F", "ages": [7]}, "No value came for $age. Pass one for each of: sex, ages, age."),
        (NAMED, {"sex": "F", "ages": [7], "age": 1, "town": 2}, "has no $town. Its parameters are sex, ages, age."),
        (NAMED, {"sex": "F", "SEX": "M", "ages": [7], "age": 1}, "Two parameters have one name"),
        (ANY, {"age": [7]}, "Write a list with one value for each ?"),
        ("SELECT ?", {}, "takes 1 value for parameters; 0 came"),
    ],
)  # fmt: skip
def test_names_and_values_must_agree(session: Session, sql: str, parameters: Any, told: str) -> None:
    with pytest.raises(ProgrammingError, match=re.escape(told)):
        session.query(sql, parameters)


def test_an_approval_shows_the_values_of_names() -> None:
    spoken = Spoken(parse("SELECT count(*) FROM t WHERE a > $low AND b = $b"), {"b": "x", "low": 3})
    assert spoken.text.endswith("with $1 = 3, $2 = 'x'")
    assert spoken.identity == Spoken(parse("SELECT count(*) FROM t WHERE a > ? AND b = ?"), [3, "x"]).identity


def test_a_uuid_is_its_text(session: Session) -> None:
    own = UUID("12345678-1234-5678-1234-567812345678")
    with pytest.raises(UnsupportedQuery, match="'12345678-1234-5678-1234-567812345678' is none of its values"):
        session.query("SELECT COUNT(*) AS n FROM people WHERE sex = ?", [own])


def test_a_time_with_a_zone_is_its_moment_in_utc(session: Session) -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    moment = datetime(2024, 6, 15, 0, 30, tzinfo=east)
    assert session.query("SELECT ? AS moment", [moment])["moment"] == [datetime(2024, 6, 14, 19)]
    assert session.query("SELECT ? AS moment", [datetime(2024, 6, 15, tzinfo=UTC)])["moment"] == [datetime(2024, 6, 15)]
    with pytest.raises(ProgrammingError, match="years 1 to 9999"):
        session.query("SELECT ? AS moment", [datetime.min.replace(tzinfo=east)])


def test_an_outline_says_that_a_list_is_taken(session: Session) -> None:
    own = session.outline("SELECT sex, COUNT(*) FROM people WHERE age = ANY($2) AND sex = $1 GROUP BY sex")
    assert own.parameters == (Type.TEXT, Type.INTEGER)
    assert own.lists == {1}


@pytest.mark.parametrize(
    ("sql", "values"),
    [(ANY, [7]), (ANY, ["{7}"]), (ANY, [[]]), (ANY, [[[7]]]), (ANY, [list(range(1001))]), (ANY, [[object()]]),
     (ANY, [[7], [8]]), ("SELECT COUNT(*) FROM people WHERE age IN (?)", [[7]]),
     ("SELECT COUNT(*) FROM people WHERE age = ?", [[7]])],
)  # fmt: skip
def test_what_is_no_list_or_stands_where_none_is_taken_is_refused(
    session: Session, sql: str, values: list[object]
) -> None:
    with pytest.raises(ProgrammingError):
        session.query(sql, values)  # type: ignore[arg-type]  # what the test is about


def test_a_list_is_neither_a_value_elsewhere_nor_a_way_to_name_a_person(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="list"):
        session.query("SELECT COUNT(*) FROM people WHERE age = ANY($1) AND weight > $1", [[7]])
    with pytest.raises(UnsupportedQuery, match="person"):
        session.query("SELECT COUNT(*) FROM people WHERE person = ANY(?)", [[7, 8]])
