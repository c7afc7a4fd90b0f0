"""From the plan of a table function to what would be done: one release for all its columns.

Everything here rests on public facts: the policy, the statement, the options. Nothing has been charged or read.
"""

from __future__ import annotations

from dpsql.engines.lower import lower
from dpsql.errors import InvariantBroken, ProgrammingError, UnsupportedQuery
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import Choice
from dpsql.mechanisms.friendly_core.cluster_release import KMeansRelease, grid_for
from dpsql.mechanisms.friendly_core.clusters import plan_k_means, rows_needed, scale_in_steps
from dpsql.plan.catalog import Catalog
from dpsql.plan.nodes import Plan, TableFunction
from dpsql.plan.options import Options
from dpsql.plan.relations import origins
from dpsql.plan.requests import Source, Values
from dpsql.prepare import Grouping, Measured, Prepared, Reading
from dpsql.prepare.prices import price_of_one
from dpsql.prepare.sources import check_unit, rows_about, source_of

__all__ = ["prepare_table"]

FOREIGN = (
    "max_groups_per_unit", "max_rows_per_group", "group_selection_strategy", "group_selection_epsilon",
    "min_privacy_units_per_group", "sensitivity", "centre", "scale", "gamma", "metric", "multiple",
)  # fmt: skip
"""Options that mean nothing to a function of a whole table."""


def prepare_table(plan: Plan, options: Options, catalog: Catalog, contribution_key: bytes) -> Prepared:
    """The release that answers a table function, and its price.

    Args:
        plan: What is asked.
        options: In force for this statement, defaults included.
        catalog: Tables and neighbours.
        contribution_key: The ledger's secret; orders rows where a cap cuts.

    Raises:
        UnsupportedQuery: Several rows a unit, a ban of the policy, or a price or number of rows that is too small.
        ProgrammingError: Options that do not fit this statement.
    """
    table = plan.table
    if table is None:
        raise InvariantBroken("a plan without a table function")
    check_unit(plan.relation, options)
    for name in FOREIGN:
        if getattr(options, name) is not None:
            raise ProgrammingError(f"{name} means nothing to {table.name}. Leave it out.")
    if options.mechanism not in (None, KMeansRelease.mechanism):
        raise ProgrammingError(f"{table.name} is answered by mechanism 'friendly_core' alone. Leave mechanism out.")
    source = source_of(plan, (), options)
    _refuse(table, source)
    price, about = price_of_one(options, catalog), rows_about(plan, ((),))
    release = _k_means(table, source, price, catalog.neighbours, about)
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
        readings=(Reading(release.need, lower(release.need, contribution_key)),),
        loss=release.loss,
        meaning=repr((table.named, catalog.neighbours)),
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
        if any(KMeansRelease.mechanism in behind.banned for behind, _ in origins(source.relation, column)):
            raise UnsupportedQuery(
                f"the policy bans mechanism '{KMeansRelease.mechanism}' for {name}.", construct=table.name,
                position=table.position, hint="Leave this column out.",
            )  # fmt: skip


def _k_means(table: TableFunction, source: Source, price: Price, neighbours: str, about: int) -> KMeansRelease:
    named = dict(table.named)
    (k,), (bound,), (low, high) = named["k"], named["bound"], named["scale"]
    parts = int(named["parts"][0]) if "parts" in named else None
    try:
        ends = scale_in_steps(bound, (low, high))
        plan = plan_k_means(int(k), price, neighbours, parts)
    except ValueError as error:
        raise UnsupportedQuery(
            f"{error}.", construct=table.name, position=table.position,
            hint="docs/friendly_core.md says what each argument means, and what a number of centres takes.",
        ) from None  # fmt: skip
    if about < rows_needed(plan):
        raise UnsupportedQuery(
            f"it deals people into {plan.parts} parts and needs about {rows_needed(plan):,} of them; the policy "
            f"guesses {about:,} (rows_about).", construct=table.name, position=table.position,
            hint="Pay a higher price, ask for fewer centres, or let the owner correct rows_about.",
        )  # fmt: skip
    grid = grid_for(bound)
    (_, first), *others = table.columns
    need = Values(source, first, grid, others=tuple((column, grid) for _, column in others))
    return KMeansRelease(plan, need, bound, ends, about)
