"""What an engine's folder offers to the owner's side; which engines there are stands in `dpsql.engines`.

Tests: tests/unit/engine/test_engines.py, tests/unit/owner/building/test_builder.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from dpsql.engine.base import Engine, PublicTable
from dpsql.engines import ENGINES, offered

if TYPE_CHECKING:
    from dpsql.engine.database import Database, TableSchema
    from dpsql.policy import EngineSection

__all__ = ["Building", "Describing", "Opening", "Sources", "building", "describing", "opening", "sources"]


class Opening(Protocol):
    """The module ``engine`` of a folder."""

    def open_engine(
        self, place: Path, version: int, public: Mapping[str, PublicTable], section: EngineSection
    ) -> Engine:
        """The engine over what was built in a version's directory: that version, with these public tables."""


class Sources(Protocol):
    """The module ``sources`` of a folder: has the data changed? ``source`` is what `EngineSection.source` says of them,
    ``tables`` each table's own file, None for one without, by what its database calls it. What comes back is as
    `wire.encode` takes it.
    """

    def opens(self, tables: Mapping[str, str | None]) -> bool:
        """Whether `versions` opens what only the owner's process may."""

    def versions(self, source: Mapping[str, str], tables: Mapping[str, str | None]) -> Mapping[str, str]:
        """What names the newest version of each table whose store keeps numbered ones, now; it costs next to nothing.

        In the place of a table's own file it stands for the rows of that version, whatever is committed later.
        """

    def number(self, version: str) -> int:
        """The number that the store gives to a version of `versions`."""

    def fingerprint(self, source: Mapping[str, str], tables: Mapping[str, str | None]) -> Any:
        """What surely is another one when the data changed; it costs next to nothing."""

    def may_be_equal(self, one: Any, other: Any) -> bool:
        """Whether data of these two different fingerprints may have equal contents."""

    def contents(self, source: Mapping[str, str], tables: Mapping[str, str | None]) -> Any:
        """What is equal only if the data are. In the owner's process."""

    def apart(self, tables: Mapping[str, str | None], contents: Any) -> Mapping[str, Any]:
        """What of these contents is each table's own, for tables whose rows are in it and nowhere else."""


class Building(Protocol):
    """The module ``database`` of a folder, in the owner's process."""

    def reading(self, source: Mapping[str, str], into: Path) -> AbstractContextManager[Database]:
        """The source, to be read.

        Args:
            source: Where the data are.
            into: A private folder, for what does not fit in memory meanwhile.

        Raises:
            PolicyError: If it does not open.
        """

    def building(self, source: Mapping[str, str], key: str, into: Path) -> AbstractContextManager[Database]:
        """The source, and the bounded tables of a new version, which stand when the block ends.

        Args:
            source: Where the data are.
            key: The secret of the row choice, in hexadecimal: the primitive ``secret``.
            into: The version's empty private directory.

        Raises:
            PolicyError: If the source does not open.
        """


class Describing(Protocol):
    """The module ``describe`` of a folder, for a first policy."""

    def reads(self, source: str) -> bool:
        """Whether a source is written as this engine's are: a path, or a connection string."""

    def beside(self, source: str) -> Path:
        """Where a first policy lies, and what it is called after, without its ending."""

    def is_table(self, source: str) -> bool:
        """Whether a source is files of rows: one, a pattern of them, or a folder."""

    def describe(self, source: str) -> Mapping[str, TableSchema]:
        """The tables of a source by the name that a policy may give them; never a value.

        Raises:
            OperationalError: If it cannot be read, or holds no table.
        """

    def left_out(self, source: str) -> Sequence[Path]:
        """The files of a folder that are rows, too, and no part of what `describe` finds."""

    def keys(self, source: str, at: Path) -> Mapping[str, str]:
        """What a policy that lies in a folder writes under ``engine`` beside its kind, for this source."""


def opening(kind: str) -> Opening:
    """How to open an engine of this kind."""
    return cast(Opening, offered(kind, "engine"))


def sources(kind: str) -> Sources:
    """How to see whether the data of an engine of this kind changed."""
    return cast(Sources, offered(kind, "sources"))


def building(kind: str) -> Building:
    """How to read the data of an engine of this kind, and to build its tables."""
    return cast(Building, offered(kind, "database"))


def describing(source: str) -> tuple[str, Describing]:
    """The kind of engine whose sources are written like this one, and how to see what it holds."""
    folders = {kind: cast(Describing, offered(kind, "describe")) for kind in ENGINES}
    kind = next(kind for kind in reversed(folders) if folders[kind].reads(source))  # the embedded one takes the rest
    return kind, folders[kind]
