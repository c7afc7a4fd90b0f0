"""``report_format => 'JSON'``: a value with its interval, as GoogleSQL writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpsql.answers.report import _as_proto
from dpsql.plan.types import Type
from dpsql.session import Session
from tests.sql.databases import open_proxy


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with open_proxy("shop", Path(tmp_path_factory.mktemp("report"))) as proxy:
        yield proxy.session(analyst="ana")


def report(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["result"]
    return found


def test_a_count_has_the_interval_of_its_noise_and_a_mean_its_own(session: Session) -> None:
    sql = "SELECT COUNT(*{0}) AS n, AVG(items{0}) AS m, COUNT(*) AS plain FROM orders"
    shown, plain = (
        session.query(sql.format(", report_format => 'JSON'"), epsilon=1),
        session.query(sql.format(""), epsilon=1),
    )
    ((n, m, count),) = shown.rows
    (low, high), (least, most) = plain.interval("n")[0], plain.interval("m")[0]
    assert shown.types[:2] == (Type.TEXT, Type.TEXT)
    assert report(n)["value"] == count == plain["n"][0]
    assert report(n)["noise_confidence_interval"] == {
        "lower_bound": count - high, "upper_bound": count - low, "confidence_level": 0.95,
    }  # fmt: skip
    assert report(m)["noise_confidence_interval"]["lower_bound"] == pytest.approx(least)
    assert report(m)["noise_confidence_interval"]["upper_bound"] == pytest.approx(most)
    assert [shown.ends(place) != [] for place in range(3)] == [False, False, True]


def test_it_stands_in_each_row_and_in_what_is_described(session: Session) -> None:
    sql = 'SELECT status, COUNT(*, report_format => "json") AS n, DP_INTERVAL_LOW(n) AS low FROM orders GROUP BY status'
    answer = session.query(sql, epsilon=1)
    assert all("noise_confidence_interval" in report(text) for text in answer["n"])
    assert all(low is not None for low in answer["low"])
    outline = session.outline(sql)
    assert (outline.types, outline.bars) == (answer.types, (False, False, False))
    assert session.query(f"SELECT * FROM ({sql}) AS t LIMIT 0").types == answer.types


def test_proto_is_the_same_in_protobufs_text_format(session: Session) -> None:
    sql = "SELECT COUNT(*{0}) AS n, QUANTILE_CONT(items, [0.5, 0.9]{0}) AS q FROM orders"
    shown, plain = (
        session.query(sql.format(", report_format => 'PROTO'"), epsilon=1),
        session.query(sql.format(", report_format => 'JSON'"), epsilon=1),
    )
    ((n, q),), ((count, both),) = shown.rows, plain.rows
    one = report(count)
    ends = one["noise_confidence_interval"]
    assert n == (
        f"value {{ int_value: {one['value']} noise_confidence_interval {{ lower_bound: {float(ends['lower_bound'])} "
        f"upper_bound: {float(ends['upper_bound'])} confidence_level: 0.95 }} }}"
    )
    assert q.startswith("values { values { float_value: ")
    assert [f"float_value: {float(value)} " in q for value in report(both)["value"]] == [True, True]
    assert shown.types == (Type.TEXT, Type.TEXT)


def test_fields_without_a_value_are_left_out() -> None:
    assert _as_proto(None, None, 2, 0.9) == (
        "value { noise_confidence_interval { upper_bound: 2.0 confidence_level: 0.9 } }"
    )
