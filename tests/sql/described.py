"""What a plan means, in a few lines that a person can check: units, bounds, domains, facts, and the engine's SQL."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from dpsql.answers.quotes.batch import ToBuy
from dpsql.charging import Spoken
from dpsql.engine.base import EngineStatement
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.released import lower_public
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.plan.nodes import Scan
from dpsql.plan.plans import Key, Output, PublicPlan
from dpsql.plan.types import Awaited, Facts
from dpsql.prepare import Measured, Prepared
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import QueryStatement
from tests.sql.corpus import Block

__all__ = ["described", "planned"]


def planned(session: Session, block: Block) -> Prepared | PublicPlan | ToBuy[Spoken]:
    """The statement of a block, planned: nothing is charged and nothing is read.

    Raises:
        UnsupportedQuery, ProgrammingError: It is refused.
    """
    statement = parse(block.sql)
    assert isinstance(statement, QueryStatement)
    asked = session._ask(statement, block.parameters, block.options)
    return asked.parts[0] if asked.several is None and not asked.first else asked


def described(session: Session, block: Block) -> tuple[str, ...]:
    """The expectations of one block: what it means, or why it is refused."""
    try:
        plan = planned(session, block)
    except (UnsupportedQuery, ProgrammingError) as refusal:
        return (f"-- refused: {refusal}",)
    match plan:
        case PublicPlan():
            lines = _public_lines(plan)
        case Prepared():
            lines = _lines(plan)
        case _:
            lines = _several_lines(plan)
    return tuple(f"-- {line}" for line in lines)


def _public_lines(plan: PublicPlan) -> Iterator[str]:
    yield "unit: none, the tables are public"
    yield f"columns: {_outputs(plan.stage.outputs)}"
    yield from _engine(lower_public(plan, DUCKDB))


def _several_lines(asked: ToBuy[Spoken]) -> Iterator[str]:
    """What each of several answers means, one after the other, and the columns of what is made of them."""
    for own in (*asked.first, *asked.parts):
        yield from _public_lines(own) if isinstance(own, PublicPlan) else _lines(own)
    if asked.several is None:
        return
    yield from _engine(lower_public(asked.several.rows, replace(DUCKDB, table="{name}")))
    yield f"columns: {_outputs(asked.several.answer)}"


def _lines(plan: Prepared) -> Iterator[str]:
    tables = {scan.alias: scan.table for scan in _scans(plan.plan.relation)}
    units = [f"{table.name}.{table.unit}" for table in tables.values() if not table.public]
    yield f"unit: {' = '.join(units)}"
    source = plan.measured[0].request.source
    cuts = {
        "to so many rows": source.cap_rows,
        "to so many rows in a group": source.cap_rows_in_group,
        "to so many groups": source.cap_groups,
    }
    held = source.contribution
    bounds = f"rows per unit: {held.rows}, in one group {held.rows_in_group}, in groups {held.groups}"
    yield bounds + "".join(f"; cut {what}" for what, cut in cuts.items() if cut)
    for key in plan.plan.keys:
        yield f"{key.name}: {_facts(key.expression.facts)}; {_domain(key)}"
    for part in plan.plan.combined:
        yield f"together: {', '.join(f'k{key}' for key in part.keys)}; {len(part.groups)} of the public table"
    for measured in plan.measured:
        if measured.grouping:
            break  # the same aggregates again, for the next grouping set
        yield f"{measured.aggregate.name}: {_aggregate(measured)}"
    if plan.plan.sets is not None:
        yield f"sets: {', '.join('(' + ', '.join(f'k{key}' for key in keys) + ')' for keys in plan.plan.sets)}"
    yield f"columns: {_outputs(plan.plan.answer)}"
    for statement in dict.fromkeys(reading.statement for reading in plan.readings):
        yield from _engine(statement)


def _outputs(outputs: Sequence[Output]) -> str:
    return ", ".join(f"{output.label} {_facts(output.expression.facts)}" for output in outputs)


def _engine(statement: EngineStatement) -> Iterator[str]:
    yield f"engine: {statement.sql}"
    if statement.parameters:
        yield f"values: {', '.join(map(_value, statement.parameters))}"


def _scans(node: Any) -> Iterator[Scan]:
    """Every table that a relation reads, whatever nodes it is made of."""
    if isinstance(node, Scan):
        yield node
    elif isinstance(node, tuple):
        for part in node:
            yield from _scans(part)
    elif dataclasses.is_dataclass(node):
        for slot in dataclasses.fields(node):
            yield from _scans(getattr(node, slot.name))


def _aggregate(measured: Measured) -> str:
    aggregate, grid = measured.aggregate, measured.request.grid
    text = aggregate.function
    if aggregate.argument is not None:
        text += f" of {_facts(aggregate.argument.facts)}"
    if grid is not None:
        text += f"; grid {_number(grid.step)} from {_number(grid.low * grid.step)} to {_number(grid.high * grid.step)}"
    return text + ("; chooses the groups" if measured.request.selects else "")


def _facts(facts: Facts) -> str:
    bounds = f" [{_value(facts.low)}, {_value(facts.high)}]" if (facts.low, facts.high) != (None, None) else ""
    return facts.type.value + bounds + (" or NULL" if facts.nullable else "")


def _domain(key: Key) -> str:
    if key.domain is None:
        return "open"
    values = [_value(value) for value in key.domain]
    shown = values if len(values) <= 6 else [*values[:3], "...", *values[-2:]]
    return f"{len(values)} values: {', '.join(shown)}"


def _value(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case Awaited():
            return f"(the {value.type.value} that is released first)"
        case Fraction():
            return _number(value)
        case str() if len(value) == 64 and set(value) <= set("0123456789abcdef"):
            return "(the secret key)"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
    return str(value)


def _number(number: Fraction) -> str:
    """The exact number where a few digits hold it."""
    return str(number) if number.denominator == 1 and abs(number) < 10**15 else f"{float(number):.12g}"
