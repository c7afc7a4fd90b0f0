"""What a policy's random differential privacy comes to, for the owner: cells, gamma, or why it is refused.

Tests: tests/unit/owner/checking/test_check.py.
"""

from __future__ import annotations

from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.errors import PolicyError
from dpsql.owner.catalog import private_table
from dpsql.owner.finding import Finding, public_columns
from dpsql.owner.partitions import with_partition
from dpsql.plan.types import Type
from dpsql.policy import Policy
from dpsql.privacy.exposure import rounded_up

__all__ = ["partition_findings"]


def partition_findings(policy: Policy) -> list[Finding]:
    """A note on each table that opts in; an error for one that cannot. Reads public tables, in a process of its own.

    Raises:
        OperationalError: If they cannot be read.
    """
    return [_finding(policy, table) for table in policy.random_dp]


def _finding(policy: Policy, table: str) -> Finding:
    try:
        partition = with_partition(private_table(table, policy, _domains(policy, table)), policy, 1).random_dp
    except PolicyError as error:
        return Finding(table, None, str(error), None, None, "error")
    if partition is None:
        return Finding(table, None, "random_dp has no base partition.", None, None, "error")
    what = (
        f"random_dp: {partition.cells} cells and at least {partition.units_at_least} units, so gamma "
        f"{rounded_up(partition.gamma)} for each version; up to {partition.cells} people are shown exactly."
    )
    return Finding(table, None, what, None, None, "note")


def _domains(policy: Policy, table: str) -> dict[str, PublicTable]:
    """The public columns that list values of the table's columns."""
    found: dict[str, dict[str, PublicColumn]] = {}
    for column in policy.tables[table].columns.values():
        if column.values_from is not None:
            source, _, name = column.values_from.partition(".")
            values = {value for value in public_columns(policy, source, [name])[name] if value is not None}
            listed = PublicColumn(name, Type.TEXT, None, None, tuple(sorted(values)), nullable=False, multiplicity=1)
            found.setdefault(source, {})[name] = listed
    return {name: PublicTable(name, 0, columns) for name, columns in found.items()}
