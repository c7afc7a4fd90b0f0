"""An engine that is asked each statement once: its rows do not change between draws of noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.engine.base import Engine, EngineStatement, PublicTable
from dpsql.engine.dialect import Dialect
from dpsql.privacy.tables import RawTable

__all__ = ["Remembering"]


class Remembering:
    """An engine that runs a statement once, however often it is asked, and under however many promises.

    Args:
        engine: The engine.
        verified: The statements that it, or that of a neighbour, has read as they were meant: their tables are alike.
    """

    def __init__(self, engine: Engine, verified: set[EngineStatement] | None = None) -> None:
        self._engine = engine
        self._verified = set() if verified is None else verified
        self._results: dict[tuple[EngineStatement, tuple[type, ...]], RawTable] = {}

    @property
    def version(self) -> int:
        """The table version."""
        return self._engine.version

    @property
    def public(self) -> Mapping[str, PublicTable]:
        """The public tables."""
        return self._engine.public

    @property
    def dialect(self) -> Dialect:
        """How the engine spells SQL."""
        return self._engine.dialect

    def verify(self, statement: EngineStatement) -> None:
        """As the engine does, once for all neighbours; before it runs a statement, each looks itself."""
        if statement not in self._verified:
            self._engine.verify(statement)
            self._verified.add(statement)

    def stand(self) -> None:
        """As the engine does."""
        self._engine.stand()

    def run(self, statement: EngineStatement) -> RawTable:
        """The engine's exact result."""
        key = _told_apart(statement)
        if key not in self._results:
            self._results[key] = self._engine.run(statement)
        return self._results[key]

    def run_all(self, statements: Sequence[EngineStatement]) -> list[RawTable]:
        """Those of several statements."""
        return [self.run(statement) for statement in statements]

    def close(self) -> None:
        """Ends the engine."""
        self._engine.close()


def _told_apart(statement: EngineStatement) -> tuple[EngineStatement, tuple[type, ...]]:
    """What sets a statement apart: 1, 1.0 and True are equal, but not the same parameters."""
    return statement, tuple(type(value) for value in statement.parameters)
