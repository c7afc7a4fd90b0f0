"""Personalised privacy in the policy: which classes of units there are, and what share of a loss each agrees to.

The names and shares are public; which class a unit belongs to is private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dpsql.policy.section import Name, Number, Section, fold, wrong
from dpsql.policy.table import TablePolicy

__all__ = ["PrivacyClasses", "broken_classes"]

LONGEST_NAME = 100  # Characters of a class's name. It is a choice: names stand in losses, records and messages.


class PrivacyClasses(Section):
    """Personalised privacy: each unit belongs to a class, and loses a share of a query's epsilon."""

    table: Name
    """A table with one row per unit."""
    column: Name
    """The column that names the class; analysts see it only if it is among the table's columns."""
    share: Annotated[dict[str, Number], Field(min_length=1)]
    """For each class the share, above 0 and at most 1, of a query's epsilon that its units lose."""

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        for name, share in self.share.items():
            if not name or not name.isprintable() or len(name) > LONGEST_NAME:
                raise wrong(f"{name!r} is not the name of a class", "write printable text, such as strict", "share")
            if not 0 < share <= 1:
                raise wrong(f"{share} is not a share", "write a number above 0 and at most 1", "share", name)
        return self

    @property
    def shares(self) -> Mapping[str, Fraction]:
        """Each class and its share, in the order of the file."""
        return {name: Fraction(share) for name, share in self.share.items()}


def broken_classes(classes: PrivacyClasses, tables: Mapping[str, TablePolicy]) -> Iterator[PydanticCustomError]:
    """The class of a unit must be one text of one row that nobody else owns."""
    at = "privacy_classes"
    table = tables.get(classes.table)
    if table is None or table.public:
        yield wrong(f"{classes.table} is not a private table of this policy", "name one of tables", at, "table")
        return
    if table.most_rows != 1:
        yield wrong(
            f"a unit may have several rows in {classes.table}, and so several classes",
            "write rows_per_unit: 1 there, or name a table with one row per unit",
            *(at, "table"),
        )
    identifying = [name for name in (table.unit_column, table.key_column) if name is not None]
    if fold(classes.column) in map(fold, identifying):
        yield wrong(f"{classes.column} says who somebody is", "name the column with the class", at, "column")
    column = table.columns.get(classes.column)
    if column is None:
        return
    if column.type != "text":
        yield wrong(f"{classes.column} is {column.type}, a class is a text", "write type: text there", at, "column")
    for name in classes.share:
        if column.values is not None and name not in column.values:
            yield wrong(
                f"{name} is not among the values of {classes.table}.{classes.column}, so nobody could be of it",
                f"add {name} to the values there, or remove it here",
                *(at, "share", name),
            )
