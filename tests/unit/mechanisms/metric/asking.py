"""Requests under a metric, for the tests of mechanisms, over a made-up table of ages and sexes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, get_args

from dpsql.mechanisms import under_policy
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.metric import Chain, Combine, Discrete, Product
from dpsql.mechanisms.metric.release.cells_release import CellsRelease
from dpsql.mechanisms.metric.row_metric import Dimension, RowMetric
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Aggregate, Column, Scan
from dpsql.plan.options import Options
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type
from dpsql.privacy.tables import RawTable

AGES, SEXES = tuple(range(6)), ("F", "M", "X")
AGE = Column("t0", "age", Facts(Type.INTEGER, Fraction(0), Fraction(5), nullable=False), values=AGES)
SEX = Column("t0", "sex", Facts(Type.TEXT, nullable=False), values=SEXES)
BY_AGE, BY_SEX = Key("k0", AGE, AGES), Key("k1", SEX, SEXES)
PEOPLE = TableInfo(
    "people", {column.name: ColumnInfo(column.name, column.facts, values=column.values) for column in (AGE, SEX)}
)
PAIR = (Chain.even(6, Fraction(1, 2)), Discrete(3, Fraction(2)))
METRICS = {
    (name := f"{combine}{there}"): RowMetric(
        name,
        "people",
        f"people${name}",
        (Dimension("age", AGES, PAIR[0], 0), Dimension("sex", SEXES, PAIR[1], "F")),
        Product(PAIR, combine, presence),
    )
    for combine, (there, presence) in itertools.product(
        get_args(Combine), (("", None), ("_with_presence", Fraction(1)))
    )
}
"""One for each way of adding distances up, with and without presence."""


def _never(*_: Any) -> Any:
    raise AssertionError("bare columns are neither computed nor looked up")


EVERY = under_policy(METRICS, _never, _never)
"""Every mechanism, under a policy with these metrics."""


def under_metric(
    functions: Sequence[str], keys: tuple[Key, ...] = (), multiple: Fraction = Fraction(1), metric: str = "sum"
) -> list[Request]:
    """A request for each of these aggregates of the ages in one statement."""
    return [
        Request(
            aggregate=Aggregate(
                name=f"a{at}",
                function=function,
                argument=None if function == "count_rows" else AGE,
                text=f"{function.upper()}(...)",
                position=(1, 8),
            ),
            source=Source(Scan(PEOPLE, "t0"), keys, Contribution(rows=1, groups=1, rows_in_group=1)),
            price=Price(None, Fraction(0), multiple=multiple),
            neighbours="add_remove" if METRICS[metric].product.presence else "replace_one",
            grid=None,
            selects=False,
            rows_public=False,
            rows_about=1000,
            rows_read=1000,
            options=Options(metric=metric, multiple=multiple),
        )
        for at, function in enumerate(functions)
    ]


def cells(release: CellsRelease, most: int, rows: int = 3) -> RawTable:
    """So many rows in each of the first cells of the domain."""
    looked_at = [
        (name, numbers) for name, numbers in zip(release.domain.columns, release.domain.numbers, strict=True) if name
    ]
    found = list(itertools.product(*(numbers for _, numbers in looked_at)))[:most]
    columns = {name: [cell[at] for cell in found] for at, (name, _) in enumerate(looked_at)}
    return RawTable({**columns, "m0": [rows] * len(found)})
