"""Statements that ask the same of the tables are charged once; each is answered as if nobody had asked before."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

import dpsql.testing
from dpsql.answers.answer import Answer
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.prepare import Prepared
from dpsql.session import Session
from dpsql.sql.normal import normal
from dpsql.sql.parse import parse
from dpsql.sql.syntax import Literal, QueryStatement, Select
from tests.sql.corpus import Block, blocks
from tests.sql.databases import POLICIES, build
from tests.sql.described import planned

LEAST = 100
"""Statements of the corpus, at least, that ask what another one asks. It is a choice: there were 138."""
LEAST_TURNED = 250
"""Statements of the corpus, at least, that are asked the other way round. It is a choice: there were 268."""

RICH = re.compile(r'((?:total|"\*"): +\{)epsilon: [^,]+, delta: [^,}]+')
"""The budgets of all analysts together, and of those without one of their own."""
Proxies = dict[str, dpsql.testing.TestProxy]


@pytest.fixture(scope="module")
def proxies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxies]:
    """Per policy a proxy without noise, whose budget never ends."""
    opened = Proxies()
    for name in POLICIES:
        file = build(name, tmp_path_factory.mktemp("once"))
        text, changed = RICH.subn(r"\1epsilon: 1000000, delta: 0.5", file.read_text())
        assert changed == 2
        file.write_text(text)
        opened[name] = dpsql.testing.open(file, sampler=dpsql.testing.Noiseless())
    yield opened
    for proxy in opened.values():
        proxy.close()


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_what_was_released_once_answers_all_that_is_made_of_it(step: int, proxies: Proxies) -> None:
    """Of all statements of the corpus with one release, each has the answer that it has alone."""
    alike = defaultdict[tuple[str, str], list[Block]](list)
    for block in blocks("accepted.sql"):
        plan = planned(_session(proxies[block.policy], ""), block)
        if isinstance(plan, Prepared) and not plan.plan.empty:
            alike[block.policy, plan.fingerprint("", 1)].append(block)
    several = [(policy, print_, own) for (policy, print_), own in alike.items() if len(own) > 1]
    compared = 0
    for policy, print_, own in several[::step]:
        together = _session(proxies[policy], f"{step} {print_}")
        for number, block in enumerate(own):
            first = together.query(block.sql, block.parameters, **block.options)
            alone = _session(proxies[policy], f"{step} {print_} {number}").query(
                block.sql, block.parameters, **block.options
            )
            assert first.replayed is (number > 0), block.sql
            assert not alone.replayed
            assert (first.columns, first.types, first.rows) == (alone.columns, alone.types, alone.rows), block.sql
            compared += 1
    assert compared >= LEAST / step


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_other_orders_of_columns_and_keys_are_one_release(step: int, proxies: Proxies) -> None:
    """Statements of the corpus the other way round answer from one release exactly as they do alone."""
    compared, every = 0, [(own, turned) for own in blocks("accepted.sql") if (turned := _turned_round(own)) is not None]
    for block, turned in every[::step]:
        proxy = proxies[block.policy]
        together = _session(proxy, f"round {step} {block.place}")
        paid = together.query(block.sql, **block.options)
        try:
            first = together.query(turned, **block.options)
        except UnsupportedQuery:  # a column reads the name of another one, which stands behind it now
            continue
        alone = _session(proxy, f"alone {step} {block.place}").query(turned, **block.options)
        if not paid.measurements:
            continue
        assert first.replayed, turned
        assert not alone.replayed
        assert (first.columns, first.types, first.rows) == (alone.columns, alone.types, alone.rows), turned
        assert _ends(first) == _ends(alone), turned
        compared += 1
    assert compared >= LEAST_TURNED / step


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sex AS s, COUNT(*) AS m FROM patients GROUP BY sex ORDER BY m DESC LIMIT 1",
        "SELECT COUNT(*) AS n FROM patients GROUP BY sex HAVING COUNT(*) > 10",
        "SELECT MAX(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)",
        "SELECT a.n / b.n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS a, "
        "(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS b WHERE a.sex = 'F' AND b.sex = 'M'",
    ],
)
def test_other_names_orders_and_sums_of_an_answer_are_free(sql: str, proxies: Proxies) -> None:
    session = _session(proxies["hospital"], sql)
    assert not session.query("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex").replayed
    left = session.budget().left
    assert session.quote([sql]).cost.epsilon == 0
    assert session.query(sql).replayed
    assert session.budget().left == left


@pytest.mark.parametrize("tail", ["", " HAVING n > 1", " ORDER BY n > 1"])
def test_rows_come_by_the_keys_as_they_are_written(tail: str, proxies: Proxies) -> None:
    session, aggregates = _session(proxies["hospital"], f"keys {tail}"), "SUM(age) AS s, COUNT(*) AS n"
    one = session.query(f"SELECT sex, consent, {aggregates} FROM patients GROUP BY sex, consent{tail}")
    other = session.query(f"SELECT {aggregates}, consent, sex FROM patients GROUP BY consent, sex{tail}")
    assert other.replayed
    assert sorted(one.rows) == sorted((sex, consent, s, n) for s, n, consent, sex in other.rows)
    if not tail:
        declared = ("strict", "normal")
        assert one.rows == sorted(one.rows, key=lambda row: (row[0], declared.index(row[1])))
        assert other.rows == sorted(other.rows, key=lambda row: (declared.index(row[2]), row[3]))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT consent, COUNT(*) AS n FROM patients GROUP BY consent",
        "SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY sex",
        "SELECT sex, COUNT(*) AS n FROM patients WHERE age > 40 GROUP BY sex",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.25) sex, COUNT(*) AS n FROM patients GROUP BY sex",
    ],
)
def test_what_asks_for_more_is_charged(sql: str, proxies: Proxies) -> None:
    session = _session(proxies["hospital"], sql)
    session.query("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex")
    assert not session.query(sql).replayed


def test_queries_over_an_answer_read_the_ends_of_its_intervals(proxies: Proxies) -> None:
    session = _session(proxies["hospital"], "ends")
    inner = "SELECT sex, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low FROM patients GROUP BY sex"
    rows = sorted((low + 1, sex) for sex, _, low in session.query(inner).rows)
    assert session.query(f"SELECT low + 1, sex FROM ({inner}) ORDER BY low").rows == rows
    assert session.query(f"SELECT MAX(low) + 1 FROM ({inner}) WHERE low > 0").rows == [rows[-1][:1]]
    assert session.query(f"SELECT * FROM (SELECT sex, low FROM ({inner}) ORDER BY 2 DESC LIMIT 1)").replayed


def test_a_condition_reads_its_own_value_of_an_answer(proxies: Proxies) -> None:
    """The least and the largest of one release are two values: what waits for one is not answered with the other's."""
    session = _session(proxies["hospital"], "conditions")
    counts = [
        session.query(
            f"SELECT COUNT(*) AS n FROM patients WHERE age * 10 < (SELECT {which}(n) "
            "FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex))"
        )
        for which in ("MIN", "MAX")
    ]
    assert counts[0].rows != counts[1].rows
    assert not counts[1].replayed


def _ends(answer: Answer) -> dict[str, object]:
    """The intervals of all columns that have some."""
    found = dict[str, object]()
    for column in answer.columns:
        with suppress(ProgrammingError):
            found[column] = answer.interval(column)
    return found


def _turned_round(block: Block) -> str | None:
    """A statement with its columns and keys from the last to the first; None where these are named by their places."""
    statement = parse(block.sql)
    select = statement.select if isinstance(statement, QueryStatement) else None
    if not isinstance(select, Select) or block.parameters:  # parameters would be exchanged, too
        return None
    keys = select.group_by if isinstance(select.group_by, tuple) else ()
    named = [*keys, *(term.expression for term in select.order_by)]
    if len(select.items) + len(keys) < 3 or any(isinstance(own, Literal) for own in named):
        return None
    group_by = keys[::-1] if isinstance(select.group_by, tuple) else select.group_by
    return normal(QueryStatement(replace(select, items=select.items[::-1], group_by=group_by)))


def _session(proxy: dpsql.testing.TestProxy, analyst: str) -> Session:
    return proxy.session(analyst=f"once {analyst}")
