"""An answer's messages are kept for who asks again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from dpsql.server.flight import statements
from dpsql.server.flight.arrow import stream
from tests.unit.server.flight.client import Client

pytestmark = pytest.mark.chance(0, "an answer is compared with itself")


def test_kept_messages_tell_what_is_true_now(ana: Client) -> None:
    sql, other = (f"SELECT COUNT(*) AS n FROM people WHERE age > {age}" for age in (33, 34))
    first, again, third = (ana.query(sql) for _ in range(3))
    assert first.replace_schema_metadata() == again.replace_schema_metadata()
    assert first.schema.metadata[b"dpsql_replayed"] == b"false"
    assert again.schema.metadata[b"dpsql_replayed"] == b"true"
    ana.query(other)
    later = ana.query(sql)
    assert third.schema.metadata == again.schema.metadata
    assert later.schema.metadata[b"dpsql_left"] != again.schema.metadata[b"dpsql_left"]
    assert later.replace_schema_metadata() == first.replace_schema_metadata()


def test_messages_are_kept_of_small_answers(ana: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[int]()

    def counted(table: pa.Table) -> Iterator[bytes]:
        made.append(table.num_rows)
        return stream(table)

    monkeypatch.setattr(statements, "stream", counted)
    for _ in range(4):  # the first answer, the first replay, and two that are kept
        ana.query("SELECT COUNT(*) AS n FROM people WHERE age > 35")
    assert made == [1, 1]
    monkeypatch.setattr(statements, "SMALL", 0)
    for _ in range(3):
        ana.query("SELECT COUNT(*) AS n FROM people WHERE age > 35")
    assert made == [1] * 5


def test_what_is_told_of_an_answer_is_of_that_answer_whatever_is_asked_beside_it(
    ana: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Calls of one session may be at work at once, each in a thread of its own.
    asked, alone = statements.Statements._query, [True]
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > 40"

    def beside(self: Any, kept: Any, *given: Any, **more: Any) -> Any:
        found = asked(self, kept, *given, **more)
        if alone:
            alone.clear()
            asked(
                self,
                kept,
                f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.02) {sql.removeprefix('SELECT')}.1",
                (),
            )
        return found

    monkeypatch.setattr(statements.Statements, "_query", beside)
    assert ana.query(sql).schema.metadata[b"dpsql_cost"] == b"epsilon 0.5"
