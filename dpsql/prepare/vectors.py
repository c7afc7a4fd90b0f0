"""Means of several columns as one vector: which may stand together, and whether they are better off so.

Everything here rests on public facts. The AVGs of one grouping stand together where each counts the same rows whatever
the data are: columns without NULL, or the columns of one ``avg_vector``. They are released together where that has the
lesser expected error: for each mean the square of its share of the error alone, on average over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from dpsql.mechanisms.base import Refusal, Request, expected_error
from dpsql.mechanisms.choose import Choice, Other
from dpsql.mechanisms.friendly_mean import FriendlyCore, FriendlyMean
from dpsql.prepare.prepared import Measured

__all__ = ["Vectors", "in_a_row", "joined", "offers"]

Vectors = dict[tuple[int, ...], FriendlyMean]
"""Indices of requests, two or more, to the offer for all of them."""


def offers(requests: Sequence[Request], allowed: Callable[[Request], bool]) -> Vectors:
    """Every vector that `FriendlyCore` offers for some of the requests.

    Args:
        requests: Of one statement.
        allowed: Whether the mechanism may answer a request: neither banned nor another one asked for.
    """
    groups: list[list[int]] = []
    for index, request in enumerate(requests):
        aggregate = request.aggregate
        complete = aggregate.vector or (aggregate.argument is not None and not aggregate.argument.facts.nullable)
        if aggregate.function == "avg" and complete and not request.selects and allowed(request):
            like = next((group for group in groups if _alike(requests[group[0]], request)), None)
            if like is None:
                groups.append([index])
            else:
                like.append(index)
    found = {
        tuple(group): FriendlyCore().together([requests[index] for index in group])
        for group in groups
        if len(group) > 1
    }
    return {members: offer for members, offer in found.items() if not isinstance(offer, Refusal)}


def _alike(one: Request, other: Request) -> bool:
    return one.source == other.source and one.aggregate.vector == other.aggregate.vector


def joined(choices: Sequence[Choice | None], vectors: Vectors) -> list[tuple[Choice, int]]:
    """Each request's choice with its place in its vector, or 0.

    Args:
        choices: What each request gets alone; None where nothing answers it alone, which a vector then does.
        vectors: What is offered for several together.
    """
    taken = [(choice, 0) for choice in choices]
    for members, offer in vectors.items():
        each = [replace(offer, at=place) for place in range(len(members))]
        alone = [choices[index] for index in members]
        if None in alone or _lesser(each, [choice for choice in alone if choice is not None]):
            for place, (index, choice) in enumerate(zip(members, alone, strict=True)):
                taken[index] = (Choice(each[place], () if choice is None else _others(choice)), place)
    return [(choice, place) for choice, place in taken if choice is not None]


def in_a_row(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """The same, with the further means of a vector behind the first, whose release answers them."""
    ordered: list[Measured] = []
    for one in measured:
        first = one.choice.release
        if one.place == 0:
            ordered.append(one)
        if one.place == 0 and isinstance(first, FriendlyMean):
            ordered += [m for m in measured if m.place and m.choice.release == replace(first, at=m.place)]
    return tuple(ordered)


def _lesser(each: Sequence[FriendlyMean], alone: Sequence[Choice]) -> bool:
    shares = [
        (expected_error(own) / expected_error(other.release)) ** 2 for own, other in zip(each, alone, strict=True)
    ]
    return sum(shares) < len(shares)


def _others(choice: Choice) -> tuple[Other, ...]:
    release = choice.release
    reason = "alone, at its part of the price: as one vector the means err less."
    return (Other(release.mechanism, expected_error(release), reason), *choice.others)
