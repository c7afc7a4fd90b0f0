"""What an audit asks of a policy's tables: several questions for each mechanism, that one unit moves as far as it can.

Tests: tests/unit/audit/test_questions.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpsql.audit.made_up import MadeUp
from dpsql.audit.stand_in import AUDITOR
from dpsql.audit.template import Template
from dpsql.policy.table import TablePolicy
from dpsql.sql.keywords import FUNCTION_ONLY, RESERVED
from dpsql.sql.normal import quoted

__all__ = ["DELTA", "Posed", "questions"]

DELTA = Fraction(1, 100)
"""The most delta of a question. It is a choice: so much that what happens with this chance is seen in a sample."""
MOST_GROUPS = 50
"""Domains of more values are not grouped by here. It is a choice: more groups tell an audit no more."""
NUMBERS = 2
"""So many columns of numbers are asked about, of each table. It is a choice."""
SHARE = 8
"""A named sensitivity is that part of a column's bounds. It is a choice: values have to be moved for it."""

PARTS = 6
"""So many parts has a column of numbers in a synthetic table. It is a choice: all cells of two columns are compared."""


@dataclass(frozen=True)
class Posed:
    """One question for one mechanism.

    Attributes:
        mechanism: Its name.
        template: The statement with its options.
        metric: The metric by whose neighbours it is judged, or None.
    """

    mechanism: str
    template: Template
    metric: str | None = None


@dataclass(frozen=True)
class _Columns:
    """Columns of one table that questions name, quoted where SQL needs it.

    Attributes:
        unit: The unit.
        numbers: Numbers with bounds.
        ranges: Of each of them, in its unit: the wider of its bounds and its range.
        ends: Its bounds.
        wide: Numbers without bounds.
        listed: One with few declared values.
        open: A text without a domain.
    """

    unit: str
    numbers: Sequence[str]
    ranges: Sequence[Fraction]
    ends: Sequence[tuple[Fraction, Fraction]]
    wide: Sequence[str]
    listed: Sequence[str]
    open: Sequence[str]


def questions(made: MadeUp, epsilon: Fraction) -> list[Posed]:
    """Everything that is asked under a policy.

    Args:
        made: The policy with its made-up tables.
        epsilon: The price of each question.
    """
    found = []
    for name, table in made.policy.tables.items():
        if table.public:
            continue
        columns = _columns(made, name, table)
        for mechanism, sql, options in _of_table(_named(name), table, columns):
            found.append(_asked(mechanism, sql, {"epsilon": epsilon, "delta": DELTA, **options}))
    found += [_asked("laplace", sql, {"epsilon": epsilon}) for sql in _joins(made)]
    found += _random_dp(made, epsilon)
    found += _synthetic(made, epsilon)
    return found + _metrics(made)


def _named(name: str) -> str:
    """A name as a statement writes it."""
    return quoted(name) if name.lower() in RESERVED | FUNCTION_ONLY else name


def _asked(mechanism: str, sql: str, options: Mapping[str, Any], metric: str | None = None) -> Posed:
    named = {} if mechanism == "metric" else {"mechanism": mechanism}
    exact = {name: Decimal(str(float(x))) if isinstance(x, Fraction) else x for name, x in options.items()}
    return Posed(mechanism, Template(sql, options=named | exact, analyst=AUDITOR), metric)


def _columns(made: MadeUp, name: str, table: TablePolicy) -> _Columns:
    numbers, ranges, ends, wide, listed, open_ = [], [], [], [], [], []
    for column, own in table.columns.items():
        if (values := made.listed(name, column)) is not None or own.type == "boolean":
            if len(values or (False, True)) <= MOST_GROUPS:
                listed.append(_named(column))
        elif own.type in ("integer", "real", "decimal"):
            if own.bounds is None:
                wide.append(_named(column))
                continue
            low, high = (Fraction(bound) for bound in own.bounds)  # type: ignore[arg-type]  # of a number
            numbers.append(_named(column))
            ranges.append(max(abs(low), abs(high), high - low) or Fraction(1))
            ends.append((low, high if high > low else low + 1))
        elif own.type == "text":
            open_.append(_named(column))
    few = slice(NUMBERS)
    return _Columns(
        _named(table.unit_column), numbers[few], ranges[few], ends[few], wide[:1], listed[:1], open_[:1]
    )  # fmt: skip


Question = tuple[str, str, Mapping[str, Any]]
"""A mechanism, a statement, and options beside its price."""


def _of_table(name: str, table: TablePolicy, columns: _Columns) -> Iterator[Question]:
    """The questions about one table."""
    for mechanism in ("laplace", "gaussian"):
        yield from ((mechanism, sql, {}) for sql in _sums(name, table, columns))
    for x in columns.numbers[:1]:
        yield from (
            ("clamped", f"SELECT SUM({x}) FROM {name}", {}),
            ("exponential", f"SELECT MEDIAN({x}) FROM {name}", {}),
        )
        yield "located", f"SELECT AVG({x}) FROM {name}", {}
        scale = (columns.ranges[0] / 1000, columns.ranges[0])
        yield "friendly_core", f"SELECT AVG({x}) FROM {name}", {"scale": scale, "max_rows_contributed": 1}
        yield from _of_points(name, columns)
        if table.most_rows > 1:
            yield "capped", f"SELECT MEDIAN({x}) FROM {name}", {}
            yield "capped", f"SELECT AVG({x}) FROM {name}", {}
            yield "clamped", f"SELECT COUNT(*) FROM {name}", {}
            yield "clamped", f"SELECT AVG({x}) FROM {name}", {}
            yield "clamped", f"SELECT STDDEV({x}) FROM {name}", {}
        sensitivity = {"sensitivity": columns.ranges[0] / SHARE}
        yield from (("preprocessing", f"SELECT {f}({x}) FROM {name}", sensitivity) for f in ("SUM", "AVG", "MAX"))
    for x in columns.wide:
        yield "clamped", f"SELECT SUM({x}) FROM {name}", {}
        yield "preprocessing", f"SELECT MEDIAN({x}) FROM {name}", {"sensitivity": Fraction(5)}
        yield "friendly_core", f"SELECT AVG({x}) FROM {name}", {"scale": (1, 1000), "max_rows_contributed": 1}
    for group in columns.listed:
        yield "exponential", f"SELECT MODE({group}) FROM {name}", {}
        yield "top_k", f"SELECT {group}, COUNT(*) AS n FROM {name} GROUP BY {group} ORDER BY n DESC LIMIT 1", {}
        yield "threshold", f"SELECT {group}, COUNT(DISTINCT {columns.unit}) FROM {name} GROUP BY {group}", {}
    for group in columns.open:
        for mechanism in ("threshold", "gaussian_threshold", *(["capped"] if table.most_rows > 1 else [])):
            yield mechanism, f"SELECT {group}, COUNT(DISTINCT {columns.unit}) FROM {name} GROUP BY {group}", {}


def _of_points(name: str, columns: _Columns) -> Iterator[Question]:
    """Functions of the whole table, of points in the plane."""
    x, y, most = columns.numbers[0], columns.numbers[-1], max(columns.ranges)
    points, one = f"(SELECT {x} AS x, {y} AS y FROM {name})", {"max_rows_contributed": 1}
    scale = f"({_plain(most / 1000)}, {_plain(most)})"
    centres = f"SELECT * FROM dp_kmeans({points}, k => 2, bound => {_plain(most)}, scale => {scale})"
    yield "friendly_core", centres, one
    yield "friendly_core", f"SELECT * FROM dp_covariance({points})", one


def _sums(name: str, table: TablePolicy, columns: _Columns) -> Iterator[str]:
    """What noise is added to."""
    yield f"SELECT COUNT(*) FROM {name}"
    if table.most_rows > 1:
        yield f"SELECT COUNT(DISTINCT {columns.unit}) FROM {name}"
    for x in columns.numbers:
        yield f"SELECT SUM({x}) FROM {name}"
    for x in columns.numbers[:1]:
        yield f"SELECT AVG({x}) FROM {name}"
        yield f"SELECT VAR_POP({x}) FROM {name}"
        if table.most_rows > 1:
            unit = columns.unit
            yield f"SELECT SUM(s) FROM (SELECT {unit}, SUM({x}) AS s FROM {name} GROUP BY {unit}) AS t"
    for group in columns.listed:
        yield f"SELECT {group}, COUNT(*) FROM {name} GROUP BY {group}"
        if table.most_rows > 1:
            yield f"SELECT {group}, COUNT(DISTINCT {columns.unit}) FROM {name} GROUP BY {group}"
        yield from (f"SELECT {group}, SUM({x}) FROM {name} GROUP BY {group}" for x in columns.numbers[:1])


def _joins(made: MadeUp) -> Iterator[str]:
    """Each private table beside the first one, along the unit."""
    private = [name for name, table in made.policy.tables.items() if not table.public]
    first = private[0]
    for name in private[1:]:
        unit = _named(made.policy.tables[name].unit_column)
        on = f"a.{unit} = b.{_named(made.policy.tables[first].unit_column)}"
        yield f"SELECT COUNT(*) FROM {_named(name)} AS a JOIN {_named(first)} AS b ON {on}"
        for x in _columns(made, name, made.policy.tables[name]).numbers[:1]:
            yield f"SELECT SUM(a.{x}) FROM {_named(name)} AS a JOIN {_named(first)} AS b ON {on}"


def _random_dp(made: MadeUp, epsilon: Fraction) -> list[Posed]:
    """Counts over all declared cells, and over those of the first column."""
    found = []
    for name, section in made.policy.random_dp.items():
        for cells in dict.fromkeys((section.base_partition, section.base_partition[:1])):
            keys = ", ".join(map(_named, cells))
            sql = f"SELECT {keys}, COUNT(*) FROM {_named(name)} GROUP BY {keys}"
            found.append(_asked("random_dp", sql, {"epsilon": epsilon}))
    return found


def _synthetic(made: MadeUp, epsilon: Fraction) -> list[Posed]:
    """A synthetic table by each method that is for columns like these: one ordered column of few values, and a list."""
    found: list[Posed] = []
    for name, table in made.policy.tables.items():
        if table.public:
            continue
        columns = _columns(made, name, table)
        cut = [f"{_cut(*own)} AS x{at}" for at, own in enumerate(zip(columns.numbers, columns.ends, strict=True))]
        lists = [*cut[:1], *columns.listed]
        asked = [(method, lists[:1]) for method in ("cells", "tree", "intervals", "smalldb") if lists]
        asked += [(method, lists) for method in ("marginals", "mwem") if len(lists) > 1]
        asked += [("halfspaces", cut)] if len(cut) > 1 else []
        for method, own in asked:
            sql = (
                f"CREATE SYNTHETIC TABLE audited{len(found)} WITH (method = '{method}', epsilon = {_plain(epsilon)}) "
                f"AS SELECT {', '.join(own)} FROM {_named(name)}"
            )
            found.append(Posed(method, Template(sql, analyst=AUDITOR)))
    return found


def _cut(column: str, ends: tuple[Fraction, Fraction]) -> str:
    """A column of few whole numbers, from the least value to the largest."""
    return f"width_bucket({column}, {', '.join(map(_plain, ends))}, {PARTS})"


def _plain(number: Fraction) -> str:
    """A number as SQL writes it."""
    return str(number.numerator) if number.denominator == 1 else format(Decimal(str(float(number))), "f")


def _metrics(made: MadeUp) -> list[Posed]:
    """For each metric how many rows there are, sums of its numbers, and one value of the others."""
    found = []
    for name, metric in made.policy.metrics.items():
        table = _named(metric.table)
        statements = [f"SELECT COUNT(*) FROM {table}"] if metric.presence is not None else []
        for column in metric.attributes:
            declared = made.policy.tables[metric.table].columns[column]
            if declared.type in ("integer", "real", "decimal") and declared.bounds is not None:
                statements.append(f"SELECT SUM({_named(column)}) FROM {table}")
                continue
            listed = made.listed(metric.table, column)
            if listed and isinstance(listed[0], str):
                value = "'" + listed[0].replace("'", "''") + "'"
                statements.append(f"SELECT COUNT(*) FROM {table} WHERE {_named(column)} = {value}")
        found += [_asked("metric", sql, {"metric": name, "multiple": 1}, name) for sql in statements]
    return found
