"""A session of a version before the newest says so; one of a closed proxy says that the proxy was closed. The next one
is built by the newest facts, whoever builds it.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.advising import advise
from dpsql.answers.answer import Answer
from dpsql.answers.quotes.quoted import Quote
from dpsql.errors import LedgerError
from dpsql.proxy import refresh
from dpsql.testing_samplers import Noiseless
from tests.sql.databases import build
from tests.unit.test_advising import POLICY, write_orders

pytestmark = pytest.mark.chance(0, "no noise is drawn")

COUNT = "SELECT COUNT(*) AS n FROM people"
PUBLIC = "SELECT COUNT(*) AS n FROM districts"
TABLE = "CREATE SYNTHETIC TABLE syn WITH (epsilon = 0.1) AS SELECT age FROM people"
SAID = "version 1 of the tables; the data owner has made version 2."


@pytest.fixture
def proxy(tmp_path: Path) -> dpsql.testing.TestProxy:
    return dpsql.testing.open(build("census", tmp_path), dpsql.testing.Noiseless())


def test_what_a_session_of_a_version_before_tells_says_so(proxy: dpsql.testing.TestProxy) -> None:
    with proxy:
        old = proxy.session(analyst="ana")
        first = old.query(COUNT, epsilon=0.1)
        assert not any(SAID in note for note in first.notes)
        proxy.refresh()
        stored = [old.query(COUNT, epsilon=0.1) for _ in range(3)]
        assert all(own.replayed for own in stored)
        told: list[Answer | Quote] = [
            *stored,
            old.query(PUBLIC),
            old.query(f"{COUNT} WHERE employed", epsilon=0.1),
            old.query(f"SELECT ({COUNT}) + ({COUNT} WHERE age > 30) AS n", epsilon=0.1),
            old.query(TABLE),
            *old.query_all([COUNT, PUBLIC], epsilon=0.1),
            *(old.explain(own, epsilon=0.1) for own in (COUNT, f"{COUNT} WHERE age > 40")),
            old.explain(PUBLIC),
            *old.quote([COUNT, PUBLIC], epsilon=0.1).statements,
        ]
        for own in told:
            assert [SAID in note for note in own.notes].count(True) == 1
        assert not any(SAID in note for note in old.query("SELECT COUNT(*) AS n FROM syn").notes)
        new = proxy.session(analyst="ana")
        for fresh in (new.query(COUNT, epsilon=0.1), new.query(PUBLIC), new.explain(COUNT, epsilon=0.1)):
            assert not any("of the tables" in note for note in fresh.notes)


def test_a_session_of_a_closed_proxy_says_that_the_proxy_was_closed(proxy: dpsql.testing.TestProxy) -> None:
    session = proxy.session(analyst="ana")
    session.query(COUNT, epsilon=0.1)
    proxy.close()
    proxy.close()
    asked = (
        lambda: session.query(COUNT, epsilon=0.1),
        lambda: session.query(f"{COUNT} WHERE employed", epsilon=0.1),
        lambda: session.explain(COUNT, epsilon=0.1),
        lambda: session.query(TABLE),
        session.budget,
        proxy.refresh,
    )
    for own in asked:
        with pytest.raises(LedgerError, match=r"^This proxy was closed\. Open the policy again with dpsql\.open"):
            own()


def test_an_open_proxy_builds_the_next_version_by_the_newest_facts(tmp_path: Path) -> None:
    policy = tmp_path / "shop.yaml"
    policy.write_text(POLICY)
    write_orders(tmp_path / "data")
    advise(policy, epsilon=Fraction(1, 2), sampler=Noiseless())
    with dpsql.open(policy) as proxy:
        before = proxy.policy.tables["orders"].columns["price"].bounds
        write_orders(tmp_path / "data", times=100)
        refresh(policy)
        advise(policy, epsilon=Fraction(1, 2), sampler=Noiseless())
        assert proxy.refresh() == 3
        now = proxy.policy.tables["orders"].columns["price"].bounds
        assert now != before
    with dpsql.open(policy) as again:
        assert again.policy.tables["orders"].columns["price"].bounds == now
