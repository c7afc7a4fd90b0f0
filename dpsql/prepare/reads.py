"""Which options a statement reads. One that it sets itself and does not read is refused, never ignored.

Each mechanism names what it reads of a part that it answers (`Mechanism.reads`). SET and the policy's defaults are for
many statements: they hold where they are read.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpsql.errors import ProgrammingError
from dpsql.mechanisms import MECHANISMS, by_name
from dpsql.mechanisms.base import CHOICE, OWN
from dpsql.plan.options import Options
from dpsql.prepare.prepared import Measured

__all__ = ["read_by", "refuse_unread"]


def read_by(measured: Iterable[Measured]) -> frozenset[str]:
    """The options that a statement reads itself, and those that bear on some of its measurements."""
    read = OWN
    for one in measured:
        mechanism = by_name(one.choice.release.mechanism)
        read |= frozenset() if mechanism is None else mechanism.reads(one.request)
    return read


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
    if name == "rest":
        return "rest is for groups that stay hidden; every group of this statement is listed. Leave it out."
    if name in CHOICE:
        return (
            f"{name} is for groups that must be chosen; every group of this statement is listed. Leave it out, "
            "or write HAVING COUNT(DISTINCT unit) >= k over the answer."
        )
    for mechanism in MECHANISMS:
        if name in mechanism.options:
            return (
                f"{name} is an option of mechanism {mechanism.name}, and bears on nothing in this statement. Leave it "
                f"out, or write mechanism = '{mechanism.name}'."
            )
    return f"{name} means nothing to this statement: what answers it does not read it. Leave it out."
