"""A table of synthetic rows: which release makes it, what that costs, and from exact cells to rows.

Neighbours, loss and theorem: those of the release taken (`cells`, `tree`, `marginals`). Which cells a row is in follows
from the row and public lists of values alone; rows in no listed cell are left out, which moves no more.

The choice. One column: noisy cells or a tree, by the expected error of ranges (`ranges`). Several: with s cells in the
smallest pair of columns, noisy cells answer that pair with a deviation of sqrt(N / s) times one cell's, and a tree of
pairs with that of one number of a pair; the smaller is taken, for noisy cells do not assume that columns depend on each
other along a tree. Laplace noise or Gaussian, where delta is given: whichever has the smaller deviation.

Tests: tests/unit/mechanisms/releases/test_table.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.laplace import pure_loss
from dpsql.mechanisms.releases.cells import TOTAL_SHARE, noisy_cells
from dpsql.mechanisms.releases.marginals import Codes, noisy_marginals, pair_share
from dpsql.mechanisms.releases.parts import MOST_CODES
from dpsql.mechanisms.releases.payment import Payment, Relation
from dpsql.mechanisms.releases.ranges import least_error
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.rows import synthetic_rows
from dpsql.mechanisms.releases.tree import noisy_tree
from dpsql.privacy.conversions import rho_of_epsilon
from dpsql.privacy.kinds import Concentrated, Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["METHODS", "TablePlan", "coded", "plan_table"]

METHODS = ("cells", "tree", "marginals")
"""What SQL can name."""
LIBRARY = {
    "intervals": "intervals",
    "smalldb": "smalldb",
    "mwem": "mwem",
    "halfspaces": "halfplanes",
}
"""Methods that are functions of dpsql.mechanisms.releases so far, and their modules."""
MOST_CELLS = 10**6  # Cells of one histogram: each gets noise, in memory. It is a choice.


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A way to release a table, and what it costs and is expected to do.

    Attributes:
        method: Of `METHODS`.
        branching: Of the tree.
        payment: The price and the neighbours.
        loss: What is charged.
        deviation: The expected error: for one column the root mean square over ranges, else of one cell of a pair of
            columns, in rows.
    """

    method: str
    branching: int
    payment: Payment
    loss: Loss
    deviation: float

    def release(
        self, raw: RawTable, keys: Sequence[str], domains: Sequence[Sequence[Any]], sampler: Sampler
    ) -> ReleasedTable:
        """The synthetic rows by their distinct values: one column a key, and ``rows``, how many there are of each.

        Args:
            raw: Columns ``keys``, and ``m0``: the exact numbers of rows.
            keys: Their names.
            domains: The listed values of each.
            sampler: Of the noise.
        """
        codes, weights = coded(raw, keys, domains)
        sizes = [len(domain) for domain in domains]
        if self.method == "marginals":
            nulls = [domain.index(None) if None in domain else None for domain in domains]
            released = noisy_marginals(codes, sizes, self.payment, sampler, weights=weights, alone=nulls)
            found, rows = np.unique(synthetic_rows(released, sampler), axis=0, return_counts=True)
        else:
            counts = np.zeros(math.prod(sizes), dtype=np.int64)
            np.add.at(counts, np.ravel_multi_index(tuple(codes.T), tuple(sizes)), weights)
            if self.method == "tree":
                shown = noisy_tree(counts, self.payment, sampler, branching=self.branching).counts
            else:
                shown = noisy_cells(counts, self.payment, sampler).counts
            held = np.flatnonzero(shown)
            found, rows = np.stack(np.unravel_index(held, tuple(sizes)), axis=1), shown[held]
        columns: dict[str, Sequence[Any]] = {
            key: [domain[code] for code in found[:, j].tolist()]
            for j, (key, domain) in enumerate(zip(keys, domains, strict=True))
        }
        return ReleasedTable({**columns, "rows": rows.tolist()})


def plan_table(sizes: Sequence[int], price: Price, neighbours: Relation, rows: int, method: str | None) -> TablePlan:
    """The release of columns with so many listed values each, by name or with the least expected error.

    Args:
        sizes: How many values each column has, >= 1.
        price: Epsilon with a delta or without, or rho.
        neighbours: Of the policy.
        rows: The most rows of one unit.
        method: One of `METHODS`, or None.

    Raises:
        UnsupportedQuery: If the method is not there, does not fit the columns, or the price buys nothing.
    """
    if method is not None and method not in METHODS:
        raise _unknown(method)
    cells = math.prod(sizes)
    plans = []
    for payment, loss in _payments(price, neighbours, rows):
        if cells <= MOST_CELLS and method in (None, "cells", "tree"):
            plans += _of_cells(sizes, payment, loss, method)
        if len(sizes) > 1 and max(sizes) <= MOST_CODES and method in (None, "marginals"):
            deviation = deviation_of(payment.noise(pair_share(), histograms=len(sizes) - 1))
            plans.append(TablePlan("marginals", 0, payment, loss, deviation))
    if not plans:
        raise _unfit(sizes, method)
    return min(plans, key=lambda plan: plan.deviation)


def _of_cells(sizes: Sequence[int], payment: Payment, loss: Loss, method: str | None) -> list[TablePlan]:
    """The releases of one histogram: of one column by the error of ranges, of several by that of a pair."""
    if len(sizes) == 1:
        found = [TablePlan(p.method, p.branching, payment, loss, p.deviation) for p in least_error(sizes[0], payment)]
        return [plan for plan in found if method in (None, plan.method)]
    if method == "tree":
        return []
    pair = math.prod(sorted(sizes)[:2])
    deviation = deviation_of(payment.noise(1 - TOTAL_SHARE)) * math.sqrt(math.prod(sizes) / pair)
    return [TablePlan("cells", 0, payment, loss, deviation)]


def _payments(price: Price, neighbours: Relation, rows: int) -> list[tuple[Payment, Loss]]:
    """What the price can buy: Laplace noise, and Gaussian noise where delta is given."""
    found: list[tuple[Payment, Loss]] = []
    if price.rho is not None:
        return [(Payment(neighbours, rho=price.rho, rows=rows), Concentrated(price.rho))]
    if (pure := pure_loss(price)) is not None:
        found.append((Payment(neighbours, epsilon=pure.epsilon, rows=rows), pure))
    if price.epsilon is not None and price.delta and (rho := rho_of_epsilon(price.epsilon, price.delta)) > 0:
        found.append((Payment(neighbours, rho=rho, rows=rows), Concentrated(rho, price.epsilon, price.delta)))
    return found


def coded(raw: RawTable, keys: Sequence[str], domains: Sequence[Sequence[Any]]) -> tuple[Codes, Codes]:
    """Each occurring cell as the places of its values in the lists, and its number of rows; unlisted ones left out."""
    columns = []
    for key, domain in zip(keys, domains, strict=True):
        places = {value: place for place, value in enumerate(domain)}
        values = raw.column(key)
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        columns.append([places.get(value, -1) for value in listed])
    codes = np.array(columns, dtype=np.int64).reshape(len(keys), -1).T
    kept = (codes >= 0).all(axis=1)
    return codes[kept], np.asarray(raw.column("m0"), dtype=np.int64)[kept]


def _unknown(method: str) -> UnsupportedQuery:
    named = ", ".join(METHODS)
    if method in LIBRARY:
        why = f"it is a function of the library so far: dpsql.mechanisms.releases.{LIBRARY[method]}."
        return UnsupportedQuery(why, construct=f"method = '{method}'", hint=f"SQL takes {named}.")
    return UnsupportedQuery("there is no such method.", construct=f"method = '{method}'", hint=f"There are {named}.")


def _unfit(sizes: Sequence[int], method: str | None) -> UnsupportedQuery:
    cells, serves = math.prod(sizes), "marginals" if len(sizes) > 1 else "cells or tree"
    why = {
        "tree": f"it releases one ordered column, and there are {len(sizes)}.",
        "marginals": f"it releases two columns or more, of at most {MOST_CODES:,} values each.",
    }.get(method or "", f"{cells:,} cells are more than the {MOST_CELLS:,} that are released one by one.")
    hint = f"Take {serves}, or cut columns into fewer values with width_bucket(x, low, high, count)."
    return UnsupportedQuery(why, construct=f"method = '{method}'" if method else "CREATE SYNTHETIC TABLE", hint=hint)
