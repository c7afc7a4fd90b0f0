"""Synthetic tables, and functions of a whole table, called with Python's own arguments in the place of SQL's; and how a
session shows itself.

Tests: tests/unit/releasing, tests/unit/mechanisms/friendly_core, tests/unit/answers/shown/test_notebook.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from decimal import Decimal
from typing import Any, Self

from dpsql.answers.answer import Answer
from dpsql.answers.budget import Budget
from dpsql.answers.shown.notebook import card, heading, known, small, values
from dpsql.answers.shown.screen import plain, safe
from dpsql.closing import OfOneProcess
from dpsql.errors import door
from dpsql.plan.parameters import call_text
from dpsql.plan.types import Parameters
from dpsql.releasing import SILENT, Progress, create_text
from dpsql.sql.parse import normal, parse

__all__ = ["Calls"]


class Calls(OfOneProcess, ABC):
    """What a session also offers: each of these is one statement, asked by `query`."""

    def __init__(self, analyst: str) -> None:
        self._analyst = analyst

    def __copy__(self) -> Self:
        """The same session, with its options as they are now; of this process, as all are."""
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__
        return other

    @property
    def analyst(self) -> str:
        """Whose account is charged."""
        return self._analyst

    def __repr__(self) -> str:
        return f"The session of {safe(self.analyst)}: query(sql), explain(sql), budget(), tables(), describe(table)"

    def _repr_html_(self) -> str:
        """Who asks, the budget and the tables, from the ledger and the policy alone."""

        def parts() -> list[str]:
            tables, budget = self.tables(), self.budget()
            rows = [[plain(value) for value in row] for row in tables.rows]
            return [values(budget.TITLES, [budget.cells()]), values(tables.columns, rows, tables.numeric)]

        return card(
            heading(f"The session of {self.analyst}"),
            *known(parts),
            small('Ask with session.query("SELECT ..."); session.explain("SELECT ...") is free.'),
        )

    @abstractmethod
    def budget(self) -> Budget:
        """What this analyst has spent and may still spend."""

    @abstractmethod
    def tables(self) -> Answer:
        """The tables one may ask about, from the policy alone."""

    @abstractmethod
    def query(self, sql: str, parameters: Parameters = (), *, progress: Progress = SILENT, **options: Any) -> Answer:
        """The answer to one statement."""

    @door
    def release(
        self, name: str, sql: str, parameters: Parameters = (), *, progress: Progress = SILENT, **options: Any
    ) -> Answer:
        """Makes a synthetic table of the rows of a SELECT: one row of name, method, rows, error as a share, and cost.

        ``method``, ``workload``, ``alpha``, ``rows``, ``epsilon``, ``delta`` and ``rho`` are options; ``progress`` is
        told each public step and the share done. The rest, and what it raises, is as in `query`.
        """
        made = normal(create_text(name, parse(sql)))
        return self.query(made, parameters, progress=progress, **options)

    @door
    def kmeans(
        self,
        sql: str,
        parameters: Parameters = (),
        *,
        k: int,
        bound: float | Decimal,
        scale: tuple[float | Decimal, float | Decimal],
        parts: int | None = None,
        **options: Any,
    ) -> Answer:
        """The centres of k clusters: a row each, with ``id`` and one column for each of the query's.

        Args:
            sql: One SELECT of numbers, one row a privacy unit.
            parameters: As in `query`.
            k: Number of centres.
            bound: Radius of the ball around 0 into which rows are moved, in the columns' unit.
            scale: Least and greatest distance to expect between the same centre of two samples.
            parts: Number of parts that people are dealt into; by default the least that serves at this price.
            **options: As in `query`.

        Raises:
            UnsupportedQuery, ProgrammingError, BudgetExceeded, EngineFailed: As in `query`.
        """
        named = {"k": k, "bound": bound, "scale": scale, "parts": parts}
        return self.query(call_text("dp_kmeans", sql, named), parameters, **options)

    @door
    def covariance(self, sql: str, parameters: Parameters = (), *, parts: int | None = None, **options: Any) -> Answer:
        """The covariance matrix of a query's columns: a row each, named in ``variable``, with one column for each.

        Args:
            sql: One SELECT of numbers, one row a privacy unit.
            parameters: As in `query`.
            parts: Number of parts that people are dealt into; by default the least that serves at this price.
            **options: As in `query`.

        Raises:
            UnsupportedQuery: Also where the policy does not admit idealised numerics.
            ProgrammingError, BudgetExceeded, EngineFailed: As in `query`.
        """
        return self.query(call_text("dp_covariance", sql, {"parts": parts}), parameters, **options)
