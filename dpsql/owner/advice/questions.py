"""What `dpsql advise` asks of the private tables: one histogram of units for each question, from the policy alone.

A unit is in one bin of each histogram, so that it moves one count of each by 1, whatever its rows are: by its number of
rows, by the value in one of its rows; and, with one histogram for each sign, of which it may be in both, by its
largest value above 0 and its furthest below 0, and by its totals of either. Histograms of all values would cost as many
times as much as a unit has rows. Where a unit has one row, its value furthest from 0 is all, for half of the price.

Tests: tests/unit/owner/advice/test_measure.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from dpsql.limits import FARTHEST_STEP
from dpsql.owner.shape import NUMERIC, ColumnShape, Shape, TableShape

__all__ = ["MOST_BINS", "About", "Tally", "of_sizes", "of_totals", "open_texts"]

About = Literal["rows", "largest", "single", "totals"]

MOST_BINS = 96
"""More bins than any histogram has: a unit's total is below 2^53 grid steps for each of at most 2^40 rows."""
ROW_BINS = 21  # Of numbers of rows: the last one is for 2^20 rows of one unit and more. It is a choice.
SPARE_BINS = 2
"""Bins beyond the declared bounds, for values that those cut off; the last one holds whatever is beyond. A guess."""


@dataclass(frozen=True, slots=True)
class Tally:
    """One histogram, or one for each sign.

    Attributes:
        table: The table.
        column: The column; None for numbers of rows.
        about: What each unit's number is.
        bins: Of each histogram.
        step: What the numbers are multiples of.
        signed: Whether numbers below 0 have a histogram of their own.
        both: Whether a unit has a number of each sign, and so may be in a bin of both; else it has one number.
    """

    table: str
    column: str | None
    about: About
    bins: int
    step: Fraction
    signed: bool
    both: bool = False

    @property
    def moves(self) -> int:
        """How many counts one unit is in at most, each by 1."""
        return 2 if self.signed and (self.both or self.about == "totals") else 1

    @property
    def cells(self) -> int:
        """How many counts there are."""
        return self.bins * (2 if self.signed else 1)


def of_sizes(shape: Shape) -> Iterator[Tally]:
    """The questions about rows and single values, which no cap and no bound of the policy enters."""
    for table in shape.tables:
        if table.public:
            continue
        yield Tally(table.name, None, "rows", ROW_BINS, Fraction(1), signed=False)
        for column in numbers(table):
            bins = min((_steps(column)).bit_length() + SPARE_BINS, FARTHEST_STEP.bit_length())
            asked, several = (table.name, column.name), table.rows_per_unit > 1
            yield Tally(*asked, "largest", bins, column.step, _signed(column), both=several and _signed(column))
            if several:
                yield Tally(*asked, "single", bins, column.step, _signed(column))


def of_totals(shape: Shape) -> Iterator[Tally]:
    """The questions about what each unit adds up to in the bounded tables."""
    for table in shape.tables:
        for column in numbers(table):
            bins = (table.rows_per_unit * _steps(column)).bit_length()
            yield Tally(table.name, column.name, "totals", bins, column.step, signed=_signed(column))


def open_texts(shape: Shape) -> list[tuple[str, str]]:
    """(table, column) of each private text column without a declared domain."""
    return [
        (table.name, column.name)
        for table in shape.tables
        if not table.public
        for column in table.columns
        if column.type == "text" and column.values is None and column.values_from is None
    ]


def numbers(table: TableShape) -> list[ColumnShape]:
    """The numeric columns of a private table that list no values."""
    if table.public:
        return []
    return [
        column
        for column in table.columns
        if column.type in NUMERIC and column.values is None and column.values_from is None
    ]


def _steps(column: ColumnShape) -> int:
    """How far from 0 a column's values in the bounded table are at most, in grid steps; at least 1."""
    if not isinstance(column.low, Fraction) or not isinstance(column.high, Fraction):
        return FARTHEST_STEP
    return min(max(1, ceil(max(abs(column.low), abs(column.high)) / column.step)), FARTHEST_STEP)


def _signed(column: ColumnShape) -> bool:
    return not isinstance(column.low, Fraction) or column.low < 0
