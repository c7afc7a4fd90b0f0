"""What each database has its own word for goes through the dialect: another dialect leaves none of DuckDB's."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest

from dpsql.engine.dialect import Dialect, functions_in
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.lower import lower_public
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.plans import PublicPlan
from dpsql.session import Session
from tests.sql.corpus import blocks
from tests.sql.described import planned
from tests.sql.meaning import Bench

MARKED = Dialect(
    name="Marked",
    quote="`",
    types={wire: f"MARKED_{wire}" for wire in DUCKDB.types},
    parameter="CAST(:p{number} AS {type})",
    table="marked.{name}",
    spellings={name: f"marked_{name.replace('/', '_')}({{*}})" for name in DUCKDB.spellings},
)
SHARED = {"count", "min", "max", "avg", "sum", "nullif", "row_number", "rank", "dense_rank", "lag", "lead", "ntile"}
"""Functions that every database has under this name, with this meaning."""
SIGNS = {"+", "-", "*", "/", "||"}
OWN = re.compile(r'"|\$\d|\bbounded\b|TRY_CAST|AS (?!MARKED_)[A-Z]+\)|(?<!MARKED)_?(DATE|TIMESTAMP) \'')


def foreign(sql: str) -> set[str]:
    """The words of a statement that no dialect was asked for."""
    functions = {name for name in functions_in(sql) if not name.startswith("marked_")} - SHARED - SIGNS
    return functions | {match[0] for match in OWN.finditer(sql)}


def test_every_statement_of_the_corpus_is_spelled_by_the_dialect(benches: dict[str, Bench]) -> None:
    seen = 0
    for block in blocks("accepted.sql"):
        session = benches[block.policy].session
        engine = SimpleNamespace(dialect=MARKED)
        other = Session(replace(session._backend, engine=engine), session.analyst)  # it plans alone
        plan = planned(other, block)
        if isinstance(plan, PublicPlan):
            statements = [lower_public(plan, MARKED).sql]
        else:
            statements = [reading.statement.sql for reading in plan.readings]
        for sql in statements:
            assert not foreign(sql), f"{block.place}: {foreign(sql)} in {sql}"
            seen += 1
    assert seen >= len(blocks("accepted.sql"))


def test_every_row_of_the_allow_list_is_made_of_primitives() -> None:
    for function in FUNCTIONS:
        assert not foreign(MARKED.spelled(function.sql)[0]), function.sql


def test_what_a_database_has_not_is_refused_by_its_name() -> None:
    poor = replace(MARKED, spellings={})
    with pytest.raises(UnsupportedQuery, match="Marked has nothing that computes it without ever failing"):
        poor.spelled("gcd({0}, {1})")


def test_a_primitive_may_be_spelled_otherwise_with_so_many_arguments() -> None:
    assert DUCKDB.spelled("round(real_product({0}, {1}), {2})")[0] == "round(({0} * {1}), CAST({2} AS INTEGER))"
    assert DUCKDB.spelled("round({0})")[0] == "round({0})"
