"""Random statements of the accepted grammar: each is refused, or means what DuckDB means by it."""

from __future__ import annotations

import pytest
from hypothesis import given

from dpsql.errors import UnsupportedQuery
from tests.sql.corpus import Block
from tests.sql.databases import POLICIES
from tests.sql.generate import examples, statements
from tests.sql.meaning import Bench, compare

PRICE = {"epsilon": 100, "delta": 1e-3}  # groups of two units appear


def check(bench: Bench, policy: str, count: int) -> None:
    """Compares so many random statements; most of them must be answered."""
    answered = []

    @examples(count)
    @given(statements(bench.session._backend.catalog))
    def run(sql: str) -> None:
        try:
            pair = compare(bench, Block(lines=(), sql=sql, policy=policy, options=PRICE))
        except UnsupportedQuery:
            return
        assert pair.difference() == "", sql
        answered.append(sql)

    run()
    assert len(answered) > 0.8 * count


@pytest.mark.parametrize("policy", POLICIES)
def test_random_statements_mean_what_duckdb_means(policy: str, benches: dict[str, Bench]) -> None:
    check(benches[policy], policy, 8)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_two_thousand_random_statements_mean_what_duckdb_means(policy: str, benches: dict[str, Bench]) -> None:
    check(benches[policy], policy, 700)
