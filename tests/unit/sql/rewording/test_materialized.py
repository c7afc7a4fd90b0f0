"""MATERIALIZED says how an engine goes about a query of WITH, and nothing of its answer."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse


@pytest.mark.parametrize("word", ["MATERIALIZED", "NOT MATERIALIZED", "not materialized"])
def test_it_is_left_out(word: str) -> None:
    text = "WITH a AS {}(SELECT b FROM t), c (d) AS {}((SELECT b FROM a)) SELECT d FROM c"
    assert normal(parse(text.format(word + " ", word))) == normal(parse(text.format("", "")))


def test_a_table_may_have_the_name() -> None:
    read = normal(parse("SELECT materialized.a FROM (SELECT b FROM t) AS materialized (a)"))
    assert read == normal(parse("SELECT m.a FROM (SELECT b FROM t) AS m (a)")).replace('"m"', '"materialized"')


@pytest.mark.parametrize("text", ["WITH a AS MATERIALIZED SELECT b", "WITH a AS NOT (SELECT b) SELECT c FROM a"])
def test_elsewhere_it_says_nothing(text: str) -> None:
    with pytest.raises(UnsupportedQuery):
        parse(text)
