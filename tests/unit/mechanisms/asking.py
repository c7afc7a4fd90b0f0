"""Requests for the tests of mechanisms, with everything that does not matter filled in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.base import Price, Refusal, Release, Request
from dpsql.plan.catalog import TableInfo
from dpsql.plan.nodes import Aggregate, Column, Key, Scan
from dpsql.plan.requests import Contribution, Source
from dpsql.plan.types import Facts, Grid, Type
from dpsql.privacy.sampling import Integers
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless

COST = Column("t0", "cost", Facts(Type.REAL, Fraction(0), Fraction(100), nullable=True))
CITY = Key("k0", Column("t0", "city", Facts(Type.TEXT)), domain=("Delft", "Leiden", None))
OPEN = replace(CITY, domain=None)
GRID = Grid(step=Fraction(1, 10), low=0, high=1000)

ONE_ROW = Contribution(rows=1, groups=1, rows_in_group=1)
FEW_ROWS = Contribution(rows=12, groups=3, rows_in_group=5)

HALF = Price(epsilon=Fraction(1, 2), delta=Fraction(0))
WITH_DELTA = Price(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6))
BY_RHO = Price(epsilon=None, delta=Fraction(0), rho=Fraction(1, 8))


def asking(
    function: str,
    *,
    held: Contribution = ONE_ROW,
    keys: tuple[Key, ...] = (),
    price: Price = HALF,
    neighbours: str = "add_remove",
    grid: Grid | None = GRID,
    facts: Facts = COST.facts,
    selects: bool = False,
    rows_public: bool = False,
    rows_about: int = 10_000,
    units_at_least: int = 0,
) -> Request:
    """A request for one aggregate of ``cost``."""
    argument = replace(COST, facts=facts) if function in ("count", "sum", "avg") else None
    return Request(
        aggregate=Aggregate("a0", function, argument, f"{function.upper()}(...)", position=(1, 8)),
        source=Source(Scan(TableInfo("visits", {}, unit="patient_id"), "t0"), keys, held),
        price=price,
        neighbours=neighbours,
        grid=grid if function in ("sum", "avg") else None,
        selects=selects,
        rows_public=rows_public,
        rows_about=rows_about,
        units_at_least=units_at_least,
    )


def raw(*columns: Iterable[int]) -> RawTable:
    """A raw table of m0, m1, ..."""
    return RawTable({f"m{i}": list(column) for i, column in enumerate(columns)})


def offered(answer: Release | Refusal) -> Release:
    """The offer, where one is expected."""
    assert not isinstance(answer, Refusal), answer.reason
    return answer


class ConstantNoise(Noiseless):
    """A sampler whose Laplace and Gaussian noise is always the same number."""

    def __init__(self, noise: int) -> None:
        self.noise = noise

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) of it."""
        return np.full(size, self.noise)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) of it."""
        return np.full(size, self.noise)
