"""Functions of a whole table, ``dp_kmeans`` and ``dp_covariance``: one release for all their columns.

Everything here rests on public facts: the policy, the statement, the options. Nothing has been charged or read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Joint, Request
from dpsql.mechanisms.friendly_core.cluster_release import KMeansRelease, grid_for
from dpsql.mechanisms.friendly_core.clusters import plan_k_means, rows_needed, scale_in_steps
from dpsql.mechanisms.friendly_core.covariance import plan_covariance
from dpsql.mechanisms.friendly_core.covariance_release import CovarianceRelease
from dpsql.plan.grids import saturating_grid
from dpsql.plan.known.narrowing import facts_on
from dpsql.plan.needs import Values
from dpsql.plan.plans import TableFunction
from dpsql.plan.types import Grid

__all__ = ["whole_table"]


def whole_table(mechanism: str, requests: Sequence[Request]) -> list[Joint]:
    """The offer for a table function, at the price of any of its columns; [] for other requests.

    Args:
        mechanism: Whose offer it is.
        requests: All of one statement.

    Raises:
        UnsupportedQuery: Several rows a unit, or a price or number of rows that is too small.
    """
    table = requests[0].table if requests else None
    if table is None:
        return []
    if requests[0].source.contribution.rows > 1:
        raise _refusal(
            table,
            "one person would stand in several rows.",
            "Give each person one row: group its query by the privacy unit, with AVG or SUM of each column.",
        )
    return [Joint.of_one(tuple(range(len(requests))), OFFERS[table.name](mechanism, table, requests[0]))]


def _refusal(table: TableFunction, message: str, hint: str) -> UnsupportedQuery:
    return UnsupportedQuery(message, construct=table.name, position=table.position, hint=hint)


def _parts(table: TableFunction) -> int | None:
    """How many parts were asked for."""
    given = dict(table.named).get("parts")
    return None if given is None else int(given[0])


def _need(table: TableFunction, request: Request, grids: Sequence[Grid]) -> Values:
    """All columns of every row, as integers of their grids."""
    (first, *others) = zip((column for _, column in table.columns), grids, strict=True)
    return Values(request.source, *first, others=tuple(others))


def _check_rows(table: TableFunction, rows_about: int, needed: int, parts: int) -> None:
    """Refuses what the owner's guess of the rows says cannot be.

    Raises:
        UnsupportedQuery: With both numbers.
    """
    if rows_about < needed:
        raise _refusal(
            table,
            f"it deals people into {parts} parts and needs about {needed:,} of them; the policy guesses "
            f"{rows_about:,} (rows_about).",
            "Pay a higher price, ask for less, or let the owner correct rows_about.",
        )


PAGE = "docs/friendly_core.md says what each argument means, and how many people it takes."


def _k_means(mechanism: str, table: TableFunction, request: Request) -> KMeansRelease:
    named = dict(table.named)
    (k,), (bound,), (low, high) = named["k"], named["bound"], named["scale"]
    try:
        ends = scale_in_steps(bound, (low, high))
        plan = plan_k_means(int(k), request.price, request.neighbours, _parts(table))
    except ValueError as error:
        raise _refusal(table, f"{error}.", PAGE) from None
    _check_rows(table, request.rows_read, rows_needed(plan), plan.parts)
    need = _need(table, request, [grid_for(bound)] * len(table.columns))
    return KMeansRelease(mechanism, need, plan, bound, ends, request.rows_read)


def _covariance(mechanism: str, table: TableFunction, request: Request) -> CovarianceRelease:
    if not request.idealised:
        raise _refusal(
            table,
            "its arithmetic is idealised, and the policy does not admit that.",
            f"The owner can write idealised_numerics: true in {request.policy_file}; CORR, REGR_SLOPE and COVAR of "
            "columns with bounds need no such thing.",
        )
    try:
        plan = plan_covariance(len(table.columns), request.price, _parts(table))
    except ValueError as error:
        raise _refusal(table, f"{error}.", PAGE) from None
    _check_rows(table, request.rows_read, plan.rows_needed, plan.parts)
    grids = tuple(saturating_grid(facts_on(column, request.source.relation)) for _, column in table.columns)
    return CovarianceRelease(mechanism, _need(table, request, grids), plan, grids, request.rows_read)


OFFERS: Mapping[str, Callable[[str, TableFunction, Request], KMeansRelease | CovarianceRelease]] = {
    "dp_kmeans": _k_means,
    "dp_covariance": _covariance,
}
