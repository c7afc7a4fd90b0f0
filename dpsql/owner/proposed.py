"""Whose the rows of an unknown source may be, by names and declared keys alone: what a first policy proposes.

Nothing here is decided: the owner chooses, on a terminal, by ``--unit``, or in the file.

Tests: tests/unit/owner/test_proposed.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dpsql.engine.database import TableSchema

__all__ = ["Link", "also_leading", "links", "names_somebody", "units"]

Tables = Mapping[str, TableSchema]

_KINDS = ("integer", "wide", "text", "untyped")
"""Families of types that may name a person."""
_PERSON = re.compile(
    r"(person|people|patient|customer|cust|client|user|member|subject|student|pupil|teacher|employee|worker|staff"
    r"|passenger|rider|driver|participant|respondent|donor|voter|citizen|resident|household|family|insured|borrower"
    r"|subscriber|account|owner|author|player|child|nino|ssn|pid|uid)"
)
"""What columns of people are often called; parts of other names, too, which is why the owner is asked."""
_ENDING = re.compile(r"(id|_?key|_?uuid|_?guid|_?no|_?nr|_?num|_?number|_?code)$")
"""How names of keys often end."""
_IDENTIFYING = re.compile(
    r"(^|_)(first_?name|last_?name|surname|full_?name|name|e?_?mail|phone|mobile|address|street|ssn|iban|passport"
    r"|login|password|photo|ip)($|_)"
)
"""What columns that tell who somebody is are often called."""


@dataclass(frozen=True, slots=True)
class Link:
    """Whose each row of a table is.

    Attributes:
        column: The column of the unit, or the one that leads to it.
        via: The table to which it leads; None where it is the unit's own.
        key: That table's key.
    """

    column: str
    via: str | None = None
    key: str | None = None


def units(tables: Tables) -> list[str]:
    """Columns that may say whose a row is, likeliest first; each name once, whatever the case of its letters.

    A name that speaks of people counts most, then how many tables have it, then being a key or referred to.

    >>> from dpsql.engine.database import SourceType
    >>> whole = SourceType("BIGINT", "integer")
    >>> units({"visits": TableSchema((("visit_id", whole), ("patient_id", whole), ("cost", whole)))})
    ['patient_id', 'visit_id']
    """
    found: dict[str, tuple[str, int]] = {}
    for table in tables.values():
        single = {keys[0].lower() for keys in table.keys if len(keys) == 1}
        for name, kind in table.columns:
            low = name.lower()
            if kind.family not in _KINDS or not (_ENDING.search(low) or _PERSON.search(low) or low in single):
                continue
            if names_somebody(name) and low not in single:
                continue
            first, points = found.get(low, (name, 0))
            if not points:
                points = 8 * bool(_PERSON.search(low)) + 2 * bool(_ENDING.search(low))
            found[low] = first, points + 1 + (low in single) + 2 * (name in table.references)
    return [name for name, _ in sorted(found.values(), key=lambda one: -one[1])]


def names_somebody(column: str) -> bool:
    """Whether a column may tell who somebody is, by its name.

    >>> names_somebody("last_name"), names_somebody("diagnosis")
    (True, False)
    """
    return bool(_IDENTIFYING.search(column.lower()))


def links(tables: Tables, unit: str) -> dict[str, Link]:
    """Whose the rows of each table are, where the unit is this column: by the column itself, or by what leads to it.

    A column leads to a table of which it is the key by the database's own word, or by name: that of a column which is
    declared unique there, or begins the table's own name. A table that nothing leads to is left out.

    Args:
        tables: The source.
        unit: The column of the protected person, whatever the case of its letters.
    """
    found: dict[str, Link] = {}
    for name, table in tables.items():
        own = next((column for column, _ in table.columns if column.lower() == unit.lower()), None)
        if own is not None:
            found[name] = Link(own)
    while len(found) < len(tables):
        waiting = (name for name in tables if name not in found)
        more = {name: link for name in waiting if (link := next(_leading(tables, name, found), None)) is not None}
        if not more:
            break
        found |= more
    return found


def also_leading(tables: Tables, name: str, found: Mapping[str, Link]) -> Link | None:
    """The key of another owned table that a table with the unit's own column holds as well; None where it holds none.

    Args:
        tables: The source.
        name: The table.
        found: Whose the rows of each table are.
    """
    others = {owner: link for owner, link in found.items() if owner != name}
    return next((link for link in _leading(tables, name, others) if link.column != found[name].column), None)


def _leading(tables: Tables, name: str, found: Mapping[str, Link]) -> Iterator[Link]:
    """The columns of a table that lead to one whose rows are owned, those that the database declares first."""
    table = tables[name]
    for column, (owner, key) in table.references.items():
        if owner in found:
            yield Link(column, owner, key)
    for column, kind in table.columns:
        for owner in found:
            named = next((one for one in _keys(owner, tables[owner]) if one.lower() == column.lower()), None)
            if named is not None and kind.family in _KINDS and named.lower() != found[owner].column.lower():
                yield Link(column, owner, named)


def _keys(name: str, table: TableSchema) -> Iterator[str]:
    """Columns that may be a table's key: declared, or called after it, such as visit_id in visits."""
    yield from (keys[0] for keys in table.keys if len(keys) == 1)
    stems = "|".join(map(re.escape, _singular(name.lower())))
    for column, _ in table.columns:
        if re.fullmatch(rf"({stems})s?_?(id|key|no|nr|num|number|code)", column.lower()):
            yield column


def _singular(name: str) -> Iterator[str]:
    """What a table's name may be the plural of, in English.

    >>> list(_singular("diagnoses")), list(_singular("therapies"))
    (['diagnose', 'diagnos', 'diagnosis'], ['therapie', 'therapy'])
    """
    yield name.rstrip("s")
    if name.endswith("ies"):
        yield f"{name[:-3]}y"
    elif name.endswith("es"):
        yield name[:-2]
        yield f"{name[:-2]}is"
