"""Several statements bought together: what they ask alike is measured once, and each of them reads the same release.

Two measurements are one where the engine would run the same statement for them, over the same groups, and their
releases have one canonical form, loss included: what a stored answer is found by, too (`Prepared.fingerprint`). Where
groups are chosen, the choice must be the same. Such a release is drawn once; the answers of all the statements are
functions of it. So a batch loses what its distinct releases lose together: composition, and nothing else.

An aggregate that several statements ask for alike, at different prices, is bought at one of these prices: the one that
errs the least. So no answer is worse than alone, and the batch costs no more than its statements do. Where that makes
no common release, because a mechanism would answer one of them together with others of its statement, each keeps its
own price. Everything here rests on public facts and on what was released before.

Tests: tests/unit/prepare/test_batch.py, tests/attacks/test_batches.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.engine.lower import Lower
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.mechanisms.base import Price, Request
from dpsql.plan.options import Options
from dpsql.prepare.identity import canonical
from dpsql.prepare.prepared import Measured, Prepared
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed, encode

__all__ = [
    "At",
    "Batch",
    "Prices",
    "Purchase",
    "batch_of",
    "priced_at",
    "purchases",
    "readings_for",
    "repriced",
    "separable",
]

NOTHING = Composed(())
"""What is paid for what was released before."""

Prices = Mapping[str, Price]
"""Of a statement's measurements, by the aggregate's name."""

At = Callable[[Prepared, Prices], Prepared]
"""The same statement at other prices."""


@dataclass(frozen=True, slots=True)
class Purchase:
    """What a statement pays for at once: one release, or all of its releases where they have one price together.

    Attributes:
        draws: The measurements that noise is drawn for, by name, each with what tells its draw from any other.
        loss: Of all of them.
        name: What is measured, as the analyst wrote it.
    """

    draws: Mapping[str, str]
    loss: Loss
    name: str


def purchases(prepared: Prepared, lower: Lower) -> tuple[Purchase, ...]:
    """What a statement pays for, in the order in which it is drawn.

    Args:
        prepared: The statement.
        lower: How what a release needs becomes the engine's statement.
    """
    releases: list[list[Measured]] = []  # each with all the measurements that it answers
    for measured in prepared.measured:
        if measured.place == 0:
            releases.append([])
        releases[-1].append(measured)
    draws = {answered[0].name: _draw(prepared, answered, lower) for answered in releases}
    if prepared.selection is not None:  # which groups appear, and so what is drawn for them
        chooser = prepared.measured[prepared.selection].name
        draws = {name: draw if name == chooser else f"{draw} of {draws[chooser]}" for name, draw in draws.items()}
    losses = tuple(answered[0].choice.release.loss for answered in releases)
    if encode(Composed(losses)) != encode(prepared.loss):
        whole = {name: f"{draw} in {sorted(draws.items())}" for name, draw in draws.items()}
        return (Purchase(whole, prepared.loss, _texts(prepared, prepared.measured)),)
    return tuple(
        Purchase({answered[0].name: draws[answered[0].name]}, loss, _texts(prepared, answered))
        for answered, loss in zip(releases, losses, strict=True)
    )


def _draw(prepared: Prepared, answered: Sequence[Measured], lower: Lower) -> str:
    """What tells the draw of a release from any other of the same analyst over the same version of the tables."""
    first = answered[0]
    statement = lower(first.choice.release.need)
    releases = [canonical(measured.choice.release) for measured in answered]
    groups = prepared.groupings[first.grouping].groups
    within = [key.domain for key in prepared.plan.keys] if groups is None else groups  # groups are chosen within them
    described = (statement.identity, prepared.keys_of(first), within, releases)
    return hashlib.sha256(repr(described).encode()).hexdigest()


def _texts(prepared: Prepared, measured: Iterable[Measured]) -> str:
    names = {one.name for one in measured}
    return ", ".join(dict.fromkeys(one.aggregate.text for one in prepared.told if one.name in names))


@dataclass(frozen=True, slots=True)
class Batch:
    """Statements as they are bought together.

    Attributes:
        own: Each at its own prices; one that was released before, at those at which it was.
        together: Each at the prices at which it is bought.
        fingerprints: What each is stored under: its own, at its own prices.
        needs: What each reads; nothing where there is one statement alone.
        paid: What each is the first to pay for; nothing where it was released before, or stands there twice.
        settled: Indices of those that were released before.
        fresh: Indices of those that are bought.
        known: Draws that were released before: of which statement, and under which name.
        free: The measurements of each, by name, that it does not pay for: they were released before, or a statement
            before it pays.
    """

    own: tuple[Prepared, ...]
    together: tuple[Prepared, ...]
    fingerprints: tuple[str, ...]
    needs: tuple[tuple[Purchase, ...], ...]
    paid: tuple[Loss, ...]
    settled: frozenset[int]
    fresh: tuple[int, ...]
    known: Mapping[str, tuple[int, str]]
    free: tuple[frozenset[str], ...]

    @property
    def loss(self) -> Loss:
        """What is charged for all of them: that of each release, once."""
        return self.paid[0] if len(self.paid) == 1 else Composed(tuple(self.paid[index] for index in self.fresh))

    @property
    def alone(self) -> Loss:
        """What is charged where each is bought by itself."""
        return Composed(tuple(self.own[index].loss for index in self.fresh))

    def draws(self, index: int) -> dict[str, str]:
        """The measurements of a statement that noise is drawn for, by name, with what tells each draw from others."""
        return _draws(self.needs[index])

    def prices(self, index: int) -> Prices:
        """The prices of a statement's aggregates where they are not its own, else none."""
        prices = self.together[index].prices
        return {} if prices == self.own[index].prices else prices

    def shared(self) -> list[tuple[Purchase, tuple[int, ...]]]:
        """What several statements read, each with their indices."""
        readers: dict[tuple[str, ...], tuple[Purchase, dict[int, None]]] = {}
        for index, needed in enumerate(self.needs):
            for purchase in needed:
                readers.setdefault(tuple(purchase.draws.values()), (purchase, {}))[1][index] = None
        return [(purchase, tuple(indices)) for purchase, indices in readers.values() if len(indices) > 1]


def batch_of(
    own: Sequence[Prepared], fingerprints: Sequence[str], settled: Collection[int], at: At, lower: Lower
) -> Batch:
    """How statements are bought together.

    Args:
        own: Each at its own prices.
        fingerprints: What each is stored under.
        settled: Those, by index, that were released before, at these prices.
        at: The same statement at other prices.
        lower: How what a release needs becomes the engine's statement.
    """
    fresh = tuple(i for i, print_ in enumerate(fingerprints) if i not in settled and fingerprints.index(print_) == i)
    together, needs = list(own), [tuple[Purchase, ...]()] * len(own)
    known: dict[str, tuple[int, str]] = {}
    paid: list[Loss] = [NOTHING] * len(own)
    free = [_answered(prepared, {measured.name for measured in prepared.measured}) for prepared in own]
    if len(own) == 1:
        paid = [own[0].loss if fresh else NOTHING]
        free = [frozenset()] if fresh else free
    else:
        together = levelled(own, fingerprints, settled, at, lower)
        needs = [purchases(prepared, lower) for prepared in together]
        for index in filter(lambda index: _tells_all(own[index]), settled):
            known |= {draw: (index, name) for name, draw in _draws(needs[index]).items()}
        bought = set(known)
        for index in fresh:
            new, before = list[Loss](), set[str]()
            for purchase in needs[index]:  # one after the other: at a common price two of one statement may be one draw
                if bought.issuperset(purchase.draws.values()):
                    before.update(purchase.draws)
                else:
                    bought.update(purchase.draws.values())
                    new.append(purchase.loss)
            paid[index], free[index] = Composed(tuple(new)), _answered(together[index], before)
    return Batch(
        own=tuple(own),
        together=tuple(together),
        fingerprints=tuple(fingerprints),
        needs=tuple(needs),
        paid=tuple(paid),
        settled=frozenset(settled),
        fresh=fresh,
        known=known,
        free=tuple(free),
    )


def _answered(prepared: Prepared, drawn: Collection[str]) -> frozenset[str]:
    """All measurements, by name, that releases answer of which these are the first."""
    found, first = set[str](), ""
    for measured in prepared.measured:
        first = measured.name if measured.place == 0 else first
        found |= {measured.name} if first in drawn else set()
    return frozenset(found)


def _tells_all(prepared: Prepared) -> bool:
    """Whether a stored answer tells all that was drawn for it: not where groups were chosen, for some are left out."""
    return prepared.selection is None


def _draws(needed: Iterable[Purchase]) -> dict[str, str]:
    return {name: draw for purchase in needed for name, draw in purchase.draws.items()}


def readings_for(prepared: Prepared, drawn: Collection[str]) -> set[int]:
    """The engine statements, by index, that are read where some measurements, by name, were drawn before."""
    read = {m.reading for m in prepared.measured if m.place == 0 and m.name not in drawn}
    if prepared.selection is not None:  # the groups to choose from are read
        read.add(prepared.measured[prepared.selection].reading)
    return read


def separable(prepared: Prepared) -> bool:
    """Whether each aggregate has a price of its own, by epsilon or rho, for one grouping."""
    return prepared.plan.table is None and prepared.plan.sets is None and prepared.options.multiple is None


def levelled(
    own: Sequence[Prepared], fingerprints: Sequence[str], settled: Collection[int], at: At, lower: Lower
) -> list[Prepared]:
    """The statements of a batch at the prices at which they are bought together.

    Those with one release have it at the prices of the first of them; where these would make it several, none changes.

    Args:
        own: Each at its own prices.
        fingerprints: What each is stored under.
        settled: Those, by index, whose prices stay: they were released before.
        at: The same statement at other prices.
        lower: How what a release needs becomes the engine's statement.
    """
    firsts = [fingerprints.index(fingerprint) for fingerprint in fingerprints]
    alike = _alike(own, firsts, settled)
    while alike:
        prices = [dict(prepared.prices) for prepared in own]
        for best, members in alike:
            for member in members:
                if member.statement not in settled:
                    prices[member.statement][member.name] = best
        together = [
            prepared if prices[first] == own[first].prices else repriced(prepared, prices[first], at)
            for prepared, first in zip(own, firsts, strict=True)
        ]
        torn = {first for index, first in enumerate(firsts) if _print(together[index]) != _print(together[first])}
        draws = [_draws(purchases(prepared, lower)) for prepared in together]
        common = [
            (best, members)
            for best, members in alike
            if torn.isdisjoint(member.statement for member in members) and _is_one(best, members, prices, draws)
        ]
        if len(common) == len(alike):
            return together
        alike = common
    return list(own)


@dataclass(frozen=True, slots=True)
class _Member:
    """One of the aggregates that several statements ask for alike: of which statement, and its name there."""

    statement: int
    name: str


def _print(prepared: Prepared) -> str:
    return prepared.fingerprint("", 0)


def _alike(
    own: Sequence[Prepared], firsts: Sequence[int], settled: Collection[int]
) -> list[tuple[Price, list[_Member]]]:
    """What several statements ask for but for the price: the price that errs the least, and who asks."""
    found: list[tuple[Request, list[tuple[float, Price, _Member]]]] = []
    for index, prepared in enumerate(own):
        if firsts[index] != index or not separable(prepared) or (index in settled and not _tells_all(prepared)):
            continue
        for measured in prepared.measured:
            name, release = measured.aggregate.name, measured.choice.release
            asked, price = _asked(measured.request), prepared.prices[name]
            own_group = next((members for other, members in found if other == asked), None)
            if own_group is None:
                own_group = []
                found.append((asked, own_group))
            own_group.append((release.expected_error, price, _Member(index, name)))
    several = [members for _, members in found if len({member.statement for *_, member in members}) > 1]
    return [(min(members, key=lambda member: member[0])[1], [member for *_, member in members]) for members in several]


def _asked(request: Request) -> Request:
    """A request without its name and its price, which a common price would change."""
    aggregate = replace(request.aggregate, name="", text="", epsilon=None, position=None)
    by_rho = request.price.rho is not None
    options = replace(
        request.options, epsilon=None, rho=None, delta=None, confidence=None, group_selection_epsilon=None
    )
    price = Price(None, Fraction(0), rho=Fraction(by_rho))
    return replace(request, aggregate=aggregate, price=price, options=options, personal=None)


def _is_one(
    best: Price, members: Sequence[_Member], prices: Sequence[Prices], draws: Sequence[Mapping[str, str]]
) -> bool:
    """Whether all that ask at the common price read one draw."""
    found = [draws[m.statement].get(f"{m.name}@0") for m in members if prices[m.statement][m.name] == best]
    return None not in found and len(set(found)) == 1


def repriced(prepared: Prepared, prices: Prices, at: At) -> Prepared:
    """The statement at other prices, or at its own where no mechanism serves at those."""
    try:
        return at(prepared, prices)
    except (UnsupportedQuery, ProgrammingError):
        return prepared


def priced_at(options: Options, prices: Prices) -> Options:
    """The options of a statement whose measurements have these prices."""
    rho = sum((price.rho for price in prices.values() if price.rho is not None), Fraction(0))
    epsilon = sum((price.epsilon for price in prices.values() if price.epsilon is not None), Fraction(0))
    return replace(options, rho=rho, epsilon=None) if rho else replace(options, epsilon=epsilon, rho=None)
