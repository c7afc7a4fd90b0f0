"""Statements that ask the same of the tables are charged once; each is answered as if nobody had asked before."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

import pytest

import dpsql.testing
from dpsql.prepare import Prepared
from dpsql.session import Session
from tests.sql.corpus import Block, blocks
from tests.sql.databases import POLICIES, build
from tests.sql.described import planned

LEAST = 100
"""Statements of the corpus, at least, that ask what another one asks. It is a choice: there were 138."""

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


def test_what_was_released_once_answers_all_that_is_made_of_it(proxies: Proxies) -> None:
    """Of all statements of the corpus with one release, each has the answer that it has alone."""
    alike = defaultdict[tuple[str, str], list[Block]](list)
    for block in blocks("accepted.sql"):
        plan = planned(_session(proxies[block.policy], ""), block)
        if isinstance(plan, Prepared) and not plan.plan.empty:
            alike[block.policy, plan.fingerprint("", 1)].append(block)
    compared = 0
    for (policy, print_), own in alike.items():
        together = _session(proxies[policy], print_)
        for number, block in enumerate(own if len(own) > 1 else ()):
            first = together.query(block.sql, block.parameters, **block.options)
            alone = _session(proxies[policy], f"{print_} {number}").query(block.sql, block.parameters, **block.options)
            assert first.replayed is (number > 0), block.sql
            assert not alone.replayed
            assert (first.columns, first.types, first.rows) == (alone.columns, alone.types, alone.rows), block.sql
            compared += 1
    assert compared >= LEAST


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


def _session(proxy: dpsql.testing.TestProxy, analyst: str) -> Session:
    return proxy.session(analyst=f"once {analyst}")
