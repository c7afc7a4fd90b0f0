"""An answer's messages are kept for who asks again."""

from __future__ import annotations

from collections.abc import Iterator

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
