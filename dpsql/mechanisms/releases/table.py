"""A table of synthetic rows: which method makes it, what that costs, and from exact cells to rows.

The choice, where no method is named, is that of the least expected error over the questions that are wanted
(`workload`), from public facts: `methods` and `classical` say how each is foretold. Laplace noise or Gaussian, where
delta is given: whichever errs less. Where a largest error is wanted (``alpha``), only what proves it is taken.

Neighbours, loss and theorem: those of the method taken.

Tests: tests/unit/mechanisms/releases/test_table.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.laplace import pure_loss
from dpsql.mechanisms.releases.classical import ByIntervals, ByMwem, BySmallDb
from dpsql.mechanisms.releases.intervals import BETA
from dpsql.mechanisms.releases.methods import ByCells, ByHalfSpaces, ByMarginals, ByMbi, ByTree, Exact, Made, Method
from dpsql.mechanisms.releases.payment import Payment, Relation
from dpsql.mechanisms.releases.ranges import BRANCHINGS
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.mechanisms.releases.workload import Wanted
from dpsql.privacy.conversions import rho_of_epsilon
from dpsql.privacy.kinds import Concentrated, Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["METHODS", "TablePlan", "coded", "plan_table", "proves"]

WAYS: tuple[Method, ...] = (
    ByCells(),
    *(ByTree(branching) for branching in BRANCHINGS),
    ByMarginals(),
    ByMbi(),
    ByIntervals(),
    BySmallDb(),
    ByMwem(),
    ByHalfSpaces(),
)
"""Every way to release a table; of those that err alike the first is taken."""
METHODS = tuple(dict.fromkeys(way.name for way in WAYS))
"""What SQL can name."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A way to release a table, and what it costs and is expected to do.

    Attributes:
        way: How.
        asked: What.
        payment: The price and the neighbours.
        loss: What is charged.
        deviation: The expected error of the wanted questions, root mean square, in rows.
        others: The methods not taken, each with its expected error or the reason why not.
    """

    way: Method
    asked: Wanted
    payment: Payment
    loss: Loss
    deviation: float
    others: tuple[tuple[str, str], ...] = ()

    @property
    def method(self) -> str:
        """Its name."""
        return self.way.name

    @property
    def alone(self) -> float:
        """The expected error of one number of rows that is asked alone, with plain noise, for the whole price."""
        return deviation_of(self.payment.noise())

    @property
    def memory(self) -> int:
        """Bytes that making it takes, nearly, at the most."""
        return self.way.memory(self.asked)

    def largest(self) -> float | None:
        """The largest error over the wanted questions that is proved, as a share of the rows that there are about."""
        found = self.way.largest(self.asked, self.payment, BETA)
        return None if found is None else found / self.asked.rows_about

    def release(
        self, raw: RawTable, keys: Sequence[str], sampler: Sampler, told: Told = unheard
    ) -> tuple[ReleasedTable, Made]:
        """The synthetic rows by their distinct values: one column a key, and ``rows``, how many there are of each.

        Args:
            raw: Columns ``keys``, and ``m0``: the exact numbers of rows.
            keys: Their names.
            sampler: Of the noise.
            told: The share done, of what takes long.
        """
        made = self.way.release(self.asked, self.payment, coded(raw, keys, self.asked.domains), sampler, told)
        columns: dict[str, Sequence[Any]] = {
            key: [domain[code] for code in made.codes[:, j].tolist()]
            for j, (key, domain) in enumerate(zip(keys, self.asked.domains, strict=True))
        }
        return ReleasedTable({**columns, "rows": made.rows.tolist()}), made


def plan_table(asked: Wanted, price: Price, neighbours: Relation, rows: int, method: str | None) -> TablePlan:
    """The release of a table, by name or with the least expected error.

    Args:
        asked: What is released, and for which questions.
        price: Epsilon with a delta or without, or rho.
        neighbours: Of the policy.
        rows: The most rows of one unit.
        method: One of `METHODS`, or None.

    Raises:
        UnsupportedQuery: If the method is not there, does not fit, or proves no error as small as the wanted one.
    """
    if method is not None and method not in METHODS:
        hint = f"There are {', '.join(METHODS)}."
        raise UnsupportedQuery("there is no such method.", construct=f"method = '{method}'", hint=hint)
    if asked.rows is not None and method != BySmallDb().name:
        raise UnsupportedQuery(
            "it is how many rows a small database has; other tables have as many as were counted, but for noise.",
            construct="rows", hint="Leave it out, or take method = 'smalldb'.",
        )  # fmt: skip
    plans = [
        TablePlan(way, asked, payment, loss, way.deviation(asked, payment))
        for payment, loss in _payments(price, neighbours, rows)
        for way in WAYS
        if method in (None, way.name) and not way.unfit(asked, payment)
    ]
    if not plans:
        raise _unfit(asked, _payments(price, neighbours, rows)[0][0], method)
    best = min(plans if asked.alpha is None else _accurate(plans, asked.alpha), key=lambda plan: plan.deviation)
    return replace(best, others=_others(best, plans)) if method is None else best


def proves(asked: Wanted, price: Price, neighbours: Relation, rows: int, method: str | None) -> bool:
    """Whether a table can be released whose largest error is proved to be as small as is wanted; as `plan_table`."""
    ways = [way for way in WAYS if method in (None, way.name)]
    found = [
        way.largest(asked, payment, BETA)
        for payment, _ in _payments(price, neighbours, rows)
        for way in ways
        if not way.unfit(asked, payment)
    ]
    return any(error is not None and error <= (asked.alpha or 0) * asked.rows_about for error in found)


def coded(raw: RawTable, keys: Sequence[str], domains: Sequence[Sequence[Any]]) -> Exact:
    """Each occurring cell as the places of its values in the lists, and its number of rows; unlisted ones apart."""
    columns = []
    for key, domain in zip(keys, domains, strict=True):
        places = {value: place for place, value in enumerate(domain)}
        values = raw.column(key)
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        columns.append([places.get(value, -1) for value in listed])
    codes = np.array(columns, dtype=np.int64).reshape(len(keys), -1).T
    kept = (codes >= 0).all(axis=1)
    weights = np.asarray(raw.column("m0"), dtype=np.int64)
    return Exact(codes[kept], weights[kept], int(weights[~kept].sum()))


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


def _accurate(plans: Sequence[TablePlan], alpha: float) -> list[TablePlan]:
    """The plans that prove an error as small.

    Raises:
        UnsupportedQuery: There is none: with the least that one proves.
    """
    proved = [(found, plan) for plan in plans if (found := plan.largest()) is not None]
    if fit := [plan for found, plan in proved if found <= alpha]:
        return fit
    if not proved:
        proving = "cells, tree, intervals and smalldb"
        why = f"{plans[0].method} proves no largest error over its workload; {proving} do, where they fit."
        raise UnsupportedQuery(why, construct="alpha", hint="Leave alpha out, or take one of those.")
    least, plan = min(proved, key=lambda pair: pair[0])
    raise UnsupportedQuery(
        f"at this price {least:.3g} of about {plan.asked.rows_about:,} rows is the least proved, by {plan.method}.",
        construct=f"alpha = {alpha:g}", hint="Give more epsilon, or leave it out: the least that serves is then taken.",
    )  # fmt: skip


def _others(best: TablePlan, plans: Sequence[TablePlan]) -> tuple[tuple[str, str], ...]:
    """The methods not taken."""
    told: dict[str, str] = {}
    for way in WAYS:
        errors = [plan.deviation for plan in plans if plan.method == way.name]
        told[way.name] = f"errs by {min(errors):.3g} rows" if errors else way.unfit(best.asked, best.payment)
    return tuple((name, why) for name, why in told.items() if name != best.method)


def _unfit(asked: Wanted, payment: Payment, method: str | None) -> UnsupportedQuery:
    """Why a method does not serve, with its limit and the size asked, and which ones do."""
    named = next((way for way in WAYS if way.name == method), WAYS[0])
    serving = dict.fromkeys(way.name for way in WAYS if not way.unfit(asked, payment))
    cut = "cut columns into fewer values with width_bucket(x, low, high, count)."
    return UnsupportedQuery(
        named.unfit(asked, payment), construct=f"method = '{method}'" if method else "CREATE SYNTHETIC TABLE",
        hint=f"Take {' or '.join(serving)}, or {cut}" if serving else f"{cut[0].upper()}{cut[1:]}",
    )  # fmt: skip
