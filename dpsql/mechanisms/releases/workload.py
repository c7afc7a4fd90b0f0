"""Workloads: which questions a release is wanted for. What is asked follows from names and public lists of values.

    ranges(a, b)         every range of column a, and every range of column b
    rectangles(a, b)     every range of column a and of column b at once; of three columns, too
    marginals(k)         every cell of every table of k columns
    halfspaces(x, y)     the half planes a x + b y > 0, for directions evenly around the circle; with three and four
                         columns half spaces, for a net of directions (`halfspaces`)

Several, with commas between them, are all asked. Where nothing is said: the ranges of every ordered column, and the
cells of every pair of columns, or of the one column where it has no order.

Ranges are learnt (`mwem`, `smalldb`) from the questions "up to t", two of which a range is the difference of;
rectangles of d columns from "up to s, t, ..", of which each adds and takes away 2^d.

Tests: tests/unit/mechanisms/releases/test_workload.py.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from dpsql.errors import ProgrammingError
from dpsql.mechanisms.releases.halfspaces import MOST_DIMENSIONS, NEAR, direction_net
from dpsql.mechanisms.releases.shares import Floats, Whole
from dpsql.plan.options import as_given
from dpsql.plan.types import Value

__all__ = ["Questions", "Wanted", "default_workload", "read_workload"]

WIDEST = 3  # Columns of a table that a workload may ask for. It is a choice: of 14 columns there are 364 such tables.
SAID = (
    "Write workload = 'ranges(age)', 'rectangles(age, day)', 'marginals(2)' or 'halfspaces(x, y)', or several with "
    "commas between them."
)
KINDS = {"ranges": (1, None), "rectangles": (2, 3), "halfspaces": (2, MOST_DIMENSIONS)}
"""The fewest and the most columns that questions name, None for any number: what the theorems of the releases reach."""
PART = re.compile(r"\s*([a-z_]+)\s*\(([^()]*)\)\s*(,|$)", re.IGNORECASE)
Masks = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Questions:
    """Questions of one kind.

    Attributes:
        kind: ``ranges``, ``rectangles``, ``marginals`` or ``halfspaces``.
        columns: The places of the columns that are named; all of them for marginals.
        width: Of marginals, how many columns a table has; else 0.
    """

    kind: str
    columns: tuple[int, ...]
    width: int = 0

    def tables(self) -> Iterator[tuple[int, ...]]:
        """Of marginals, the columns of each table."""
        return combinations(self.columns, self.width)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be released, and for which questions: public facts alone.

    Attributes:
        names: Of the columns.
        domains: Their listed values, NULL last.
        workload: The questions.
        rows_about: A guess of the number of rows.
        rows_public: Whether that number is public, and the same for all neighbours.
        rows: How many rows a small database has, where that was said.
        alpha: The largest error that is wanted, as a share of the rows, where that was said.
    """

    names: tuple[str, ...]
    domains: tuple[Sequence[Value], ...]
    workload: tuple[Questions, ...]
    rows_about: int = 10_000
    rows_public: bool = False
    rows: int | None = None
    alpha: float | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each column has."""
        return tuple(map(len, self.domains))

    @property
    def cells(self) -> int:
        """N, the number of combinations of values."""
        return math.prod(self.sizes)

    def asks(self, kind: str) -> bool:
        """Whether nothing but questions of one kind is asked."""
        return all(part.kind == kind for part in self.workload)

    def numbers(self, columns: Sequence[int]) -> list[Floats]:
        """The numbers that columns can hold, NaN for NULL; a ProgrammingError where one is none of numbers."""
        found = []
        for column in columns:
            values = self.domains[column]
            if not all(value is None or _is_number(value) for value in values):
                raise ProgrammingError(f"{self.names[column]} holds no numbers, and half planes need them. {SAID}")
            found.append(np.array([math.nan if value is None else float(value) for value in values]))  # type: ignore[arg-type]  # numbers
        return found

    def points(self, columns: Sequence[int]) -> Floats:
        """(N, d) the numbers that columns have in every cell; rows with a NULL lie in the origin."""
        places = np.unravel_index(np.arange(self.cells), self.sizes)
        held = [own[places[column]] for own, column in zip(self.numbers(columns), columns, strict=True)]
        at: Floats = np.stack(held, axis=1)
        missing = np.isnan(at).max(axis=1, keepdims=True)
        return np.where(missing, 0.0, at)

    def questions(self) -> int:
        """How many questions `masks` has."""
        number = 0
        for part in self.workload:
            if part.kind == "ranges":
                number += sum(max(1, self.sizes[column] - 1) for column in part.columns)
            elif part.kind == "halfspaces":
                number += len(direction_net(len(part.columns)))
            elif part.kind == "rectangles":
                number += math.prod(self.sizes[column] for column in part.columns)
            else:
                number += sum(math.prod(self.sizes[column] for column in own) for own in part.tables())
        return number

    @property
    def terms(self) -> int:
        """Of how many questions of `masks` one that is asked is made, at the most."""
        sides = {"ranges": 1, "rectangles": max(len(part.columns) for part in self.workload)}
        return 1 << max(sides.get(part.kind, 0) for part in self.workload)

    def masks(self) -> Masks:
        """(K, N) whether a cell's rows are counted by each question; ranges as the questions "up to t"."""
        codes = np.stack(np.unravel_index(np.arange(self.cells), self.sizes), axis=1)
        found: list[Masks] = []
        for part in self.workload:
            if part.kind == "ranges":
                ends = [np.arange(max(1, self.sizes[column] - 1)) for column in part.columns]
                found += [np.less_equal.outer(codes[:, c], end).T for c, end in zip(part.columns, ends, strict=True)]
            elif part.kind == "rectangles":
                sides = tuple(self.sizes[column] for column in part.columns)
                corners = np.stack(np.unravel_index(np.arange(math.prod(sides)), sides), axis=1)
                below: Masks = np.ones((len(corners), len(codes)), dtype=np.bool_)
                for column, corner in zip(part.columns, corners.T, strict=True):
                    below &= codes[:, column] <= corner[:, None]
                found.append(below)
            elif part.kind == "halfspaces":
                found.append(direction_net(len(part.columns)) @ self.points(part.columns).T > NEAR)
            else:
                for own in part.tables():
                    sizes = [self.sizes[column] for column in own]
                    cell: Whole = np.ravel_multi_index(tuple(codes[:, list(own)].T), sizes)
                    found.append(np.equal(cell, np.arange(math.prod(sizes))[:, None]))
        return np.concatenate(found)


def default_workload(sizes: Sequence[int], ordered: Sequence[bool]) -> tuple[Questions, ...]:
    """What is asked where nothing is said."""
    ranges = tuple(place for place, own in enumerate(ordered) if own)
    every = tuple(range(len(sizes)))
    parts = [Questions("ranges", ranges)] if ranges else []
    if len(sizes) > 1 or not ranges:
        parts.append(Questions("marginals", every, min(2, len(sizes))))
    return tuple(parts)


def read_workload(text: object, names: Sequence[str]) -> tuple[Questions, ...]:
    """The questions that an option names.

    Args:
        text: Such as ``ranges(age), marginals(2)``.
        names: The columns that there are.

    Raises:
        ProgrammingError: If it cannot be read, or names no column.

    >>> read_workload("ranges(age), marginals(2)", ["age", "sex"])
    (Questions(kind='ranges', columns=(0,), width=0), Questions(kind='marginals', columns=(0, 1), width=2))
    """
    if not isinstance(text, str) or not text.strip():
        raise ProgrammingError(f"workload is {as_given(text)}, which is no text of questions. {SAID}")
    text, parts, at = text.strip(), [], 0
    while at < len(text):
        found = PART.match(text, at)
        if found is None:
            raise ProgrammingError(f"workload is {text!r}, which cannot be read from {text[at:]!r} on. {SAID}")
        parts.append(_part(found[1].lower(), [word.strip() for word in found[2].split(",")], list(names)))
        at = found.end()
    return tuple(parts)


def _part(kind: str, words: list[str], names: list[str]) -> Questions:
    if kind == "marginals":
        most = min(WIDEST, len(names))
        if len(words) != 1 or not words[0].isdigit() or not 1 <= int(words[0]) <= most:
            raise ProgrammingError(f"marginals({', '.join(words)}) names no number of columns from 1 to {most}. {SAID}")
        return Questions("marginals", tuple(range(len(names))), int(words[0]))
    if kind not in KINDS:
        raise ProgrammingError(f"There are no questions {kind!r} of a workload. {SAID}")
    known = {name.lower(): place for place, name in enumerate(names)}
    for word in words:
        if word.lower() not in known:
            raise ProgrammingError(f"{kind}({', '.join(words)}) names no column of {', '.join(names)}. {SAID}")
    columns = tuple(dict.fromkeys(known[word.lower()] for word in words))
    fewest, widest = KINDS[kind]
    if widest is not None and not fewest <= len(columns) <= widest:
        why = f"does not name {fewest} to {widest} columns, for which there are theorems."
        raise ProgrammingError(f"{kind}({', '.join(words)}) {why} {SAID}")
    return Questions(kind, columns)


def _is_number(value: Value) -> bool:
    return not isinstance(value, bool | str) and hasattr(value, "__float__")
