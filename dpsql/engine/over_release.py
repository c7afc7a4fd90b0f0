"""Statements over synthetic tables, for the worker without data: they read tables that come with the request.

Tests: tests/unit/releasing/test_reading.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.engine.released import lower_public
from dpsql.plan.nodes import Column, Expression, Scan
from dpsql.plan.plans import Output, PublicPlan, Stage
from dpsql.plan.types import Facts, Type

__all__ = ["lower_over_grid", "lower_over_release"]


def lower_over_release(plan: PublicPlan) -> EngineStatement:
    """A statement over synthetic and public tables, given under their own names."""
    return lower_public(plan, replace(DUCKDB, table="{name}"))


def lower_over_grid(plan: PublicPlan, scan: Scan, values: Sequence[Expression], cell: str) -> EngineStatement:
    """The keys and values of every row that a statement reads of one table, and the row's number.

    Args:
        plan: The statement.
        scan: The one table.
        values: Over its rows.
        cell: The column of the numbers, which come first, as ``c0``; then keys and values.
    """
    number = Column(scan.alias, cell, Facts(Type.INTEGER))
    outputs = tuple(Output("", expression) for expression in (number, *plan.stage.group_by, *values))
    return lower_over_release(PublicPlan(plan.relation, Stage(outputs)))
