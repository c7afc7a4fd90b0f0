"""The parts of FriendlyCore on everything tiny: its filter over all graphs of friends, and the average behind it.

The filter's proof is no sum over draws. It needs of every graph of friends, and of a row that comes, goes or is
replaced, that

1. any two rows that may be kept on either side share a friend,
2. the chances of being kept move by at most gamma in all,

and concludes that what is friendly e0-DP on the kept rows is epsilon-DP in all. All graphs of a few rows are gone
through; each row's chance is read off the exact coin that the filter asks for. For the conclusion the kept rows are
given to mechanisms that are as bad as a friendly one may be: the chance of an event is in proportion to the product
of a weight for each kept row.

Lemma. Weights e^e0 and e^-e0 make it e0-DP for rows that come or go; weights of 1 and e^e0 alone (or 1 and e^-e0) for
rows that are replaced, too. Where every row i stays by itself with chance p_i, the event's chance is the product over
all rows of 1 - p_i + p_i w_i, times a constant that is the same on both sides.
Proof. A row more or less is one factor; a row replaced is the quotient of two. The sum over all kept sets of a product
is the product of the sums.  QED

The average is checked on all friendly tables of a few rows by its exact law (`branching`), on a coarse grid; and so are
filter and average together, on all tables of these rows: there the law is a mixture.

On so few rows all of that is far from its bound. So the average is looked at once more, part by part: that n^ costs no
more than its own epsilon, that it is below the number of rows but for its own chance, and that the mean given any such
n^ costs no more than its own rho. From these the theorem of `average` adds up what the whole costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from itertools import combinations, combinations_with_replacement
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.friendly_core import average
from dpsql.mechanisms.friendly_core.average import FriendlyAverage
from dpsql.mechanisms.friendly_core.basic import BasicFilter, BasicSwapFilter
from dpsql.mechanisms.friendly_core.place import PlaceByCoins
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.privacy.sampling import Integers, Sampler
from tests.exhaustive.branching import Law as Listed
from tests.exhaustive.branching import Window, law_of
from tests.exhaustive.chances import BITS, ONE, Chance, at_most, finite
from tests.exhaustive.verdicts import Claim, Verdict, compared

__all__ = ["averages", "filtered", "parts", "placed"]

Graph = tuple[frozenset[int], ...]
"""Each row's friends, itself among them."""

Filter = BasicFilter | BasicSwapFilter

SMALL_DELTA = Fraction(1, 100)  # Only asked for along with epsilon; the weights show no delta.

SPREADS = Fraction(5)
"""Of Gaussian noise, up to which it is compared: beyond it lie 6e-7, which count as lost. It is a choice."""

SURELY = Fraction(9)
"""The same where a rho is asked."""

FINE = 16
"""In how many steps the sensitivity of a mean is counted there: places are few, and rounding costs a sixteenth."""

SURPLUS = 4
"""So far above the number of rows n^ is followed; what lies beyond counts as lost. It is a choice."""

NOTHING = repr(None).encode()
"""What is released where there are too few rows."""


@dataclass
class _Odds:
    """A sampler that notes each coin's chance, and tosses none."""

    noted: tuple[Fraction, ...] | None = None

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        self.noted = tuple(Fraction(int(k), m) for k in numerators)
        return np.zeros(len(numerators), dtype=np.bool_)


def filtered(chosen: Filter, rows: int, epsilons: Sequence[Fraction]) -> tuple[int, Verdict]:
    """All graphs of so many rows, of which the last (or one of the last two, replaced by the other) is not for both.

    Args:
        chosen: The filter.
        rows: In all, both sides together.
        epsilons: What the whole is to cost, each.

    Returns:
        How many graphs there are, and the verdict.
    """
    swap, total, graphs = isinstance(chosen, BasicSwapFilter), Verdict(), 0
    known: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    inner = {epsilon: chosen.inner(epsilon, SMALL_DELTA)[0] for epsilon in epsilons}
    for graph in _graphs(rows, swap):
        graphs += 1
        one = _kept_by(chosen, graph, rows - 1 if swap else None, known)
        two = _kept_by(chosen, graph, rows - 2 if swap else rows - 1, known)
        may = [row for row in range(rows) if one[row] or two[row]]
        apart = sum(not graph[a] & graph[b] for a, b in combinations(may, 2))
        common = range(rows - 2) if swap else range(rows)
        moved = sum(abs(one[row] - two[row]) for row in common)
        total += Verdict(2, broken=apart + (moved > chosen.gamma))
        for epsilon, e0 in inner.items():
            total += _concluded(one, two, e0, epsilon, swap) + _concluded(two, one, e0, epsilon, swap)
    return graphs, total


def _graphs(rows: int, swap: bool) -> Iterator[Graph]:
    """All of them; the row that is replaced and the one in its place are never seen together."""
    edges = [pair for pair in combinations(range(rows), 2) if not (swap and pair == (rows - 2, rows - 1))]
    for bits in range(1 << len(edges)):
        friends = [{row} for row in range(rows)]
        for at, (a, b) in enumerate(edges):
            if bits >> at & 1:
                friends[a].add(b)
                friends[b].add(a)
        yield tuple(map(frozenset, friends))


def _kept_by(
    chosen: Filter, graph: Graph, gone: int | None, known: dict[tuple[int, ...], tuple[Fraction, ...]]
) -> tuple[Fraction, ...]:
    """Each row's chance to be kept, 0 for one that is gone."""
    there = [row for row in range(len(graph)) if row != gone]
    counts = tuple(len(graph[row] - {gone}) for row in there)
    if counts not in known:
        odds: Any = _Odds()
        kept = chosen.kept(np.array(counts, dtype=np.int64), odds)
        assert not kept.any()
        known[counts] = (Fraction(0),) * len(counts) if odds.noted is None else odds.noted
    found = dict(zip(there, known[counts], strict=True))
    return tuple(found.get(row, Fraction(0)) for row in range(len(graph)))


def _concluded(
    one: Sequence[Fraction], two: Sequence[Fraction], e0: Fraction, epsilon: Fraction, swap: bool
) -> Verdict:
    """The worst weights, in this direction: heavy where a row is kept more often here, light where it is less often."""
    patterns: list[tuple[int, int]] = [(1, 0), (0, -1)] if swap else [(1, -1)]
    verdict = Verdict()
    for more, less in patterns:
        powers = [more if p > q else less for p, q in zip(one, two, strict=True)]
        here, there = (
            reduce(Chance.__mul__, (_weighed(p, k * e0) for p, k in zip(odds, powers, strict=True)), ONE)
            for odds in (one, two)
        )
        verdict += Verdict(1, broken=not at_most(here, there, epsilon))
    return verdict


def _weighed(p: Fraction, power: Fraction) -> Chance:
    """1 - p + p e^power."""
    if not power:
        return ONE
    return Chance.of({x: c for x, c in ((Fraction(0), 1 - p), (-power, p)) if c})


def averages(epsilon: Fraction, delta: Fraction, rows: int, swap: bool) -> tuple[int, Verdict]:
    """The friendly average of all tables of up to so many of the points 0, 1 and 2, which friends of 1 make friendly.

    Args:
        epsilon, delta: What it is to cost.
        rows: The most.
        swap: Whether a neighbour is a row replaced.

    Returns:
        How many pairs of tables there are whose rows differ in number or sum, and the verdict.
    """
    own = FriendlyAverage.approximate(epsilon, delta, rows)
    assert own is not None
    laws = _laws(own, rows, epsilon)
    tables = _tables(rows)
    own_pairs = _around_all(tables, swap)
    claim, total = Claim(epsilon, delta), Verdict()
    for first, second in own_pairs:
        total += compared(laws[first], laws[second], claim)
    return len(own_pairs), total


def parts(epsilon: Fraction, delta: Fraction, rows: int, swap: bool) -> tuple[int, Verdict]:
    """The parts of the friendly average, each at its own price, of the same tables as `averages`.

    Args:
        epsilon, delta: What the whole is to cost; the price of a part is what the mechanism has it cost.
        rows: The most.
        swap: Whether a neighbour is a row replaced.

    Returns:
        How many pairs of tables there are whose rows differ in number or sum, and the verdict.
    """
    own = FriendlyAverage.approximate(epsilon, delta, rows)
    assert own is not None
    assert isinstance(own.count, LaplaceLaw)
    of_number = Claim(1 / own.count.scale)
    window = Window(SPREADS, epsilon)
    numbers = [law_of(_noised_number(own, m), window) for m in range(rows + 1)]
    total = Verdict()
    for m in range(rows):
        total += compared(numbers[m], numbers[m + 1], of_number) + compared(numbers[m + 1], numbers[m], of_number)
    q = 1 / own.count.scale
    above = Chance.of({own.lost * q: Fraction(1)}, {finite({Fraction(0): Fraction(1), q: Fraction(1)}): -1})
    total += Verdict(1, broken=int(Fraction(above.enclosed()[1], 1 << BITS) > own.chance))  # P(noise >= lost)
    given: dict[tuple[int, int, int], Listed] = {}
    of_mean, tables = Claim(None, rho=own.rho), _tables(rows)
    pairs = _around_all(tables, swap)
    with patch.object(average, "FINENESS", FINE):
        for one, two in pairs:
            if not (one[0] and two[0]):
                continue  # n^ is not below both numbers, but where nothing is released
            for about in range(1, max(one[0], two[0])):
                for m, added in (one, two):
                    if (m, added, about) not in given:
                        same: Any = _Given(own.count, about - m + own.lost)
                        released = _averaged(replace(own, count=same), m, added)
                        given[m, added, about] = law_of(released, Window(SURELY, of_mean.reach))
                total += compared(given[*one, about], given[*two, about], of_mean)
    return len(pairs), total


def _around_all(tables: Sequence[tuple[int, ...]], swap: bool) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The pairs of neighbours by number and sum, which the average rests on."""
    pairs = {((len(one), sum(one)), (len(two), sum(two))) for one in tables for two in _around(one, swap)}
    known = {(len(table), sum(table)) for table in tables}
    return [(one, two) for one, two in sorted(pairs) if one != two and two in known]


def _noised_number(own: FriendlyAverage, rows: int) -> Callable[[Sampler], bytes]:
    return lambda sampler: repr(rows + int(own.count.draw(sampler, 1)[0])).encode()


def placed(epsilon: Fraction, delta: Fraction, rows: int, swap: bool) -> tuple[int, Verdict]:
    """Filter and average together, as `PlaceByCoins` runs them, over the same tables, friendly or not.

    The law of the whole is a mixture: over the kept rows, whose chances are exact, of the average's laws.
    """
    place, averaged = PlaceByCoins(epsilon, delta, swap), list[FriendlyAverage]()

    def kept(own: FriendlyAverage, total: Sequence[int], rows: int, radius: int, sampler: Sampler) -> Any:
        assert radius == 1
        averaged.append(own)
        return rows, *total

    def core(table: tuple[int, ...]) -> Callable[[Sampler], bytes]:
        points = np.array(table, dtype=np.int64).reshape(len(table), 1)
        found: Any = partial(place.find, points, 1, rows)
        return lambda sampler: bytes(found(sampler))

    with patch.object(FriendlyAverage, "release", kept):
        cores = {table: law_of(core(table), Window(SPREADS, epsilon)).chances for table in _tables(rows)}
    (own,) = set(averaged)
    laws = _laws(own, rows, epsilon)
    mixed = {
        table: _mixed([(chance, laws[key[0], key[1]]) for key, chance in law.items()]) for table, law in cores.items()
    }
    around = [(one, two) for one in mixed for two in {tuple(sorted(two)) for two in _around(one, swap)}]
    pairs = [(one, two) for one, two in around if one != two and two in mixed]
    total = Verdict()
    for one, two in pairs:
        total += compared(mixed[one], mixed[two], Claim(epsilon, delta))
    return len(pairs), total


def _tables(rows: int) -> list[tuple[int, ...]]:
    return [t for n in range(rows + 1) for t in combinations_with_replacement(range(3), n)]


def _laws(own: FriendlyAverage, rows: int, epsilon: Fraction) -> dict[tuple[int, int], Listed]:
    """The average's laws by the number of rows and their sum."""
    window = Window(SPREADS, epsilon)
    with patch.object(average, "FINENESS", 1):  # steps of the sensitivity: fewer places
        return {key: _law(own, *key, rows + SURPLUS, window) for key in {(len(t), sum(t)) for t in _tables(rows)}}


def _mixed(laws: Sequence[tuple[Chance, Listed]]) -> Listed:
    """A mixture. What is compared of one is compared of the whole; what lies beyond one counts as lost there."""
    whole = Listed(inner=set[bytes]().union(*(law.inner for _, law in laws)))
    for chance, law in laws:
        for output, each in law.chances.items():
            _add(whole.chances, output, chance * each)
        for beyond, each in law.beyond.items():
            _add(whole.beyond, beyond, chance * each)
    return whole


def _add(chances: dict[Any, Chance], output: bytes | None, chance: Chance) -> None:
    chances[output] = chances[output] + chance if output in chances else chance


@dataclass(frozen=True)
class _Given:
    """Noise of a number that is known."""

    law: Law
    noise: int

    def draw(self, sampler: Sampler, size: int) -> Integers:
        return np.full(size, self.noise, dtype=np.int64)

    def beyond(self, chance: Fraction) -> int:
        return self.law.beyond(chance)


def _law(own: FriendlyAverage, rows: int, total: int, most: int, window: Window) -> Listed:
    """The law of what is released: for each number n^ its chance, times the law of the mean given it.

    Numbers above ``most`` count as lost. The window of their noise is twice as wide as it need be: noise that is too
    small must not shrink it.
    """
    assert isinstance(own.count, LaplaceLaw)
    far = Window(2 * (own.lost + most + 1) / own.count.scale, window.epsilon)
    numbers = law_of(_counted(own, rows, most + 1), far)
    found = Listed(inner={NOTHING})
    for about in range(most + 2):
        chance = numbers.chances[bytes([about])]
        if about == 0 or rows == 0:
            _add(found.chances, NOTHING, chance)
            continue
        if about > most:
            _add(found.beyond, None, chance)
            continue
        given: Any = _Given(own.count, about - rows + own.lost)
        mean = law_of(_averaged(replace(own, count=given), rows, total), window)
        found.inner |= mean.inner
        found.chances |= {output: chance * each for output, each in mean.chances.items()}
        for output, each in mean.beyond.items():
            assert output is None  # nothing bounds the ratio of Gaussian noise
            _add(found.beyond, None, chance * each)
    return found


def _counted(own: FriendlyAverage, rows: int, highest: int) -> Callable[[Sampler], bytes]:
    """n^, where all below 1 is 0, and all above ``highest`` is that."""
    return lambda sampler: bytes([min(max(0, rows + int(own.count.draw(sampler, 1)[0]) - own.lost), highest)])


def _around(table: tuple[int, ...], swap: bool) -> Iterator[tuple[int, ...]]:
    for at in range(len(table)):
        rest = (*table[:at], *table[at + 1 :])
        yield from [(*rest, point) for point in range(3)] if swap else [rest]
    if not swap:
        yield from ((*table, point) for point in range(3))


def _averaged(own: FriendlyAverage, rows: int, total: int) -> Callable[[Sampler], bytes]:
    return lambda sampler: repr(own.release([total], rows, 1, sampler)).encode()
