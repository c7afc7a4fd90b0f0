"""Opening an engine over a version of the bounded tables that is sound: there, and made of the data as they are.

Tests: tests/unit/engine/test_duckdb.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.engine.base import Engine
from dpsql.errors import OperationalError
from dpsql.owner.builder import FACTS, unchanged, version_directory
from dpsql.owner.engines import opening
from dpsql.owner.facts import public_table
from dpsql.owner.shape import shape_of
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["open_engine"]


def open_engine(policy: Policy, directory: Path, version: int) -> Engine:
    """The engine over one version of the bounded tables.

    Args:
        policy: What the version was built from.
        directory: Where its versions lie.
        version: The table version.

    Raises:
        OperationalError: If the version is not there or damaged, or the data or the policy's tables changed since.
    """
    place = version_directory(directory, version)
    try:
        facts = wire.decode((place / FACTS).read_bytes())
    except FileNotFoundError:
        raise _stale(f"Version {version} of the bounded tables is not in {directory}") from None
    except (OSError, ValueError):
        raise _stale(f"Version {version} of the bounded tables in {directory} is damaged") from None
    shape = shape_of(policy)
    if facts["shape"] != shape.digest:
        raise _stale(f"The policy's tables changed since version {version} was built")
    if not unchanged(shape, facts, place):
        raise _stale(f"The data changed since version {version} was built")
    public = {name: public_table(name, table) for name, table in facts["public"].items()}
    return opening(policy.engine.kind).open_engine(place, version, public, policy.engine)


def _stale(what: str) -> OperationalError:
    return OperationalError(f"{what}. The data owner must run: dpsql refresh POLICY")
