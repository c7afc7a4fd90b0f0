"""The noise of several linear queries that share one price under a metric.

A query k with noise of scale 1 / w_k costs w_k L_ka of each attribute a (`release`). Within the price m these are
linear conditions on the w_k, one for each column of the ledger; among the w that meet them, the errors' geometric mean,
weighed by how much each query matters, is least where the sum of weight_k log w_k is greatest: no matter in which units
the answers are. That problem is concave. Its solution is found by the iteration

    w_k = weight_k / sum_a L_ka y_a,     y_a <- y_a (sum_k w_k L_ka) / m,

which raises the sum at every step (Eisenberg, Gale 1959; it is the market equilibrium of buyers k with budgets
weight_k). Its result is put on whole units of the ledger; where that breaks a condition, in exact arithmetic, all of it
is shrunk by a trifle and rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric import Product, Query
from dpsql.privacy.account import UNIT

__all__ = ["Noise", "noise_for"]

STEPS = 2000
SHRUNK = 1 - Fraction(1, 2**40)  # more than float64 can have erred by


@dataclass(frozen=True, slots=True)
class Noise:
    """What one query gets.

    Attributes:
        steepness: L: the constant of the query under the whole metric; 0 where it needs no noise.
        scale: In grid steps; None where it needs no noise.
        multiples: What it costs, by column of the ledger; columns that cost nothing are left out.
    """

    steepness: Fraction
    scale: Fraction | None
    multiples: dict[str, Fraction]


def noise_for(
    queries: Sequence[Query],
    weights: Sequence[float],
    product: Product,
    names: Sequence[str],
    multiple: Fraction,
) -> list[Noise]:
    """The noise of each query: together they cost at most the multiple of every column, and all of it of one.

    Args:
        queries: Over the product's cells.
        weights: How much each matters, > 0.
        product: The metric.
        names: The ledger's columns for the attributes.
        multiple: The price, > 0.
    """
    columns = [_columns(product, query, names) for query in queries]
    steepest = [max(column.values(), default=Fraction(0)) for column in columns]
    noised = [at for at, steep in enumerate(steepest) if steep > 0]
    shares = _shares([columns[at] for at in noised], [weights[at] for at in noised], multiple)
    found = [Noise(Fraction(0), None, {}) for _ in queries]
    for at, share in zip(noised, shares, strict=True):
        weight = share / steepest[at]
        found[at] = Noise(steepest[at], 1 / weight, {name: slope * weight for name, slope in columns[at].items()})
    return found


def _columns(product: Product, query: Query, names: Sequence[str]) -> dict[str, Fraction]:
    """What a query with noise of scale 1 costs, by column; nothing is left out."""
    if product.combine != "sum":
        steep = product.lipschitz(query)
        return {"": steep} if steep else {}
    slopes = product.slopes(query)
    costs = dict(zip(names, slopes.along, strict=True)) | {"presence": slopes.presence}
    return {name: slope for name, slope in costs.items() if slope}


def _shares(columns: Sequence[dict[str, Fraction]], weights: Sequence[float], multiple: Fraction) -> list[Fraction]:
    """What each query costs of the column that it costs most of: whole units of the ledger, unless it is alone."""
    if len(columns) < 2:
        return [multiple] * len(columns)
    rows = sorted({name for column in columns for name in column})
    steep = [max(column.values()) for column in columns]
    slopes = np.array(
        [[float(column.get(name, 0) / top) for column, top in zip(columns, steep, strict=True)] for name in rows]
    )
    wanted = np.array(weights)
    prices = np.full(len(rows), wanted.sum() / len(rows))
    for _ in range(STEPS):
        bought = wanted / (prices @ slopes)
        prices = prices * (slopes @ bought)
    bought = wanted / (prices @ slopes)
    bought = bought / (slopes @ bought).max()
    near = [round(Fraction(part) * multiple / UNIT) * UNIT for part in bought.tolist()]
    if all(_cost(columns, steep, near, name) <= multiple for name in rows):
        return near
    return [Fraction(part) * SHRUNK * multiple // UNIT * UNIT for part in bought.tolist()]


def _cost(
    columns: Sequence[dict[str, Fraction]], steep: Sequence[Fraction], parts: list[Fraction], name: str
) -> Fraction:
    """What the parts cost of one column, exactly."""
    costs = zip(columns, steep, parts, strict=True)
    return sum((column.get(name, Fraction(0)) / top * part for column, top, part in costs), Fraction(0))
