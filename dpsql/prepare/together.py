"""Several aggregates as one release: which offers for several are taken, because they are better off so.

Everything here rests on public facts. A joint offer (`Mechanism.together`) is taken where it is expected to be more
accurate: for each of its aggregates the expected error of the joint release is divided by the one of a release of its
own, and the mean of the squares of these ratios is at most 1. Of several for the same aggregates the one is taken that
lowers these squares by the most, all added up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dpsql.mechanisms.base import Joint
from dpsql.mechanisms.choose import Choice, Other
from dpsql.privacy.kinds import Loss

__all__ = ["Taken", "joined"]


@dataclass(frozen=True, slots=True)
class Taken:
    """The offer that answers one request.

    Attributes:
        choice: The offer, and those not taken.
        first: Index of the first request that the same release answers: its own, where it stands alone.
        place: Where it stands among those; 0 for the first.
        loss: What the statement pays for it; None where that is part of what another request pays.
    """

    choice: Choice
    first: int
    place: int
    loss: Loss | None


def joined(alone: Sequence[Choice | None], joints: Sequence[Joint]) -> list[Taken]:
    """What answers each request.

    Args:
        alone: What each request gets alone; None where nothing answers it alone, which a joint offer then does.
        joints: What is offered for several together.
    """
    taken = {
        index: Taken(choice, index, 0, choice.release.loss) for index, choice in enumerate(alone) if choice is not None
    }
    found = {index: alone[index] for joint in joints for index in joint.members}
    errors = {index: None if own is None else own.release.expected_error for index, own in found.items()}
    gains = [(len(joint.members) * (1 - _share_of_alone(joint, errors)), joint) for joint in joints]
    placed, first = set[int](), 0
    for gain, joint in sorted(gains, key=lambda one: -one[0]):
        if gain >= 0 and placed.isdisjoint(joint.members):
            placed.update(joint.members)
            loss: Loss | None = joint.loss
            for index, offer, place in zip(joint.members, joint.offers, joint.places, strict=True):
                first = index if place == 0 else first
                taken[index] = Taken(Choice(offer, partial(_others, alone[index])), first, place, loss)
                loss = None
    return [taken[index] for index in sorted(taken)]


def _share_of_alone(joint: Joint, alone: Mapping[int, float | None]) -> float:
    """The mean square of each expected error as a share of that alone; 0 where some have no answer alone."""
    errors = []
    for index, offer in zip(joint.members, joint.offers, strict=True):
        own = alone[index]
        if own is None:
            return 0.0
        errors.append((offer.expected_error, own))
    if any(other == 0 for _, other in errors):  # exact alone
        return math.inf
    return sum((own / other) ** 2 for own, other in errors) / len(errors)


def _others(alone: Choice | None) -> tuple[Other, ...]:
    """What was not taken, the offer for one aggregate first."""
    if alone is None:
        return ()
    reason = "alone, at its part of the price: together they err less."
    return (Other(alone.release.mechanism, alone.release.half_width, reason), *alone.others)
