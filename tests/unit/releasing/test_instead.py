"""What a synthetic table would have answered: the free statement in a refusal, and the break-even in a quote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

import dpsql.testing
from dpsql.errors import BudgetExceeded
from dpsql.proxy import Proxy
from dpsql.sql.parse import normal, parse
from tests.unit.releasing.test_creating import build, rows


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    with dpsql.testing.open(build(tmp_path), sampler=dpsql.testing.Noiseless()) as found:
        yield found


def refusal(proxy: Proxy, sql: str, analyst: str = "ana") -> str:
    with pytest.raises(BudgetExceeded) as found:
        proxy.session(analyst=analyst).query(sql, epsilon=11)
    return str(found.value)


def test_a_refusal_names_the_free_statement_of_ones_own_table(proxy: Proxy) -> None:
    session = proxy.session(analyst="ana")
    session.release("who", "SELECT age, sex FROM people", epsilon=1)
    session.release("old", "SELECT age, sex, seen FROM people WHERE age > 50", epsilon=1)
    told = refusal(
        proxy, "SELECT p.sex, COUNT(*) AS n FROM people p WHERE p.age > 30 GROUP BY p.sex HAVING COUNT(*) > 3"
    )
    assert "costs epsilon 11" in told
    free = told.partition("Free, from synthetic rows: ")[2]
    exact = [(("F", "M", None)[i % 3], i * 37 % 90) for i in range(400)]
    assert sorted(rows(session, free), key=repr) == sorted(
        [(sex, sum(own == sex and age > 30 for own, age in exact)) for sex in ("F", "M", None)], key=repr
    )
    for sql in ("SELECT COUNT(*) FROM people WHERE seen > DATE '2024-01-05'", "SELECT SUM(cost) FROM visits"):
        assert "Free" not in refusal(proxy, sql)
    assert "who" not in refusal(proxy, "SELECT COUNT(*) FROM people WHERE age > 3", analyst="bob")


def test_a_quote_says_where_a_table_would_have_been_cheaper(proxy: Proxy) -> None:
    session = proxy.session(analyst="ana")
    for age in range(0, 40):
        session.query(f"SELECT COUNT(*) FROM people WHERE age = {age}", epsilon=0.1)
    sql = "SELECT COUNT(*) FROM people WHERE age = 50"
    notes = session.explain(sql, epsilon=0.1).notes
    (note,) = [note for note in notes if "would answer this" in note]
    assert note.startswith("You have spent epsilon 4 on age of people, in 40 statements. A table for epsilon 1 would")
    assert not any("would answer" in n for n in session.explain(sql, epsilon=0.5).notes)
    other = "SELECT COUNT(*) FROM people WHERE seen = DATE '2024-01-05'"
    assert not any("would answer" in n for n in session.explain(other, epsilon=0.1).notes)
    assert not any("would answer" in n for n in proxy.session(analyst="bob").explain(sql, epsilon=0.1).notes)


def test_a_table_is_to_answer_the_most_precise_statement_of_those_too(proxy: Proxy) -> None:
    session = proxy.session(analyst="ana")
    for age in range(0, 40):
        session.query(f"SELECT COUNT(*) FROM people WHERE age = {age}", epsilon=0.1)
    sql = "SELECT COUNT(*) FROM people WHERE age = 50"
    (note,) = [note for note in session.explain(sql, epsilon=0.01).notes if "would answer" in note]
    assert "A table for epsilon 1 would answer this and those about as precisely" in note
    assert "CREATE SYNTHETIC TABLE name WITH (method = 'cells', epsilon = 1) AS SELECT age FROM people" in note
    session.query("SELECT COUNT(*) FROM people WHERE age = 51", epsilon=1)
    assert not any("would answer" in note for note in session.explain(sql, epsilon=0.01).notes)


def test_a_quote_reads_each_charged_text_once(proxy: Proxy) -> None:
    session = proxy.session(analyst="ana")
    asked = [f"SELECT COUNT(*) FROM people WHERE age <> {age}" for age in range(20)]
    for sql in asked:
        session.query(sql, epsilon=0.01)
    session.explain("SELECT COUNT(*) FROM people WHERE age = 50", epsilon=0.1)
    with patch("dpsql.releasing.instead.parse", wraps=parse) as read:
        session.explain("SELECT COUNT(*) FROM people WHERE age = 51", epsilon=0.1)
    assert not {call.args[0] for call in read.call_args_list} & {normal(parse(sql)) for sql in asked}
