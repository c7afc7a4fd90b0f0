"""All tiny tables, which of them are neighbours, and the databases that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, product
from pathlib import Path

import duckdb

from tests.exhaustive.distances import HIGHEST, LISTED_VALUES, PLACES, PRESENCE, SHAPES

__all__ = [
    "FAMILIES",
    "FOLLOWED",
    "KINDS",
    "LISTED",
    "MISSING",
    "MOST_ROWS",
    "RELATIONS",
    "SHAPED",
    "Family",
    "Table",
    "apart",
    "exposed",
    "neighbours",
    "policy_text",
    "write",
]

KINDS = ((0, "a"), (1, "b"), (9, "b"))
"""The three rows that there are: x, which is bounded by 0 and 3, and g, whose values are a, b and c."""

MISSING = ((0, "a"), (None, "a"), (9, None))
"""Instead of these where values are missing; a is the one value that g may have besides."""

MOST_ROWS = 4
"""Of one table."""

RELATIONS = ("add_remove", "replace_one")

Unit = tuple[int, ...]
"""The rows of one unit, as indices of `KINDS`, rising; a unit without rows is not there."""

Table = tuple[Unit, ...]


@dataclass(frozen=True)
class Family:
    """Tables of one shape.

    Attributes:
        name: What their names in the database begin with.
        units: How many units there are at most.
        rows: How many rows a unit has at most.
        kept: How many of them the policy lets count.
        every_unit: Whether the policy says that every unit has one row: under replace_one their number is public.
        metric: The attributes of a metric of its rows, named as the table; none where there is no metric.
        combine: How their distances make one.
        cells: Whether its policy takes for granted that nobody is alone in a value of g.
        missing: Whether its rows are those of `MISSING`.
        shape: Which of `SHAPES` the attributes of its metric have.
    """

    name: str
    units: int
    rows: int
    kept: int
    every_unit: bool = False
    metric: Sequence[str] = ()
    combine: str = "sum"
    cells: bool = False
    missing: bool = False
    shape: str = "steps"

    @property
    def kinds(self) -> Sequence[tuple[int | None, str | None]]:
        """The three rows that there are."""
        return MISSING if self.missing else KINDS

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them with at most `MOST_ROWS` rows.

        Where a unit has one row, tables that differ in the names of their units only are one. Otherwise a cap may act,
        and which rows it keeps rests on the unit's own rows alone: those tables are told apart.
        """
        return _tables(self)

    def of(self, most: int) -> tuple[Table, ...]:
        """Those with so many rows at most."""
        return tuple(table for table in self.tables if sum(map(len, table)) <= most)

    def named(self, table: Table) -> str:
        """Its name in the database."""
        return f"{self.name}_{self.tables.index(table)}"


@lru_cache
def _tables(family: Family) -> tuple[Table, ...]:
    if family.rows == 1:
        every = [t for n in range(family.units + 1) for t in combinations_with_replacement(range(len(KINDS)), n)]
        return tuple(tuple((kind,) for kind in table) for table in every)
    own = [unit for n in range(family.rows + 1) for unit in combinations_with_replacement(range(len(KINDS)), n)]
    return tuple(t for t in product(own, repeat=family.units) if sum(map(len, t)) <= MOST_ROWS)


SHAPED: Mapping[str, Sequence[str]] = {
    "x": ("gaps", "hops", "smooth"),
    "g": ("star", "tree", "graph", "matrix", "places"),
}
"""Shapes of distances that families have under a metric of one attribute."""

FAMILIES = {
    family.name: family
    for family in (
        Family("single", MOST_ROWS, 1, 1),
        Family("fixed", MOST_ROWS, 1, 1, every_unit=True),
        Family("several", 2, 3, 2),
        Family("apart", MOST_ROWS, 1, 1, metric=("x",)),
        *(Family(f"by_{own}", MOST_ROWS, 1, 1, metric=("x", "g"), combine=own) for own in ("sum", "sup", "l2")),
        *(
            Family(name, MOST_ROWS, 1, 1, metric=(own,), shape=name)
            for own, shapes in SHAPED.items()
            for name in shapes
        ),
        Family("none", MOST_ROWS, 1, 1, metric=("x", "g"), missing=True, shape="none"),
        Family("cells", MOST_ROWS, 1, 1, cells=True),
        Family("missing", 2, 2, 2, missing=True),
        Family("lone", 1, 1, 1),
        Family("alone", 1, 3, 3),
        Family("first", 1, 3, 3),
        Family("both", 2, 2, 3),
    )
}
"""One row a unit, up to four units; the same where that is declared; two units with up to three rows, two of which
count; single rows under a metric of x, and under metrics of x and g, under metrics of other shapes, and of missing
values; and in cells of which empty ones show; two units
with up to two rows, in which values are missing; one unit with one row; one with up to three, all of which count, and
the same again, to be followed over fewer rows; and two with up to two rows, where three would count."""

FOLLOWED: Mapping[str, int] = {
    **{"single": 2, "lone": 1, "alone": 2, "first": 1, "both": 2},
    **{f"by_{own}": 2 for own in ("sum", "sup", "l2")},
}
"""Where draws are followed in step, the families, and the most rows of their tables. It is a choice: on one processor
tables of three rows take minutes for a statement."""

LISTED: Mapping[str, int] = {name: MOST_ROWS for name in FAMILIES if name not in {"lone", "alone", "first", "both"}}
"""The families whose laws are listed, and the most rows of their tables."""


def neighbours(family: Family, relation: str, most: int = MOST_ROWS) -> Iterator[tuple[Table, Table]]:
    """Every ordered pair of neighbours with at most so many rows."""
    tables = family.of(most)
    known = set(tables)
    for one in tables:
        for two in dict.fromkeys(_around(family, one)):
            if two in known and two != one and (relation == "replace_one") == (_present(one) == _present(two)):
                yield one, two


def apart(family: Family, one: Table, two: Table) -> dict[str, Fraction | int] | None:
    """How far apart the rows lie in which two neighbours of single rows differ, by attribute; None where one came."""
    gone, came = Counter(one) - Counter(two), Counter(two) - Counter(one)
    if not (gone and came):
        return None
    ends = {
        name: [_bounded(family.kinds[kind][place]) for side in (gone, came) for (kind,) in side]
        for place, name in enumerate(("x", "g"))
    }
    return {name: SHAPES[family.shape][name].between(*ends[name]) for name in family.metric}


def _bounded(value: int | str | None) -> int | str | None:
    return min(value, HIGHEST) if isinstance(value, int) else value


def exposed(one: Table, two: Table) -> bool:
    """Whether a value of g is in one of two tables alone: random differential privacy leaves such pairs out."""
    first, second = ({KINDS[kind][1] for unit in table for kind in unit} for table in (one, two))
    return first != second


def _present(table: Table) -> int:
    """How many units are there."""
    return sum(1 for unit in table if unit)


def _around(family: Family, table: Table) -> Iterator[Table]:
    """The tables in which one unit is another, came or went."""
    single = family.rows == 1
    own = sorted({unit for other in family.tables for unit in other} | {()})
    for at in range(len(table) + single):
        for unit in own:
            changed = (*table[:at], unit, *table[at + 1 :])
            yield tuple(sorted(unit for unit in changed if unit)) if single else changed


def write(folder: Path, family: Family, tables: Sequence[Table]) -> None:
    """Makes a database of these tables."""
    with duckdb.connect(str(folder / "tiny.duckdb")) as database:
        for table in tables:
            database.execute(f"CREATE TABLE {family.named(table)} (id INTEGER, x INTEGER, g VARCHAR, h VARCHAR)")
            rows = [
                (name, *family.kinds[kind], family.kinds[kind][1]) for name, unit in enumerate(table) for kind in unit
            ]
            if rows:
                database.executemany(f"INSERT INTO {family.named(table)} VALUES (?, ?, ?, ?)", rows)
        points = [(name, *point) for name, point in PLACES.items()]
        database.execute("CREATE TABLE places (name VARCHAR, u INTEGER, v INTEGER)")
        database.executemany("INSERT INTO places VALUES (?, ?, ?)", points)


def policy_text(family: Family, tables: Sequence[Table], relation: str, composition: str) -> str:
    """The policy over them. Its budget never runs out."""
    shape = f"unit: id, rows_per_unit: {family.kept}, rows_about: {MOST_ROWS}"
    shape += ", every_unit: true" if family.every_unit and relation == "replace_one" else ""
    nullable, values = ("true", "[a]") if family.missing else ("false", f"[{', '.join(LISTED_VALUES)}]")
    columns = f"x: {{type: integer, nullable: {nullable}, bounds: [0, {HIGHEST}]}}, "
    columns += f"g: {{type: text, nullable: {nullable}, values: {values}}}, h: {{type: text, nullable: {nullable}}}"
    listed = "\n".join(f"  {family.named(table)}: {{{shape}, columns: {{{columns}}}}}" for table in tables)
    attributes = ", ".join(f"{name}: {SHAPES[family.shape][name].text}" for name in family.metric)
    limit = "{" + ", ".join(f"{name}: 1000" for name in (*family.metric, "presence")) + "}"
    measured = f"combine: {family.combine}, presence: {PRESENCE}, attributes: {{{attributes}}}, "
    measured += f"limit: {limit if family.combine == 'sum' else 1000}"
    each = [f"  {family.named(table)}: {{table: {family.named(table)}, {measured}}}" for table in tables]
    random = "assume: exchangeable, base_partition: [g], gamma_limit: 0.5, row_floor: 12"
    cells = [f"  {family.named(table)}: {{{random}}}" for table in tables]
    more = ["metrics:", *each] if family.metric else ["random_dp:", *cells] if family.cells else []
    ends = "\n".join(more)
    return f"""
version: 1
name: tiny
neighbours: {relation}
engine: {{kind: duckdb, database: tiny.duckdb}}
budget:
  ledger: tiny.ledger.db
  composition: {composition}
  total: {{epsilon: 1000, delta: 0.5}}
  analysts: {{ana: {{epsilon: 1000, delta: 0.5}}}}
  per_query: {{epsilon: 1, delta: 1.0e-9}}
tables:
  places: {{public: true, key: name}}
{listed}
{ends}
"""
