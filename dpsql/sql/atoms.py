"""What a skeleton holds: a handle for every name, constant and type, and what each stands for."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from dpsql.sql.stars import StarClauses
from dpsql.sql.syntax import Expr

__all__ = ["WRITTEN_PARENTHESIS", "Atom", "Role", "Skeleton"]

# The comment tells a parenthesis of the analyst from those that the reader adds where it is unsure.
WRITTEN_PARENTHESIS = "( /* written */"


class Role(enum.Enum):
    """What a handle stands for."""

    NAME = "name"
    VALUE = "value"
    STAR = "*"
    FUNCTION = "function"
    NAMED = "named argument"
    TYPE = "type"
    SELECT = "SELECT"


@dataclass(slots=True)
class Atom:
    """What a handle stands for, and where it was written.

    Attributes:
        text: The name as written, without quotes; the type in lower case; empty for a value.
        value: The constant or parameter of a VALUE.
        distinct: For a FUNCTION or a SELECT: whether DISTINCT was written.
        implicit: For a NAME: whether it follows a value directly, so that it can only be an alias without AS.
        needs_as: For a NAME: whether DuckDB would take the word for a keyword unless AS stands before it.
        quoted: For a NAME: whether it stands in double quotes.
        choice: For a STAR: what it leaves out, renames and replaces.
    """

    role: Role
    position: tuple[int, int]
    text: str = ""
    value: Expr | None = None
    distinct: bool = False
    implicit: bool = False
    needs_as: bool = False
    quoted: bool = False
    choice: StarClauses = field(default_factory=StarClauses)


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The text for the reader, its atoms by handle, how many operators it has, and where each piece was written."""

    text: str
    atoms: dict[str, Atom]
    operators: int  # signs and casts; not AND, LIKE and their like
    starts: tuple[tuple[int, tuple[int, int]], ...]

    def place(self, offset: int) -> tuple[int, int] | None:
        """The analyst's position of the piece that holds this offset of the skeleton's text."""
        before = [position for start, position in self.starts if start <= offset]
        return before[-1] if before else None
