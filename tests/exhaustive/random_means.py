"""Random differential privacy over all tables of a few people: what is proved of declared means, and gamma itself.

The theorem (`random_dp.mean`) is about people in an order that says nothing. Given who they are, all their orders are
alike likely: so it holds if it does for each multiset of n + 1 people. It leaves out pairs of tables in which the
person who is replaced is farther from the one who comes than most others are from each other. Of all pairs that it does
not leave out, both laws are compared, exactly; and those that it leaves out are counted, order by order, for every
multiset: their share is to be at most gamma. So are the pairs of which one alone has rows in some cell, for counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import floor

from dpsql.mechanisms.base import Price
from dpsql.mechanisms.random_dp import RandomDP
from dpsql.mechanisms.random_dp.mean import DistanceMean
from dpsql.plan.catalog import RandomStatistic
from dpsql.plan.nodes import Expression, Filter
from dpsql.plan.options import Options
from dpsql.plan.types import Grid
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable
from tests.exhaustive.branching import Law, Window, law_of
from tests.exhaustive.verdicts import Claim, Verdict, compared
from tests.unit.mechanisms.asking import CELLS, COST, VISITS, asking

__all__ = ["GAMMA", "KEPT", "alone", "declared", "left_out", "means"]

GAMMA = Fraction(2, 3)
PEOPLE = 6
"""The fewest pairs of which a scale is chosen at that gamma are three."""

Value = int | None
VALUES: tuple[Value, ...] = (0, 1, 3)
KEPT: tuple[Value, ...] = (None, 0, 1)
"""The same under a condition, which leaves out whoever has none. There the number of people is noised, too."""
HIGHEST = 3
CLAIM = Claim(Fraction(10), Fraction(1, 4))
"""So much buys the choice of one of three scales from three pairs."""

People = tuple[Value, ...]
Numbers = tuple[tuple[int, ...], int, int]


def declared(condition: Expression | None = None) -> DistanceMean:
    """The offer for the mean of a column whose values lie between 0 and 3, under a condition or none."""
    where = frozenset() if condition is None else frozenset([condition])
    statistic = RandomStatistic("visits: AVG(cost)", "cost", where, GAMMA)
    opted = replace(CELLS, statistics=(statistic,))
    asked = asking(
        "avg",
        table=replace(VISITS, every_unit=True, rows_per_unit=1, random_dp=opted),
        options=Options(mechanism="random_dp"),
        neighbours="replace_one",
        price=Price(CLAIM.epsilon, CLAIM.delta),
        facts=replace(COST.facts, nullable=False, centre=Fraction(0), spread=Fraction(1)),
        grid=Grid(Fraction(1), 0, HIGHEST),
    )
    if condition is not None:
        asked = replace(asked, source=replace(asked.source, relation=Filter(asked.source.relation, condition)))
    found = RandomDP().offer(asked)
    assert isinstance(found, DistanceMean), found
    return found


def means(offer: DistanceMean) -> tuple[int, Verdict]:
    """All pairs that the theorem is about; how many of them rest on numbers of their own, and the verdict."""
    laws: dict[Numbers, Law] = {}
    pairs = _pairs(VALUES if offer.epsilons[2] is None else KEPT)
    found = {(_numbers(one), _numbers(two)): (one, two) for one, two in pairs if not _is_left_out(one, two)}
    total, epsilon = Verdict(), CLAIM.epsilon or Fraction(0)
    for keys, tables in found.items():
        for key, people in zip(keys, tables, strict=True):
            if key not in laws:
                laws[key] = law_of(_released(offer, people), Window(Fraction(0), epsilon))
        total += compared(laws[keys[0]], laws[keys[1]], CLAIM)
    return len(found), total


def left_out(values: Sequence[Value] = VALUES) -> Fraction:
    """The largest share of the orders of any n + 1 people that the theorem leaves out."""
    return max(_share(everyone) for everyone in combinations_with_replacement(values, PEOPLE + 1))


def alone(units: int, cells: int, relation: str) -> Fraction:
    """The largest share of the orders of n + 1 people, one row each, in which neighbours have other empty cells.

    Args:
        units: n.
        cells: That there are.
        relation: Of the neighbours.
    """
    spread = (Counter(cells_of) for cells_of in combinations_with_replacement(range(cells), units + 1))
    return max(_alone(held, units + 1, relation == "replace_one") for held in spread)


def _alone(held: Counter[int], everyone: int, swap: bool) -> Fraction:
    if not swap:  # the last one is alone
        return Fraction(sum(many == 1 for many in held.values()), everyone)
    out = sum(  # of two, of different cells, one is
        held[one] * held[two] for one in held for two in held if one != two and 1 in (held[one], held[two])
    )
    return Fraction(out, everyone * (everyone - 1))


def _share(everyone: People) -> Fraction:
    orders = Counter(permutations(everyone))  # equal people exchanged are orders of their own, and alike
    out = sum(many for order, many in orders.items() if _is_left_out(order[:-1], (*order[:-2], order[-1])))
    return Fraction(out, orders.total())


def _pairs(values: Sequence[Value]) -> Iterator[tuple[People, People]]:
    for people in product(values, repeat=PEOPLE):
        for at in range(PEOPLE):
            yield from ((people, (*people[:at], new, *people[at + 1 :])) for new in values if new != people[at])


def _distances(people: People) -> list[int]:
    half = len(people) // 2
    return [abs((one or 0) - (two or 0)) for one, two in zip(people[:half], people[half : 2 * half], strict=True)]


def _numbers(people: People) -> Numbers:
    """All that a release reads."""
    known = [own for own in people if own is not None]
    return tuple(sorted(_distances(people))), sum(known), len(known)


def _is_left_out(one: People, two: People) -> bool:
    """h* > h-_(r - 1), of the pairs in which nobody is replaced."""
    (at,) = [place for place, (x, y) in enumerate(zip(one, two, strict=True)) if x != y] or [len(one) - 1]
    half = len(one) // 2
    others = sorted(own for place, own in enumerate(_distances(one)) if place != at % half)
    rank = half + 1 - floor(GAMMA * half)
    return abs((one[at] or 0) - (two[at] or 0)) > others[rank - 2]


def _released(offer: DistanceMean, people: People) -> Callable[[Sampler], bytes]:
    raw = RawTable({"value": [own or 0 for own in people], "rows": [int(own is not None) for own in people]})
    return lambda sampler: repr(offer.release(raw, sampler).columns).encode()
