"""Random statements over random tables, answered without noise, beside DuckDB's answers over the same bounded rows.

They are of the SQL whose bounds, rows or names are worked out: differences of two values that conditions compare,
DISTINCT ON, UNPIVOT, COLUMNS, REPLACE, tuples that are counted, and what stands inside one unit. A bound that the data
do not keep would clip what DuckDB adds up, and a row that is read twice, or not at all, would be missing here.

    python -m tests.attacks.random_meanings 1000 [FIRST SEED]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

import duckdb

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.errors import Error, InvariantBroken
from dpsql.session import Session
from dpsql.testing_samplers import Noiseless
from tests.attacks.random_replay import InProcess, backend_over, from_seeds
from tests.attacks.random_worlds import NUMBERS, World, world
from tests.settled import settled
from tests.sql.corpus import Block
from tests.sql.meaning import Bench, compare, leaves_out, planned_to_compare

__all__ = ["compared"]

QUESTIONS = 20
"""Statements that are asked in each world."""
DIFFERENCES = (
    "n - m", "m - n", "n - age", "age - m", "x - m", "abs(n - m)", "greatest(n - m, 0)", "n // 3 - m",
    "ts::DATE - d", "date_diff('day', d, ts)", "date_diff('hour', ts, d)", "date_diff('week', d, ts)",
    "date_diff('month', ts, d)", "date_sub('day', d, ts)", "date_sub('month', ts, d)", "date_diff('second', ts, d)",
)  # fmt: skip
CONDITIONS = (
    "n >= m", "NOT n >= m", "n <= m + 5", "m + 1 < n - 1", "n - m BETWEEN 0 AND 9", "n = m", "n <> m", "age > n",
    "x >= m", "x < m + 1.5", "abs(n - m) < 4", "n - m < 3 AND m - n < 3", "ts >= d", "d >= ts", "ts::DATE >= d",
    "ts < d + INTERVAL 36 HOUR", "d BETWEEN ts::DATE AND ts::DATE + 7", "date_diff('day', d, ts) BETWEEN 0 AND 9",
    "date_diff('week', ts, d) = 1", "date_sub('month', d, ts) >= 0", "ts >= d OR n > m", "NOT (d < ts AND n > 2)",
    "CASE WHEN n > m THEN ts >= d ELSE n < 3 END", "date_trunc('month', d) = date_trunc('month', ts)",
)  # fmt: skip
MEASURES = ("SUM({})", "SUM({})", "COUNT({})", "AVG({})", "COUNT(DISTINCT {})")
INSIDE: Mapping[str, Sequence[str]] = {
    "distinct on": (
        "SELECT COUNT(*), SUM({x}) FROM (SELECT DISTINCT ON ({by}) * FROM t{where} ORDER BY {by}, {order}) AS q",
        "SELECT COUNT(*) FROM (SELECT DISTINCT ON ({by}) * FROM t{where} ORDER BY {by}, {order}) AS q WHERE {x} > 1",
    ),
    "one row": (
        "SELECT SUM(v), COUNT(v), COUNT(*) FROM (SELECT {by}, first({x} ORDER BY {order}) AS v FROM t{where} "
        "GROUP BY {by}) AS q",
        "SELECT SUM(v), COUNT(*) FROM (SELECT {by}, last({x} ORDER BY {order}) FILTER (WHERE {x} > 0) AS v "
        "FROM t{where} GROUP BY {by} HAVING COUNT(*) > 1) AS q",
        "SELECT SUM(v), COUNT(v) FROM (SELECT {by}, arg_max({x}, {x}) AS v FROM t{where} GROUP BY {by}) AS q",
    ),
    "lag": (
        "SELECT SUM(v), COUNT(v) FROM (SELECT {y} - LAG({y}) OVER (PARTITION BY person ORDER BY {y}, {order}) AS v "
        "FROM t{where}) AS q WHERE v BETWEEN 0 AND 5",
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY {by} ORDER BY {order}) AS r FROM t{where}) AS q "
        "WHERE r <= 2",
    ),
    "unpivot": (
        "SELECT what, COUNT(*), SUM(v) FROM (UNPIVOT (SELECT person, {wide} FROM t{where}) ON {named} INTO NAME what "
        "VALUE v) AS u GROUP BY what",
        "SELECT SUM(v), COUNT(*), COUNT(v) FROM (SELECT * FROM (SELECT person, {wide} FROM t{where}) AS h "
        "UNPIVOT INCLUDE NULLS (v FOR what IN ({named}))) AS u",
        "SELECT SUM(s) FROM (SELECT person, SUM(v) AS s FROM (UNPIVOT (SELECT person, {wide} FROM t{where}) ON {named} "
        "INTO NAME what VALUE v) AS u GROUP BY person) AS y",
    ),
    "columns": (
        "SELECT SUM(COLUMNS([{texts}])) FROM t{where}",
        "SELECT SUM({x}), COUNT(*) FROM (SELECT * REPLACE (COALESCE({x}, 1) + 1 AS {x}) FROM t{where}) AS q",
    ),
    "tuples": (
        "SELECT COUNT(DISTINCT ({pair})) FROM t{where}",
        "SELECT SUM(c), COUNT(*) FROM (SELECT person, COUNT(DISTINCT ({pair})) AS c FROM t{where} GROUP BY person) q",
    ),
    "totals": (
        "SELECT SUM(v), COUNT(*) FROM (SELECT person, SUM({y}) AS v, COUNT(*) AS c FROM t{where} GROUP BY person) AS q "
        "JOIN p USING (person) WHERE v >= c AND v <= age",
        "SELECT SUM(a), SUM(w) FROM (SELECT person, COUNT(*) FILTER (WHERE {x} > 1) AS a, "
        "SUM({y}) FILTER (WHERE {x} < 3) AS w FROM t{where} GROUP BY person) AS q",
    ),
}  # fmt: skip
"""What is asked inside one unit and of rows that are put another way: ``by`` holds the unit, ``order`` all columns."""


class Plain(Bench):
    """DuckDB and a session without noise over one engine in this process."""

    def __init__(self, engine: InProcess, session: Session) -> None:
        self.session, tables = session, engine._connection.cursor()
        tables.execute("CREATE SCHEMA memory.plain")
        for name, table in session._backend.catalog.tables.items():
            shown = ", ".join(table.columns)
            tables.execute(f"CREATE VIEW memory.plain.{name} AS SELECT {shown} FROM bounded.main.{name}")
        tables.execute("USE memory.plain")
        self._beside(tables)


def compared(seed: int, after: PostProcess, seen: Counter[str] | None = None) -> Iterator[str]:
    """Where answers in a seed's world are not DuckDB's; ``seen`` counts what was asked."""
    own, seen = world(seed), Counter[str]() if seen is None else seen
    engine = InProcess(own.drawn, own.units)
    try:
        backend = replace(settled(backend_over(own.drawn.policy, engine, after)), sampler=Noiseless())
        bench = Plain(engine, Session(backend, "ana"))
        for _ in range(QUESTIONS):
            kind, text = statement(own)
            block = Block((), text, options={"mechanism": "laplace"})
            try:
                plan = planned_to_compare(bench, block)
                if leaves_out(plan):
                    seen["cut"] += 1
                    continue
                pair = compare(bench, block, plan)
            except InvariantBroken:
                raise
            except (Error, duckdb.Error) as error:
                seen["refused" if isinstance(error, Error) else "not DuckDB's"] += 1
                continue
            seen.update(("compared", kind))
            named = replace(pair, columns=pair.expected_columns, types=pair.expected_types)  # tests/sql compares these
            if said := named.difference():
                yield f"world {seed}: {text}: {said}"
    finally:
        engine.close()


def statement(own: World) -> tuple[str, str]:
    """One over a world's tables, and of which kind it is."""
    chance, columns = own.chance, own.columns
    differences, conditions = (_over(texts, columns) for texts in (DIFFERENCES, CONDITIONS))
    where = chance.sample(conditions, min(len(conditions), chance.choice((0, 1, 1, 2))))
    if differences and chance.random() < 0.4:
        return "differences", _difference(chance, columns, differences, where)
    where = [condition for condition in where if "age" not in condition]
    numbers = [name for name in columns if name in NUMBERS]
    whole = [name for name in numbers if name != "x"]
    kind = chance.choice(sorted(INSIDE))
    listed = [name for name in columns if name in "gbzm"]
    order = (f"{name}{chance.choice(('', ' DESC', ' NULLS FIRST'))}" for name in chance.sample(columns, len(columns)))
    by = ["person", *chance.sample(listed, min(len(listed), chance.choice((0, 0, 1))))]
    text = chance.choice(INSIDE[kind]).format(
        x=chance.choice(numbers),
        y=chance.choice(whole),
        by=", ".join(by),
        order=", ".join(order),
        pair=", ".join(chance.sample(columns, 2)),
        wide=", ".join(f"CAST({name} AS BIGINT) AS {name}" for name in whole),
        named=", ".join(whole),
        texts=", ".join(map(repr, numbers)),
        where=f" WHERE {' AND '.join(where)}" if where else "",
    )
    return kind, text


def _difference(chance: Random, columns: Sequence[str], differences: Sequence[str], where: list[str]) -> str:
    """A measure of a difference, under conditions of which some stand in a FILTER or a CASE."""
    value, measure = chance.choice(differences), chance.choice(MEASURES)
    if where and chance.random() < 0.25:
        value = f"CASE WHEN {where.pop()} THEN {value}{chance.choice((' END', ' ELSE 0 END'))}"
    asked = measure.format(value)
    if where and chance.random() < 0.3:
        asked += f" FILTER (WHERE {where.pop()})"
    key = chance.choice(("", "", "b", "g"))
    key = key if key in columns else ""
    text = f"SELECT {key + ', ' if key else ''}{asked}, COUNT(*) FROM t JOIN p USING (person)"
    text += f" WHERE {' AND '.join(where)}" if where else ""
    return text + (f" GROUP BY {key}" if key else "")


def _over(texts: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Those that name no column which is not there."""
    missing = {*"nmxgbzd", "ts"} - {*columns}
    return [text for text in texts if not missing & {*re.findall(r"[a-z]+", re.sub("'[^']*'", "", text))}]


def main() -> None:
    """Compares in as many worlds as the first argument says, from the seed that the second says on."""
    from_seeds("world", compared)


if __name__ == "__main__":
    main()
