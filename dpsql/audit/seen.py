"""What neighbours may see of a statement: everything but its numbers must be the same for both."""

from __future__ import annotations

from dpsql.audit.moves import follows
from dpsql.audit.noted import before_noise
from dpsql.audit.replay import Drawing, Replay, Run, RunPart
from dpsql.mechanisms.capped.groups import CappedThreshold
from dpsql.mechanisms.choice.quantile import QuantileRelease
from dpsql.mechanisms.clamped.release import ClampedRelease
from dpsql.mechanisms.noise.laws import GaussianLaw

__all__ = ["answered", "control_flow", "same_but_draws"]

CALLS = "calls of the sampler"


def control_flow(replay: Replay) -> list[str]:
    """Neighbours see the same statements, laws, charges, columns, types and errors; only numbers may differ."""
    found = []
    for where, one, two in replay.pairs():
        for what, seen in _visible(one).items():
            if seen != (other := _visible(two)[what]):
                found.append(f"{where}: {what} differ: {seen!r} | {other!r}")
        for part, other in zip(one.parts, two.parts, strict=False):
            # Where groups are chosen by noise there may be none to choose values for: how many is released.
            none = part.discovered and not (part.groups and other.groups)
            if not none and _choosing(part) != _choosing(other):
                found.append(f"{where}: choices differ: {_choosing(part)!r} | {_choosing(other)!r}")
        kinds = [_kinds(run) for run in (one, two)]
        # A column without a value has no type: noise decides which rows a condition leaves.
        if any(a != b for a, b in zip(*kinds, strict=False) if a and b):  # an answer on one side alone is convicted
            found.append(f"{where}: types of values differ: {kinds[0]} | {kinds[1]}")
    return found


def answered(replay: Replay) -> list[str]:
    """A statement is answered, or refused before the charge; the same on neighbours, and it never fails."""
    found = []
    for where, run in replay.all():
        if run.error is not None and (run.failed or run.charges):
            how = "fails" if run.failed else "is refused"
            found.append(f"{where}: {how} {'after' if run.charges else 'before'} the charge: {': '.join(run.error)}")
    for where, one, two in replay.pairs():
        if (one.error is None) != (two.error is None):
            found.append(f"{where}: one side alone is answered: {one.error or two.error}")
    return found


def same_but_draws(replay: Replay) -> list[str]:
    """Neighbours see the same, but for calls of the sampler: where earlier released numbers decide on later draws."""
    found = []
    for where, one, two in replay.pairs():
        first, second = _visible(one), _visible(two)
        found += [f"{where}: {what}" for what in first if what not in CALLS and first[what] != second[what]]
    return found


def _visible(run: Run) -> dict[str, object]:
    answer = run.answer
    seen = (
        None
        if answer is None
        else (answer.columns, answer.types, answer.cost, before_noise(answer.measurements), answer.replayed)
    )
    return {
        "engine statements": run.statements,
        CALLS: [[_call(draw, part) for draw in part.draws] for part in run.parts],
        "listed groups": [None if part.discovered else part.groups for part in run.parts],
        "charges": run.charges,
        "answer": seen,
        "error": run.error,
        "spent": run.spent,
    }


def _call(draw: Drawing, part: RunPart) -> tuple[str, object, int | None]:
    """How many groups were discovered is private, and shows in nothing but the number of draws."""
    parameter: object = draw.parameter
    if isinstance(part.release, ClampedRelease) and part.groups:  # that of the clamp which was released
        parameter = draw.parameter == part.release.law(part.released["place"][0]).scale
    if isinstance(part.release, CappedThreshold) and part.groups and draw.law == "gaussian":  # that of the found cap
        law = part.release.inners[part.released["cap"][0]].law
        parameter = isinstance(law, GaussianLaw) and draw.parameter == law.variance
    return draw.law, parameter, None if part.discovered else len(draw.noise)


def _choosing(part: RunPart) -> list[object]:
    """What is public of choices: scores and their places are not, the exponents are, and how many groups are listed.

    Where a quantile's exponents follow from the counts that it released, what they follow by is public.
    """
    release = part.release
    if not part.choices or not part.groups:
        return []
    if isinstance(release, QuantileRelease) and follows(part):
        return [release.rates, release.merged, release.count, None if part.discovered else len(part.groups)]
    groups = 1 if isinstance(release, ClampedRelease) else len(part.groups)  # or one choice for all of them
    each = len(part.choices) // groups
    asked = [(choice.law, choice.exponent) for choice in part.choices]
    same = asked == asked[:each] * groups
    return [asked[:each], same, None if part.discovered else len(asked)]


def _kinds(run: Run) -> list[set[str]]:
    """The types in each column of the answer. A NULL is the work of noise: a ratio whose noised denominator is 0."""
    if run.answer is None:
        return []
    return [{type(row[at]).__name__ for row in run.answer.rows} - {"NoneType"} for at in range(len(run.answer.columns))]
