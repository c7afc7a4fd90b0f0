"""Tables: who owns a row, and what is publicly promised of its rows.

Tests: tests/unit/policy/test_classes.py, tests/unit/policy/test_metrics.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, PrivateAttr, Tag, model_validator

from dpsql.engines import CSV
from dpsql.errors import InvariantBroken
from dpsql.policy.column import ColumnPolicy
from dpsql.policy.csv_file import CsvPolicy
from dpsql.policy.section import Count, Description, FilePath, Name, OwnName, Section, twins, wrong

__all__ = ["ROWS_ABOUT", "TablePolicy", "Via"]

ROWS_ABOUT = 10_000  # Rows of a table of which the owner says no number. A guess.

_STORED = re.compile(
    r"[A-Za-z_][A-Za-z0-9_]{0,62}[.](?!(?:parquet|csv|tsv|gz|ducklake)$)[A-Za-z_][A-Za-z0-9_]{0,62}", re.IGNORECASE
)
"""schema.table, which is no file by its ending."""


class Via(Section):
    """A chain of keys to the protected person: the unit of a row is that of the row it points to."""

    via: Name = Field(examples=["visits"])
    """The private table that the row points to; it has a key."""
    on: Name = Field(examples=["visit_id"])
    """The column here that holds that table's key."""


def _kind_of_unit(value: Any) -> str:
    return "<chain>" if isinstance(value, Mapping | Via) else "<column>"


Unit = Annotated[Annotated[Name, Tag("<column>")] | Annotated[Via, Tag("<chain>")], Discriminator(_kind_of_unit)]


def _kind_of_key(value: Any) -> str:
    return "<columns>" if isinstance(value, list | tuple) else "<column>"


_Keys = Annotated[tuple[Name, ...], Field(strict=False, min_length=2)]
Key = Annotated[Annotated[Name, Tag("<column>")] | Annotated[_Keys, Tag("<columns>")], Discriminator(_kind_of_key)]


class TablePolicy(Section):
    """One table: public, or owned row by row by the protected units."""

    public: bool = False
    """true: nobody's data; joined freely and returned as it is."""
    description: Description | None = Field(default=None, examples=["One row for each visit to the emergency room"])
    """What a row is, in one line of at most 500 characters. Whoever may ask reads it: it must tell of nobody."""
    source: FilePath | None = None
    """A Parquet or CSV file, or several by a pattern such as flights/*.parquet; the folder of a Delta or Iceberg table,
    or a table of a DuckLake, such as lake.ducklake#visits; or schema.table of the engine's database; without it the
    table of this name there."""
    rename: dict[Name, OwnName] = Field(default_factory=dict, examples=[{"visit_date": "Visit Date"}])
    """Columns that the source has under names which are none in SQL: the name to use, and the source's own. Everywhere
    else stands the name to use."""
    csv: CsvPolicy | None = None
    """How the CSV file at source writes days, numbers, booleans and NULL, where it is not as dpsql reads them."""
    unit: Unit | None = None
    """The column that says whose row this is, or {via: table, on: key}."""
    key: Key | None = None
    """A column that is unique in this table; or several, such as [person, year], that are so together."""
    rows_per_unit: Count | None = None
    """At most so many rows of one unit are used; the view enforces it."""
    rows_at_least: Count | None = None
    """A floor on the number of rows that the owner vouches for."""
    rows_about: Count = Field(default_factory=lambda data: max(ROWS_ABOUT, data.get("rows_at_least") or 0))
    """A guess at the number of rows, used to choose between mechanisms, and to build very large tables in parts."""
    every_unit: bool = False
    """true: every unit has exactly one row here, so that the number of rows is public (replace_one only)."""
    max_groups_per_unit: Count | None = None
    """At most so many groups of one unit are used in a query; a query may ask for less."""
    min_units: Count | None = None
    """Only groups of so many units and more appear in an answer."""
    columns: dict[Name, ColumnPolicy] = Field(default_factory=dict)
    """The columns that analysts may use. Others do not exist for them."""

    _unit_column: str | None = PrivateAttr(default=None)  # where a chain of keys ends; the policy fills it in

    @model_validator(mode="before")
    @classmethod
    def _by_its_name_here(cls, written: Any) -> Any:
        """Where a column is named as the data call it, though it has another name here."""
        rename = written.get("rename") if isinstance(written, Mapping) else None
        here = {own: name for name, own in rename.items() if own not in rename} if isinstance(rename, Mapping) else {}
        for place in ("unit", "key", "columns") if here else ():
            value = written.get(place)
            for name in value if isinstance(value, Mapping | list) else (value,):
                if isinstance(name, str) and name in here:
                    where = (place, name) if place == "columns" else (place,)
                    raise wrong(f"{name!r} is called {here[name]} here, by rename", f"write {here[name]}", *where)
        return written

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        own = list(self.rename.values())
        if twice := [name for name in own if own.count(name) > 1]:
            raise wrong(f"{twice[0]!r} is renamed twice", "remove one of the two", "rename")
        if pair := twins(self.rename):
            raise wrong(f"{pair[0]} and {pair[1]} are one name in SQL", "choose another name for one", "rename")
        if self.csv is not None and not str(self.file or "").lower().endswith(CSV):
            raise wrong("csv says how a CSV file is written", "remove it, or name that file at source", "csv")
        if self.public:
            may = {"public", "description", "source", "rename", "csv", "key", "columns"}
            extra = sorted(self.model_fields_set - may)
            if extra:
                raise wrong(f"a public table has no {extra[0]}", f"remove {extra[0]}, or public: true", extra[0])
            for name, column in self.columns.items():
                declared = column.model_fields_set | ({"bounds"} if column.auto else set())
                if promises := sorted(declared - {"type", "nullable", "description"}):
                    raise wrong(
                        "a public table is returned as it is, so nothing is promised of its values",
                        f"write the type alone, and remove {promises[0]}",
                        *("columns", name, promises[0]),
                    )
        else:
            lacking = [key for key in ("unit", "rows_per_unit", "columns") if not getattr(self, key)]
            if lacking:
                example = {"unit": "unit: patient_id", "rows_per_unit": "rows_per_unit: 12"}
                example["columns"] = "columns: {age: {type: integer, bounds: [0, 110]}}"
                remedy = ", ".join(example[key] for key in lacking)
                raise wrong(f"a private table needs {', '.join(lacking)}", f"write {remedy}; or public: true alone")
        names = list(self.columns)
        if isinstance(self.unit, str):
            if self.unit in self.columns:
                raise wrong(
                    f"{self.unit} is the unit, which no answer may show",
                    f"remove {self.unit} from columns; joins and COUNT(DISTINCT {self.unit}) work without",
                    *("columns", self.unit),
                )
            names.append(self.unit)
        if isinstance(self.unit, Via) and self.unit.on not in names:
            names.append(self.unit.on)
        if self.key_column is not None and self.key_column not in names:
            names.append(self.key_column)
        self._agree_on_key()
        if pair := twins(names):
            raise wrong(f"{pair[0]} and {pair[1]} are one name in SQL", "give one another name under rename")
        if self.every_unit and self.rows_per_unit != 1:
            raise wrong("every_unit means one row per unit", "write rows_per_unit: 1, or remove it", "every_unit")
        if self.every_unit and self.key not in (None, self.unit):
            raise wrong(
                "where every_unit has one row, the unit is the key; a row without another key would be left out",
                f"write key: {self.unit}, or remove key",
                "key",
            )
        if self.rows_about < (self.rows_at_least or 0):
            raise wrong("rows_about is below rows_at_least", "write the larger number there", "rows_about")
        return self

    @property
    def stored(self) -> str | None:
        """What the engine's database calls the table, where ``source`` says so: ``schema.table``."""
        return str(self.source) if self.source is not None and _STORED.fullmatch(str(self.source)) else None

    @property
    def file(self) -> Path | None:
        """Its own file, or pattern of files, or None."""
        return None if self.stored is not None else self.source

    def _agree_on_key(self) -> None:
        """A key of several columns is of a private table, and of columns whose values can be told apart exactly."""
        if isinstance(self.key, tuple) and self.public:
            raise wrong("a public table's key is one column", "remove key: rows that a join meets are counted", "key")
        own = (self.unit,) if isinstance(self.unit, str) else () if self.unit is None else (self.unit.on,)
        for place, name in enumerate(self.key if isinstance(self.key, tuple) else ()):
            if name in (self.key or ())[:place]:
                raise wrong(f"{name} is there twice", "name each column once", "key", place)
            if name not in own and name not in self.columns:
                raise wrong(
                    f"{name} is neither the unit nor among the columns",
                    "add it to columns, with its type",
                    "key",
                    place,
                )
            if name in self.columns and (kind := self.columns[name].type) in ("real", "decimal"):
                raise wrong(f"{name} is {kind}, which is no part of a key", "declare it integer, or text", "key", place)

    @property
    def key_column(self) -> str | None:
        """The column that is unique by itself, or None."""
        return self.key if isinstance(self.key, str) else None

    @property
    def unique(self) -> tuple[str, ...]:
        """Where the key is several columns, those beside the unit: no two rows of one unit are alike in all of them."""
        return tuple(name for name in self.key if name != self.unit) if isinstance(self.key, tuple) else ()

    @property
    def unit_column(self) -> str:
        """The name of the unit's column in a private table: its own, or that of the table where its chain of keys ends.

        Raises:
            InvariantBroken: If the table is public, or owned through a chain of keys and part of no policy.
        """
        name = self.unit if isinstance(self.unit, str) else self._unit_column
        if name is None:
            raise InvariantBroken("a table without a unit column was asked for it")
        return name

    @property
    def most_rows(self) -> int:
        """Most rows of one unit in the bounded view: ``rows_per_unit``, and 1 where the key is the unit itself.

        A key is unique within each unit. 0 for a public table, whose rows are nobody's.
        """
        if self.public:
            return 0
        return 1 if self.key == self.unit_column else self.rows_per_unit or 1
