"""Requests for the tests of mechanisms, with everything that does not matter filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpsql.mechanisms.base import Offer, Personal, Price, Refusal, Request, Top
from dpsql.plan.catalog import ColumnInfo, RandomPartition, TableInfo
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Aggregate, Case, Column, Constant, Expression, Scan
from dpsql.plan.options import Options
from dpsql.plan.plans import Key
from dpsql.plan.rows.per_class import values_per_unit
from dpsql.plan.types import Facts, Grid, Type
from dpsql.prepare.classes import price_of_everyone, share_of
from dpsql.privacy.sampling import Integers
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless

COST = Column("t0", "cost", Facts(Type.REAL, Fraction(0), Fraction(100), nullable=True))
CITY = Key("k0", Column("t0", "city", Facts(Type.TEXT)), domain=("Delft", "Leiden", None))
OPEN = replace(CITY, domain=None)
WEIGHT = Column("t0", "weight", Facts(Type.REAL, Fraction(-20), Fraction(40), nullable=True))
CONSENT = Column("t0", "consent", Facts(Type.TEXT, nullable=True), values=("no", "some", "yes"))
WEIGHT_GRID = Grid(step=Fraction(1, 2), low=-40, high=80)
GRID = Grid(step=Fraction(1, 10), low=0, high=1000)

UNIT = ColumnInfo("patient_id", Facts(Type.TEXT, nullable=False), unit=True)
TOWN = ColumnInfo("city", Facts(Type.TEXT), values=("Delft", "Leiden"))
CELLS = RandomPartition("visits: city", ("city",), 3, 1000, Fraction(3, 1000), "exchangeable", version=1)
VISITS = TableInfo("visits", {"patient_id": UNIT, "city": TOWN}, unit="patient_id", random_dp=CELLS)

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
    min_units: int = 1,
    fraction: Fraction = Fraction(1, 2),
    second_grid: Grid = WEIGHT_GRID,
    options: Options | None = None,
    rows_at_least: int | None = None,
    table: TableInfo = VISITS,
    top: Top | None = None,
    certain: bool = False,
) -> Request:
    """A request for one aggregate of ``cost``, or of ``cost`` and ``weight``; for the MODE of ``consent``.

    Where it is ``certain`` its argument is one of two constants in the place of ``cost``, and so never NULL.
    """
    argument: Expression | None = replace(COST, facts=facts)
    if certain:
        argument = Case(((CONSENT, Constant(0, facts)),), Constant(100, facts), facts)
    if function in ("count_rows", "count_units"):
        argument = None
    paired = function in ("covar_pop", "covar_samp", "corr", "regr_slope")
    return Request(
        aggregate=Aggregate(
            name="a0",
            function=function,
            argument=CONSENT if function == "mode" else argument,
            text=f"{function.upper()}(...)",
            second=replace(WEIGHT, facts=replace(WEIGHT.facts, nullable=facts.nullable)) if paired else None,
            fraction=fraction if function.startswith(("quantile", "trimmed")) else None,
            position=(1, 8),
        ),
        source=Source(Scan(replace(table, rows_per_unit=table.rows_per_unit or held.rows), "t0"), keys, held),
        price=price,
        neighbours=neighbours,
        grid=None if function.startswith("count") or function == "mode" else grid,
        second_grid=second_grid if paired else None,
        selects=selects,
        rows_public=rows_public,
        rows_about=rows_about,
        rows_read=rows_about,
        units_at_least=units_at_least,
        min_units=min_units,
        rows_at_least=rows_at_least,
        options=options or Options(),
        top=top,
    )


def selecting(function: str, **facts: object) -> Request:
    """A request that chooses the groups of an open domain, too, at a price with delta."""
    settings = {"keys": (OPEN,), "selects": True, "price": WITH_DELTA, **facts}
    return asking(function, **settings)  # type: ignore[arg-type]  # passed on


CLASS_OF = TableInfo(
    "$classes",
    {
        "unit": ColumnInfo("unit", Facts(Type.TEXT, nullable=False), unit=True),
        "class": ColumnInfo("class", Facts(Type.TEXT, nullable=False)),
    },
    unit="unit",
    key="unit",
    rows_per_unit=1,
)


def of_classes(request: Request, shares: Mapping[str, Fraction]) -> Request:
    """The same request where units have classes: at everybody's price, and with a value for each unit where it has."""
    held, price = request.source.contribution, request.price
    unit = ColumnInfo("patient_id", Facts(Type.TEXT, nullable=False), unit=True)
    table = TableInfo("visits", {"patient_id": unit}, unit="patient_id", rows_per_unit=held.rows)
    values = values_per_unit(Scan(table, "t0"), request.source.keys, request.aggregate, CLASS_OF)
    request = replace(request, price=price_of_everyone(price, shares))
    if values is None or request.selects or request.neighbours != "add_remove":
        return request
    source = Source(values.relation, values.keys, Contribution(held.groups, held.groups, 1))
    return replace(request, personal=Personal(values, source, {k: share_of(price, s) for k, s in shares.items()}))


def raw(*columns: Iterable[int]) -> RawTable:
    """A raw table of m0, m1, ..."""
    return RawTable({f"m{i}": list(column) for i, column in enumerate(columns)})


def counted(*groups: dict[Any, int]) -> RawTable:
    """A raw table of values and how many rows hold each, one dict a group."""
    rows = [(index, value, group[value]) for index, group in enumerate(groups) for value in sorted(group)]
    return RawTable({name: [row[i] for row in rows] for i, name in enumerate(("group", "value", "rows"))}, len(groups))


def offered(answer: Offer | Refusal) -> Offer:
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
