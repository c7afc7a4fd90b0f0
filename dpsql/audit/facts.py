"""Facts of neighbours (`dpsql advise`): how far one unit moves the exact counts, and what their noise lets slip.

The counts are those of the owner's process, over made-up tables. One unit is in one bin of each histogram (of each
sign's at most, where it has a number of each), and its most frequent value is one in each open column: that is what the
noise is for, and the exact counts are held to it. The noise is drawn again many times for a lower bound on epsilon
(`measured`).

Tests: tests/unit/audit/test_facts.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.audit.measured import ALONE, Floats
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.advice import Advice, as_raw
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.owner.advice.advise import Foretold, foretold
from dpsql.owner.advice.questions import Tally, of_sizes, of_totals, open_texts
from dpsql.owner.shape import shape_of
from dpsql.policy import Policy
from dpsql.privacy.account import UNIT
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable

__all__ = ["STAGES", "FactCounts", "FactsAsked", "facts_asked", "likelihoods", "moved_too_far", "reached"]

STAGES = ("sizes", "totals")
"""As `owner.advice.measure` counts them, one after the other, under one charge."""


@dataclass(frozen=True, slots=True)
class FactCounts:
    """The exact counts of one database.

    Attributes:
        listed: All histograms of both stages, one after the other.
        heavy: For each open text column its values, and how many units have each as their most frequent one.
    """

    listed: Sequence[int]
    heavy: Sequence[Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class FactsAsked:
    """Facts at a price.

    Attributes:
        foretold: The price, and what is asked for.
        advice: The noise.
        listed: The histograms, in the order of `FactCounts.listed`.
        units: By how many units neighbours differ.
    """

    foretold: Foretold
    advice: Advice
    listed: Sequence[Tally]
    units: int

    def __str__(self) -> str:
        delta = f" --delta {float(self.foretold.delta):g}" if self.foretold.delta else ""
        return f"dpsql advise --epsilon {float(self.foretold.epsilon):g}{delta}"


def facts_asked(policy: Policy, epsilon: Fraction, delta: Fraction) -> list[FactsAsked]:
    """Facts at a price of epsilon alone, and with a delta where texts are open. None at a price that buys no noise."""
    shape = shape_of(policy)
    listed, units = [*of_sizes(shape), *of_totals(shape)], 2 if policy.neighbours == "replace_one" else 1
    prices = [Fraction(0), *([delta] if open_texts(shape) else [])]
    found = [foretold(policy, epsilon, each) for each in prices]
    return [FactsAsked(own, own.advice, listed, units) for own in found if own.advice is not None]


def moved_too_far(asked: FactsAsked, one: FactCounts, two: FactCounts) -> Iterator[str]:
    """What the exact counts of neighbours differ by more in than is paid for."""
    if {len(one.listed), len(two.listed)} != {sum(tally.cells for tally in asked.listed)}:
        yield "what is counted hangs on the data"
        return
    at = 0
    for tally in asked.listed:
        own = slice(at, at := at + tally.cells)
        moved = sum(abs(a - b) for a, b in zip(one.listed[own], two.listed[own], strict=True))
        if moved > asked.units * tally.moves:
            yield f"{tally.about} of {'.'.join(filter(None, (tally.table, tally.column)))} move by {moved} in all"
    for (table, column), first, second in zip(asked.foretold.texts, one.heavy, two.heavy, strict=False):
        if (moved := sum(abs(a - b) for a, b in _apart(first, second).values())) > asked.units:
            yield f"values of {table}.{column} move by {moved} in all"


def reached(asked: FactsAsked, one: FactCounts, two: FactCounts) -> float:
    """The share of the claim that the exact counts imply: of its epsilon where noise is Laplace's, else of its rho."""
    pairs = list(zip(one.listed, two.listed, strict=True))
    pairs += [pair for own in _values(asked, one, two) for pair in own.values()]
    claimed = asked.advice.loss.priced()
    match asked.advice.law:
        case LaplaceLaw(scale=scale):
            return float(sum(abs(a - b) for a, b in pairs) / scale / ((claimed.epsilon or 0) * UNIT))
        case GaussianLaw(variance=variance):
            return float(sum((a - b) ** 2 for a, b in pairs) / (2 * variance) / (claimed.rho * UNIT))
        case law:
            raise InvariantBroken(f"no audit knows the law {law!r}")


def likelihoods(
    asked: FactsAsked, real: int, sides: tuple[FactCounts, FactCounts], size: int, sampler: Sampler
) -> Floats:
    """(size,) log-likelihood ratios of the first side to the second, of facts drawn on one of them.

    Args:
        asked: What is drawn.
        real: The side that they are drawn on, 0 or 1.
        sides: The exact counts of either.
        size: How often.
        sampler: The source of noise.
    """
    one, two = sides
    pairs = [pair for pair in zip(one.listed, two.listed, strict=True) if pair[0] != pair[1]]
    total = _ratio(asked, asked.advice.counts(as_raw([pair[real] for pair in pairs] * size), sampler), pairs * size)
    found: Floats = total.reshape(size, len(pairs)).sum(axis=1)
    for own in _values(asked, one, two):
        there = [pair for pair in own.values() if pair[real]]
        labels = [str(label) for label in range(size * len(there))]  # a value of each draw
        raw = RawTable({"value": labels, "count": [pair[real] for pair in there] * size})
        for label, noised in asked.advice.values(raw, sampler):
            draw, at = divmod(int(label), len(there))
            a, b = there[at]
            found[draw] += _ratio(asked, [noised], [(a, b)])[0] if a and b else ALONE if a else -ALONE
    return found


def _values(asked: FactsAsked, one: FactCounts, two: FactCounts) -> list[dict[str, tuple[int, int]]]:
    """For each open column that is asked for: the values whose numbers of units differ."""
    return [_apart(first, second) for _, first, second in zip(asked.foretold.texts, one.heavy, two.heavy, strict=False)]


def _apart(one: Mapping[str, int], two: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    both = {value: (one.get(value, 0), two.get(value, 0)) for value in {**one, **two}}
    return {value: pair for value, pair in both.items() if pair[0] != pair[1]}


def _ratio(asked: FactsAsked, drawn: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Floats:
    """(n,) log-likelihood ratios of single numbers."""
    x, (a, b) = np.array(drawn, dtype=float), np.array(pairs, dtype=float).reshape(-1, 2).T
    match asked.advice.law:
        case LaplaceLaw(scale=scale):
            found = (np.abs(x - b) - np.abs(x - a)) / float(scale)
        case GaussianLaw(variance=variance):
            found = ((x - b) ** 2 - (x - a) ** 2) / (2 * float(variance))
        case law:
            raise InvariantBroken(f"no audit knows the law {law!r}")
    return np.asarray(found)
