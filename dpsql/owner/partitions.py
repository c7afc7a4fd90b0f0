"""What a policy's opting into random differential privacy means for the plan: the cells, counted, and their gamma.

Tests: tests/unit/owner/test_catalog.py.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.plan.catalog import Catalog, RandomPartition, RandomStatistic, TableInfo
from dpsql.plan.known.relations import column_of, filtered_scan
from dpsql.plan.known.value_lists import column_domain
from dpsql.plan.nodes import Expression, Scan
from dpsql.plan.plans import Plan
from dpsql.plan.resolve import resolve_query
from dpsql.policy import Policy
from dpsql.privacy.exposure import gamma_of_cells, rounded_up
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["with_partition"]


def with_partition(table: TableInfo, policy: Policy, version: int) -> TableInfo:
    """The table with the base partition that the policy declares for it.

    Args:
        table: As the policy and the public tables describe it.
        policy: The owner's promises.
        version: The table version.

    Raises:
        PolicyError: If a column has too many values to list, the cells cost more gamma than the policy allows, or the
            condition of a statistic cannot be read.
    """
    section = policy.random_dp[table.name]
    columns, floor = section.base_partition, section.floor(policy.tables[table.name]) or 1
    domains = {name: column_domain(column_of(Scan(table, "t0"), name)) for name in columns}
    for name, domain in domains.items():
        if domain is None:
            raise policy.wrong_at(
                ("random_dp", table.name, "base_partition"), f"{name} has more than 100,000 values; leave it out"
            )
    cells = math.prod(len(domain or ()) for domain in domains.values())
    gamma = gamma_of_cells(cells, floor, policy.neighbours, section.assume)
    whole = gamma + sum((Fraction(statistic.gamma) for statistic in section.statistics), Fraction(0))
    if whole > Fraction(section.gamma_limit):
        more = f", {rounded_up(whole)} with its statistics" if whole > gamma else ""
        raise policy.wrong_at(
            ("random_dp", table.name, "gamma_limit"),
            f"{cells} cells and at least {floor} units cost gamma {rounded_up(gamma)}{more}, which is above "
            f"gamma_limit {section.gamma_limit}; name fewer columns, or raise gamma_limit or row_floor",
        )
    partition = RandomPartition(
        name=f"{table.name}: {', '.join(columns)}",
        columns=columns,
        cells=cells,
        units_at_least=floor,
        gamma=gamma,
        assume=section.assume,
        version=version,
        statistics=tuple(_statistic(table, at, policy) for at in range(len(section.statistics))),
    )
    return replace(table, random_dp=partition)


def _statistic(table: TableInfo, at: int, policy: Policy) -> RandomStatistic:
    """A declared mean with its condition read.

    Raises:
        PolicyError: If the condition cannot be read, or is about more than the table's own rows.
    """
    declared, place = policy.random_dp[table.name].statistics[at], ("random_dp", table.name, "statistics", at)
    name = f"{table.name}: AVG({declared.column}) by {declared.h}"
    if declared.where is None:
        return RandomStatistic(name, declared.column, frozenset(), Fraction(declared.gamma))
    try:
        conditions = _conditions(table, declared.where, policy)
    except UnsupportedQuery as error:
        raise policy.wrong_at((*place, "where"), f"this is no condition: {error}") from None
    if conditions is None:
        raise policy.wrong_at((*place, "where"), f"write a condition on the columns of {table.name}, such as age >= 18")
    return RandomStatistic(f"{name} WHERE {declared.where}", declared.column, conditions, Fraction(declared.gamma))


def _conditions(table: TableInfo, where: str, policy: Policy) -> frozenset[Expression] | None:
    """What must hold for a row, part by part; None where the text is more than a condition on the table's rows."""
    statement = parse(f"SELECT COUNT(*) FROM {table.name} WHERE ({where})")
    if not isinstance(statement, syntax.QueryStatement):
        return None
    catalog = Catalog({table.name: table}, policy.neighbours, policy.name, version=1)
    plan = resolve_query(statement.select, catalog, (), lambda *_: ())
    if not isinstance(plan, Plan):
        return None
    found, plain = filtered_scan(plan.relation), Plan(plan.relation, (), plan.aggregates, plan.outputs)
    return found[1] if found is not None and plan == plain else None
