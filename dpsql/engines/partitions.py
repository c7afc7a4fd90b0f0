"""What a policy's opting into random differential privacy means for the plan: the cells, counted, and their gamma."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpsql.plan.catalog import RandomPartition, TableInfo
from dpsql.plan.domains import column_domain
from dpsql.plan.nodes import Scan
from dpsql.plan.relations import column_of
from dpsql.policy import Policy
from dpsql.privacy.exposure import gamma_of_cells, rounded_up

__all__ = ["with_partition"]


def with_partition(table: TableInfo, policy: Policy, version: int) -> TableInfo:
    """The table with the base partition that the policy declares for it.

    Args:
        table: As the policy and the public tables describe it.
        policy: The owner's promises.
        version: The table version.

    Raises:
        PolicyError: If a column has too many values to list, or the cells cost more gamma than the policy allows.
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
    )
    return replace(table, random_dp=partition)
