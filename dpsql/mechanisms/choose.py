"""Which mechanism answers: the one with the least expected error, by public facts alone.

Unasked, of those alone whose intervals hold the truth whatever the data are (`unasked`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.base import Mechanism, Offer, Refusal, Request
from dpsql.mechanisms.unasked import only_named

__all__ = ["Choice", "Other", "choose"]


@dataclass(frozen=True, slots=True)
class Other:
    """A mechanism that was not chosen.

    Attributes:
        mechanism: Its name.
        expected_error: What its answer is expected to be off by, 95 times of 100, in the column's unit; None where it
            made no offer.
        reason: Why not, in one sentence.
    """

    mechanism: str
    expected_error: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """The offer that was chosen, and the others with their reasons, in the order of registration."""

    release: Offer
    others: tuple[Other, ...]


def choose(
    request: Request,
    mechanisms: Sequence[Mechanism] = MECHANISMS,
    wanted: str | None = None,
    banned: Collection[str] = (),
) -> Choice:
    """The offer with the least expected error at the request's price; of equal ones the first registered.

    Args:
        request: What is asked, at a price of its own.
        mechanisms: Who may offer.
        wanted: The only mechanism to take (``mechanism = '...'``), or None for the best.
        banned: Mechanisms that the policy rules out for this column.

    Raises:
        UnsupportedQuery: If no mechanism, or not the wanted one, offers; the message holds every reason.
    """
    offers: dict[str, Offer] = {}
    others: dict[str, Other] = {}
    for mechanism in mechanisms:
        if not mechanism.takes(request):
            continue
        name = mechanism.name
        answer = Refusal(name, "the policy bans it for this column.") if name in banned else mechanism.offer(request)
        if isinstance(answer, Refusal):
            others[name] = Other(name, None, answer.reason)
        else:
            offers[name] = answer
    named = {m.name: reason for m in mechanisms if m.name in offers and (reason := only_named(m, request))}
    eligible = [name for name in offers if (name not in named if wanted is None else name == wanted)]
    if not eligible:
        raise _refused(request, others, wanted, {} if wanted else named)
    # Each error is computed once: some need a search.
    errors = {name: release.expected_error for name, release in offers.items()}
    best = min(eligible, key=errors.__getitem__)
    for name, error in errors.items():
        if name != best:
            reason = f"mechanism = '{best}' was asked for." if wanted else named.get(name, NOT_SMALLER)
            others[name] = Other(name, error, " ".join([reason, *offers[name].notes]))
    return Choice(offers[best], tuple(others[m.name] for m in mechanisms if m.name in others))


NOT_SMALLER = "its expected error is not smaller."


def _refused(
    request: Request, others: Mapping[str, Other], wanted: str | None, named: Mapping[str, str]
) -> UnsupportedQuery:
    construct, position = request.aggregate.text, request.aggregate.position
    if named:
        ask = " or ".join(f"mechanism = '{name}'" for name in named)
        reasons = " ".join(f"{name}: {reason}" for name, reason in named.items())
        return UnsupportedQuery(
            "no mechanism answers this unasked.",
            construct=construct,
            position=position,
            hint=f"Write {ask}. {reasons}",
        )
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
        hint=f"Write one of {', '.join(mechanism.name for mechanism in MECHANISMS if mechanism.takes(request))}.",
    )
