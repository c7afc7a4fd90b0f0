"""The audits: what must hold of every run, and of every pair of runs on neighbours. Each returns what it convicts.

They recompute what they check from what was recorded: the law and parameter that the sampler was called with, the raw
integers, the charge. A mechanism's own word for its sensitivity is never asked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from re import Pattern

import numpy as np

from dpsql.audit.moves import (
    at_its_cap,
    chosen,
    claims,
    epsilon_of_choices,
    implied,
    losses,
    moved_draws,
    numbers,
    undrawn,
)
from dpsql.audit.replay import FREE, Drawing, Replay, Run, RunPart
from dpsql.audit.seen import answered, control_flow
from dpsql.errors import InvariantBroken
from dpsql.mechanisms.capped.groups import CappedThreshold
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.mechanisms.noise.values import ValuesRelease
from dpsql.mechanisms.random_dp.histogram import SparseHistogram
from dpsql.mechanisms.stability import StabilityRelease
from dpsql.mechanisms.top_k import TopKRelease
from dpsql.policy import Policy
from dpsql.privacy.account import UNIT
from dpsql.privacy.kinds import Concentrated, Free
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless

__all__ = [
    "AUDITS", "charge", "charged_first", "fresh_noise", "grid", "of_whole_tables", "sensitivity", "share_of",
    "threshold", "tightness",
]  # fmt: skip

WHOLE = re.compile(r"FROM patients( GROUP BY [\w ]+\([\w, ()]*\))?$")
SUMMED = 10**8  # Grid steps^2: sums are taken over laws up to this variance; beyond, the continuous law is as good.


# ------------------------------------------------------------------------------------------------ sensitivity, charge


def sensitivity(replay: Replay) -> list[str]:
    """No neighbour moves the raw integers further than the noise was scaled to, at the loss that is claimed."""
    found = list[str]()
    for where, _, part, other in replay.parts(found):
        if bare := [far for draw, far in moved_draws(part, other) if draw is None and any(far)]:
            found.append(f"{where}: a number that moves by {bare[0]} gets no noise")
        for real, said in losses(part, other):
            if real > said:
                found.append(f"{where}: {part.release.mechanism} loses {float(real):.6g}, says {float(said):.6g}")
    return found


def tightness(replay: Replay) -> dict[str, float]:
    """Template to the largest share of a claimed loss that some pair of neighbours really implies: 1 is tight."""
    shares: dict[str, float] = {}
    for _, one, two in replay.pairs():
        if one.parts:  # what is refused, or stored already, tells nothing
            key = f"{one.promise}; {one.template}"
            shares[key] = max(shares.get(key, 0.0), share_of(one, two))
    return shares


def share_of(one: Run, two: Run) -> float:
    """The largest share of a claimed loss that two neighbours imply, over the releases that a statement has on both."""
    both = (pair for part, other in zip(one.parts, two.parts, strict=False) for pair in losses(part, other))
    return max((float(real / said) if said else 0.0 for real, said in both), default=0.0)


def charged_first(replay: Replay) -> list[str]:
    """The ledger charged once, before the engine was asked for anything private; nothing for what is free."""
    found = []
    for where, run in replay.all():
        free = run.error is not None or (run.answer is not None and run.answer.replayed)
        if len(run.charges) != (0 if free else 1):
            found.append(f"{where}: charged {len(run.charges)} times")
        if any(spent not in (run.spent, FREE) for _, _, spent in run.statements):
            found.append(f"{where}: the engine was asked before the charge was made")
    return found


def charge(replay: Replay) -> list[str]:
    """The ledger charged once, before the engine was asked, at least what scales and actual moves imply together."""
    found = charged_first(replay)
    for where, one, two in replay.pairs():
        if not one.charges:
            continue
        account = one.charges[0].account(one.promise.composition)  # type: ignore[arg-type]  # one of the two names
        epsilon, rho = Fraction(0), 0.0
        for first, second in zip(one.parts, two.parts, strict=False):  # others than these `sensitivity` convicts
            part, other = at_its_cap(first), at_its_cap(second, like=first)
            epsilon += epsilon_of_choices(part, other)
            rho += float(chosen(part, other)[1])
            for draw, far in moved_draws(part, other):
                if draw is not None:
                    real = implied(draw, far)
                    epsilon += real if draw.law == "laplace" else 0
                    rho += float(real) * (math.tanh(float(real) / 2) if draw.law == "laplace" else 1)
            found += [f"{where}: {problem}" for problem in _gaussian_pair(part, other)]
        if account.epsilon is not None and epsilon > account.epsilon * UNIT:
            found.append(f"{where}: loses epsilon {float(epsilon):.6g}, charged {account.epsilon * 1e-12:.6g}")
        if one.promise.composition == "zcdp" and rho > account.rho * 1e-12 * (1 + 1e-9):
            found.append(f"{where}: loses rho {rho:.6g}, charged {account.rho * 1e-12:.6g}")
    return found


def _gaussian_pair(part: RunPart, other: RunPart) -> list[str]:
    """Whether a Gaussian release that was priced by (epsilon, delta) has a larger delta there for this move."""
    loss = part.release.loss
    if not isinstance(loss, Concentrated) or loss.epsilon is None or loss.delta is None:
        return []
    moved = [(draw, far) for draw, far in moved_draws(part, other) if draw is not None and any(far)]
    # The privacy loss of several entries is nearest to that of one entry that moves by the root of the sum.
    real = gaussian_delta(float(sum(implied(draw, far) for draw, far in moved)), float(loss.epsilon))
    lone = len(moved) == 1 and moved[0][1][0] ** 2 == moved[0][1][1]
    if lone and moved[0][0].parameter <= SUMMED:  # one entry alone moves: the discrete law is at hand
        real = discrete_delta(float(moved[0][0].parameter), moved[0][1][0], float(loss.epsilon))
    return [f"delta {real:.3g} at {loss}"] if real > float(loss.delta) * (1 + 1e-3) else []


@lru_cache(maxsize=4096)
def gaussian_delta(rho: float, epsilon: float) -> float:
    """The delta of a Gaussian shift with that rho, by the continuous formula: within 0.1% at the variances here.

    Source: Balle, Wang 2018, Theorem 8.
    """
    if rho == 0:
        return 0.0
    shift = math.sqrt(2 * rho)
    tail = [math.erfc((epsilon / shift + sign * shift / 2) / math.sqrt(2)) / 2 for sign in (-1, 1)]
    return tail[0] - math.exp(epsilon) * tail[1]


@lru_cache(maxsize=4096)
def discrete_delta(variance: float, move: int, epsilon: float) -> float:
    """The delta of a discrete Gaussian that moves by an integer: the sum over its law, in floats, to 10^-9 of it."""
    reach = np.arange(-math.ceil(move + 40 * math.sqrt(variance)), math.ceil(move + 40 * math.sqrt(variance)) + 1)
    law = np.exp(-(reach**2) / (2 * variance))
    moved = np.exp(-((reach - move) ** 2) / (2 * variance))
    return float(np.maximum(law - math.exp(epsilon) * moved, 0).sum() / law.sum())


# ------------------------------------------------------------------------------------------------- noise, and the grid


def fresh_noise(replay: Replay, whole: Pattern[str] = WHOLE) -> list[str]:
    """Every released integer is its raw one plus a draw of its own, in order; what moves without a draw is public.

    Args:
        replay: Its runs.
        whole: Which statements are of whole tables with one row for each unit, whose number is public under swaps.
    """
    found = []
    for where, run in replay.all():
        for part in map(at_its_cap, run.parts):
            named = numbers(part)
            found += [f"{where}: {problem}" for problem in undrawn(part)]
            for at, (name, draw) in enumerate(named):
                exact = [part.raw.get(group, (0,) * len(named))[at] for group in part.groups]
                if isinstance(part.release, SparseHistogram):  # one draw more where rows are left out
                    found += [f"{where}: {problem}" for problem in _sparse(part, exact, draw)] if draw else []
                    continue
                noise = None if draw is None else draw.noise
                if noise is None:
                    public = isinstance(part.release.loss, Free) or (
                        name in ("count", "n", "rows") and _fixed(run, part, whole)
                    )
                    found += [] if public else [f"{where}: {name} has no draw of its own"]
                    noise = (0,) * len(exact)
                if isinstance(part.release, StabilityRelease):  # 0 where nobody is, and up to the threshold
                    above = part.release.threshold
                    noised = [a + k if a and a + k > above else 0 for a, k in zip(exact, noise, strict=True)]
                    pairs = list(zip(noised, part.released[name], strict=True))
                elif part.selects:  # cut to those that appear, and silent below the threshold
                    pairs = [
                        (a + k, b) for a, k, b in zip(exact, noise, part.released[name], strict=True) if b is not None
                    ]
                elif len(noise) != len(exact):
                    found.append(f"{where}: {len(noise)} draws for {len(exact)} numbers")
                    continue
                else:
                    pairs = list(
                        zip((a + k for a, k in zip(exact, noise, strict=True)), part.released[name], strict=True)
                    )
                if any(should != is_ for should, is_ in pairs):
                    found.append(f"{where}: a released {name} is not its raw number plus its draw")
    return found


def _sparse(part: RunPart, exact: list[int], draw: Drawing) -> list[str]:
    """Empty cells have no number, the others their raw one plus a draw; no cell is shown that is empty."""
    should = [a + k if a else None for a, k in zip(exact, draw.noise, strict=False)]
    if len(draw.noise) < len(exact) or should != part.released["noised"]:
        return ["an occupied cell is not its raw number plus its draw"]
    shown = part.released["value"]
    empty = any(value for value, a in zip(shown, exact, strict=True) if not a)
    return ["an empty cell is shown"] if empty or min(shown, default=0) < 0 else []


def of_whole_tables(policy: Policy) -> Pattern[str]:
    """Statements over all rows of a table that has one for every unit, and over nothing else."""
    every = [name for name, table in policy.tables.items() if table.every_unit]
    return re.compile(rf"^(?!.*(JOIN|WHERE|UNION|GROUP|SELECT DISTINCT)).* FROM ({'|'.join(every) or '-'})\b")


def _fixed(run: Run, part: RunPart, whole: Pattern[str]) -> bool:
    """Whether the number of rows is public: whole tables of one row a unit, under replace_one, in one group.

    Of several answers one below another, one of them must be of a whole table.
    """
    named = any(whole.search(answer) for answer in run.template.sql.split(" UNION ALL "))
    return run.promise.neighbours == "replace_one" and named and part.groups == ((),)


def grid(replay: Replay) -> list[str]:
    """Every released number is an integer of its grid, and its value is that integer in the column's unit."""
    found = []
    for where, run in replay.all():
        for part in run.parts:
            integers = [k for name, draw in numbers(part) if draw for k in part.released[name]]
            if any(type(k) is not int for k in integers if k is not None):
                found.append(f"{where}: {part.release.mechanism} released a number between grid steps")
            step = getattr(part.release, "step", Fraction(1))
            most = part.release.most if isinstance(part.release, ValuesRelease | StabilityRelease) else None
            for k, value in zip(part.released.get("steps", ()), part.released["value"], strict=False):
                k = k if most is None else min(max(k, 0), most)  # clipped to how many values are possible
                if value is not None and value != (k if step == 1 else float(k * step)):
                    found.append(f"{where}: {value!r} is not {k} steps of {step}")
    return found


# ------------------------------------------------------------------------------------------------------------ threshold


class Shifted(Noiseless):
    """Noise that is always the same number."""

    def __init__(self, noise: int) -> None:
        self._noise = noise

    def laplace(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """(size,) of it."""
        return np.full(size, self._noise, dtype=np.int64)

    def gaussian(self, variance: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """(size,) of it."""
        return np.full(size, self._noise, dtype=np.int64)


def threshold(replay: Replay) -> list[str]:
    """A group of one unit appears no more often than the delta that is charged, by the exact tail of the noise.

    And neighbours differ in at most U groups that only one side has, each with one unit. In a stability histogram the
    groups that are really only one side's appear no more often than delta together.
    """
    found = list[str]()
    for where, run in replay.all():
        for part in map(at_its_cap, run.parts):
            if _has_threshold(part):
                found += [f"{where}: {problem}" for problem in _appearance(part, run.promise.neighbours)]
    for where, one, first, second in replay.parts(found):
        part, other = at_its_cap(first), at_its_cap(second, like=first)
        if isinstance(part.release, StabilityRelease):
            delta = _shown_alone(part, other)
            if delta > float(part.release.loss.delta) * (1 + 1e-9):  # type: ignore[attr-defined]  # approximate
                found.append(f"{where}: cells of one side alone are shown with delta {delta:.3g}")
        if _has_threshold(part):
            swap = 2 if one.promise.neighbours == "replace_one" else 1
            own = [n for a, b in ((part, other), (other, part)) for g, (n, *_) in a.raw.items() if g not in b.raw]
            if any(n != 1 for n in own) or len(own) > swap * _groups(part, one.promise.neighbours):
                found.append(f"{where}: a neighbour brings {len(own)} new groups, of {sorted(own)} units")
    return found


def _has_threshold(part: RunPart) -> bool:
    """Whether groups appear above a threshold; not where so few are there that no cap was found, and none appears."""
    return part.selects and not isinstance(part.release, TopKRelease | CappedThreshold)


def _shown_alone(part: RunPart, other: RunPart) -> float:
    """The chance that a cell that is occupied on the first side alone is shown."""
    if not isinstance(part.release, StabilityRelease):
        raise InvariantBroken("only a stability histogram shows cells of one side alone")
    scale, silent = float(part.draws[0].parameter), 0.0  # the logarithm of the chance that none is shown
    q = math.exp(-1 / scale)
    for group, (n, *_) in part.raw.items():
        if n and not any(other.raw.get(group, (0,))):  # a group whose number is 0 is shown as 0
            beyond = part.release.threshold + 1 - n  # the least noise that shows it
            silent += math.log1p(-(q**beyond) / (1 + q)) if beyond >= 1 else (beyond - 1) / scale - math.log1p(q)
    return -math.expm1(silent)


def _groups(part: RunPart, neighbours: str) -> int:
    """U, the groups one unit may touch, or 2 U where units are replaced: epsilon scale, or 2 rho variance."""
    draw, claimed = part.draws[0], claims(part)[0]
    moved = claimed * draw.parameter * (1 if draw.law == "laplace" else 2)
    return int(moved) // (2 if neighbours == "replace_one" else 1)


def _appearance(part: RunPart, neighbours: str) -> list[str]:
    release, draw = part.release, part.draws[0]
    if not isinstance(release, ThresholdRelease):
        raise InvariantBroken(f"no audit knows how {release.mechanism} chooses groups")
    lone = RawTable({"m0": [1]})
    reach = 4 * math.ceil(draw.parameter) * 60

    def appears(noise: int) -> bool:
        return release.release(lone, Shifted(noise)).values[0] is not None

    if appears(-reach):
        return ["a group of one unit appears whatever the noise"]
    low, high = -reach, reach  # silent at low, appearing at high
    while not appears(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if appears(middle) else (middle, high)
    p = _tail(draw, high)
    delta = -math.expm1(_groups(part, neighbours) * math.log1p(-p)) if p < 1 else 1.0
    loss = release.loss
    charged = loss.outside if isinstance(loss, Concentrated) else loss.delta  # type: ignore[attr-defined]  # approximate
    if charged is None or delta > float(charged) * (1 + 1e-9):
        return [f"a group of one unit appears with delta {delta:.3g}, charged {float(charged or 0):.3g}"]
    if isinstance(loss, Concentrated) and loss.epsilon is not None:
        return _together(delta, float(loss.rho), float(loss.epsilon), float(loss.delta or 0), neighbours)
    return []


def _tail(draw: Drawing, at: int) -> float:
    """P(noise >= at), 1 where a lone group needs no noise."""
    if at < 1:
        return 1.0
    if draw.law == "laplace":  # q^k / (1 + q), q = exp(-1 / scale)
        q = math.exp(-1 / float(draw.parameter))
        return q**at / (1 + q)
    variance = float(draw.parameter)
    noise = np.arange(at, at + math.ceil(40 * math.sqrt(variance)))
    whole = np.arange(-math.ceil(40 * math.sqrt(variance)), math.ceil(40 * math.sqrt(variance)) + 1)
    return float(np.exp(-(noise**2.0) / (2 * variance)).sum() / np.exp(-(whole**2.0) / (2 * variance)).sum())


SHARES = np.linspace(0, 1, 101)
"""Of a unit's groups, those that come to light beside others that move: the worst of so many is near the worst."""


def _together(outside: float, rho: float, epsilon: float, charged: float, neighbours: str) -> list[str]:
    """Whether a unit that brings some groups to light and moves others has a larger delta than is charged."""
    units = 2 if neighbours == "replace_one" else 1
    alone = 1 - (1 - outside) ** SHARES
    moved = np.array([gaussian_delta(rho * (1 - share / units), epsilon) for share in SHARES])
    real = float((1 - (1 - alone) * (1 - moved)).max())
    return [f"groups that appear and groups that move have delta {real:.3g}"] if real > charged * (1 + 1e-3) else []


AUDITS: Mapping[str, Callable[[Replay], list[str]]] = {
    "answered": answered,
    "control flow": control_flow,
    "sensitivity": sensitivity,
    "charge": charge,
    "fresh noise": fresh_noise,
    "grid": grid,
    "threshold": threshold,
}
"""By the name under which a conviction is reported."""
