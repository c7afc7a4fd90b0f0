"""Random ways to ask: options, parameters and post-processing around statements, odd and extreme on purpose.

Most of what comes out is refused, some is answered. Nothing of it may be charged and then fail, and what is refused may
not have been charged or read: see `test_charged_then_failed`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from dpsql.answers.writers import WRITERS
from dpsql.engine.base import Engine, EngineStatement
from dpsql.errors import EngineFailed, Error, InvariantBroken
from dpsql.plan.plans import PublicPlan
from dpsql.plan.types import Type
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["Asked", "Counted", "asked_around", "complaint", "explaining", "watched"]

NUMBERS = (
    "0", "1", "2", "-1", "0.5", "1e-300", "-1e300", "1e300", "1e308", "9223372036854775807", "-9223372036854775808",
    "9223372036854775808", "4611686018427387904", "99999999999999999999999999999999999999", "1e-9", "123.456", "NULL",
)  # fmt: skip
ROWS = ("0", "1", "2", "9", "2147483648", "9223372036854775807", "9223372036854775808", "18446744073709551616", "?")
TEXTS = ("''", "'a'", "'%'", "'\\'", "'Zoë'", "'[('", "'2024-02-30'", "'9999999999'", "'%Y-%j'", "'\U0001f600'")
PARAMETERS: tuple[Any, ...] = (
    None, True, 0, 1, -1, 2, 7, 2**31, 2**62, 2**63, -(2**63) - 1, 10**299, 10**300, 0.0, -0.0, 0.5, 1e-310, 1e308,
    float("nan"), float("inf"), Decimal("0.1"), Decimal("1e-400"), Decimal("1e299"), Decimal("NaN"), Decimal("0e999"),
    "", "a", "flu", "\x00", "a\ud800", "\ud83d\ude00", "%", "\\", "[", "x" * 100_000, "2024-02-30", date.min, date.max,
    date(2024, 2, 29), datetime.min, datetime.max, datetime(2024, 1, 1, 12, 30, 0, 7), b"a", [1], object(), 1j,
)  # fmt: skip
PRICES: tuple[Any, ...] = (
    0.1,
    1,
    10,
    1e-3,
    1e-9,
    1e-10,
    1e6,
    1e7,
    0,
    -1,
    "1",
    None,
    True,
    float("nan"),
    Decimal("0.3"),
)
COUNTS: tuple[Any, ...] = (1, 2, 3, 12, 10**9, 10**10, 0, -1, 1.5, None, "3")
OPTIONS: dict[str, Sequence[Any]] = {
    "epsilon": PRICES,
    "delta": (1e-6, 1e-9, 1e-3, 1e-18, 1e-19, 0.999, 1, 0, None),
    "rho": PRICES,
    "mechanism": (
        "laplace",
        "gaussian",
        "threshold",
        "exponential",
        "friendly_core",
        "preprocessing",
        "random_dp",
        "metric",
        "public",
        "LAPLACE",
        "lapace",
        "",
        None,
    ),
    "max_groups_per_unit": COUNTS,
    "max_rows_per_group": COUNTS,
    "max_rows_contributed": COUNTS,
    "max_groups_contributed": COUNTS,
    "confidence": (0.5, 0.95, 1e-6, 1 - 1e-12, 0.999999, 1, 0, None, "0.9"),
    "group_selection_strategy": ("LAPLACE_THRESHOLD", "PUBLIC_GROUPS", "public_groups", "x"),
    "group_selection_epsilon": PRICES,
    "min_privacy_units_per_group": COUNTS,
    "privacy_unit_column": ("patient_id", "customer_id", "person_id", "nobody"),
    "sensitivity": (1, 0.001, 1e-15, 1e15, 1e16, 0, 100),
    "centre": (0, 40, -1e15, 1e15, 1e16, 0.5),
    "scale": ((0.1, 100), (1e-15, 1e15), (1, 1), (2, 1), 3, (0, 1)),
    "gamma": (1e-3, 0.01, 0.9, 0),
    "metric": ("near", "home", "far"),
    "multiple": PRICES,
    "rest": (True, False, 1, "true", None),
    "epsilom": (1,),
}
OUTER = ("COUNT(*)", "COUNT({c})", "COUNT(DISTINCT {c})", "SUM({c})", "AVG({c})", "MIN({c})", "MAX({c})")
NUMERIC = (
    "{a}", "-{a}", "abs({a})", "sqrt({a})", "ln({a})", "floor({a})", "round({a}, 2)", "sign({a})", "({a} * {n})",
    "CAST({a} AS INTEGER)", "CAST({a} AS VARCHAR)", "CAST({a} AS DOUBLE)", "CAST({a} AS TINYINT)", "({a} / {n})",
    "coalesce({a}, {n})", "nullif({a}, {n})", "{a} IN ({n}, {n})", "CASE WHEN {a} > {n} THEN {b} END", "{a} IS NULL",
    "{a} BETWEEN {n} AND {b}", "({a} + {b})", "({a} - {b})", "({a} * {b})", "({a} / {b})", "({a} // {b})",
    "({a} % {b})",
    "{a} = {b}", "{a} > {n}", "greatest({a}, {b})", "exp({a})", "power({a}, {n})", "round({a}, {b})", "log({b}, {a})",
    "chr({a})", "repeat({t}, {a})", "lpad({t}, {a}, {t})", "? + {a}", "exp(least({a}, 700))",
    "least({a}, {n})",
)  # fmt: skip
OTHER = (
    "{a}", "upper({a})", "length({a})", "year({a})", "date_trunc('month', {a})", "{a} IS NULL",
    "strftime({a}, '%Y-%m')",
    "NOT {a}", "{a} LIKE {t}", "{a} || {t}", "regexp_matches({a}, {t})", "{a} = {b}", "{a} > {b}", "coalesce({a}, {b})",
    "CAST({a} AS VARCHAR)", "CAST({a} AS DATE)", "CAST({a} AS INTEGER)", "{a} + INTERVAL 1 DAY", "{a} || ?",
    "concat({a}, {n}, {b})",
    "CASE WHEN {a} IS NULL THEN {t} ELSE {t} END", "replace({a}, {t}, {t})", "substring({a}, 2, 3)",
    "{a} = ?",
)  # fmt: skip
SHORTEST = 10  # Characters of a clear message.
ORDERED = re.compile(r"\s(ORDER BY|LIMIT|OFFSET)\s[^()]*$")
SEVERAL = (
    "{0} UNION ALL {0}",
    "({0} LIMIT 2) UNION ALL {0}",
    "{0} UNION {0}",
    "SELECT * FROM ({0}) AS a CROSS JOIN ({0}) AS b",
    "SELECT (SELECT COUNT(*) FROM ({0}) AS x) - (SELECT COUNT(*) FROM ({0}) AS y WHERE ? > 0) AS o0",
    "SELECT o.*, (SELECT COUNT(*) FROM ({0}) AS x) AS o9 FROM ({0}) AS o",
)
"""Statements over several answers, which are mostly the same."""
ANY = ("{n}", "{t}", "?", "(SELECT 1)", "{a}")


@dataclass(frozen=True)
class Asked:
    """One way to ask.

    Attributes:
        sql: The statement.
        parameters: One value for each ``?``, or not.
        options: Keyword options.
    """

    sql: str
    parameters: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def asked_around(session: Session, base: Asked, rng: random.Random) -> Asked:
    """A statement like ``base``, with post-processing, other options and other parameters around it."""
    sql, parameters = base.sql, list(base.parameters)
    for _ in range(rng.choice((0, 1, 1, 2))):
        inner = ORDERED.sub("", sql) if rng.random() < 0.95 else sql  # inside, ORDER BY and LIMIT are refused
        sql = _over(inner, _columns(session, inner, base.parameters), rng)
    if rng.random() < 0.2:
        sql = rng.choice(SEVERAL).format(ORDERED.sub("", sql))
    inner = sql
    sql = _tail(inner, lambda: _columns(session, inner, base.parameters), rng)
    wanted = sql.count("?")
    while len(parameters) < wanted:
        parameters.insert(
            rng.randint(0, len(parameters)), rng.choice(PARAMETERS[:7] if rng.random() < 0.5 else PARAMETERS)
        )
    if parameters and rng.random() < 0.3:
        parameters[rng.randrange(len(parameters))] = rng.choice(PARAMETERS)
    names = rng.sample(list(OPTIONS), rng.choice((0, 0, 0, 1, 1, 2)))
    if rng.random() < 0.3:
        names.append("epsilon")
    return Asked(sql, tuple(parameters), base.options | {name: rng.choice(OPTIONS[name]) for name in names})


@lru_cache(maxsize=1024)  # those of the corpus come again and again
def _columns(session: Session, sql: str, parameters: tuple[Any, ...]) -> list[tuple[str, Type]]:
    """The columns of a statement's answer; none where it is refused."""
    try:
        statement = parse(sql)
        if not isinstance(statement, syntax.QueryStatement):
            return []
        plan = session._plan(statement.select, parameters)
    except Error:
        return []
    outputs = plan.stage.outputs if isinstance(plan, PublicPlan) else plan.answer
    return [(output.name, output.expression.facts.type) for output in outputs]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _term(columns: Sequence[tuple[str, Type]], rng: random.Random, depth: int = 2) -> str:
    """An expression over some columns, mostly of a kind that suits them."""
    numeric = rng.random() < 0.7
    fitting = [_quoted(name) for name, type_ in columns if type_.numeric == numeric]
    names = fitting if fitting and rng.random() < 0.95 else [_quoted(name) for name, _ in columns] or ["1"]
    if depth == 0:
        return rng.choice(names)

    def part() -> str:
        return rng.choice(names) if depth == 1 or rng.random() < 0.5 else f"({_term(columns, rng, depth - 1)})"

    shapes = rng.choice((NUMERIC, NUMERIC, NUMERIC, ANY)) if numeric else rng.choice((OTHER, OTHER, OTHER, ANY))
    number = rng.choice(NUMBERS[:5]) if rng.random() < 0.6 else rng.choice(NUMBERS)
    return rng.choice(shapes).format(a=part(), b=part(), n=number, t=rng.choice(TEXTS))


def _over(sql: str, columns: Sequence[tuple[str, Type]], rng: random.Random) -> str:
    """A query over the answer of another."""
    aggregated = rng.random() < 0.5
    names = [_quoted(name) for name, _ in columns] or ["1"]
    keys = rng.sample(names, rng.randint(0, min(2, len(names)))) if aggregated else []
    items = list(keys)
    for _ in range(rng.randint(1, 3)):
        if aggregated:
            inside = _term(columns, rng, rng.choice((0, 0, 1)))
            item = rng.choice(OUTER).format(c=inside)
            items.append(item if rng.random() < 0.6 else rng.choice(NUMERIC).format(a=item, b=item, n="2", t="'a'"))
        else:
            items.append(_term(columns, rng))
    text = f"SELECT {', '.join(f'{item} AS o{i}' for i, item in enumerate(items))} FROM ({sql}) AS r"
    if rng.random() < 0.2:
        text += f" WHERE {_condition(columns, rng)}"
    if keys and rng.random() < 0.9:
        text += f" GROUP BY {', '.join(keys)}"
    return text


def _condition(columns: Sequence[tuple[str, Type]], rng: random.Random) -> str:
    left = rng.choice(
        (_term(columns, rng, 1), _term(columns, rng, 0), rng.choice(OUTER).format(c=_term(columns, rng, 0)))
    )
    sign = rng.choice(("=", "<>", "<", ">=", "IS DISTINCT FROM"))
    return f"{left} {sign} {rng.choice((*NUMBERS, *TEXTS, '?'))}"


def _tail(sql: str, columns: Callable[[], Sequence[tuple[str, Type]]], rng: random.Random) -> str:
    """HAVING, ORDER BY, LIMIT and OFFSET behind a statement that has none of them, or has some already.

    Its columns are asked for where they are written: a statement is planned for them.
    """
    if rng.random() < 0.15 and "HAVING" not in sql and "ORDER BY" not in sql and "LIMIT" not in sql:
        sql += f" HAVING {_condition(columns(), rng)}"
    if rng.random() < 0.3 and "ORDER BY" not in sql and "LIMIT" not in sql:
        by = rng.choice(("", "1", "99", "COUNT(*)")) or _term(columns(), rng, 1)
        sql += f" ORDER BY {by} {rng.choice(('', 'DESC'))}"
    if rng.random() < 0.4 and "LIMIT" not in sql:
        sql += f" LIMIT {rng.choice(ROWS)}"
    if rng.random() < 0.2 and "OFFSET" not in sql:
        sql += f" OFFSET {rng.choice(ROWS)}"
    return sql


# ------------------------------------------------------------------------------------------------- what is watched


class Counted:
    """An engine that counts how often it was asked to read."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.runs = 0

    @property
    def version(self) -> int:
        return self._engine.version

    @property
    def public(self) -> Any:
        return self._engine.public

    @property
    def dialect(self) -> Any:
        return self._engine.dialect

    def verify(self, statement: EngineStatement) -> None:
        self._engine.verify(statement)

    def stand(self) -> None:
        self._engine.stand()

    def run(self, statement: EngineStatement) -> RawTable:
        self.runs += 1
        return self._engine.run(statement)

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        self.runs += len(statements)
        return self._engine.run_all(statements)

    def close(self) -> None:
        self._engine.close()


def watched(session: Session) -> tuple[Session, Counted]:
    """A session of the same proxy over an engine that counts."""
    engine = Counted(session._backend.engine)
    return Session(replace(session._backend, engine=engine), session.analyst), engine


def asking(session: Session, asked: Asked) -> None:
    """Asks, and prints the answer in every form."""
    answer = session.query(asked.sql, asked.parameters, **asked.options)
    str(answer), answer._repr_html_(), [write(answer) for write in WRITERS.values()]


def explaining(session: Session, asked: Asked) -> None:
    """Has a statement explained, and prints the quote. What is not explained (SHOW, SET) is parsed all the same."""
    str(session.explain(asked.sql, asked.parameters, **asked.options))


def complaint(
    session: Session, engine: Counted, asked: Asked, do: Callable[[Session, Asked], None] = asking
) -> tuple[str, bool]:
    """What is wrong with how a statement was answered or refused, '' for nothing; and whether it was answered."""
    ledger = session._backend.ledger

    def records() -> int:
        ledger.version()  # brings what it knows up to its file
        return ledger._state.sequence

    before, runs, well = records(), engine.runs, False
    try:
        do(session, asked)
        well = True
    except (InvariantBroken, EngineFailed) as error:
        return f"{type(error).__name__}: {error}", False
    except Error as error:
        told = f"{type(error).__name__}: {error}"
        if len(str(error)) < SHORTEST or not str(error).isprintable():
            return f"refused by no clear message: {told!r}", False
    except Exception as error:  # noqa: BLE001 - whatever is not in the tree of errors is a finding
        return f"{type(error).__name__}, which is none of dpsql's: {error}", False
    if well and do is asking:
        return "", True
    told = "explained" if well else told
    if records() > before:
        return f"charged, and {told}", well
    return (f"read, and {told}" if engine.runs > runs else ""), well
