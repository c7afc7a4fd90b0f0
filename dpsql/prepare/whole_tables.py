"""From the plan of a table function to what would be done: one release for all its columns.

Everything here rests on public facts: the policy, the statement, the options. Nothing has been charged or read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from dpsql.engine.lower import Lower
from dpsql.errors import InvariantBroken, ProgrammingError, UnsupportedQuery
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import Choice
from dpsql.mechanisms.friendly_core.cluster_release import KMeansRelease, grid_for
from dpsql.mechanisms.friendly_core.clusters import plan_k_means, rows_needed, scale_in_steps
from dpsql.mechanisms.friendly_core.covariance import plan_covariance
from dpsql.mechanisms.friendly_core.covariance_release import CovarianceRelease
from dpsql.plan.catalog import Catalog
from dpsql.plan.grids import saturating_grid
from dpsql.plan.narrowing import facts_on
from dpsql.plan.needs import Source, Values
from dpsql.plan.nodes import Plan, TableFunction
from dpsql.plan.options import Options
from dpsql.plan.relations import origins
from dpsql.plan.types import Grid
from dpsql.prepare import Grouping, Measured, Prepared, Reading
from dpsql.prepare.prices import price_of_one
from dpsql.prepare.sources import check_unit, rows_about, source_of

__all__ = ["prepare_table"]

MECHANISM = "friendly_core"

READ = frozenset({"epsilon", "delta", "rho", "mechanism", "max_rows_contributed", "confidence", "privacy_unit_column"})
"""The options that a function of a whole table reads: it has no groups, and names its own scale."""


def prepare_table(plan: Plan, options: Options, catalog: Catalog, lower: Lower) -> Prepared:
    """The release that answers a table function, and its price.

    Args:
        plan: What is asked.
        options: In force for this statement, defaults included.
        catalog: Tables and neighbours.
        lower: How what mechanisms need becomes the engine's statements.

    Raises:
        UnsupportedQuery: Several rows a unit, a ban of the policy, or a price or number of rows that is too small.
        ProgrammingError: Options that do not fit this statement.
    """
    table = plan.table
    if table is None:
        raise InvariantBroken("a plan without a table function")
    check_unit(plan.relation, options)
    if options.mechanism not in (None, MECHANISM) or options.multiple is not None:
        raise ProgrammingError(
            f"{table.name} is answered by mechanism 'friendly_core' alone, at a price in epsilon or rho. Leave "
            "mechanism, metric and multiple out."
        )
    source = source_of(plan, (), options)
    _refuse(table, source)
    price, about = price_of_one(options, catalog), rows_about(plan, ((),))
    release = OFFERS[table.name](_Asked(table, source, price, catalog, about))
    requests = [
        Request(aggregate, source, price, catalog.neighbours, None, selects=False, rows_public=False, rows_about=about)
        for aggregate in plan.aggregates
    ]
    return Prepared(
        plan=plan,
        options=options,
        measured=tuple(
            Measured(request.aggregate, request, Choice(release, ()), 0, release.need.columns, place=place)
            for place, request in enumerate(requests)
        ),
        selection=None,
        groupings=(Grouping((0,), tuple((value,) for value in plan.keys[0].domain or ())),),
        readings=(Reading(release.need, lower(release.need)),),
        loss=release.loss,
        meaning=repr((table.named, catalog.neighbours)),
        read=READ,
    )


def _refuse(table: TableFunction, source: Source) -> None:
    """Rows that no function of whole tables takes.

    Raises:
        UnsupportedQuery: Several rows a unit, or columns for which the policy bans the mechanism.
    """
    if source.contribution.rows > 1:
        raise UnsupportedQuery(
            "one person would stand in several rows.", construct=table.name, position=table.position,
            hint="Give each person one row: group its query by the privacy unit, with AVG or SUM of each column.",
        )  # fmt: skip
    for name, column in table.columns:
        if any(MECHANISM in behind.banned for behind, _ in origins(source.relation, column)):
            raise UnsupportedQuery(
                f"the policy bans mechanism '{MECHANISM}' for {name}.", construct=table.name,
                position=table.position, hint="Leave this column out.",
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Asked:
    """One function over its rows, with everything public that bears on it."""

    table: TableFunction
    source: Source
    price: Price
    catalog: Catalog
    rows_about: int

    def parts(self) -> int | None:
        """How many parts were asked for."""
        given = dict(self.table.named).get("parts")
        return None if given is None else int(given[0])

    def need(self, grids: Sequence[Grid]) -> Values:
        """All columns of every row, as integers of their grids."""
        (first, *others) = zip((column for _, column in self.table.columns), grids, strict=True)
        return Values(self.source, *first, others=tuple(others))

    def refusal(self, message: str, hint: str) -> UnsupportedQuery:
        return UnsupportedQuery(message, construct=self.table.name, position=self.table.position, hint=hint)

    def check_rows(self, needed: int, parts: int) -> None:
        """Refuses what the owner's guess of the rows says cannot be.

        Raises:
            UnsupportedQuery: With both numbers.
        """
        if self.rows_about < needed:
            raise self.refusal(
                f"it deals people into {parts} parts and needs about {needed:,} of them; the policy guesses "
                f"{self.rows_about:,} (rows_about).",
                "Pay a higher price, ask for less, or let the owner correct rows_about.",
            )


PAGE = "docs/friendly_core.md says what each argument means, and how many people it takes."


def _k_means(asked: _Asked) -> KMeansRelease:
    named = dict(asked.table.named)
    (k,), (bound,), (low, high) = named["k"], named["bound"], named["scale"]
    try:
        ends = scale_in_steps(bound, (low, high))
        plan = plan_k_means(int(k), asked.price, asked.catalog.neighbours, asked.parts())
    except ValueError as error:
        raise asked.refusal(f"{error}.", PAGE) from None
    asked.check_rows(rows_needed(plan), plan.parts)
    grids = [grid_for(bound)] * len(asked.table.columns)
    return KMeansRelease(MECHANISM, asked.need(grids), plan, bound, ends, asked.rows_about)


def _covariance(asked: _Asked) -> CovarianceRelease:
    if not asked.catalog.idealised:
        raise asked.refusal(
            "its arithmetic is idealised, and the policy does not admit that.",
            f"The owner can write idealised_numerics: true in {asked.catalog.policy_file}; CORR, REGR_SLOPE and COVAR "
            "of columns with bounds need no such thing.",
        )
    try:
        plan = plan_covariance(len(asked.table.columns), asked.price, asked.parts())
    except ValueError as error:
        raise asked.refusal(f"{error}.", PAGE) from None
    asked.check_rows(plan.rows_needed, plan.parts)
    grids = tuple(saturating_grid(facts_on(column, asked.source.relation)) for _, column in asked.table.columns)
    return CovarianceRelease(MECHANISM, asked.need(grids), plan, grids, asked.rows_about)


OFFERS: Mapping[str, Callable[[_Asked], KMeansRelease | CovarianceRelease]] = {
    "dp_kmeans": _k_means,
    "dp_covariance": _covariance,
}
