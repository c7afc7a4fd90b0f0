"""What happens to released values, and statements over public rows: no private row is behind these.

Tests: tests/sql.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.engine.base import EngineStatement
from dpsql.engine.dialect import WIRE, Dialect
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.printer import Printer
from dpsql.engine.rows import statement_over
from dpsql.errors import InvariantBroken
from dpsql.plan.nodes import Column, Expression
from dpsql.plan.plans import Plan, PublicPlan, Stage
from dpsql.plan.rows.windows import between_stages
from dpsql.plan.values.expressions import columns_of

__all__ = ["lower_cells", "lower_public", "lower_released"]

_ROW = '"released"."row"'  # A row's number in the worker without data, which is always DuckDB.


def lower_released(plan: Plan) -> EngineStatement:
    """What happens to released values: output columns ``c0...`` and ``row`` (the released row each came from, or NULL).

    Rows that ORDER BY leaves equal come in the order of the released rows, which is that of the keys.
    """
    printer = Printer(DUCKDB, lambda column: f'"released".{DUCKDB.quoted(column.name)}')
    own = Stage(plan.outputs, plan.having, (), None, plan.order_by, plan.limit, plan.offset)
    sql = _stage(printer, own, '"released"', last=not plan.stages)
    answers = []
    for index, stage in enumerate(plan.stages):
        printer.answer = f'"answer{index}"'
        answers.append(f"{printer.answer} AS ({sql})")
        sql = _stage(printer, stage, f'{printer.answer} AS "released"', last=index == len(plan.stages) - 1)
    sql = f"WITH {', '.join(answers)} {sql}" if answers else sql
    columns = [(f"c{i}", WIRE[output.expression.facts.type]) for i, output in enumerate(plan.answer)]
    return EngineStatement(
        sql,
        tuple(printer.parameters),
        (*columns, ("row", "BIGINT")),
        frozenset({"released"}),
        frozenset(printer.functions),
    )


def _stage(printer: Printer, stage: Stage, source: str, *, last: bool) -> str:
    """One SELECT over released values. An aggregated row comes from no single released row."""
    row = 'CAST(NULL AS BIGINT) AS "row"' if stage.aggregates else f'{_ROW} AS "row"'
    rows = f"FROM {source}" + (f" WHERE {printer.expression(stage.where)}" if stage.where is not None else "")
    return _selected(printer, stage, rows, [] if stage.aggregates else [_ROW], last=last, extra=[row])


def _selected(printer: Printer, stage: Stage, rows: str, ties: list[str], *, last: bool, extra: list[str]) -> str:
    """SELECT, GROUP BY, HAVING, ORDER BY and LIMIT over rows; what ORDER BY leaves equal is ordered by ``ties``."""
    grouped = [f"{printer.expression(key)} ASC NULLS LAST" for key in stage.group_by] if stage.aggregates else []
    printer.ties = [*ties, *grouped]
    shown = [o.expression if last else between_stages(o.expression) for o in stage.outputs]
    texts = [f"{printer.expression(own)} AS {printer.quoted(f'c{i}')}" for i, own in enumerate(shown)]
    sql = f"SELECT {', '.join([*texts, *extra])} {rows}"
    if stage.group_by:
        sql += f" GROUP BY {', '.join(map(printer.expression, stage.group_by))}"
    if stage.having is not None:
        sql += f" HAVING {printer.expression(stage.having)}"
    if last or stage.limit is not None or stage.offset:  # else no order shows: its constants would belong to nothing
        terms = [*map(printer.term, stage.order_by), *ties, *(grouped if last else ())]
        sql += f" ORDER BY {', '.join(terms)}" if terms else ""
    if stage.limit is not None:
        sql += f" LIMIT {int(stage.limit)}"
    if stage.offset:
        sql += f" OFFSET {int(stage.offset)}"
    return sql


def lower_public(plan: PublicPlan, dialect: Dialect) -> EngineStatement:
    """A statement over public tables, columns ``c0...``."""
    printer = Printer(dialect.over(plan.relation))
    sql = _selected(printer, plan.stage, printer.rows(plan.relation), [], last=True, extra=[])
    columns = [(f"c{i}", WIRE[o.expression.facts.type]) for i, o in enumerate(plan.stage.outputs)]
    return statement_over(printer, sql, columns, plan.relation)


def lower_cells(expressions: Sequence[Expression], columns: Sequence[Column]) -> EngineStatement:
    """Expressions over public cells, given as the table ``released`` with columns ``c0...`` and ``row``."""
    names: Mapping[Column, str] = {column: f'"released"."c{i}"' for i, column in enumerate(columns)}
    printer = Printer(DUCKDB, lambda column: names[column])
    for expression in expressions:
        if not set(columns_of(expression)) <= set(columns):
            raise InvariantBroken("an expression over columns that are not at hand")
    texts = [f'{printer.expression(e)} AS "e{i}"' for i, e in enumerate(expressions)]
    return EngineStatement(
        f'SELECT {", ".join(texts)} FROM "released" ORDER BY "released"."row"',
        tuple(printer.parameters),
        tuple((f"e{i}", WIRE[e.facts.type]) for i, e in enumerate(expressions)),
        frozenset({"released"}),
        frozenset(printer.functions),
    )
