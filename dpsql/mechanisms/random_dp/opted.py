"""Whether a statement stays within what the owner opted into: one table, groups and conditions made of its cells.

Tests: tests/unit/mechanisms/random_dp/test_histogram.py, tests/unit/mechanisms/random_dp/test_mean.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.mechanisms.base import Request
from dpsql.plan.catalog import RandomPartition
from dpsql.plan.functions import overloads
from dpsql.plan.known.relations import column_of, filtered_scan
from dpsql.plan.needs import Source
from dpsql.plan.nodes import Expression, Filter, Scan
from dpsql.plan.values.applied import applied
from dpsql.plan.values.expressions import columns_of

__all__ = ["OptedStatement", "needs_declared", "opted_in", "too_much_gamma", "within_cells"]


@dataclass(frozen=True, slots=True)
class OptedStatement:
    """A statement over one table that opts in.

    Attributes:
        scan: The table.
        partition: What the owner declared for it.
        conditions: All of which a row must meet; none for the whole table.
    """

    scan: Scan
    partition: RandomPartition
    conditions: frozenset[Expression]


def opted_in(request: Request) -> OptedStatement | str:
    """The one table that a request reads, or in a sentence why random differential privacy is not to be had."""
    found = filtered_scan(request.source.relation)
    if found is None:
        return "its proof is about the rows of one table; it takes no joins and no sub-queries."
    scan, conditions = found
    partition = scan.table.random_dp
    if partition is None:
        return f"the policy does not opt in for {scan.table.name}; the owner can, under random_dp."
    return OptedStatement(scan, partition, conditions)


def needs_declared(request: Request, asked: OptedStatement) -> str | None:
    """None where groups and conditions take whole cells of the declared partition; else why they do not."""
    source, declared = request.source, asked.partition
    if request.selects:
        return "its cells must be declared; the groups of an open domain come from the data."
    if source.capped:
        return "a cap leaves out rows of some units, and so makes other cells; leave the cap out."
    for column in _columns([*asked.conditions, *(key.expression for key in source.keys)]):
        if column not in declared.columns:
            return (
                f"groups and conditions must be made of the base partition ({', '.join(declared.columns)}) alone, "
                f"and {column} is not in it; gamma is paid for those cells."
            )
    return None


def _columns(expressions: Iterable[Expression]) -> list[str]:
    return [column.name for expression in expressions for column in columns_of(expression)]


def too_much_gamma(request: Request, gamma: Fraction) -> str | None:
    """Why the statement's own ``gamma`` does not allow it; None where it does."""
    most = request.options.gamma
    if most is None or gamma <= most:
        return None
    return f"it costs gamma {float(gamma):.4g} once a table version, more than the gamma {float(most):g} asked for."


def within_cells(source: Source, asked: OptedStatement) -> Source:
    """The rows that lie in declared cells: where NULL is no declared value, rows that hold it are in none."""
    relation = source.relation
    for name in asked.partition.columns:
        column = column_of(asked.scan, name)
        if not column.facts.nullable:
            missing = applied("is_null", overloads("is_null"), (column,), None)
            relation = Filter(relation, applied("not", overloads("not"), (missing,), None))
    return replace(source, relation=relation)
