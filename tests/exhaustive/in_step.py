"""Releases of many draws, checked draw by draw in two tables at once.

Where a release draws more often than all its paths could be listed (`branching`), its draws are followed in step: it
runs over both tables, and each draw of the one is held against that of the other, given that the same showed before.

Theorem (adaptive composition). Let a release draw X_1, X_2, ... from laws that may depend on the table and on what
showed of the draws before; let y_i be what shows of X_i; and let all that is released be a function of the y_i that is
the same for both tables. If along every history y_1, ..., y_n with a chance the costs
ln P(y_i | y_1 ... y_(i-1)) / P'(y_i | y_1 ... y_(i-1)) add up to at most c, then P(o) <= e^c P'(o) for every set o of
outputs. If the sums of P^a P'^(1-a) over y_i, multiplied along any history, come to at most e^(a (a - 1) rho), then so
does that of the outputs.

Proof. The chance of a history is the product of the conditional ones, so that the first premise is
P(y) <= e^c P'(y) for each history y; summed over the histories that release something in o, it is the claim. For the
second, the sum over all y is worked out from the last draw backwards, each time bounded by the largest factor; and what
is released is a function of y, which only lowers it (data processing).  QED

It bounds the loss from above, and where the theorem of a mechanism adds up its parts it is reached: not each output,
but each draw is compared, and a release whose privacy rests on something else would be convicted wrongly.

What is looked at. Of choices each place that tiny tables have. Of a noised number a few near both tables' and, beyond,
every third or twelfth power of two: what every other one costs is known, too (`steps`), so that only what follows is
taken to be the same between those that are tried. Histories after which the two tables ask for the same two draws are
taken together, and one of them is followed on. In the end both tables must release the same bytes.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

import dpsql.mechanisms
from dpsql.privacy import sampling
from dpsql.privacy.inversion import checked, one_by_one
from dpsql.privacy.sampling import ExpOf, Integers, Sampler
from tests.exhaustive.branching import Law, UnlistedError, Window, law_of
from tests.exhaustive.steps import FEW, Chosen, Coins, Cost, Noised, Seen, Step, worst
from tests.exhaustive.verdicts import ORDERS, Claim, Spent, Verdict, compared

__all__ = ["Pairs", "Released", "following"]

Released = Callable[[Sampler], bytes]
"""A release over one table."""

History = tuple[Seen, ...]

MOST_CHECKS = 300_000
"""Of one pair. It is a choice: more take minutes."""


class _PausedError(Exception):
    """A release asks for a draw of which nothing has shown yet."""

    def __init__(self, step: Step) -> None:
        super().__init__(step)
        self.step = step


class _Unseen:
    """A noise that nothing was added to yet: it is no number."""

    def __index__(self) -> int:
        raise UnlistedError("noise is used otherwise than by adding it to exact numbers")


class Follower:
    """A sampler whose draws show what a history says; at its end it pauses.

    Args:
        history: What shows of each draw, in order.
    """

    def __init__(self, history: History = ()) -> None:
        self._history = iter(history)
        self._waiting: tuple[str, Fraction, npt.NDArray[Any]] | None = None

    def _shown(self, step: Step) -> Seen:
        if self._waiting is not None:
            raise UnlistedError("noise was drawn, and nothing was added to it before the next draw")
        shown = next(self._history, None)
        if shown is None:
            raise _PausedError(step)
        return shown

    def _noise(self, law: str, spread: Fraction, size: int) -> Integers:
        if self._waiting is not None:
            raise UnlistedError("noise was drawn, and nothing was added to it before the next draw")
        drawn = np.array([_Unseen() for _ in range(size)], dtype=object)
        if size:
            self._waiting = law, Fraction(spread), drawn
        return drawn

    def noised(self, values: Sequence[int] | Integers, noise: Integers) -> Integers:
        """What shows of exact numbers and their noise."""
        exact = tuple(int(value) for value in values)
        if not (len(exact) or len(noise)):
            return np.array([], dtype=np.int64)
        if self._waiting is None or self._waiting[2] is not noise or len(noise) != len(exact):
            raise UnlistedError("these are not the noises that were drawn last")
        law, spread, _ = self._waiting
        self._waiting = None
        return np.array(self._shown(Noised(law, spread, exact)), dtype=np.int64)

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) noises that must be added to something."""
        return self._noise("laplace", scale, size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) noises that must be added to something."""
        return self._noise("gaussian", variance, size)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """Index of a candidate."""
        return self._shown(Chosen(None, tuple(map(int, scores)), Fraction(exponent)))[0]

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """Interval and offset of a place."""
        sizes, _ = checked(widths, scores)
        best = max(int(score) for width, score in zip(sizes, scores, strict=True) if width)
        lowered = [int(score) if width else best for width, score in zip(sizes, scores, strict=True)]
        (place,) = self._shown(Chosen(tuple(map(int, sizes)), tuple(lowered), Fraction(exponent)))
        for index, end in enumerate(accumulate(map(int, sizes))):
            if place < end:
                return index, place - end + int(sizes[index])
        raise UnlistedError("there is no such place")

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """Those of each group."""
        return one_by_one(self.intervals, starts, widths, scores, exponent)

    def integers(self, m: int, size: int) -> Integers:
        """(size,) integers below m."""
        ends = (0,) * size, (m - 1,) * size
        return np.array(self._shown(Coins(("integers", m, size), ends)), dtype=np.int64)

    def order(self, size: int) -> Integers:
        """(size,) numbers in an order."""
        forward = tuple(range(size))
        return np.array(self._shown(Coins(("order", size), (forward, forward[::-1]))), dtype=np.int64)

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[np.bool_]:
        """(size,) coins."""
        return self._coins(("bernoulli", p, size), size)

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        """(n,) coins."""
        return self._coins(("bernoulli_of_each", tuple(map(int, gaps)), exponent), len(gaps))

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        """(n,) coins."""
        return self._coins(("chances", tuple(map(int, numerators)), m), len(numerators))

    def _coins(self, asked: tuple[Any, ...], size: int) -> npt.NDArray[np.bool_]:
        return np.array(self._shown(Coins(asked, ((0,) * size, (1,) * size))), dtype=np.bool_)


_plain = sampling.noised


class Begun:
    """A sampler that says of noised numbers what a history says, and then draws as another one does.

    Args:
        history: What shows of the first draws, each of them noise.
        rest: Who draws after that.
    """

    def __init__(self, history: History, rest: Sampler) -> None:
        self._first, self._left, self._rest = Follower(history), len(history), rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._first if self._left else self._rest, name)

    def noised(self, values: Sequence[int] | Integers, noise: Integers) -> Integers:
        """What shows of exact numbers and their noise."""
        if not self._left:
            return _plain(values, noise)
        self._left -= 1
        return self._first.noised(values, noise)


_drawing: list[Follower | Begun] = []
"""Who draws, innermost last; none outside of a run."""


def _noised(values: Sequence[int] | Integers, noise: Integers) -> Integers:
    return _drawing[-1].noised(values, noise) if _drawing else _plain(values, noise)


@lru_cache
def _adding() -> tuple[ModuleType, ...]:
    """All modules of mechanisms that add noise to numbers."""
    for found in pkgutil.walk_packages(dpsql.mechanisms.__path__, "dpsql.mechanisms."):
        importlib.import_module(found.name)
    return tuple(module for module in list(sys.modules.values()) if getattr(module, "noised", None) is _plain)


@contextmanager
def following() -> Iterator[None]:
    """Where exact numbers meet their noise, whoever draws says what shows."""
    with ExitStack() as stack:
        for module in _adding():
            stack.enter_context(patch.object(module, "noised", _noised))
        yield


def _ran(release: Released, history: History) -> Step | bytes:
    """What a release comes to after a history: the draw that it asks for, or what it releases."""
    try:
        return _drawn(release, Follower(history))
    except _PausedError as pause:
        return pause.step


def _drawn(release: Released, sampler: Any) -> bytes:
    """What is released where that one draws."""
    _drawing.append(sampler)
    try:
        return release(sampler)
    finally:
        _drawing.pop()


def _rest(release: Released, history: History, window: Window) -> Law:
    """The law of what is released after a history."""
    return law_of(lambda sampler: _drawn(release, Begun(history, sampler)), window)


@dataclass
class InStep:
    """Two releases in step; only where their draws are `following`.

    Attributes:
        releases: Over each table.
        orders: Of Renyi's divergence that are asked, and 1 for epsilon.
        apart: How many of the numbers that noise may make are tried, as `steps` says.
        known: What came of a run, by its table's place and history. Tables with the same raw numbers may share it.
        checks: Costs that were looked at, and releases that were held against each other.
        broken: Where the tables tell themselves apart by something that costs no number.
    """

    releases: tuple[Released, Released]
    orders: tuple[int, ...]
    apart: int
    known: tuple[dict[History, Step | bytes], dict[History, Step | bytes]] = field(default_factory=lambda: ({}, {}))
    checks: int = 0
    broken: int = 0

    def _both(self, history: History) -> tuple[Step | bytes, Step | bytes]:
        for release, known in zip(self.releases, self.known, strict=True):
            if history not in known:
                known[history] = _ran(release, history)
        return self.known[0][history], self.known[1][history]

    def verdict(self, claim: Claim) -> Verdict:
        """Whether what is claimed holds, from the first table to the second.

        Raises:
            UnlistedError: It cannot be told so.
        """
        found = self._costs((), *self._both(()))
        of_epsilon, of_rho, broken = 0.0, 0.0, self.broken
        for order, costs in found.items():
            limit = claim.epsilon if order == 1 else order * (order - 1) * (claim.rho or Fraction(0))
            if limit is None:
                raise UnlistedError("nothing is claimed of epsilon")
            broken += sum(not cost.within(limit) for cost in costs)
            share = max(cost.log for cost in costs) / float(limit) if limit else 0.0
            of_epsilon, of_rho = (share, of_rho) if order == 1 else (of_epsilon, max(of_rho, share))
        return Verdict(self.checks, of_epsilon, of_rho=of_rho, broken=broken)

    def then_listed(self, claim: Claim, spreads: int) -> Verdict:
        """The same where a delta is claimed: the first draw is followed, and the law of the rest is listed.

        Theorem (adaptive composition). If the first draw, of numbers with Laplace noise, is c-DP, and what follows each
        thing that it may show is (epsilon - c, delta)-DP, both together are (epsilon, delta)-DP. And if at an order
        its sum of P^a P'^(1 - a) is at most s, and that of the rest, given events of one weight, is at most
        e^(a (a - 1) rho) / s whatever it shows, that of both is at most e^(a (a - 1) rho) given these events. (A coin
        makes an event of more weight one of just this weight, and leaves the law given it as it is.)

        Args:
            claim: With an epsilon, or with a rho and a weight outside of it.
            spreads: How far noise is compared, in scales or standard deviations.

        Raises:
            UnlistedError: It cannot be told so.
        """
        one, two = self._both(())
        if not (isinstance(one, Noised) and isinstance(two, Noised) and one.alike(two)):
            raise UnlistedError("the first draw is no noise of the same law")
        left, spent = claim, dict[int, Spent]()
        if claim.epsilon is None:
            spent = {order: one.order(two, order).spent for order in ORDERS}
        elif (most := one.most(two)) is None:
            raise UnlistedError("nothing bounds what Gaussian noise costs")
        else:
            left = Claim(claim.epsilon - most.exponent, claim.delta)
        found, window = Verdict(1, broken=int(left.reach < 0)), Window(Fraction(spreads), claim.reach)
        if found.broken:
            return found
        for history in {self._both((shown,)): (shown,) for shown, _ in one.seen(two, self.apart)}.values():
            here, there = (_rest(release, history, window) for release in self.releases)
            found += compared(here, there, left, spent)
        return found

    def _costs(self, history: History, one: Step | bytes, two: Step | bytes) -> dict[int, list[Cost]]:
        """What follows a history costs at the most, by order."""
        self.checks += 1
        if self.checks > MOST_CHECKS:
            raise UnlistedError(f"there are more than {MOST_CHECKS} checks")
        nothing = {order: [Cost()] for order in self.orders}
        if isinstance(one, bytes) or isinstance(two, bytes):
            self.broken += one != two
            return nothing
        if not one.alike(two):
            self.broken += 1
            return nothing
        groups: dict[tuple[Step | bytes, Step | bytes] | None, list[tuple[History, Cost]]] = {}
        for shown, cost in one.seen(two, self.apart):  # type: ignore[arg-type]  # they are alike
            if cost is None and 1 in self.orders:
                raise UnlistedError("nothing bounds what Gaussian noise costs")
            longer = *history, shown
            after = self._both(longer)
            ended = all(isinstance(own, bytes) for own in after)
            self.checks += 1
            self.broken += ended and after[0] != after[1]
            groups.setdefault(None if ended else after, []).append((longer, cost or Cost()))
        return self._together(one, two, groups, nothing)

    def _together(
        self,
        one: Step,
        two: Step,
        groups: dict[tuple[Step | bytes, Step | bytes] | None, list[tuple[History, Cost]]],
        nothing: dict[int, list[Cost]],
    ) -> dict[int, list[Cost]]:
        """A draw's costs with those of what follows it, the largest of all groups of histories."""
        found: dict[int, list[Cost]] = {order: [] for order in self.orders}
        for after, members in groups.items():
            followed = [nothing]
            if after is not None:
                followed = [self._costs(members[0][0], *after)]
            for order in self.orders:
                own = [cost for _, cost in members] if order == 1 else [one.order(two, order)]  # type: ignore[arg-type]
                most = worst(own)
                found[order] += [cost + more for cost in most for costs in followed for more in costs[order]]
        return {order: worst(costs) for order, costs in found.items()}


class Pairs:
    """The pairs of one statement: those with the same raw numbers are looked at once, and so is each run.

    Args:
        apart: How many of the numbers that noise may make are tried, as `steps` says.
        spreads: Where a delta is claimed and no rho, or a weight outside of one, how far noise behind the first draw
            is compared, in scales or standard deviations.
    """

    def __init__(self, apart: int = FEW, spreads: int = 0) -> None:
        self._apart, self._spreads = apart, spreads
        self._known: dict[Any, dict[History, Step | bytes]] = {}
        self._done: dict[Any, Verdict] = {}

    def verdict(self, releases: tuple[Released, Released], raws: tuple[Any, Any], claim: Claim) -> Verdict:
        """One pair in one direction.

        Args:
            releases: Over each table.
            raws: What they rest on: equal for equal releases.
            claim: Of their loss.
        """
        key = (*raws, claim)
        if key not in self._done:
            one, two = (self._known.setdefault(raw, {}) for raw in raws)
            with following():
                both = InStep(releases, _orders(claim), self._apart, (one, two))
                by_first = claim.outside or (claim.delta and claim.rho is None)
                self._done[key] = both.then_listed(claim, self._spreads) if by_first else both.verdict(claim)
        return self._done[key]


def _orders(claim: Claim) -> tuple[int, ...]:
    """What is asked where that is claimed: 1 stands for epsilon."""
    own = () if claim.epsilon is None or claim.delta else (1,)
    return (*own, *(() if claim.rho is None else ORDERS))
