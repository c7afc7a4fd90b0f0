"""The most frequent value of a declared domain, chosen by its number of rows.

Neighbours: ``add_remove`` and ``replace_one``. Loss: stated by `exponential`, whose theorem holds with k = 1:

Theorem. Let q(v) be the number of a group's rows that hold v. If a neighbour brings i rows to the group and takes j
from it, then d(v) lies between -j and i, so that w = max d - min d <= i + j.

Every value of the domain is a candidate, those without a row too. NULL is none, and rows that hold it are left out. An
empty group gives any value of the domain with equal chance. There is no interval: values need not be numbers.

Source: the score is McSherry, Talwar 2007, section 3; counting the range of d, instead of twice its size, spares a
factor of 2 because rows only add to scores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, cast

import numpy as np

from dpsql.mechanisms.base import Interval, Offer, Request, derive
from dpsql.mechanisms.choice.groups import Whole, at_once, numbers_of
from dpsql.plan.known.value_lists import column_domain
from dpsql.plan.needs import Values
from dpsql.plan.nodes import Column
from dpsql.plan.types import Grid, Type, Value
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import CLOSE, RawTable, ReleasedTable

__all__ = ["Chooser", "ExponentialChoice", "ModeRelease", "PermuteAndFlip", "candidates_of", "whole_numbers"]


def candidates_of(request: Request) -> tuple[Value, ...] | str:
    """Every value that MODE can answer, in the order of the domain, or in a sentence why there are none."""
    argument = request.aggregate.argument
    domain = column_domain(argument) if isinstance(argument, Column) else None
    if domain is None:
        return (
            f"{request.aggregate.text} needs a bare column with values in the policy; without them write "
            "SELECT x, COUNT(*) .. GROUP BY x ORDER BY 2 DESC LIMIT 1."
        )
    candidates = tuple(value for value in domain if value is not None)
    if len(candidates) < 2:
        return f"{request.aggregate.text} can take one value only; there is nothing to ask."
    return candidates


def whole_numbers(request: Request, candidates: tuple[Value, ...]) -> Grid | None:
    """The grid whose steps the candidates are, all of them, so that an engine may count numbers; None for others."""
    grid, argument = request.grid, request.aggregate.argument
    if grid is None or grid.step != 1 or argument is None or argument.facts.type is not Type.INTEGER:
        return None
    return grid if candidates == tuple(range(grid.low, grid.high + 1)) else None


class Chooser(Protocol):
    """How one of several scored candidates is chosen."""

    @property
    def exponent(self) -> Fraction:
        """c > 0, per row."""
        ...

    def choose(self, scores: Sequence[int], sampler: Sampler) -> int:
        """Index of the chosen one."""
        ...


@dataclass(frozen=True, slots=True)
class PermuteAndFlip:
    """The least expected error at a pure epsilon."""

    exponent: Fraction

    def choose(self, scores: Sequence[int], sampler: Sampler) -> int:
        """Index of the chosen one."""
        return sampler.permute_and_flip(scores, self.exponent)


@dataclass(frozen=True, slots=True)
class ExponentialChoice:
    """The least expected error at a zCDP loss: P(v) ~ exp(exponent * score)."""

    exponent: Fraction

    def choose(self, scores: Sequence[int], sampler: Sampler) -> int:
        """Index of the chosen one."""
        return sampler.intervals([1] * len(scores), scores, self.exponent)[0]


@dataclass(frozen=True, slots=True)
class ModeRelease(Offer):
    """An offer to choose one value of the domain for each group.

    Attributes:
        need: How many rows hold each value that occurs.
        candidates: The domain without NULL.
        chooser: How one is taken.
        sensitivity: 1: rows by which one row moves a score.
        scale: 1 / exponent, in rows: a value with so many rows less is e times less likely.
        half_width: Rows: with 95% confidence the released value has at most so many rows less than the most frequent.
            A candidate that is t rows short is chosen with chance at most exp(-exponent t), by either mechanism.
    """

    candidates: tuple[Value, ...]
    chooser: Chooser

    def __post_init__(self) -> None:
        exponent = self.chooser.exponent
        width = math.log((len(self.candidates) - 1) / 0.05) / float(exponent)
        derive(self, sensitivity=1.0, scale=float(1 / exponent), half_width=width)

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value``: one value of the domain for each group."""
        chosen = [self.chooser.choose(cast("Sequence[int]", scores), sampler) for scores in self._scores(raw)]
        return ReleasedTable({"value": [self.candidates[index] for index in chosen]})

    def _scores(self, raw: RawTable) -> Iterator[Whole]:
        """(candidates,) int64 of each group in order: how many of its rows hold each candidate."""
        starts, (places, rows) = at_once(self._placed(raw), "place", "rows")
        together = max(1, CLOSE // len(self.candidates))
        for first in range(0, raw.size, together):
            own = starts[first : first + together + 1]
            held, groups = slice(own[0], own[-1]), np.repeat(np.arange(len(own) - 1), np.diff(own))
            scores = np.zeros((len(own) - 1, len(self.candidates)), dtype=np.int64)
            scores[groups, places[held]] = rows[held]
            yield from scores

    def _placed(self, raw: RawTable) -> RawTable:
        """The rows whose values are candidates, with the place of each value among these."""
        if isinstance(self.need, Values) and self.need.grid is not None:  # all its steps are candidates, in order
            places: Any = np.asarray(numbers_of(raw, "value"), dtype=np.int64) - self.need.grid.low
            return RawTable({"group": raw.column("group"), "place": places, "rows": raw.column("rows")}, raw.size)
        place = {value: index for index, value in enumerate(self.candidates)}
        places = np.array([place.get(value, -1) for value in raw.column("value")], dtype=np.int64)
        known = np.flatnonzero(places >= 0)
        own: dict[str, Any] = {name: np.asarray(raw.column(name), dtype=np.int64)[known] for name in ("group", "rows")}
        return RawTable({**own, "place": places[known]}, raw.size)

    @property
    def bracketed(self) -> bool:
        """No."""
        return False

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """None: values of a domain have no error bar."""
        return [(None, None)] * len(released.values)
