"""Opening an engine over a version of the bounded tables that is sound: there, and made of the data as they are.

What a store calls the versions of its own tables stands beside each version of ours, for the owner: how many commits
there were is nothing that a policy lets analysts know.

Tests: tests/unit/engine/test_duckdb.py, tests/unit/engine/test_delta.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.engine.base import Engine
from dpsql.engine.log import OPERATOR
from dpsql.errors import OperationalError
from dpsql.owner.builder import FACTS, newest_versions, unchanged, version_directory
from dpsql.owner.engines import opening, sources
from dpsql.owner.facts import public_table
from dpsql.owner.in_use import InUse, use
from dpsql.owner.shape import Shape, shape_of
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["Numbered", "numbered", "open_engine"]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A table of the source whose store numbers its versions.

    Attributes:
        table: Its name in the policy.
        place: Where it is: a folder, or what the database calls it.
        built: The version that the bounded tables were built from; None where that is not known.
        now: The newest one.
    """

    table: str
    place: str
    built: int | None
    now: int

    def __str__(self) -> str:
        """For the owner.

        >>> print(Numbered("visits", "/lake/visits", 12, 13))
        visits was built from version 12 of /lake/visits, which is at 13 now
        """
        if self.built is None:
            return f"{self.table} is at version {self.now} of {self.place}"
        later = "" if self.built == self.now else f", which is at {self.now} now"
        return f"{self.table} was built from version {self.built} of {self.place}{later}"


def open_engine(policy: Policy, directory: Path, version: int) -> tuple[Engine, InUse]:
    """The engine over one version of the bounded tables, and that this process uses it: a build leaves it there.

    Args:
        policy: What the version was built from.
        directory: Where its versions lie.
        version: The table version.

    Raises:
        OperationalError: If the version is not there or damaged, or the data or the policy's tables changed since.
    """
    place = version_directory(directory, version)
    try:
        in_use = use(place)
        facts = wire.decode((place / FACTS).read_bytes())
    except FileNotFoundError:
        raise _stale(f"Version {version} of the bounded tables is not in {directory}") from None
    except (OSError, ValueError):
        raise _stale(f"Version {version} of the bounded tables in {directory} is damaged") from None
    shape = shape_of(policy)
    if facts["shape"] != shape.digest:
        raise _stale(f"The policy's tables changed since version {version} was built")
    if not unchanged(shape, facts, place):
        for one in _numbered(shape, facts):
            if one.built != one.now:
                OPERATOR.warning("%s", one)
        raise _stale(f"The data changed since version {version} was built")
    public = {name: public_table(name, table) for name, table in facts["public"].items()}
    return opening(policy.engine.kind).open_engine(place, version, public, policy.engine), in_use


def numbered(policy: Policy, directory: Path, version: int) -> list[Numbered]:
    """The tables whose stores number their versions, as they are now, beside what a version was built from.

    Args:
        policy: The owner's.
        directory: Where the versions of the bounded tables lie.
        version: One of them; one that is not there tells nothing.

    Raises:
        OperationalError: If the sources cannot be read.
    """
    try:
        facts = wire.decode((version_directory(directory, version) / FACTS).read_bytes())
    except (OSError, ValueError):
        facts = {}
    return _numbered(shape_of(policy), facts)


def _numbered(shape: Shape, facts: Mapping[str, Any]) -> list[Numbered]:
    built, number = facts.get("at", {}), sources(shape.engine).number
    now = newest_versions(shape)
    return [
        Numbered(table.name, table.source or name, number(built[name]) if name in built else None, number(now[name]))
        for table in shape.tables
        if (name := table.place[0]) in now
    ]


def _stale(what: str) -> OperationalError:
    return OperationalError(f"{what}. The data owner must run: dpsql refresh POLICY")
