"""The same data on DuckDB and on another engine, and how what both say is compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb

import dpsql
import dpsql.testing
from dpsql.answers.computed.postprocess import made_up
from dpsql.answers.quotes.batch import Own, ToBuy
from dpsql.charging import Spoken
from dpsql.engine.base import EngineStatement
from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import NUMBER, ROW, place_name
from dpsql.plan.needs import Aggregates, Sized
from dpsql.plan.plans import PublicPlan
from dpsql.privacy.tables import OUTSIDE
from dpsql.worker.making import Counted
from dpsql.worker.ordered import OF
from tests.sql.corpus import Block
from tests.sql.databases import POLICIES, build
from tests.sql.described import planned

__all__ = ["CLINIC", "Twins", "assert_shared", "opened", "statement_of", "twins_on"]

Server = TypeVar("Server")

CLINIC = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget: {ledger: clinic.db, composition: basic, total: {epsilon: 3}, analysts: {ana: {epsilon: 2}},
         per_query: {epsilon: 1}}
tables:
  People:
    rename: {paid: "Paid, in CHF"}
    unit: Person
    rows_per_unit: 2
    columns:
      weight: {type: real, bounds: [0, 200], grid: 0.5}
      paid: {type: decimal, bounds: [-100, 100], grid: 0.01}
      sex: {type: text, values: [F, M]}
      seen: {type: timestamp, bounds: [2024-01-01 00:00:00, 2024-12-31 00:00:00]}
      born: {type: date, bounds: [1900-01-01, 2024-12-31]}
"""
"""The policy of a small database with what other databases have not."""


@dataclass(frozen=True)
class Twins:
    """The same data on both engines, each under a proxy without noise.

    Attributes:
        here: On DuckDB.
        there: On the other.
    """

    here: dpsql.testing.TestProxy
    there: dpsql.testing.TestProxy

    @property
    def tables(self) -> tuple[str, ...]:
        """The bounded tables that both hold, without the stored totals and counts."""
        catalog = self.here.session(analyst="meaning")._backend.catalog
        tables = catalog.tables.values()
        totals = {totals.name for table in tables for totals in table.totals}
        own = [
            kept
            for table in tables
            for kept in (
                table.sizes,
                table.ranks,
                table.counts,
                *table.days,
                *table.open_days,
                *(t.sizes for t in table.totals),
            )
        ]
        totals |= {kept.name for kept in own if kept is not None}  # of which the other has none
        (file,) = self.here._cache.rglob("bounded.duckdb")
        with duckdb.connect(str(file), read_only=True) as here:
            found = here.execute("SELECT table_name FROM duckdb_tables() WHERE NOT temporary").fetchall()
        return tuple(name for (name,) in found if name not in totals)

    def assert_the_same(self, block: Block, engine: str) -> None:
        """Both have the same exact numbers of a statement of the corpus, or the other refuses it as what it lacks.

        Args:
            block: The statement.
            engine: What the other is called.
        """
        here, there = (proxy.session(analyst="meaning") for proxy in (self.here, self.there))
        try:
            theirs = planned(there, block)
        except UnsupportedQuery as refusal:
            assert f"{engine} has nothing that computes it" in str(refusal)
            return
        ours = planned(here, block)
        for mine, other in zip(_parts_of(ours), _parts_of(theirs), strict=True):
            _same(here, there, mine, other, engine)


@contextmanager
def twins_on(
    server: Server,
    load: Callable[[Server, str, Path], None],
    moved: Callable[[Path, Server, str], Path],
    folder: Path,
) -> Iterator[dict[str, Twins]]:
    """The databases of the corpus on both, by the names of their policies.

    Args:
        server: Where the other engine is.
        load: Makes a database there of a DuckDB file, by a name.
        moved: Makes a policy over it, of one over DuckDB.
        folder: For files.
    """
    found = {}
    with ExitStack() as stack:
        for name in POLICIES:
            policy = build(name, folder)
            database = "hospital" if name == "consent" else name
            if name != "consent":
                load(server, name, folder / f"{name}.duckdb")
            own = policy.with_name(f"{name}_there.yaml")
            own.write_text(policy.read_text(encoding="utf-8"), encoding="utf-8")
            here, there = (stack.enter_context(opened(one)) for one in (policy, moved(own, server, database)))
            found[name] = Twins(here, there)
        yield found


def opened(policy: Path) -> dpsql.testing.TestProxy:
    """A proxy without noise."""
    return dpsql.testing.open(policy, sampler=dpsql.testing.Noiseless())


def assert_shared(held: Collection[str], columns: Collection[str]) -> None:
    """A bounded table elsewhere has all columns of DuckDB's but the small numbers that its worker adds up by."""
    own = {NUMBER, ROW, *map(place_name, columns)}
    assert set(columns) == set(held) - own


def statement_of(sql: str, **more: Any) -> EngineStatement:
    """A statement that says it counts patients."""
    return EngineStatement(sql, (), (("n", "BIGINT"),), frozenset({"patients"}), frozenset(), **more)


def _parts_of(asked: Own | ToBuy[Spoken]) -> tuple[Own, ...]:
    """The SELECTs that are answered for a statement."""
    return asked.parts if isinstance(asked, ToBuy) else (asked,)


def _same(here: dpsql.Session, there: dpsql.Session, ours: Own, theirs: Own, engine: str) -> None:
    """Both engines have the same exact numbers of a SELECT."""
    if isinstance(ours, PublicPlan) or isinstance(theirs, PublicPlan):
        assert isinstance(ours, PublicPlan) and isinstance(theirs, PublicPlan)
        assert here._public(ours).rows == there._public(theirs).rows
        return
    for mine, other in zip(ours.readings, theirs.readings, strict=True):
        for one, two in zip(made_up(mine.statement), made_up(other.statement), strict=True):
            there._backend.engine.verify(two)
            tables = here._backend.engine.run(one), there._backend.engine.run(two)
            names = [name for name, _ in two.columns if name != OF]
            kept = [own.own(table).groups(names) for own, table in zip((mine, other), tables, strict=True)]
            keys = sum(name in {key.name for key in ours.plan.keys} for name in names)
            if mine.of is not None and isinstance(mine.need, Aggregates):  # it rides along: what is 0 has no row
                kept = [[row for row in rows if any(row[keys:])] for rows in kept]
            if isinstance(mine.need, Sized):
                kept = [_by_size(rows, keys) for rows in kept]
            elif any(OUTSIDE in row for row in kept[0]):  # DuckDB's worker says no more of groups outside of the domain
                inside = {row[:keys] for row in kept[0] if OUTSIDE not in row}
                kept = [[row for row in rows if row[:keys] in inside] for rows in kept]
            if isinstance(one.made, Counted) and one.made.marked:
                kept = [_together(rows) for rows in kept]
            _assert_near(kept[0], kept[1], f"on {engine}, of {two.sql}")


def _by_size(rows: list[tuple[Any, ...]], keys: int) -> list[tuple[Any, ...]]:
    """Units' totals by size: in which of its groups a unit is counted is open, and what is outside of lists is NULL."""
    totals, units = list[tuple[Any, ...]](), dict[int, list[int]]()
    for row in rows:
        group, (bin_, many, signs, total) = row[:keys], row[keys:]
        if total:
            totals.append(("total", *(None if own is OUTSIDE else own for own in group), bin_, total))
        known = units.setdefault(bin_, [0, 0])
        known[0] += many
        known[1] += 0 if keys else signs
    return [*totals, *(("units", bin_, *own) for bin_, own in units.items() if any(own))]


def _together(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Counted values with ranks: rows that count last rows of units may stand apart from others of their value."""
    found = dict[tuple[Any, ...], tuple[int, int]]()
    for *value, units, many in rows:
        known = found.get(tuple(value), (0, 0))
        found[tuple(value)] = known[0] + units, known[1] + many
    return [(*value, *counts) for value, counts in found.items()]


def _assert_near(ours: list[tuple[Any, ...]], theirs: list[tuple[Any, ...]], where: str) -> None:
    """The same rows, in whatever order."""
    rows = [sorted(own, key=lambda row: [(value is not None, str(value)) for value in row]) for own in (ours, theirs)]
    assert len(rows[0]) == len(rows[1]), where
    for one, two in zip(*rows, strict=True):
        assert all(map(_near, one, two)), f"{one} is {two} {where}"


def _near(one: Any, other: Any) -> bool:
    """Equal; a double may differ in its last digits, where it was computed by a library's tables."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-14)
    return bool(one == other)
