"""What a worker makes of the rows that a statement gives, and in which other ways it may find the same.

Tests: tests/unit/worker.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Added", "ByKey", "Counted", "Firsts", "Made", "Repeats", "Way", "told"]


@dataclass(frozen=True, slots=True)
class Firsts:
    """Which rows of each unit count.

    Attributes:
        rows: So many, its first ones; 0 for all.
        groups: Those of so many groups, the groups of its first rows that count; 0 for all.
        rank_digits: Where some are the first, ``u`` is the number of a row's unit and below it, in so many binary
            digits, the row's rank; 0 where it is the unit's alone.
    """

    rows: int = 0
    groups: int = 0
    rank_digits: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """Rows of whole numbers, none of them NULL: each different row comes once, rising; the last column says how often.

    Attributes:
        words: Columns that are one number in the worker, in their order: the least value and the binary digits of each,
            by public facts.
        marked: Whether the column before the last is 1 or 0, and no part of the row: it comes as the number of its rows
            where it is 1.
        edges: Where not empty the statement gives a row's unit ``u`` and its stored rank ``r0`` in the place of
            ``rank`` and ``units``; the rows come in the order of both. The worker finds each one's place within its
            unit: ``rank`` is the first of these edges that it does not exceed, ``units`` is 1 for a unit's last row.
        of: What each unit has in each group is counted then, clamped, in the place of the rows, whose totals are these;
            units without a value of a sum are left out.
    """

    words: tuple[tuple[tuple[int, int], ...], ...]
    marked: bool = False
    edges: tuple[int, ...] = ()
    of: Added | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """Rows of one unit after the other, added up: by how much each unit has where the statement has bins, or by group.

    The rows have the keys with lists, the number of their unit ``u``, and values: whole numbers of any width. NULL is
    among the values alone.

    Attributes:
        adds: For each total or column what it is of: ``rows``, ``units``, or ``count`` or ``sum`` of ``x0``, ``x1``,
            ..., by its index.
        alone: Whether each row is of a unit of its own, in any order, and does not say of which; there are no keys.
        clamps: By group, for each total where a unit's is clamped to; None where it is not.
        firsts: Which rows count, by group.
    """

    adds: tuple[tuple[str, int], ...]
    alone: bool = False
    clamps: tuple[tuple[int, int] | None, ...] = ()
    firsts: Firsts = Firsts()


@dataclass(frozen=True, slots=True)
class ByKey:
    """A way where there is one key, of `ordered.WHOLE`, and else but numbers of rows and of units: where keys lie too
    far apart, it does not lead there.

    Attributes:
        rows: SQL of all rows, unit by unit, as ``u`` and the key, ``k``.
        of_units: The places of the columns that say how many units there are.
        firsts: Which rows count.
    """

    rows: str
    of_units: tuple[int, ...]
    firsts: Firsts = Firsts()


@dataclass(frozen=True, slots=True)
class Repeats:
    """A way where a group's units are its rows less those that repeat one within their unit: where two groups have the
    same number, it does not lead there.

    Attributes:
        groups: SQL of the groups, with rows in the place of units and behind all columns a number ``k`` of their keys.
        rows: SQL of all rows, unit by unit, as their ``k`` and the number of their unit ``u``.
        of_units: As of `ByKey`.
    """

    groups: str
    rows: str
    of_units: tuple[int, ...]


Made = Counted | Added
Way = ByKey | Repeats


def told(own: Made | Way) -> dict[str, Any]:
    """What a worker is told of it: its parts by name, and its ``kind``."""
    return {"kind": type(own).__name__, **asdict(own)}
