"""What each database has its own word for goes through the dialect: another dialect leaves none of DuckDB's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dpsql.answers.quotes.batch import ToBuy
from dpsql.engine.database import BySize, Parts, SourceTable, SourceType
from dpsql.engine.dialect import FAMILIES, Dialect, functions_in
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.released import lower_public
from dpsql.errors import UnsupportedQuery
from dpsql.owner.building.bounded import READABLE
from dpsql.owner.building.public import columns_of_public
from dpsql.owner.building.views import build_tables
from dpsql.owner.checking.check import findings, number_of_units
from dpsql.owner.checking.guess_report import belied
from dpsql.owner.shape import Shape, shape_of
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.plans import PublicPlan
from dpsql.policy import load_policy
from dpsql.prepare import Prepared
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
    escapes={"'": "?'"},
    widest=DUCKDB.widest,
    spellings={name: f"marked_{name.replace('/', '_')}({{*}})" for name in DUCKDB.spellings},
)
SHARED = {
    *("count", "min", "max", "avg", "sum", "var_pop", "var_samp", "stddev_pop", "stddev_samp"),
    *("nullif", "row_number", "rank", "dense_rank", "lag", "lead", "ntile", "first_value"),
}
"""Functions that every database has under this name, with this meaning."""
POLICIES = sorted((Path(__file__).parents[2] / "policies").glob("*.yaml"))
SIGNS = {"+", "-", "*", "/", "||"}
OWN = re.compile(
    r'"|\$\d|\bbounded\b|TRY_CAST|AS (?!MARKED_)[A-Z]+\)|(?<!MARKED)_?(DATE|TIMESTAMP) \'|'
    r"\'\'|::|QUALIFY|GROUP BY ALL|(SEMI|ANTI) JOIN|FILTER \((?!WHERE)|EXCLUDE|REPLACE"
)


def foreign(sql: str) -> set[str]:
    """The words of a statement that no dialect was asked for."""
    functions = {name for name in functions_in(sql) if not name.startswith("marked_")} - SHARED - SIGNS
    return functions | {match[0] for match in OWN.finditer(sql)}


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_statement_of_the_corpus_is_spelled_by_the_dialect(benches: dict[str, Bench], step: int) -> None:
    """Every sixth one, and all of them."""
    seen, asked = 0, blocks("accepted.sql")[::step]
    for block in asked:
        session = benches[block.policy].session
        engine = SimpleNamespace(dialect=MARKED)
        other = Session(replace(session._backend, engine=engine), session.analyst)  # it plans alone
        plan = planned(other, block)
        parts = (*plan.first, *plan.parts) if isinstance(plan, ToBuy) else (plan,)
        statements = [lower_public(own, MARKED).sql for own in parts if isinstance(own, PublicPlan)]
        statements += [one.statement.sql for own in parts if isinstance(own, Prepared) for one in own.readings]
        for sql in statements:
            assert not foreign(sql), f"{block.place}: {foreign(sql)} in {sql}"
            seen += 1
    assert seen >= len(asked)


def test_every_row_of_the_allow_list_is_made_of_primitives() -> None:
    for function in FUNCTIONS:
        assert not foreign(MARKED.spelled(function.sql)[0]), function.sql


def test_what_a_database_has_not_is_refused_by_its_name() -> None:
    poor = replace(MARKED, spellings={})
    with pytest.raises(UnsupportedQuery, match="Marked has nothing that computes it without ever failing"):
        poor.spelled("gcd({0}, {1})")
    with pytest.raises(UnsupportedQuery, match="what ~ and SIMILAR TO stand for"):
        poor.spelled("regexp_full_match({0}, {1})")


def test_a_primitive_may_be_spelled_otherwise_with_so_many_arguments() -> None:
    assert DUCKDB.spelled("round(real_product({0}, {1}), {2})")[0] == "round(({0} * {1}), CAST({2} AS INTEGER))"
    assert DUCKDB.spelled("round({0})")[0] == "round({0})"


class Written:
    """A `Database` with other words, which keeps what it is told. Its tables are empty."""

    dialect = MARKED

    def __init__(self, shape: Shape, family: str) -> None:
        self.sql: list[str] = []
        self._shape = shape
        self._family = family

    @property
    def counting(self) -> Written | None:
        """It counts as they do whose words these are."""
        return self if self.dialect.counts else None

    def table(self, name: str, file: str | None) -> SourceTable:
        """A table with the columns of the policy, which hold one kind of values where they can."""
        shape = self._shape.table(name)
        declared = {column.name: column.type for column in shape.columns}
        if shape.public:
            held = dict.fromkeys(declared or [str(shape.key), "odd"], self._family)
        else:
            named = [*shape.identities, self._shape.classes.column if self._shape.classes else "nobody"]
            held = dict.fromkeys(named, "text") | {
                column: self._family if self._family in READABLE[kind] else "text" for column, kind in declared.items()
            }
        types = {column: SourceType(family.upper(), family, places=0) for column, family in held.items()}
        return SourceTable(f"their.{self.dialect.quoted(name)}", types, True, self.dialect)

    def cautions(self) -> Sequence[str]:
        """None."""
        return ()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """One row of as many zeros as the query has columns."""
        self.sql.append(sql)
        depth = columns = 0
        for word in re.findall(r"\(|\)|,| FROM ", sql):
            depth += {"(": 1, ")": -1}.get(word, 0)
            if depth == 0 and word == " FROM ":
                break
            columns += depth == 0 and word == ","
        return [(0,) * (columns + 1)]

    def done(self) -> float:
        """Nobody knows."""
        return 0.0

    def create(
        self, name: str, sql: str, order: Sequence[str] = (), first: str | None = None, parts: Parts | None = None
    ) -> None:
        """A bounded table."""
        self.sql.append(sql)

    def again(self, names: Sequence[str], place: Path, make: Callable[[Callable[[str], str]], None]) -> bool:
        """Nothing stood before."""
        return False

    @contextmanager
    def scratch(self, sql: str) -> Iterator[str]:
        """A table of its own."""
        self.sql.append(sql)
        yield "scratch"

    def create_by_size(self, name: str, rows: BySize) -> None:
        """Totals by size."""
        self.sql.append(rows.sql)

    def create_by_day(self, name: str, table: str, column: str) -> None:
        """Numbers by day, in the database's own words."""

    def record(self, sql: str, file: Path) -> None:
        """The record of classes."""
        self.sql.append(sql)

    def recorded(self, files: Sequence[str]) -> str:
        """Earlier ones."""
        return "records"


@pytest.mark.every(3)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "policy", sorted((Path(__file__).parents[2] / "policies").glob("*.yaml")), ids=lambda p: p.stem
)
def test_the_owners_side_is_spelled_by_the_dialect(policy: Path, family: str) -> None:
    shape = shape_of(load_policy(policy))
    tables = [replace(table, every_unit=not table.public) for table in shape.tables]
    shape = replace(shape, tables=tuple(tables))
    database = Written(shape, family)
    build_tables(database, shape, lambda *_: None, ["a record"])
    list(findings(database, shape))
    number_of_units(database, shape)
    guess = [Fraction(1), Fraction(1), [Fraction(1), Fraction(2)]]
    guesses = {t.name: {"rows": 9, "columns": {c.name: guess for c in t.columns}} for t in tables if not t.public}
    list(belied(database, shape, guesses))
    for table in tables:
        if table.public:
            columns_of_public(database, table, list(database.table(table.name, None).types))
    assert len(database.sql) > 2 * len(tables)
    for sql in database.sql:
        assert not foreign(sql), f"{foreign(sql)} in {sql}"
