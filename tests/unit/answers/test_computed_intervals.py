"""The interval of what is computed from released values holds what the engine computes, and is no wider than needed.

Expressions are drawn by chance, and so are intervals of the released values and points inside them; the worker without
data computes the expressions there.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpsql.answers.computed.intervals import AnswerRows, known_value, output_intervals, within
from dpsql.answers.computed.postprocess import PostProcess
from dpsql.answers.shown.screen import Ends
from dpsql.errors import UnsupportedQuery
from dpsql.plan.intervals import EVERYTHING
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.over_answers.ranged import MOST_NARROWED, Ranged
from dpsql.plan.types import Facts, Type
from dpsql.plan.values.expressions import Resolver, columns_of, substituted
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse

NOISED = {
    "n": Column("released", "n", Facts(Type.INTEGER, nullable=False, step=Fraction(1))),
    "m": Column("released", "m", Facts(Type.INTEGER, nullable=False, step=Fraction(1))),
    "x": Column("released", "x", Facts(Type.REAL, nullable=False)),
    "y": Column("released", "y", Facts(Type.REAL, nullable=False)),
}
KEYS = {
    "k": Column("released", "k", Facts(Type.TEXT)),
    "g": Column("released", "g", Facts(Type.INTEGER, Fraction(0), Fraction(9))),
}
COLUMNS = NOISED | KEYS
CONSTANTS = ("0", "1", "2", "7", "-3", "100", "0.5", "2.0", "-1.5", "1000.0")
CORNERS = 16  # Of a box of the four released values.
ROUGH, STEPS = re.compile("ln|log|exp|tanh|power"), re.compile("round|floor|ceil|trunc|sign")
POINTS = 24  # Where an expression is tried.
BATCH = 40  # Expressions that the worker computes together.


def resolved(text: str) -> Expression | None:
    """The expression over released values; None where it is refused."""
    statement = parse(f"SELECT {text} FROM t")
    assert isinstance(statement, syntax.QueryStatement)
    assert isinstance(statement.select, syntax.Select)
    named = Resolver(lambda n: COLUMNS.get(n.parts[-1]) if isinstance(n, syntax.Name) else None, ())
    try:
        return named.resolve(statement.select.items[0].expression)
    except UnsupportedQuery:
        return None


def condition(chance: random.Random, depth: int) -> str:
    """A condition on numbers and keys."""
    one, sign = drawn(chance, depth - 1), chance.choice(["<", "<=", ">", ">=", "=", "<>"])
    match chance.randrange(10):
        case 0:
            return f"k = '{chance.choice('AB')}'"
        case 1:
            return f"g {sign} {chance.randrange(10)}"
        case 2:
            return f"({one}) IS {chance.choice(['', 'NOT'])} NULL"
        case 3:
            return f"({one}) BETWEEN {chance.choice(CONSTANTS)} AND {chance.choice(CONSTANTS)}"
        case 4:
            return f"({one}) {chance.choice(['', 'NOT'])} IN (0, 1, {chance.choice(CONSTANTS)})"
        case 5 if depth > 1:
            joined = f" {chance.choice(['AND', 'OR'])} ".join(f"({condition(chance, depth - 1)})" for _ in range(2))
            return f"{chance.choice(['', 'NOT'])} ({joined})"
        case 6:
            return f"({one}) {sign} ({drawn(chance, depth - 1)})"
    return f"({one}) {sign} {chance.choice(CONSTANTS)}"


def drawn(chance: random.Random, depth: int) -> str:
    """An expression of numbers, any of which may stand in it more than once."""
    if depth <= 0:
        return chance.choice([*NOISED, *NOISED, "g", *CONSTANTS])
    a, b, c = (drawn(chance, depth - 1) for _ in range(3))
    when, then = condition(chance, depth - 1), condition(chance, depth - 1)
    return chance.choice([
        f"({a}) + ({b})", f"({a}) - ({b})", f"({a}) * ({b})", f"({a}) / ({b})", f"({a}) / NULLIF({b}, 0)",
        f"100.0 * ({a}) / ({b})", f"-({a})", f"abs({a})", f"sign({a})", f"sqrt({a})", f"ln({a})", f"log(2, {a})",
        f"log10({a})", f"exp(least({a}, 20))", f"power({a}, 2)", f"power({a}, 0.5)", f"round({a})", f"round({a}, 1)",
        f"trunc({a})", f"floor({a})", f"ceil({a})", f"tanh({a})", f"atan({a})", f"asin({a})", f"acos({a})",
        f"CAST({a} AS INTEGER)", f"CAST({a} AS DOUBLE)", f"CAST({a} AS DECIMAL(18,2))", f"CAST({a} AS TINYINT)",
        f"(n) // ({chance.choice(['m', '3', '-2', 'g'])})", f"(m) % ({chance.choice(['n', '5', 'g'])})",
        f"greatest({a}, {b})", f"least({a}, {b})", f"greatest({a}, {b}, {c})", f"least({a}, NULL, {b})",
        f"coalesce({a}, {b})", f"coalesce({a}, NULL, {b}, {c})", f"ifnull({a}, {b})", f"nullif({a}, {b})",
        f"if({when}, {a}, {b})", f"CASE WHEN {when} THEN {a} ELSE {b} END", f"CASE WHEN {when} THEN {a} END",
        f"CASE WHEN {when} THEN {a} WHEN {then} THEN {b} ELSE {c} END",
        f"CASE k WHEN 'A' THEN {a} WHEN 'B' THEN {b} ELSE {c} END",
        f"CASE WHEN {a} < {b} THEN {b} ELSE {a} END", f"CASE WHEN {a} = 0 THEN {c} ELSE {b} / ({a}) END",
    ])  # fmt: skip


def monotone(chance: random.Random, depth: int, names: list[str]) -> str:
    """An expression in which every released value stands once, and which never turns in any of them."""
    if depth <= 0 or not names:
        return names.pop() if names else chance.choice(CONSTANTS)
    a, c = monotone(chance, depth - 1, names), chance.choice(CONSTANTS)
    b = monotone(chance, depth - 1, names)
    return chance.choice([
        f"({a}) + ({b})", f"({a}) - ({b})", f"({a}) * 2.5", f"-({a})", f"({a}) / 4", f"100.0 * ({a}) / 7",
        f"greatest({a}, {b})", f"least({a}, {b})", f"greatest({a}, {c})", f"least({a}, {c})", f"coalesce({a}, {c})",
        f"ifnull({a}, 0)", f"round({a})", f"floor({a})", f"ceil({a})", f"trunc({a})", f"sign({a})", f"tanh({a})",
        f"round({a}, 1)", f"CAST({a} AS DOUBLE)", f"power({a}, 3)", f"exp(least({a}, 3))",
        f"ln(greatest({a}, 1))", f"sqrt(greatest({a}, 0))", f"log(2, greatest({a}, 2))", f"coalesce(({a}) / 3, {c})",
        f"({a}) / greatest({b}, 1)", f"coalesce(({a}) / greatest({b}, 1), 0)", f"({a}) / NULLIF(greatest({b}, 1), 0)",
        f"CASE WHEN ({a}) < {c} THEN {c} ELSE ({a}) END", f"if(({a}) > {c}, {c}, {a})",
        f"CASE WHEN ({a}) >= {c} THEN ({a}) ELSE {c} END", f"CASE WHEN ({a}) IS NULL THEN 0 ELSE ({a}) END",
        f"CASE WHEN greatest({b}, 1) = 0 THEN 0 ELSE ({a}) / greatest({b}, 1) END",
        f"CASE k WHEN 'A' THEN ({a}) ELSE 1 - ({a}) END", f"CASE WHEN g > 3 AND k <> 'B' THEN ({a}) ELSE 7 END",
    ])  # fmt: skip


def box(chance: random.Random) -> dict[str, Ends]:
    """Intervals of released values: near 0 and far from it, narrow and wide."""
    found: dict[str, Ends] = {}
    for name, column in NOISED.items():
        low = chance.choice([-100, -3, -1, 0, 0, 1, 2, 40, 99, 8000]) + chance.choice([0, 0.25, -0.5])
        high = low + chance.choice([0, 1, 2.5, 10, 300])
        whole = column.facts.type is Type.INTEGER
        found[name] = (math.floor(low), math.floor(high)) if whole else (low, high)
    return found


def rows_in(chance: random.Random, ends: Mapping[str, Any], keys: tuple[Any, Any]) -> list[tuple[Any, ...]]:
    """All corners of a box, and points inside it."""
    points = [(*corner, *keys) for corner in product(*(ends[name] for name in NOISED))]
    for _ in range(POINTS - len(points)):
        own = []
        for name, column in NOISED.items():
            low, high = ends[name]
            whole = column.facts.type is Type.INTEGER
            drawn_one = chance.randint(low, high) if whole else chance.choice([0.0, chance.uniform(low, high)])
            own.append(max(low, min(high, drawn_one)))
        points.append((*own, *keys))
    return [(n, m, float(x), float(y), *rest) for n, m, x, y, *rest in points]


def interval(expression: Expression, ends: Mapping[str, Ends], keys: tuple[Any, Any]) -> Ends:
    """That of the expression in a row with these keys."""
    bars = {name: lambda _, own=own: [own] for name, own in ends.items()}
    grouped = {name: [value] for name, value in zip(KEYS, keys, strict=True)}
    (found,) = output_intervals(expression, bars, AnswerRows([()], [0], grouped=grouped), 0.95)
    return found


@pytest.fixture(scope="module")
def worker(session: Session) -> Iterator[PostProcess]:
    after = PostProcess(1 << 30)
    yield after
    after.close()


def computed(worker: PostProcess, expressions: list[Expression], rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """What the worker makes of each of the expressions at all of the rows."""
    return list(zip(*worker.cells(expressions, list(COLUMNS.values()), rows), strict=True))


def batch(chance: random.Random, *, once: bool) -> dict[str, Expression]:
    """Expressions over released values by their texts."""
    found: dict[str, Expression] = {}
    while len(found) < BATCH:
        names = chance.sample(list(NOISED), len(NOISED))
        text = monotone(chance, chance.randrange(1, 4), names) if once else drawn(chance, chance.randrange(1, 4))
        expression = resolved(text)
        if expression is not None and any(column.name in NOISED for column in columns_of(expression)):
            found[text] = expression
    return found


def tried(
    chance: random.Random, worker: PostProcess, *, once: bool
) -> Iterator[tuple[str, Expression, dict[str, Ends], tuple[Any, Any], list[Any]]]:
    """Expressions in one box: the text, what is read of it, the box, the row's keys and values, corners first."""
    ends, keys = box(chance), (chance.choice("ABC"), chance.choice([None, 0, 4]))
    expressions = batch(chance, once=once)
    values = computed(worker, list(expressions.values()), rows_in(chance, ends, keys))
    for (text, expression), own in zip(expressions.items(), values, strict=True):
        yield text, expression, ends, keys, list(own)


def all_hold(chance: random.Random, worker: PostProcess) -> int:
    """Tries expressions in one box; how many of them have both ends."""
    known = 0
    for text, expression, ends, keys, values in tried(chance, worker, once=False):
        low, high = interval(expression, ends, keys)
        known += low is not None and high is not None
        told: dict[Any, Any] = {NOISED[name]: within(NOISED[name], own) for name, own in ends.items()}
        told |= {KEYS[name]: known_value(own) for name, own in zip(KEYS, keys, strict=True)}
        assert Ranged(expression).possible(told.get).null or None not in values, (text, ends, keys)
        for value in values:
            if value is not None and math.isfinite(value):
                assert low is None or low <= value, (text, ends, keys, value, low)
                assert high is None or value <= high, (text, ends, keys, value, high)
    return known


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(8))
def test_the_interval_holds_wherever_those_it_is_made_of_do(seed: int, worker: PostProcess) -> None:
    assert all_hold(random.Random(seed), worker) > BATCH / 3


@pytest.mark.slow
def test_it_holds_for_many_more_expressions(worker: PostProcess) -> None:
    for seed in range(100, 200):
        all_hold(random.Random(seed), worker)


def none_is_wider(chance: random.Random, worker: PostProcess) -> None:
    """Tries expressions in one box that never turn: their extremes are at its corners."""
    for text, expression, ends, keys, values in tried(chance, worker, once=True):
        if None in values[:CORNERS] or (ROUGH.search(text) and STEPS.search(text)):
            continue  # an end that is off by its last digits may be on the other side of a step
        expected = min(values[:CORNERS]), max(values[:CORNERS])
        assert interval(expression, ends, keys) == pytest.approx(expected, rel=1e-9, abs=1e-9), (text, ends, keys)


@pytest.mark.every(2)
@pytest.mark.parametrize("seed", range(8))
def test_it_is_no_wider_than_the_values_at_the_corners_where_nothing_turns(seed: int, worker: PostProcess) -> None:
    none_is_wider(random.Random(seed), worker)


@pytest.mark.slow
def test_it_is_no_wider_for_many_more_expressions(worker: PostProcess) -> None:
    for seed in range(100, 200):
        none_is_wider(random.Random(seed), worker)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("greatest(n, 0)", (40, 60)),
        ("least(n, 100000)", (40, 60)),
        ("CASE WHEN n < 0 THEN 0 ELSE n END", (40, 60)),
        ("if(n < 0, 0, n)", (40, 60)),
        ("coalesce(n, 0)", (40, 60)),
        ("coalesce(x, 0)", (-2, 8)),
        ("greatest(x, 0)", (0, 8)),
        ("CASE WHEN x < 0 THEN 0 ELSE x END", (0, 8)),
        ("CASE WHEN x > 5 THEN 5 WHEN x < 0 THEN 0 ELSE x END", (0, 5)),
        ("CASE WHEN m > 0 THEN m END", (1, 4)),
        ("CASE WHEN m = 0 THEN 0 ELSE 8 / m END", (0, 8)),
        ("y / NULLIF(m, 0)", (0.5, 4)),
        ("coalesce(y / NULLIF(m, 0), 100)", (0.5, 100)),
        ("coalesce(y / n, 0)", (2 / 60, 0.1)),
        ("CASE WHEN n < 100 OR x > 100 THEN 1 ELSE 2 END", (1, 1)),
        ("CASE WHEN m < 2 THEN 1 WHEN m < 3 THEN 2 ELSE 3 END", (1, 3)),
        ("CASE WHEN x < y THEN y ELSE x END", (2, 8)),
        ("CASE k WHEN 'A' THEN n ELSE 0 END", (40, 60)),
        ("CASE WHEN k IN ('B', 'C') THEN n ELSE 7 END", (7, 7)),
        ("greatest(n, g)", (40, 60)),
        ("CASE WHEN g IS NULL THEN n ELSE 0 END", (40, 60)),
        ("coalesce(g, n)", (40, 60)),
        ("ln(n)", (math.log(40), math.log(60))),
        ("ln(m)", (None, math.log(4))),
        ("greatest(ln(m), 0)", (0, math.log(4))),
        ("coalesce(ln(n), -9)", (math.log(40), math.log(60))),
        ("log(2, y)", (1, 2)),
        ("-1 * ln(m)", (-math.log(4), None)),
        ("least(sqrt(x), 9)", (0, 9)),  # below 0 there is no root, and LEAST passes over NULL
    ],
)
def test_what_analysts_write_around_released_values(text: str, expected: Ends) -> None:
    ends: dict[str, Ends] = {"n": (40, 60), "m": (0, 4), "x": (-2.0, 8.0), "y": (2.0, 4.0)}
    expression = resolved(text)
    assert expression is not None
    assert interval(expression, ends, ("A", None)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["coalesce(n, 0)", "greatest(n, 0)", "CASE WHEN n < 0 THEN 0 ELSE n END", "coalesce(n + 1, 0)"]
)
def test_what_has_no_interval_may_be_null(text: str) -> None:
    expression = resolved(text)
    assert expression is not None
    assert interval(expression, {"n": (None, None)}, ("A", None))[1] is None
    assert Ranged(expression).possible({NOISED["n"]: EVERYTHING}.get).range.high is None  # type: ignore[arg-type]  # columns


def test_many_branches_inside_each_other_are_not_narrowed_one_by_one() -> None:
    text = "n"
    whole = resolved(text)
    assert whole is not None
    for number in range(12):
        once = resolved(f"CASE WHEN m < {number} THEN n ELSE n + 1 END")
        assert once is not None
        whole = substituted(once, {"n": whole})
    assert Ranged(whole).size < MOST_NARROWED
    assert interval(whole, {"n": (0, 1), "m": (0, 9)}, ("A", None)) == (1, 11)


def test_a_count_within_constants_has_the_interval_of_the_count(session: Session) -> None:
    counts = session.query("SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex", epsilon=0.3)
    expected = [(max(0.0, float(low or 0)), high) for low, high in counts.interval("n")]
    for text in (
        "GREATEST(COUNT(*), 0)",
        "COALESCE(GREATEST(COUNT(*), 0), 0)",
        "CASE WHEN COUNT(*) < 0 THEN 0 ELSE COUNT(*) END",
        "IF(COUNT(*) >= 0, COUNT(*), 0)",
    ):
        answer = session.query(f"SELECT sex, {text} AS n FROM patients GROUP BY sex", epsilon=0.3)
        assert answer.interval("n") == expected, text


def test_totals_of_an_answer_within_constants_have_intervals(session: Session) -> None:
    inner = "SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex"
    (expected,) = session.query(f"SELECT SUM(n) AS s FROM ({inner})", epsilon=0.3).interval("s")
    for text in ("GREATEST(SUM(n), 0)", "CASE WHEN SUM(n) < 0 THEN 0 ELSE SUM(n) END", "COALESCE(SUM(n), 0)"):
        (own,) = session.query(f"SELECT {text} AS s FROM ({inner})", epsilon=0.3).interval("s")
        assert own == (max(0.0, float(expected[0] or 0)), expected[1]), text
    answer = session.query(f"SELECT SUM(CASE WHEN n > 60 THEN n END) AS s FROM ({inner})", epsilon=0.3)
    assert answer.interval("s") == [(None, None)]  # which rows go in, noise decides
