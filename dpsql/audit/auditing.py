"""The audit of a policy, from its file to a verdict for each question. No private data are read, nothing is charged.

Tests: tests/unit/audit/test_auditing.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np

from dpsql.audit.audits import AUDITS, charged_first, fresh_noise, of_whole_tables, share_of
from dpsql.audit.facts import FactsAsked, facts_asked, likelihoods, moved_too_far, reached
from dpsql.audit.held_out import best_event, bound, outcomes
from dpsql.audit.made_up import FIRST_ROW, LAST_ROW, MOVING, MadeUp
from dpsql.audit.measured import Floats, loss_between, ratios
from dpsql.audit.moves import additive, exposes
from dpsql.audit.questions import DELTA, Posed, questions
from dpsql.audit.replay import Promise, Replay, Run, RunPart, neighbours_of
from dpsql.audit.report import Row, Verdicts
from dpsql.audit.seen import answered, control_flow, same_but_draws
from dpsql.audit.shares import class_shares, lost
from dpsql.audit.stand_in import placed, stand_in
from dpsql.audit.world import Neighbours
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.located.search import PlaceSearch
from dpsql.mechanisms.metric.row_metric import RowMetric
from dpsql.mechanisms.releases.table import METHODS
from dpsql.policy import Policy
from dpsql.privacy.account import DELTA_UNIT, UNIT
from dpsql.privacy.sampling import ExactSampler

__all__ = ["Effort", "audit", "examined", "neighbours"]

Progress = Callable[[str, float], None]


OWN_DRAWS = frozenset({"capped", "friendly_core", "located", "metric", *METHODS})
"""Mechanisms whose draws follow from what they released before, or are of no single law: they are measured alone. So
are synthetic tables, and the means and variances of `clamped`."""
ROWS = (FIRST_ROW, LAST_ROW)
APART = (InvariantBroken, ValueError)
"""What the comparison of runs ends in where these do not even have the same parts."""
KEY = bytes(range(32))
"""The secret key that orders a unit's rows. The proofs hold for each value of it."""
PILOT = 20
"""The first draws of those that say how long one takes. It is a choice."""
GROWS = 4  # So many times more draws are tried, until they take a part of the time. It is a choice.
TRIED = 20  # That part of the time is one in so many. It is a choice.
FEWEST = 100
"""Draws, however long they take. It is a choice: fewer show nothing."""
LIKE_IT = 0.99
"""Pairs that use up so much of what the worst pair does are tried beside it. It is a choice."""
CANDIDATES = 4
"""So many pairs of neighbours are tried where moves say nothing. It is a choice."""


@dataclass(frozen=True)
class Effort:
    """How an audit is done.

    Attributes:
        epsilon: The price of each question.
        draws: On either side, at most.
        seconds: For the draws of one question, about.
        confidence: That no bound of the whole table is above the true epsilon.
    """

    epsilon: Fraction = Fraction(1)
    draws: int = 100_000
    seconds: float = 2.0
    confidence: float = 0.999


@dataclass(frozen=True)
class _Case:
    """One question on two neighbours, to be measured.

    Attributes:
        asked: The question.
        pairs: Pairs of runs, of which one is measured: the first is the worst, where exact numbers say so.
        claimed: The epsilon that was charged for such a pair.
        delta: And the delta.
        of: Whose loss it is, where units are not alike.
        reached: The largest share of the claim that some pair's exact numbers imply; None where no law says it.
        problems: What the exact comparison convicts.
    """

    asked: Posed
    pairs: Sequence[tuple[Run, Run]]
    claimed: float
    delta: float
    of: str
    reached: float | None
    problems: tuple[str, ...]


def audit(policy: Policy, settings: Effort, told: Progress = lambda *_: None) -> Verdicts:
    """The audit of a policy.

    Args:
        policy: The owner's. Its data need not exist.
        settings: How.
        told: Told each step and the share done, 0 to 1.

    Raises:
        Error: The policy cannot be opened, whatever the data.
    """
    made = MadeUp(stand_in(policy))
    with neighbours(made, told=told) as world:
        facts = facts_asked(made.policy, settings.epsilon, DELTA)
        report = examined(made, world, questions(made, settings.epsilon), settings, told, facts)
    return replace(report, engine=policy.engine.kind)


def neighbours(made: MadeUp, names: Collection[str] = (), told: Progress = lambda *_: None) -> Neighbours:
    """The databases of a policy; or some of them, by their names."""
    fills = {
        name: partial(made.write, present) for name, present in _states(made).items() if not names or name in names
    }
    steps = iter(range(len(fills)))

    def building(_: str) -> None:
        told("making up neighbours", next(steps) / len(fills) / 2)

    return Neighbours(fills, lambda folder, _: placed(made.policy, folder), _promise(made), KEY, told=building)


def examined(
    made: MadeUp,
    world: Neighbours,
    asking: Sequence[Posed],
    settings: Effort,
    told: Progress = lambda *_: None,
    facts: Sequence[FactsAsked] = (),
) -> Verdicts:
    """What questions, and facts, really lose, over databases that are there.

    Raises:
        InvariantBroken: One of them fails, where it should be answered or refused.
    """
    told("asking them", 0.5)
    refused, cases = _compared(made, world, asking)
    miss, rows = (1 - settings.confidence) / max(1, len(cases) + len(facts)), []
    for number, case in enumerate(cases):
        told(f"drawing noise for {case.asked.mechanism}", 0.5 + number / len(cases) / 2)
        measured, draws = _measured(case, settings, miss)
        rows.append(
            Row(
                case.asked.template.sql, case.asked.mechanism, case.of, case.claimed, case.delta, measured,
                case.reached, draws, case.problems,
            )
        )  # fmt: skip
    for own in facts:
        told(f"drawing noise for {own}", 1.0)
        rows.append(_of_facts(own, world, _promise(made), settings, miss))
    spoken = {row.mechanism for row in rows}
    return Verdicts(
        policy=made.policy.name, promise=_promise(made), confidence=settings.confidence, databases=len(world.names),
        rows=tuple(rows), silent={name: why for name, why in refused if name not in spoken},
        unfilled=tuple(made.unfilled), engine=made.policy.engine.kind,
    )  # fmt: skip


def _promise(made: MadeUp) -> Promise:
    return Promise(made.policy.neighbours, made.policy.budget.composition)


def _compared(made: MadeUp, world: Neighbours, asking: Sequence[Posed]) -> tuple[list[tuple[str, str]], list[_Case]]:
    """The mechanisms that refuse a question, with their reasons; and what the others come to on neighbours."""
    promise = _promise(made)
    first = [run for _, run in world.replay([one.template for one in asking], [promise], world.names[:1]).all()]
    for run in first:
        if run.failed and run.error is not None:
            said = f"{run.template.sql} fails, where it should be answered or refused: {run.error[1]}"
            raise InvariantBroken(said)
    both = list(zip(asking, (run.error for run in first), strict=True))
    refused = [(one.mechanism, error[1]) for one, error in both if error is not None]
    answered = [one for one, error in both if error is None]
    plain, by_row = ([one for one in answered if (one.metric is None) == kind] for kind in (True, False))
    plainly = [name for name in world.names if name not in ROWS]
    replay = world.replay([one.template for one in plain], [promise], plainly)
    rows = world.replay([one.template for one in by_row], [promise], ROWS)
    cases = [case for at, one in enumerate(plain) for case in _cases(made, one, replay, at, promise)]
    metrics = world.metrics
    cases += [_of_metric(metrics[str(one.metric)], one, rows, at, promise) for at, one in enumerate(by_row)]
    return refused, cases


def _states(made: MadeUp) -> dict[str, set[str]]:
    """Who is in each database. The names tell neighbours, as `neighbours_of` reads them."""
    everybody = set(made.units)
    found = {f"without {name}": everybody - {name} for name in MOVING}
    if made.policy.neighbours == "add_remove":
        found = {"everybody": everybody, **found, f"only {MOVING[0]}": {MOVING[0]}, "nobody": set()}
    if made.policy.metrics:
        found |= {name: everybody | {name} for name in ROWS}
    return found


# --------------------------------------------------------------------------------------- what is compared, and claimed


def _cases(made: MadeUp, asked: Posed, replay: Replay, at: int, promise: Promise) -> Iterator[_Case]:
    """The cases of one question: one for all units, or one for each class of them."""
    runs = {name: own[at] for (_, name), own in replay.runs.items()}
    problems = _convicted(made, asked, Replay({(promise, name): [run] for name, run in runs.items()}))
    pairs = list(neighbours_of(list(runs), promise))
    charges = runs[pairs[0][0]].charges
    if not charges:
        yield _Case(asked, (), 0.0, 0.0, "", None, problems)
        return
    account = charges[0].priced()
    for name in account.classes or [""]:
        epsilon = account.of_class(name).epsilon if name else account.epsilon
        moved = [(runs[one], runs[two]) for one, two in pairs if not name or _classes(made, one, two) == {name}]
        claimed = float((epsilon or 0) * UNIT)
        best, used_up = _worst(asked, moved, claimed if name else 0.0)
        of, delta = f"of class {name}" if name else "", float(account.delta * DELTA_UNIT)
        yield _Case(asked, best, claimed, delta, of, used_up, problems)


def _worst(
    asked: Posed, pairs: Sequence[tuple[Run, Run]], of_class: float
) -> tuple[list[tuple[Run, Run]], float | None]:
    """The pairs that draws are to tell apart, the worst first; and the largest share of the claim that one uses up.

    A pair that shows somebody alone in a cell is what gamma is charged for: no epsilon holds of it.
    """
    alike = [(one, two) for one, two in pairs if len(one.parts) == len(two.parts) and one.error == two.error]
    hidden = [pair for pair in alike if not any(map(exposes, pair[0].parts, pair[1].parts))]
    shares = [_reached(asked, one, two, of_class) for one, two in hidden]
    known = [share for share in shares if share is not None]
    if not known:
        return hidden, None
    telling = sorted(zip(hidden, shares, strict=True), key=_telling, reverse=True)
    return [pair for pair, share in telling if (share or 0.0) >= LIKE_IT * (telling[0][1] or 0.0)], max(known)


def _telling(pair: tuple[tuple[Run, Run], float | None]) -> tuple[bool, float]:
    """Pairs by how much draws can tell of them: a group that one side alone has is hardly ever seen."""
    (one, two), share = pair
    chosen = zip(_chosen(one), _chosen(two), strict=True)
    return all(not a.selects or a.raw.keys() == b.raw.keys() for a, b in chosen), share or 0.0


def _classes(made: MadeUp, one: str, two: str) -> set[str]:
    """The classes of the units that two databases differ in."""
    return {made.classes[name] for name in MOVING if sum(name in own for own in (one, two)) == 1} or {""}


def _reached(asked: Posed, one: Run, two: Run, of_class: float) -> float | None:
    """The share of its claim, or of that of a class, that a pair's exact numbers imply; None where no law says it."""
    by_gauss = any(draw.law == "gaussian" for part in one.parts for draw in part.draws)
    if _draws_its_own_way(asked, [one]) or (of_class and by_gauss):
        return None
    try:
        if not of_class:
            return share_of(one, two)
        return float(sum((lost(a, b) for a, b in zip(one.parts, two.parts, strict=True)), Fraction(0))) / of_class
    except APART:
        return None


def _draws_its_own_way(asked: Posed, runs: Sequence[Run]) -> bool:
    return asked.mechanism in OWN_DRAWS or any(isinstance(p.release, PlaceSearch) for run in runs for p in run.parts)


def _convicted(made: MadeUp, asked: Posed, replay: Replay) -> tuple[str, ...]:
    """What the exact comparison of all neighbours finds, of each kind once."""
    audits: Mapping[str, Callable[[Replay], list[str]]]
    if _draws_its_own_way(asked, [run for _, run in replay.all()]):
        audits = {"answered": answered, "control flow": same_but_draws, "charge": charged_first}
    elif made.classes:
        shares = partial(class_shares, classes=made.classes)
        audits = {"answered": answered, "control flow": control_flow, "share of a class": shares}
    else:
        audits = {**AUDITS, "fresh noise": partial(fresh_noise, whole=of_whole_tables(made.policy))}
    found = []
    for name, convicts in audits.items():
        try:
            found += [f"{name}: {problem}" for problem in convicts(replay)[:1]]
        except APART as error:
            found.append(f"{name}: neighbours are too far apart to be compared: {error}")
    return tuple(found)


def _of_metric(metric: RowMetric, asked: Posed, rows: Replay, at: int, promise: Promise) -> _Case:
    """One row that is exchanged for one of other values: the claim is what was paid for the two farthest rows."""
    one, two = (rows.runs[promise, name][at] for name in ROWS)
    names = ("everybody", "without it") if promise.neighbours == "add_remove" else ("without this", "without that")
    replay = Replay({(promise, name): [run] for name, run in zip(names, (one, two), strict=True)})
    charged = [loss.priced().metric for loss in one.charges]
    paid = {column: Fraction(many) * UNIT for own in charged[:1] for (_, column), many in own.items()}
    problems = {"answered": answered(replay), "control flow": same_but_draws(replay), "charge": charged_first(replay)}
    convicted = tuple(f"{name}: {found[0]}" for name, found in problems.items() if found)
    pairs = [] if one.error or two.error else [(one, two)]
    return _Case(asked, pairs, float(metric.epsilon_of(paid)), 0.0, "a row replaced", None, convicted)


def _of_facts(asked: FactsAsked, world: Neighbours, promise: Promise, settings: Effort, miss: float) -> Row:
    """Facts of all neighbours by their exact counts, and those of the pair furthest apart by draws of their noise."""
    names = neighbours_of([name for name in world.names if name not in ROWS], promise)
    pairs = [(world.counts(one), world.counts(two)) for one, two in names]
    problems = [f"sensitivity: {problem}" for pair in pairs for problem in islice(moved_too_far(asked, *pair), 1)]
    worst = max(pairs, key=lambda pair: reached(asked, *pair))
    claimed, sampler = asked.advice.loss.priced(), ExactSampler()
    epsilon, delta = float((claimed.epsilon or 0) * UNIT), float(claimed.delta * DELTA_UNIT)
    size = _affordable(settings, lambda draws: likelihoods(asked, 0, worst, draws, sampler))
    first, second = (likelihoods(asked, side, worst, size, sampler) for side in (0, 1))
    measured = max(0.0, loss_between(first, second, epsilon, delta, miss))
    return Row(
        str(asked), "facts", "", epsilon, delta, measured, reached(asked, *worst), size, tuple(problems[:1])
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------- what is measured


def _measured(case: _Case, settings: Effort, miss: float) -> tuple[float, int]:
    """A lower bound on epsilon, above it with probability at most ``miss``; and the draws on either side."""
    if not case.pairs:
        return 0.0, 0
    sampler = ExactSampler()
    if all(map(additive, _chosen(case.pairs[0][0]))):
        one, two = case.pairs[0]
        size = _affordable(settings, lambda draws: _ratios(one, two, draws, sampler))
        return max(0.0, loss_between(*_ratios(one, two, size, sampler), case.claimed, case.delta, miss)), size
    size = _affordable(settings, lambda draws: _outcomes(case.pairs[0], draws, sampler))
    pairs = case.pairs[:CANDIDATES]
    if len(pairs) > 1:  # a few draws say which is told apart best; they serve for nothing else
        pairs = [max(pairs, key=lambda pair: _seen(_outcomes(pair, max(PILOT, size // 20), sampler), case.delta))]
    return max(0.0, bound(*_outcomes(pairs[0], size, sampler), case.delta, miss)), size


def _affordable(settings: Effort, draw: Callable[[int], object]) -> int:
    """How many draws on either side take the time that there is: known before any that counts is made."""
    size, spent = PILOT, 0.0
    while size < settings.draws and spent < settings.seconds / TRIED:
        began = time.perf_counter()
        draw(size)
        spent = time.perf_counter() - began
        size *= GROWS
    return max(FEWEST, min(settings.draws, int(settings.seconds / max(spent, 1e-9) * size / GROWS)))


def _chosen(run: Run) -> Sequence[RunPart]:
    """The releases of a run that depend on no other: where groups are chosen, that choice alone."""
    return next(([part] for part in run.parts if part.selects), run.parts)


def _ratios(one: Run, two: Run, size: int, sampler: ExactSampler) -> tuple[Floats, Floats]:
    """The log-likelihood ratios of draws on either side, over all releases of a run."""
    parts = [
        (a, replace(b, raw=a.over(b.cells)) if b.cells else b) for a, b in zip(_chosen(one), _chosen(two), strict=True)
    ]
    sides = [np.sum([ratios((a, b)[side], a, b, size, sampler) for a, b in parts], axis=0) for side in (0, 1)]
    return sides[0], sides[1]


def _outcomes(pair: tuple[Run, Run], size: int, sampler: ExactSampler) -> tuple[Floats, Floats]:
    """What the releases of either run let out when they are made again."""
    one, two = map(_chosen, pair)
    return outcomes(one, two, size, sampler), outcomes(two, one, size, sampler)


def _seen(sides: tuple[Floats, Floats], delta: float) -> float:
    """The loss that draws seem to show."""
    return max(best_event(*sides, delta)[0], best_event(*sides[::-1], delta)[0])
