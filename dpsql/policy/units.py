"""Whose row it is: the unit of each table, found in its own column or at the end of a chain of keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic_core import PydanticCustomError

from dpsql.policy.reading import Place
from dpsql.policy.section import fold, wrong
from dpsql.policy.table import TablePolicy, Via

__all__ = ["broken_chains", "identities", "misnamed_units", "unit_column"]

Tables = Mapping[str, TablePolicy]


def unit_column(tables: Tables, name: str) -> str:
    """The unit's column of the private table in which a table's chain of keys ends."""
    unit = tables[name].unit
    return unit_column(tables, unit.via) if isinstance(unit, Via) else str(unit)


def identities(tables: Tables, name: str) -> dict[str, str | None]:
    """What each unit, key or reference column of a private table's data identifies.

    Returns:
        Column to ``table.key``, or to None where it is the unit. A reference identifies what the key that it refers
        to does, and so does a key that is a reference as well.
    """
    table, found = tables[name], dict[str, str | None]()
    if isinstance(table.unit, Via):
        owner = table.unit.via
        found[table.unit.on] = identities(tables, owner)[str(tables[owner].key_column)]
    else:
        found[str(table.unit)] = None
    if table.key_column is not None:
        found.setdefault(table.key_column, f"{name}.{table.key_column}")
    return found


def broken_chains(tables: Tables) -> Iterator[PydanticCustomError]:
    """A chain leads from table to table, by the key of each, to one with a unit column."""
    for name, table in tables.items():
        at, passed, link = ("tables", name, "unit", "via"), [name], table.unit
        while isinstance(link, Via):
            owner = tables.get(link.via)
            if owner is None or owner.public:
                yield wrong(
                    f"{link.via} is not a private table of this policy", "name the table that owns the row", *at
                )
                break
            if link.via in passed:
                yield wrong(f"{' to '.join([*passed, link.via])} is a circle", "end it with unit: COLUMN", *at)
                break
            if owner.key_column is None:
                problem = "has no key" if owner.key is None else "has a key of several columns"
                remedy = f"write key: COLUMN there, the one that {link.on} refers to"
                yield wrong(f"{link.via} {problem}", remedy, *at)
                break
            passed.append(link.via)
            link = owner.unit


def misnamed_units(tables: Tables) -> Iterator[PydanticCustomError]:
    """A table that is owned through a chain has the unit as one more column: no other may bear its name, or show it."""
    for name, table in tables.items():
        if not isinstance(table.unit, Via):
            continue
        unit = unit_column(tables, name)
        units = {column for column, identified in identities(tables, name).items() if identified is None}
        for column, at in _named(table, table.unit).items():
            if column in units and column in table.columns:
                yield wrong(
                    f"{column} is the unit, which no answer may show",
                    f"remove {column} from columns; joins and COUNT(DISTINCT {unit}) work without",
                    *("tables", name, *at),
                )
            elif fold(column) == fold(unit) and not (column == unit and column in units):
                yield wrong(
                    f"{unit} is how the unit of {name} is called, through {table.unit.via}",
                    f"give the column {column} another name, in a view",
                    *("tables", name, *at),
                )


def _named(table: TablePolicy, unit: Via) -> dict[str, Place]:
    """The columns of the data that a table names, and where."""
    places: dict[str, Place] = {column: ("columns", column) for column in table.columns}
    places.setdefault(unit.on, ("unit", "on"))
    if table.key_column is not None:
        places.setdefault(table.key_column, ("key",))
    return places
