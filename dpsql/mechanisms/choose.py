"""Which mechanism answers: the one with the least expected error, by public facts alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.base import Mechanism, Refusal, Release, Request

__all__ = ["Choice", "Other", "choose"]


@dataclass(frozen=True, slots=True)
class Other:
    """A mechanism that was not chosen.

    Attributes:
        mechanism: Its name.
        half_width: Expected half width of its 95% interval in the column's unit; None where it made no offer.
        reason: Why not, in one sentence.
    """

    mechanism: str
    half_width: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The offer that was chosen, and the others with their reasons, in the order of registration."""

    release: Release
    others: tuple[Other, ...]


def choose(
    request: Request,
    mechanisms: Sequence[Mechanism] = MECHANISMS,
    wanted: str | None = None,
    banned: Collection[str] = (),
) -> Choice:
    """The offer with the least expected error at the request's price; of equal ones the first registered.

    Args:
        request: What is asked.
        mechanisms: Who may offer.
        wanted: The only mechanism to take (``mechanism = '...'``), or None for the best.
        banned: Mechanisms that the policy rules out for this column.

    Raises:
        UnsupportedQuery: If no mechanism, or not the wanted one, offers; the message holds every reason.
    """
    offers: dict[str, Release] = {}
    others: dict[str, Other] = {}
    for mechanism in mechanisms:
        name = mechanism.name
        answer = Refusal(name, "the policy bans it for this column.") if name in banned else mechanism.offer(request)
        if isinstance(answer, Refusal):
            others[name] = Other(name, None, answer.reason)
        else:
            offers[name] = answer
    eligible = [name for name in offers if wanted in (None, name)]
    if not eligible:
        raise _refused(request, others, wanted)
    # Each half width is computed once: some need a search.
    widths = {name: release.half_width for name, release in offers.items()}
    best = min(eligible, key=widths.__getitem__)
    for name, width in widths.items():
        if name != best:
            reason = f"mechanism = '{best}' was asked for." if wanted else "its expected error is not smaller."
            others[name] = Other(name, width, " ".join([reason, *offers[name].notes]))
    return Choice(offers[best], tuple(others[m.name] for m in mechanisms if m.name in others))


def _refused(request: Request, others: dict[str, Other], wanted: str | None) -> UnsupportedQuery:
    construct, position = request.aggregate.text, request.aggregate.position
    if wanted is None:
        reasons = " ".join(f"{name}: {other.reason}" for name, other in others.items())
        return UnsupportedQuery("no mechanism answers this.", construct=construct, position=position, hint=reasons)
    if wanted in others:
        return UnsupportedQuery(
            f"mechanism '{wanted}' does not answer this: {others[wanted].reason}",
            construct=construct,
            position=position,
            hint="Leave the mechanism out to get the one with the least expected error.",
        )
    return UnsupportedQuery(
        f"there is no mechanism '{wanted}'.",
        construct=construct,
        position=position,
        hint=f"Write one of {', '.join(mechanism.name for mechanism in MECHANISMS)}.",
    )
