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
from dpsql.owner.building.builder import FACTS, newest_versions, unchanged, version_directory
from dpsql.owner.building.facts import public_table
from dpsql.owner.engines import opening, sources
from dpsql.owner.in_use import InUse, use
from dpsql.owner.shape import Shape, shape_of
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["Numbered", "numbered", "open_engine", "refused"]


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
    except FileNotFoundError:
        raise _stale(_missing(directory, version)) from None
    except OSError:
        raise _stale(_damaged(directory, version)) from None
    facts, why = _sound(shape_of(policy), directory, version)
    if why is not None:
        for one in _numbered(shape_of(policy), facts) if facts else []:
            if one.built != one.now:
                OPERATOR.warning("%s", one)
        raise _stale(why)
    public = {name: public_table(name, table) for name, table in facts["public"].items()}
    return opening(policy.engine.kind).open_engine(place, version, public, policy.engine), in_use


def refused(policy: Policy, directory: Path, version: int) -> str | None:
    """Why queries are refused until the tables are built anew, and what that takes; None where they are not.

    Args:
        policy: The owner's, as it is now.
        directory: Where the versions of the bounded tables lie.
        version: The one that is asked; 0 before the first, which the first opening builds.

    Raises:
        OperationalError: If the sources cannot be read.
    """
    why = _sound(shape_of(policy), directory, version)[1] if version else None
    return None if why is None else f"{why}. Queries are refused until you run: dpsql refresh POLICY"


def _sound(shape: Shape, directory: Path, version: int) -> tuple[Mapping[str, Any], str | None]:
    """What stands beside a version, and why it cannot be asked, if so."""
    place = version_directory(directory, version)
    try:
        facts = wire.decode((place / FACTS).read_bytes())
    except FileNotFoundError:
        return {}, _missing(directory, version)
    except (OSError, ValueError):
        return {}, _damaged(directory, version)
    if facts["shape"] != shape.digest:
        return {}, f"The policy's tables changed since version {version} was built"
    return facts, None if unchanged(shape, facts, place) else f"The data changed since version {version} was built"


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


def _missing(directory: Path, version: int) -> str:
    return f"Version {version} of the bounded tables is not in {directory}"


def _damaged(directory: Path, version: int) -> str:
    return f"Version {version} of the bounded tables in {directory} is damaged"


def _stale(what: str) -> OperationalError:
    return OperationalError(f"{what}. The data owner must run: dpsql refresh POLICY")
