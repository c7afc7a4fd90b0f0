"""A sampler that draws nothing: it takes every outcome in turn, each with its exact chance.

`law_of` runs a release again and again, each time along another path of outcomes, until it has been along all of them.
What comes back is the exact law of everything that it releases. The code that runs is that of the package.

Noise has infinitely many outcomes. Those within a `Window` are taken one by one, and all that lie beyond it on one
side together, as a tail. A tail is closed where all of it releases the same, as what a threshold hides: three of its
points, two next to the window and one far from it, are tried. Then it counts with its exact weight. Otherwise it is
open; what its points release must not be anything that is listed.

Lemma. Let neighbours' numbers be at most epsilon scales apart. Then for Laplace noise beyond the inner window both
numbers lie on one side of what is released, so that the ratio of its chances is that at the edge of the window.
So what lies beyond is judged by its witness: what the same path releases with each noise moved to that edge. This
takes for granted that a noise which shows in what is released at the edge shows in the same way beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from math import ceil, isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.privacy.inversion import checked, one_by_one
from dpsql.privacy.sampling import ExpOf, Integers, Sampler
from tests.exhaustive.chances import BITS, ONE, Chance, Factor, finite, infinite

__all__ = ["Branching", "Law", "UnlistedError", "Window", "choice_of", "flip_of", "law_of"]

FAR = (0, 1, 1 << 12)
"""How far beyond the first point of a tail its points lie that are tried. The last is beyond any threshold here."""

MOST_PATHS = 60_000
"""Of one law. It is a choice: so many take about 20 seconds."""


MOST_OUTCOMES = 10_000
"""Of one draw. It is a choice, too."""


class UnlistedError(Exception):
    """A release whose law cannot be listed so."""


Path = tuple[int, ...]
"""Which outcome each draw took, in order."""


@dataclass(frozen=True)
class Window:
    """Which noise is taken one by one, and which is compared.

    Attributes:
        spreads: It is compared up to so many scales (or standard deviations) from 0, or epsilon if that is more.
        epsilon: What the releases claim: neighbours' numbers are at most epsilon scales apart.
    """

    spreads: Fraction
    epsilon: Fraction

    def inner(self, spread: Fraction) -> int:
        """Up to here outputs are compared: at least one step beyond both neighbours' numbers."""
        return ceil(max(self.spreads, self.epsilon) * spread) + 1

    def outer(self, spread: Fraction) -> int:
        """Up to here noise is taken one by one: what is compared on one side is listed on the other."""
        return self.inner(spread) + ceil(self.epsilon * spread)


@dataclass(frozen=True)
class Outcome:
    """What a draw may be.

    Attributes:
        value: What it returns.
        chance: Its chance.
        edge: Of noise beyond the inner window, which outcome is at its edge; else None.
        side: Of a tail, -1 or 1; else 0.
        even: Whether the lemma is about it: all but Gaussian noise.
    """

    value: Any
    chance: Chance
    edge: int | None = None
    side: int = 0
    even: bool = True


@dataclass
class Law:
    """The law of a release.

    Attributes:
        chances: What is released, as bytes, to its chance.
        inner: Those that are compared.
        beyond: Of all others, what is released by their witness, to their chance; with None those without one.
        paths: How many were taken.
        logarithms: Those that were asked for.
    """

    chances: dict[bytes, Chance] = field(default_factory=dict)
    inner: set[bytes] = field(default_factory=set)
    beyond: dict[bytes | None, Chance] = field(default_factory=dict)
    paths: int = 0
    logarithms: dict[bytes, float] = field(default_factory=dict)

    def logarithm(self, output: bytes) -> float:
        """Of a chance, to show: nothing is decided by it."""
        if output not in self.logarithms:
            self.logarithms[output] = math.log(self.chances[output].enclosed()[1]) - BITS * math.log(2)
        return self.logarithms[output]


class Branching:
    """A sampler on one path.

    Args:
        window: Which noise is taken one by one.
        path: Which outcome each draw takes, in order; draws that follow take the first.
        beyond: How far beyond the first point of a tail its point lies.
    """

    def __init__(self, window: Window, path: Sequence[int] = (), beyond: int = 0) -> None:
        self._window, self._path, self._beyond = window, path, beyond
        self.forks: list[tuple[Outcome, ...]] = []
        self.taken: list[Outcome] = []

    def _one(self, outcomes: tuple[Outcome, ...]) -> Any:
        at = self._path[len(self.forks)] if len(self.forks) < len(self._path) else 0
        self.forks.append(outcomes)
        self.taken.append(outcomes[at])
        return outcomes[at].value + outcomes[at].side * self._beyond if outcomes[at].side else outcomes[at].value

    def _lanes(self, outcomes: tuple[Outcome, ...], size: int) -> Integers:
        return np.array([self._one(outcomes) for _ in range(size)], dtype=np.int64)

    def laplace(self, scale: Fraction, size: int) -> Integers:
        """(size,) outcomes of discrete Laplace noise."""
        return self._lanes(_laplace(Fraction(scale), self._window), size)

    def gaussian(self, variance: Fraction, size: int) -> Integers:
        """(size,) outcomes of discrete Gaussian noise."""
        return self._lanes(_gaussian(Fraction(variance), self._window), size)

    def bernoulli(self, p: Fraction | ExpOf, size: int) -> npt.NDArray[np.bool_]:
        """(size,) coins."""
        return np.array([self._one(_coin(p)) for _ in range(size)], dtype=np.bool_)

    def bernoulli_of_each(self, gaps: Integers, exponent: Fraction) -> npt.NDArray[np.bool_]:
        """(n,) coins."""
        return np.array([self._one(_coin(ExpOf(exponent * int(gap)))) for gap in gaps], dtype=np.bool_)

    def integers(self, m: int, size: int) -> Integers:
        """(size,) integers below m."""
        return self._lanes(_below(m), size)

    def chances(self, numerators: Integers, m: int) -> npt.NDArray[np.bool_]:
        """(n,) coins."""
        return np.array([self._one(_coin(Fraction(int(k), m))) for k in numerators], dtype=np.bool_)

    def order(self, size: int) -> Integers:
        """(size,) numbers in each order."""
        return np.array(self._one(_orders(size)), dtype=np.int64)

    def permute_and_flip(self, scores: Sequence[int], exponent: Fraction) -> int:
        """Index of a candidate."""
        return int(self._one(_permuted(tuple(map(int, scores)), exponent)))

    def intervals(self, widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> tuple[int, int]:
        """Interval and offset."""
        sizes, gaps = checked(widths, scores)
        found: tuple[int, int] = self._one(_weighed(tuple(map(int, sizes)), tuple(map(int, gaps)), exponent))
        return found

    def intervals_of_each(
        self, starts: Integers, widths: Integers, scores: Integers, exponent: Fraction
    ) -> tuple[Integers, Integers]:
        """Those of each group."""
        return one_by_one(self.intervals, starts, widths, scores, exponent)


def law_of(release: Callable[[Sampler], bytes], window: Window) -> Law:
    """The law of what a release returns, along all paths.

    Raises:
        UnlistedError: There are too many paths, or an open tail releases what is listed.
    """
    law, outputs = Law(), dict[Path, bytes]()
    opened, outer = set[bytes](), list[tuple[Path, list[Outcome], bool, Chance]]()
    for path, sampler, released, chance in _paths(release, window):
        law.paths += 1
        outputs[path] = released
        points = {released}
        if any(outcome.side for outcome in sampler.taken):
            points |= {release(Branching(window, path, beyond)) for beyond in FAR[1:]}
        if len(points) > 1:
            opened |= points
        else:
            law.chances[released] = law.chances[released] + chance if released in law.chances else chance
        if all(outcome.edge is None for outcome in sampler.taken):
            law.inner.add(released)
        else:
            outer.append((path, sampler.taken, len(points) > 1, chance))
    if opened & law.chances.keys():
        raise UnlistedError("what lies beyond the window releases what is listed, too")
    for path, taken, is_open, chance in outer:
        if is_open or outputs[path] not in law.inner:
            witness = _witness(path, taken, outputs)
            law.beyond[witness] = law.beyond[witness] + chance if witness in law.beyond else chance
    return law


def _witness(path: Path, taken: Sequence[Outcome], outputs: Mapping[Path, bytes]) -> bytes | None:
    """What is released with all noise moved to the edge of the inner window; None where the lemma does not hold.

    It holds where each noise beyond the window either shows there, so that one step further in releases another thing,
    or does not show at all, so that moving it to the edge changes nothing.
    """
    edge = tuple(at if own.edge is None else own.edge for at, own in zip(path, taken, strict=True))
    for place, own in enumerate(taken):
        if own.edge is None:
            continue
        within = own.edge + (1 if own.value < 0 else -1)
        shows = outputs.get(_moved(edge, place, within)) != outputs.get(edge)
        if not own.even or not (shows or outputs.get(_moved(path, place, own.edge)) == outputs[path]):
            return None
    return outputs.get(edge)


def _moved(path: Path, place: int, to: int) -> Path:
    return (*path[:place], to, *path[place + 1 :])


def _paths(release: Callable[[Sampler], bytes], window: Window) -> Iterator[tuple[Path, Branching, bytes, Chance]]:
    """Every path, with the sampler that took it, what was released and the chance."""
    path, products = list[int](), list[Chance]()
    for _ in range(MOST_PATHS):
        sampler = Branching(window, path)
        released = release(sampler)
        del products[max(0, len(path) - 1) :]
        for outcome in sampler.taken[len(products) :]:
            products.append((products[-1] if products else ONE) * outcome.chance)
        path += [0] * (len(sampler.forks) - len(path))
        yield tuple(path), sampler, released, products[-1] if products else ONE
        while path and path[-1] == len(sampler.forks[len(path) - 1]) - 1:
            path.pop()
        if not path:
            return
        path[-1] += 1
    raise UnlistedError(f"there are more than {MOST_PATHS} paths")


@lru_cache(maxsize=1 << 10)
def _laplace(scale: Fraction, window: Window) -> tuple[Outcome, ...]:
    one, q = {Fraction(0): Fraction(1)}, 1 / scale
    less, more = finite({**one, q: Fraction(-1)}), finite({**one, q: Fraction(1)})
    tail = Chance.of({(window.outer(scale) + 1) / scale: Fraction(1)}, {more: -1})
    return _noise(scale, window, lambda k: Chance.of({abs(k) / scale: Fraction(1)}, {less: 1, more: -1}), tail, True)


@lru_cache(maxsize=1 << 10)
def _gaussian(variance: Fraction, window: Window) -> tuple[Outcome, ...]:
    spread = Fraction(isqrt(ceil(variance * 10**6)) + 1, 1000)  # never below the standard deviation
    total: dict[Factor, int] = {infinite(variance): -1}
    listed: dict[Fraction, Fraction] = {}
    for k in range(-window.outer(spread), window.outer(spread) + 1):
        x = Fraction(k * k) / (2 * variance)
        listed[x] = listed.get(x, Fraction(0)) - Fraction(1, 2)
    tail = Chance.of({Fraction(0): Fraction(1, 2)}) + Chance.of(listed, total)
    return _noise(
        spread, window, lambda k: Chance.of({Fraction(k * k) / (2 * variance): Fraction(1)}, total), tail, False
    )


def _noise(
    spread: Fraction, window: Window, chance: Callable[[int], Chance], tail: Chance, even: bool
) -> tuple[Outcome, ...]:
    """Each number up to the outer window, and both tails."""
    inner, outer = window.inner(spread), window.outer(spread)
    edges = {-1: outer - inner, 1: outer + inner}

    def edge(k: int) -> int | None:
        return None if abs(k) <= inner else edges[1 if k > 0 else -1]

    within = [Outcome(k, chance(k), edge(k), even=even) for k in range(-outer, outer + 1)]
    return (*within, *(Outcome(side * (outer + 1), tail, edges[side], side, even) for side in (-1, 1)))


@lru_cache(maxsize=1 << 10)
def _coin(p: Fraction | ExpOf) -> tuple[Outcome, ...]:
    shown = {p.x: Fraction(1)} if isinstance(p, ExpOf) else {Fraction(0): p}
    hidden = {Fraction(0): Fraction(1)}
    for x, c in shown.items():
        hidden[x] = hidden.get(x, Fraction(0)) - c
    both = [(True, shown), (False, hidden)]
    return tuple(Outcome(side, Chance.of(terms)) for side, terms in both if any(terms.values()))


@lru_cache(maxsize=1 << 10)
def _below(m: int) -> tuple[Outcome, ...]:
    if m > MOST_OUTCOMES:
        raise UnlistedError(f"one draw has {m} outcomes")
    return _uniform(range(m))


@lru_cache(maxsize=1 << 10)
def _orders(size: int) -> tuple[Outcome, ...]:
    if math.factorial(size) > MOST_OUTCOMES:
        raise UnlistedError(f"{size} lanes have too many orders")
    return _uniform(list(permutations(range(size))))


def _uniform(values: Sequence[Any]) -> tuple[Outcome, ...]:
    each = Chance.of({Fraction(0): Fraction(1, len(values))})
    return tuple(Outcome(value, each) for value in values)


@lru_cache(maxsize=1 << 12)
def _permuted(scores: tuple[int, ...], exponent: Fraction) -> tuple[Outcome, ...]:
    """One of those that come up, each with chance p = exp(-exponent gap), uniformly.

    Candidate i is taken with chance p_i times the mean of 1 / (1 + others that come up): the integral over t from 0
    to 1 of p_i times the product of the others' 1 - t p_j.
    """
    best = max(scores)
    gaps = [exponent * (best - score) for score in scores]
    found = []
    for i, own in enumerate(gaps):
        polynomial: dict[tuple[int, Fraction], Fraction] = {(0, own): Fraction(1)}
        for gap in gaps[:i] + gaps[i + 1 :]:
            grown = dict(polynomial)
            for (degree, x), c in polynomial.items():
                key = degree + 1, x + gap
                grown[key] = grown.get(key, Fraction(0)) - c
            polynomial = grown
        terms: dict[Fraction, Fraction] = {}
        for (degree, x), c in polynomial.items():
            terms[x] = terms.get(x, Fraction(0)) + c / (degree + 1)
        found.append(Outcome(i, Chance.of({x: c for x, c in terms.items() if c})))
    return tuple(found)


@lru_cache(maxsize=1 << 12)
def _weighed(widths: tuple[int, ...], gaps: tuple[int, ...], exponent: Fraction) -> tuple[Outcome, ...]:
    """Every point of every interval, with a weight of exp(-exponent gap)."""
    total: dict[Fraction, Fraction] = {}
    for width, gap in zip(widths, gaps, strict=True):
        if width:
            total[exponent * gap] = total.get(exponent * gap, Fraction(0)) + width
    powers: Mapping[Factor, int] = {finite(total): -1}
    return tuple(
        Outcome((i, offset), Chance.of({exponent * gap: Fraction(1)}, powers))
        for i, (width, gap) in enumerate(zip(widths, gaps, strict=True))
        for offset in range(width)
    )


def flip_of(scores: tuple[int, ...], exponent: Fraction) -> tuple[Chance, ...]:
    """The chance of each candidate of permute-and-flip."""
    return tuple(outcome.chance for outcome in _permuted(scores, exponent))


def choice_of(widths: tuple[int, ...], gaps: tuple[int, ...], exponent: Fraction) -> tuple[Chance, ...]:
    """The chance of each point of all intervals, in their order."""
    if sum(widths) > MOST_OUTCOMES:
        raise UnlistedError(f"one draw has {sum(widths)} outcomes")
    return tuple(outcome.chance for outcome in _weighed(widths, gaps, exponent))
