"""Which options a statement reads. One that it sets itself and does not read is refused, never ignored.

Each way to prepare a statement names what it reads, and so does each mechanism that answers a part of it. SET and the
policy's defaults are for many statements: they hold where they are read.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.errors import ProgrammingError
from dpsql.mechanisms import MECHANISMS
from dpsql.plan.options import Options

__all__ = ["CHOICE", "GROUPS", "OWN", "read_by", "refuse_unread"]

OWN = frozenset({"epsilon", "delta", "rho", "mechanism", "max_rows_contributed", "confidence", "privacy_unit_column"})
"""What every statement priced by epsilon or rho reads itself."""

GROUPS = frozenset({"max_groups_per_unit", "max_rows_per_group", "group_selection_strategy"})
"""What such a statement reads besides, where its own aggregates and groups are measured: no function of a table."""

CHOICE = frozenset({"min_privacy_units_per_group", "group_selection_epsilon"})
"""What a statement reads that chooses its groups."""


def read_by(mechanisms: Iterable[str]) -> frozenset[str]:
    """The options that some of these mechanisms read."""
    names = set(mechanisms)
    return frozenset(option for mechanism in MECHANISMS if mechanism.name in names for option in mechanism.options)


def refuse_unread(own: Options, read: frozenset[str]) -> None:
    """Nothing, where a statement reads every option that it sets.

    Args:
        own: The options of the statement itself: its clause and keywords, without SET and defaults.
        read: The names of those that something reads.

    Raises:
        ProgrammingError: Naming the first that nothing reads.
    """
    for name in own.given:
        if name not in read:
            raise ProgrammingError(_unread(name))


def _unread(name: str) -> str:
    if name in CHOICE:
        return (
            f"{name} is for groups that must be chosen; every group of this statement is listed. Leave it out, "
            "or write HAVING COUNT(DISTINCT unit) >= k over the answer."
        )
    for mechanism in MECHANISMS:
        if name in mechanism.options:
            return (
                f"{name} is an option of mechanism {mechanism.name}, which answers nothing in this statement. Leave it "
                f"out, or write mechanism = '{mechanism.name}'."
            )
    return f"{name} means nothing to this statement: what answers it does not read it. Leave it out."
