"""What spares asking an engine the same for every draw of noise."""

from __future__ import annotations

from typing import Any


class Remembering:
    """An engine that is asked each statement once: the truth does not change between draws."""

    def __init__(self, engine: Any) -> None:
        self._engine, self._known = engine, dict[str, Any]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run(self, statement: Any) -> Any:
        """The raw numbers."""
        asked = repr(statement)
        if asked not in self._known:
            self._known[asked] = self._engine.run(statement)
        return self._known[asked]
