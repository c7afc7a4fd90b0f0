"""What is asked again runs by the plan that was made for it first, and finds the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.base import EngineStatement
from dpsql.worker import __main__ as process
from dpsql.worker import wire
from dpsql.worker.__main__ import Desk, open_database
from dpsql.worker.client import _message, _read
from dpsql.worker.making import Repeats
from tests.unit.worker.conftest import COUNT, VISITS, statement

pytestmark = pytest.mark.chance(0, "no noise is drawn")


@pytest.fixture
def desk(bounded_file: Path) -> Iterator[Desk]:
    """That of a process, in this one."""
    connection = open_database(str(bounded_file), 1 << 30, 2)
    yield Desk(connection, ("bounded", "main"))
    connection.close()


def found(desk: Desk, asked: EngineStatement) -> list[list[Any]]:
    """The columns of a statement, which is run."""
    sent = desk.answer(wire.decode(_message(asked, 20, {})), ())
    return [list(column) for column in _read([memoryview(bytes(part)) for part in sent], asked).values()]


def by_age(more: int) -> EngineStatement:
    """Visits by age, which is so much more in the answer."""
    sql = f"SELECT age + {more} AS age, count(*) AS n FROM {VISITS} GROUP BY age ORDER BY age"
    return statement(sql, ("age", "BIGINT"), ("n", "BIGINT"))


def test_a_plan_finds_what_the_text_found(desk: Desk) -> None:
    first = [found(desk, by_age(more)) for more in range(3)]
    assert first == [[[more, more + 1, more + 2], [3334, 3333, 3333]] for more in range(3)]
    assert [found(desk, by_age(more)) for more in range(3)] == first
    assert len(desk._plans) == 3


def test_as_many_plans_are_kept_as_may_be(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MOST_PLANNED", 2)
    first = [found(desk, by_age(more)) for more in range(5)]
    assert len(desk._plans) == 2
    assert [found(desk, by_age(more)) for more in range(5)] == first


def test_groups_are_begun_beside_few_rows_and_found_alike(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    key, rows = "hash(city) AS k", f"FROM {VISITS} GROUP BY city ORDER BY city"
    counted = replace(
        statement(
            f"SELECT city, count(DISTINCT patient_id) AS n {rows}",
            ("city", "VARCHAR"),
            ("n", "BIGINT"),
            functions=frozenset({"count", "hash", "%"}),
        ),
        ways=(
            Repeats(
                f"SELECT city, count(*) AS n, {key} {rows}",
                f"SELECT {key}, CAST(patient_id AS INTEGER) AS u FROM {VISITS} ORDER BY patient_id",
                (1,),
            ),
        ),
        most_rows=100,
    )
    begun = list[str]()

    def noted(self: process._Rows) -> process._Rows:
        begun.append(self.sql)
        return own(self)

    own = process._Rows.begun
    monkeypatch.setattr(process._Rows, "begun", noted)
    expected = [[f"city {city}" for city in range(7)], [1_000] * 7]
    assert found(desk, replace(counted, ways=())) == expected
    assert found(desk, counted) == expected
    assert len(begun) == 1
    desk._sizes = {"visits": 1 << 30}
    assert found(desk, counted) == expected
    assert len(begun) == 1


def test_a_text_with_parameters_is_planned_for_their_values(desk: Desk) -> None:
    sql = f"SELECT count(*) AS n FROM {VISITS} WHERE age < ?"
    for age, n in ((1, 3334), (2, 6667), (1, 3334)):
        assert found(desk, statement(sql, ("n", "BIGINT"), parameters=(age,))) == [[n]]
    assert not desk._plans


def test_behind_a_text_that_fails_others_run(desk: Desk) -> None:
    failing = statement(f"SELECT CAST(repeat('x', count(*)) AS BIGINT) AS n FROM {VISITS}", ("n", "BIGINT"))
    for _ in range(2):
        with pytest.raises(Exception, match="Could not convert"):
            found(desk, failing)
        assert found(desk, COUNT) == [[10_000]]
