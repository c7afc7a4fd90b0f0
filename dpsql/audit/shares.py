"""The audit of policies with classes of units: everybody loses their own class's share at most, in exact integers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from dpsql.audit.moves import epsilon_of_choices, moved_draws
from dpsql.audit.replay import Replay, RunPart
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal, PersonalisedExtreme
from dpsql.privacy.account import UNIT

__all__ = ["class_shares", "lost", "noised"]


def lost(one: RunPart, two: RunPart) -> Fraction:
    """The epsilon that a release lets slip between two neighbours: the numbers' moves over the noise that was drawn."""
    if isinstance(one.release, ClippedTotal | PersonalisedExtreme):
        ours, theirs = (dict(zip(part.groups, noised(part), strict=True)) for part in (one, two))
        far = sum(abs(ours[group] - theirs[group]) for group in ours.keys() & theirs.keys())
        return far / Fraction(one.draws[0].parameter)
    numbers = sum((far[0] / Fraction(draw.parameter) for draw, far in moved_draws(one, two) if draw), Fraction(0))
    return numbers + epsilon_of_choices(one, two)


def noised(part: RunPart) -> list[int]:
    """The numbers that were noised, in steps, group by group: what came out less what was drawn."""
    (draw,) = part.draws
    return [step - noise for step, noise in zip(part.released["steps"], draw.noise, strict=True)]


def class_shares(replay: Replay, classes: Mapping[str, str]) -> list[str]:
    """Under a policy with classes nobody who comes, goes or is exchanged loses more than was charged to their class.

    Args:
        replay: Its runs.
        classes: The class of each unit, by name.
    """
    found = []
    for where, one, two in replay.pairs():
        if not one.charges:
            continue
        real = sum((lost(a, b) for a, b in zip(one.parts, two.parts, strict=True)), Fraction(0))
        account = one.charges[0].account(one.promise.composition)  # type: ignore[arg-type]  # one of the two names
        moved = [
            classes[name] for name in classes if re.search(f"(without|only) {name} [|]|[|] without {name};", where)
        ]
        charged = [epsilon for name in moved if (epsilon := account.of_class(name).epsilon) is not None]
        if charged and real > max(charged) * UNIT:  # without an epsilon the price was in rho, alike for all classes
            found.append(f"{where}: {moved} lose epsilon {float(real):.6g}, charged {max(charged) * 1e-12:.6g}")
    return found
