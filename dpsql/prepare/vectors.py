"""Several aggregates as one release: which may stand together, and whether they are better off so.

Everything here rests on public facts. The AVGs of one grouping are a vector where each counts the same rows whatever
the data are: columns without NULL, or the columns of one ``avg_vector``. Statistics of the same values share their
noised numbers (`mechanisms.shared`). They are released together where that is expected to be more accurate: for each
of them the expected error of the joint release is divided by the one of a release of its own, and the mean of the
squares of these ratios is below 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dpsql.errors import InvariantBroken
from dpsql.mechanisms.base import Mechanism, Refusal, Request
from dpsql.mechanisms.choose import Choice, Other
from dpsql.mechanisms.friendly_core.mechanism import FriendlyCore, FriendlyMean
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.central import STATISTICS
from dpsql.mechanisms.noise.moments import MomentsRelease
from dpsql.mechanisms.shared import TOTALS, TotalsRelease, same_numbers, shared_offers
from dpsql.prepare.prepared import Measured

__all__ = ["Vectors", "in_a_row", "joined", "offers"]

Together = FriendlyMean | MomentsRelease | TotalsRelease
"""A release that answers several aggregates, each at a place of its own."""

PLAIN: tuple[Mechanism, ...] = (Laplace(), Gaussian())

Vectors = Sequence[tuple[tuple[int, ...], Together]]
"""Indices of requests, two or more, with an offer for all of them."""


def offers(requests: Sequence[Request], allowed: Callable[[Request, Mechanism], bool]) -> Vectors:
    """Every offer for some of the requests together.

    Args:
        requests: Of one statement.
        allowed: Whether a mechanism may answer a request: neither banned nor another one asked for.
    """
    return [*_means(requests, allowed), *_shared(requests, allowed)]


def _means(requests: Sequence[Request], allowed: Callable[[Request, Mechanism], bool]) -> Vectors:
    """Vectors of means, by `FriendlyCore`."""

    def fits(request: Request) -> bool:
        aggregate = request.aggregate
        complete = aggregate.vector or (aggregate.argument is not None and not aggregate.argument.facts.nullable)
        mean = aggregate.function == "avg" and complete and not request.selects
        return bool(mean) and allowed(request, FriendlyCore())

    found = [
        (members, FriendlyCore().together([requests[index] for index in members]))
        for members in _alike_among(requests, fits, _alike)
    ]
    return [(members, offer) for members, offer in found if not isinstance(offer, Refusal)]


def _shared(requests: Sequence[Request], allowed: Callable[[Request, Mechanism], bool]) -> Vectors:
    """Statistics of the same noised numbers. Sums of several grouping sets stay alone: they are made to agree."""
    sets = any(request.source.keys != requests[0].source.keys for request in requests)

    def fits(request: Request) -> bool:
        function = request.aggregate.function
        return function in STATISTICS or (function in TOTALS and not sets)

    return [
        (members, offer)
        for members in _alike_among(requests, fits, same_numbers)
        for mechanism in PLAIN
        if all(allowed(requests[index], mechanism) for index in members)
        for offer in shared_offers(mechanism.name, [requests[index] for index in members])
    ]


def _alike_among(
    requests: Sequence[Request], fits: Callable[[Request], bool], alike: Callable[[Request, Request], bool]
) -> list[tuple[int, ...]]:
    """Indices of requests that fit and are alike, two or more together."""
    groups: list[list[int]] = []
    for index, request in enumerate(requests):
        if fits(request):
            like = next((group for group in groups if alike(requests[group[0]], request)), None)
            if like is None:
                groups.append([index])
            else:
                like.append(index)
    return [tuple(group) for group in groups if len(group) > 1]


def _alike(one: Request, other: Request) -> bool:
    return one.source == other.source and one.aggregate.vector == other.aggregate.vector


def joined(choices: Sequence[Choice | None], vectors: Vectors) -> list[tuple[Choice, int]]:
    """Each request's choice with its place in its vector, or 0.

    Args:
        choices: What each request gets alone; None where nothing answers it alone, which a vector then does.
        vectors: What is offered for several together.
    """
    taken = [(choice, 0) for choice in choices]
    ranked = sorted(
        ((_share_of_alone(offer, [choices[index] for index in members]), members, offer) for members, offer in vectors),
        key=lambda one: one[0],
    )
    placed: set[int] = set()
    for share, members, offer in ranked:
        if share <= 1 and placed.isdisjoint(members):
            placed.update(members)
            for place, index in enumerate(members):
                alone = choices[index]
                taken[index] = (Choice(offer.placed(place), () if alone is None else _others(alone)), place)
    return [(choice, place) for choice, place in taken if choice is not None]


def in_a_row(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """The same, with the further aggregates of one release behind the first, whose release answers them."""
    ordered: list[Measured] = []
    for one in measured:
        first = one.choice.release
        if one.place == 0:
            ordered.append(one)
        if one.place == 0 and isinstance(first, Together):
            ordered += [m for m in measured if m.place and _first_of(m) == first]
    return tuple(ordered)


def _first_of(measured: Measured) -> Together:
    """The release of the first aggregate of those that one release answers."""
    release = measured.choice.release
    if not isinstance(release, Together):
        raise InvariantBroken("a further place in a release that has one")
    return release.placed(0)


def _share_of_alone(offer: Together, alone: Sequence[Choice | None]) -> float:
    """The mean square of each expected error as a share of that alone; 0 where some have no answer alone."""
    if None in alone:
        return 0.0
    widths = [
        (offer.placed(i).expected_error, own.release.expected_error) for i, own in enumerate(alone) if own is not None
    ]
    if any(other == 0 for _, other in widths):  # exact alone
        return math.inf
    return sum((own / other) ** 2 for own, other in widths) / len(widths)


def _others(choice: Choice) -> tuple[Other, ...]:
    release = choice.release
    reason = "alone, at its part of the price: together they err less."
    return (Other(release.mechanism, release.expected_error, reason), *choice.others)
