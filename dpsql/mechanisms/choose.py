"""Which mechanism answers: the one with the least expected error, by public facts alone.

Of those that are expected to err about as little (`ALIKE`), or hardly more but with an interval several times shorter
(`SEVERAL`), or one that says something where that of the least error does not (`foretold.nothing_from`), it is the one
with the shortest interval; of equal ones the first.

Unasked, of those alone whose intervals hold the truth whatever the data are (`unasked`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.base import Mechanism, Offer, Refusal, Request
from dpsql.mechanisms.foretold import nothing_from
from dpsql.mechanisms.unasked import only_named

__all__ = ["Choice", "Other", "choose", "least_error", "takers_of"]

ALIKE = 1.2
"""How many times the least expected error others may have that are as good: both are guesses. Measured on 17 data sets,
986 statements and prices: with 1.1 to 1.3 answers err as much as with 1, and intervals are a hundredth shorter; with 2
they err more."""

MORE = 1.5
"""The same where an interval is `SEVERAL` times shorter, or says something where that of the least error does not:
guesses of errors are often wrong by that. Measured on test scores of 640 schools, of 60 pupils each, at epsilon 0.25:
one with an interval over all of the bounds was to err by 84 and did by 106, one with half of them by 105 and 76. With
3, of counts and sums, the errors of 50 answers of 348 were about 7 times as large, by laplace in the place of clamped,
and 0 was outside of half of their intervals only in the place of 86 of 100 (docs/mechanisms.md)."""
SEVERAL = 3.0
"""How many times shorter than that of the offer with the least expected error. It is a choice."""


@dataclass(frozen=True, slots=True)
class Other:
    """A mechanism that was not chosen.

    Attributes:
        mechanism: Its name.
        half_width: Half of the 95% interval that its quote would foretell, in the column's unit; None where it made no
            offer.
        reason: Why not, in one sentence.
        unasked: Whether nothing but the figures of both kept it from being taken.
    """

    mechanism: str
    half_width: float | None
    reason: str
    unasked: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The offer that was chosen.

    Attributes:
        release: The offer.
        unchosen: Works out the others. Those that could not have been taken are asked for their offers only then.
    """

    release: Offer
    unchosen: Callable[[], tuple[Other, ...]] = field(compare=False)

    @property
    def others(self) -> tuple[Other, ...]:
        """The others with their reasons, in the order of registration."""
        return self.unchosen()


def choose(
    request: Request,
    mechanisms: Sequence[Mechanism] = MECHANISMS,
    wanted: str | None = None,
    banned: Collection[str] = (),
) -> Choice:
    """The offer with the least expected error at the request's price, as `least_error` finds it.

    Args:
        request: What is asked, at a price of its own.
        mechanisms: Who may offer.
        wanted: The only mechanism to take (``mechanism = '...'``), or None for the best.
        banned: Mechanisms that the policy rules out for this column.

    Raises:
        UnsupportedQuery: If no mechanism, or not the wanted one, offers; the message holds every reason.
    """
    best = least_error(request, takers_of(request, mechanisms, wanted, banned))
    if best is None:
        raise _refused(request, mechanisms, wanted, banned)
    return Choice(best, lambda: _others(request, mechanisms, wanted, banned, best))


def takers_of(
    request: Request,
    mechanisms: Sequence[Mechanism] = MECHANISMS,
    wanted: str | None = None,
    banned: Collection[str] = (),
) -> list[Mechanism]:
    """Those that nothing but their own reasons keeps from being taken, at any price of the same kind; as `choose`."""
    return [
        mechanism
        for mechanism in mechanisms
        if wanted in (None, mechanism.name)
        and mechanism.name not in banned
        and (wanted is not None or only_named(mechanism, request) is None)
        and mechanism.may_answer(request)
    ]


def least_error(request: Request, takers: Sequence[Mechanism]) -> Offer | None:
    """The offer with the least expected error; None where there is none.

    Those come first of which an interval is known. Of those that err as little the one with the shortest interval, of
    equal ones the first. Where groups are chosen, the error says more: from how many units on a group appears.
    """
    answers = ((mechanism, mechanism.offer(request)) for mechanism in takers)
    made = [(own, answer, answer.expected_error) for own, answer in answers if not isinstance(answer, Refusal)]
    told = [(offer, error) for own, offer, error in made if _is_told(offer) or _declines(own, request)]
    offers = told or [(offer, error) for _, offer, error in made]
    if not offers:
        return None
    best, least = min(offers, key=lambda own: own[1])  # some work their errors out by a search: once
    alike, more = (least, least) if request.selects else (ALIKE * least, MORE * least)
    short = best.half_width / SEVERAL if best.half_width < math.inf else 0.0
    if any(alike < error <= more and short < o.half_width < best.half_width for o, error in offers):
        nothing = nothing_from(request)
        short = math.nextafter(nothing, 0.0) if best.half_width >= nothing else short
    return min((o for o, error in offers if error <= (more if o.half_width <= short else alike)), key=_width)


def _declines(mechanism: Mechanism, request: Request) -> bool:
    """Whether it would have an interval, if the statement did not decline it."""
    return request.options.interval is not None and "interval" in mechanism.reads(request)


def _is_told(offer: Offer) -> bool:
    """Whether its interval is expected to have two ends."""
    return offer.bracketed and offer.half_width < math.inf


def _width(offer: Offer) -> float:
    return offer.half_width


def _others(
    request: Request, mechanisms: Sequence[Mechanism], wanted: str | None, banned: Collection[str], best: Offer
) -> tuple[Other, ...]:
    """All that may answer such a request but the best, with what each would have foretold, or why it makes no offer."""
    others = []
    for mechanism in mechanisms:
        if mechanism.name != best.mechanism and mechanism.takes(request) and _named(mechanism, request):
            answer, kept = _answer(mechanism, request, banned), only_named(mechanism, request)
            if isinstance(answer, Refusal):
                others.append(Other(mechanism.name, None, answer.reason))
            else:
                reason = kept or _behind(answer, best, nothing_from(request))
                reason = f"mechanism = '{best.mechanism}' was asked for." if wanted else reason
                unasked = kept is None and _is_told(answer)
                others.append(Other(mechanism.name, answer.half_width, " ".join([reason, *answer.notes]), unasked))
    return tuple(others)


def _named(mechanism: Mechanism, request: Request) -> bool:
    """Whether a mechanism may answer a request that names it."""
    return mechanism.may_answer(replace(request, options=replace(request.options, mechanism=mechanism.name)))


def _answer(mechanism: Mechanism, request: Request, banned: Collection[str]) -> Offer | Refusal:
    if mechanism.name in banned:
        return Refusal(mechanism.name, "the policy bans it for this column.")
    return mechanism.offer(request)


def _behind(offer: Offer, best: Offer, nothing: float) -> str:
    """Why an offer that might have been taken was not, in a sentence that the figures of both bear out.

    Args:
        offer, best: The one, and the one that was taken.
        nothing: The half width from which on an interval says nothing.
    """
    if _is_told(best) and not _is_told(offer):
        return "unasked its interval has not both ends."
    error, least = offer.expected_error, best.expected_error
    if error * ALIKE < least:
        longer = "be several times longer"
        if best.half_width * SEVERAL > offer.half_width >= nothing:
            longer = "reach over about all that the answer may be"
        return (
            f"it is expected to err less, by {_figures(error)} where that of {best.mechanism} does by "
            f"{_figures(least)} (95%), but its interval would {longer}."
        )
    if error < least:
        return "it is expected to err hardly less, and its interval would be longer."
    if offer.half_width >= best.half_width:
        return "its expected error is not smaller."
    if error == least:
        return "its interval would be shorter, and its answer is not expected to be nearer."
    return (
        f"its interval would be shorter, and its answer is expected to be farther off: by {_figures(error)}, that of "
        f"{best.mechanism} by {_figures(least)} (95%)."
    )


def _figures(error: float) -> str:
    """Three figures of it.

    >>> _figures(2849.4), _figures(0.02567)
    ('2,850', '0.0257')
    """
    return f"{float(f'{error:.3g}'):,.12g}"


def _refused(
    request: Request, mechanisms: Sequence[Mechanism], wanted: str | None, banned: Collection[str]
) -> UnsupportedQuery:
    """Why nothing was taken."""
    asked = [own for own in mechanisms if own.may_answer(request) or (own.name == wanted and own.takes(request))]
    answers = [(own, _answer(own, request, banned)) for own in asked]
    others = {own.name: answer.reason for own, answer in answers if isinstance(answer, Refusal)}
    offering = [own for own, _ in answers if own.name not in others]
    named = {own.name: reason for own in offering if wanted is None and (reason := only_named(own, request))}
    construct, position = request.aggregate.text, request.aggregate.position
    if named:
        ask = ") or OPTIONS (".join(f"mechanism = '{name}'" for name in named)
        reasons = " ".join(f"{name}: {reason}" for name, reason in named.items())
        alone = request.grid is None and request.aggregate.argument is not None and request.aggregate.second is None
        bounds = ", or name bounds behind its argument: contribution_bounds_per_row => (low, high)" * alone
        return UnsupportedQuery(
            "no mechanism answers this unasked.",
            construct=construct,
            position=position,
            hint=f"Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({ask}) {construct} FROM ...{bounds}. {reasons}",
        )
    if wanted is None:
        alike = {reason: [name for name in others if others[name] == reason] for reason in others.values()}
        reasons = " ".join(f"{', '.join(names)}: {reason}" for reason, names in alike.items())
        return UnsupportedQuery("no mechanism answers this.", construct=construct, position=position, hint=reasons)
    if any(own.name == wanted for own in mechanisms):
        return UnsupportedQuery(
            f"mechanism '{wanted}' does not answer this: {others.get(wanted, 'it is for questions of another kind.')}",
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
