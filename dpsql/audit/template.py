"""One question of an audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Template"]


@dataclass(frozen=True)
class Template:
    """One question.

    Attributes:
        sql: Its text, also its name.
        parameters: For each ``?``.
        options: Keyword options.
        analyst: Who asks.
    """

    sql: str
    parameters: Sequence[Any] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    analyst: str = "ana"

    def __str__(self) -> str:
        return " ".join(self.sql.split()) + (f" {dict(self.options)}" if self.options else "")
