"""An answer is replayed for the same statement alone: whatever an engine is told tells two of them apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from dpsql.engine.base import EngineStatement
from dpsql.session import Session
from dpsql.worker.making import Added, ByKey, Counted, Firsts, Made, Repeats, Way
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

TABLES = """
  visits:
    unit: person
    rows_per_unit: 6
    rows_about: 600
    columns:
      ward: {type: text, values: [A, B, C, D]}
      x: {type: integer, bounds: [0, 9]}
"""
MADE = (
    "CREATE TABLE visits AS SELECT i // 6 AS person, ['A', 'B', 'C', 'D'][1 + (i * 7 + i // 6) % 4] AS ward, "
    "i % 10 AS x FROM range(600) AS t(i)"
)
CAPS: tuple[dict[str, Any], ...] = (
    {},
    {"max_groups_contributed": 1},
    {"max_groups_contributed": 2},
    {"max_groups_contributed": 3},
    {"max_rows_contributed": 1},
    {"max_rows_contributed": 2},
)


@pytest.fixture
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("fingerprint"), MADE, policy(TABLES))


def written(caps: dict[str, Any]) -> str:
    own = {"epsilon": 1, "mechanism": "'laplace'"} | caps
    return ", ".join(f"{name} = {value}" for name, value in own.items())


@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(x)", "COUNT(DISTINCT person)"])
def test_another_cap_is_another_answer(session: Session, aggregate: str) -> None:
    asked = f"SELECT ward, {aggregate} AS n FROM visits GROUP BY ward"
    found = [session.query(asked, epsilon=1, mechanism="laplace", **caps) for caps in CAPS]
    texts = [asked.replace("SELECT", f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({written(caps)})") for caps in CAPS]
    assert [answer.replayed for answer in found] == [False] * len(CAPS)
    assert [answer.rows for answer in session.query_all(texts)] == [answer.rows for answer in found]
    if aggregate != "COUNT(DISTINCT person)":
        assert len({str(answer.rows) for answer in found}) == len(CAPS)
    arms = " UNION ALL ".join(f"SELECT {at} AS cap, n.* FROM ({text}) AS n" for at, text in enumerate(texts))
    assert sorted(session.query(arms).rows) == sorted((at, *row) for at, own in enumerate(found) for row in own.rows)


def test_all_that_an_engine_is_told_is_in_the_identity() -> None:
    plain = EngineStatement("SELECT 1", (), (("m", "BIGINT"),), frozenset(), frozenset())
    others: dict[str, Any] = {
        "sql": "SELECT 2", "parameters": (1,), "columns": (), "tables": frozenset({"t"}), "functions": frozenset("f"),
        "most_rows": 1, "listed": (("k", (1,)),), "made": Counted(()), "ways": (ByKey("a", ()),), "bins": (None,),
        "by_unit": True, "beside": 1, "parted": ("SELECT 1 WHERE 1 % ", ""),
    }  # fmt: skip
    assert set(others) == {field.name for field in fields(EngineStatement)}
    known = {replace(plain, **{name: other}).identity for name, other in others.items()}
    assert len(known | {plain.identity}) == len(others) + 1
    firsts = [Firsts(), Firsts(rows=1), Firsts(groups=1), Firsts(rank_digits=1)]
    made: list[Made] = [
        Counted(()), Counted((((0, 1),),)), Counted((), marked=True), Counted((), edges=(1,)),
        Counted((), of=Added(())), Added((("rows", -1),)), Added((), alone=True), Added((), clamps=(None,)),
        *(Added((), firsts=own) for own in firsts),
    ]  # fmt: skip
    ways: list[Way] = [
        ByKey("a", ()), ByKey("", (1,)), *(ByKey("", (), own) for own in firsts),
        Repeats("", "", ()), Repeats("a", "", ()), Repeats("", "a", ()), Repeats("", "", (1,)),
    ]  # fmt: skip
    parts = [replace(plain, made=own) for own in made] + [replace(plain, ways=(own,)) for own in ways]
    assert len({part.identity for part in parts}) == len(made) + len(ways)
    several = replace(plain, tables=frozenset(map(str, range(50))))
    assert several.identity == replace(several, tables=frozenset(map(str, reversed(range(50))))).identity
