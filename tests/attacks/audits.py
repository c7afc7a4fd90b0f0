"""The audits: what must hold of every run, and of every pair of runs on neighbours. Each returns what it convicts.

They recompute what they check from what was recorded: the law and parameter that the sampler was called with, the raw
integers, the charge. A mechanism's own word for its sensitivity is never asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpsql.mechanisms.threshold import ThresholdRelease
from dpsql.privacy.loss import Approximate, Composed, Concentrated, Free, Loss, Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless
from tests.attacks.replay import Draw, Part, Replay, Run

__all__ = ["AUDITS", "charge", "control_flow", "fresh_noise", "grid", "moves", "sensitivity", "threshold", "tightness"]

UNIT = Fraction(1, 10**12)  # a ledger counts epsilon and rho in these, rounded up


# ------------------------------------------------------------------------------------------- what neighbours may see


def control_flow(replay: Replay) -> list[str]:
    """Neighbours see the same statements, laws, charges, columns, types and errors; only numbers may differ."""
    found = []
    for where, one, two in replay.pairs():
        for what, seen in _visible(one).items():
            if seen != (other := _visible(two)[what]):
                found.append(f"{where}: {what} differ: {seen!r} | {other!r}")
    return found


def _visible(run: Run) -> dict[str, object]:
    answer = run.answer
    seen = None if answer is None else (answer.columns, answer.types, answer.cost, answer.measurements, answer.replayed)
    varies = any(part.discovered for part in run.parts) or "HAVING" in run.template.sql  # which rows appear
    kinds = None if answer is None else [_kinds(answer.rows, at) for at in range(len(answer.columns))]
    return {
        "engine statements": run.statements,
        "calls of the sampler": [[_call(draw, part.discovered) for draw in part.draws] for part in run.parts],
        "listed groups": [None if part.discovered else part.groups for part in run.parts],
        "charges": run.charges,
        "answer": seen,
        "types of values": None if varies else kinds,
        "error": run.error,
        "spent": run.spent,
    }


def _call(draw: Draw, discovered: bool) -> tuple[str, object, int | None]:
    """How many groups were discovered is private, and shows in nothing but the number of draws."""
    return draw.law, draw.parameter, None if discovered else len(draw.noise)


def _kinds(rows: list[tuple[object, ...]], at: int) -> set[str]:
    """A NULL is the work of noise: a ratio whose noised denominator is 0."""
    return {type(row[at]).__name__ for row in rows} - {"NoneType"}


# ------------------------------------------------------------------------------------------------ sensitivity, charge


def moves(one: Part, two: Part) -> list[tuple[int, int]]:
    """For each raw column: how far it moved, in L1 and in squared L2, over all groups of either side."""
    groups = {**one.raw, **two.raw}
    nothing = (0,) * len(one.release.need.measures if hasattr(one.release.need, "measures") else (0,))
    changes = [
        [a - b for a, b in zip(one.raw.get(group, nothing), two.raw.get(group, nothing), strict=True)]
        for group in groups
    ]
    return [(sum(map(abs, column)), sum(k * k for k in column)) for column in zip(*changes, strict=True)]


def implied(draw: Draw, moved: tuple[int, int]) -> Fraction:
    """The loss of noise with that law and parameter for that move: epsilon for laplace, rho for gaussian."""
    parameter = Fraction(draw.parameter)
    return moved[0] / parameter if draw.law == "laplace" else moved[1] / (2 * parameter)


def claims(part: Part) -> list[Fraction]:
    """What the release says it costs, for each of its draws, or one number for all of them together."""
    loss = part.release.loss
    losses = loss.parts if isinstance(loss, Composed) else (loss,)
    return [_native(loss) for loss in losses]


def _native(loss: Loss) -> Fraction:
    match loss:
        case Pure() | Approximate():
            return loss.epsilon
        case Concentrated():
            return loss.rho
        case Free():
            return Fraction(0)
    raise AssertionError(f"no audit knows the loss {loss}")


def losses(one: Part, two: Part) -> list[tuple[Fraction, Fraction]]:
    """(loss that this pair implies, loss claimed) for each noised number, or for all of them where one claim holds."""
    actual = [implied(draw, far) for draw, far in zip(one.draws, moves(one, two), strict=False)]
    claimed = claims(one)
    if len(claimed) != len(actual):  # a mean by gaussian noise: one loss for sum and count together
        actual = [sum(actual, Fraction(0))]
    return list(zip(actual, claimed, strict=True))


def sensitivity(replay: Replay) -> list[str]:
    """No neighbour moves the raw integers further than the noise was scaled to, at the loss that is claimed."""
    found = []
    for where, one, two in replay.pairs():
        for part, other in zip(one.parts, two.parts, strict=True):
            if bare := [far for far, _ in moves(part, other)[len(part.draws) :] if far]:
                found.append(f"{where}: a number that moves by {bare[0]} gets no noise")
            for real, said in losses(part, other):
                if real > said:
                    found.append(f"{where}: {part.release.mechanism} loses {float(real):.6g}, says {float(said):.6g}")
    return found


def tightness(replay: Replay) -> dict[str, float]:
    """Template to the largest share of a claimed loss that some pair of neighbours really implies: 1 is tight."""
    shares: dict[str, float] = {}
    for _, one, two in replay.pairs():
        for part, other in zip(one.parts, two.parts, strict=True):
            for real, said in losses(part, other):
                key = f"{one.promise}; {one.template}"
                shares[key] = max(shares.get(key, 0.0), float(real / said) if said else 0.0)
    return shares


def charge(replay: Replay) -> list[str]:
    """The ledger charged once, before the engine was asked, at least what scales and actual moves imply together."""
    found = []
    for where, run in replay.all():
        if len(run.charges) != (0 if run.error else 1):
            found.append(f"{where}: charged {len(run.charges)} times")
        if any(spent != run.spent for _, _, spent in run.statements):
            found.append(f"{where}: the engine was asked before the charge was made")
    for where, one, two in replay.pairs():
        if one.error is not None:
            continue
        account = one.charges[0].account(one.promise.composition)  # type: ignore[arg-type]  # one of the two names
        epsilon, rho = Fraction(0), 0.0
        for part, other in zip(one.parts, two.parts, strict=True):
            for draw, far in zip(part.draws, moves(part, other), strict=False):
                real = implied(draw, far)
                epsilon += real if draw.law == "laplace" else 0
                rho += float(real) * (math.tanh(float(real) / 2) if draw.law == "laplace" else 1)
            found += [f"{where}: {problem}" for problem in _gaussian_pair(part, moves(part, other))]
        if account.epsilon is not None and epsilon > account.epsilon * UNIT:
            found.append(f"{where}: loses epsilon {float(epsilon):.6g}, charged {account.epsilon * 1e-12:.6g}")
        if one.promise.composition == "zcdp" and rho > account.rho * 1e-12 * (1 + 1e-9):
            found.append(f"{where}: loses rho {rho:.6g}, charged {account.rho * 1e-12:.6g}")
    return found


def _gaussian_pair(part: Part, moved: list[tuple[int, int]]) -> list[str]:
    """Whether a Gaussian release that was priced by (epsilon, delta) has a larger delta there for this move."""
    loss = part.release.loss
    if not isinstance(loss, Concentrated) or loss.epsilon is None or loss.delta is None:
        return []
    # The privacy loss of several entries is nearest to that of one entry that moves by the root of the sum.
    rho = sum(far / (2 * draw.parameter) for draw, (_, far) in zip(part.draws, moved, strict=False))
    real = gaussian_delta(float(rho), float(loss.epsilon))
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


# ------------------------------------------------------------------------------------------------- noise, and the grid


def fresh_noise(replay: Replay) -> list[str]:
    """Every released integer is its raw one plus a draw of its own, in order; what moves without a draw is public."""
    found = []
    for where, run in replay.all():
        for part in run.parts:
            names = ["sum", "count"] if "sum" in part.released else ["steps"] if "steps" in part.released else ["value"]
            for at, name in enumerate(names):
                exact = [part.raw.get(group, (0,) * len(names))[at] for group in part.groups]
                noise = part.draws[at].noise if at < len(part.draws) else None
                if noise is None:
                    public = isinstance(part.release.loss, Free) or (name == "count" and _fixed(run))
                    found += [] if public else [f"{where}: {name} has no draw of its own"]
                    noise = (0,) * len(exact)
                if part.selects:  # cut to those that appear, and silent below the threshold
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


def _fixed(run: Run) -> bool:
    """Whether the number of rows is public: whole patients, each with one row, under replace_one."""
    sql = run.template.sql
    return run.promise.neighbours == "replace_one" and sql.endswith("FROM patients")


def grid(replay: Replay) -> list[str]:
    """Every released number is an integer of its grid, and its value is that integer in the column's unit."""
    found = []
    for where, run in replay.all():
        for part in run.parts:
            integers = [k for name in ("steps", "sum", "count") for k in part.released.get(name, ())]
            if any(type(k) is not int for k in integers if k is not None):
                found.append(f"{where}: {part.release.mechanism} released a number between grid steps")
            step = getattr(part.release, "step", Fraction(1))
            for k, value in zip(part.released.get("steps", ()), part.released["value"], strict=False):
                if value is not None and value != (k if step == 1 else float(k * step)):
                    found.append(f"{where}: {value!r} is not {k} steps of {step}")
    return found


# ------------------------------------------------------------------------------------------------------------ threshold


class Shifted(Noiseless):
    """Laplace noise that is always the same number."""

    def __init__(self, noise: int) -> None:
        self._noise = noise

    def laplace(self, scale: Fraction, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """(size,) of it."""
        return np.full(size, self._noise, dtype=np.int64)


def threshold(replay: Replay) -> list[str]:
    """A group of one unit appears no more often than the delta that is charged, by the exact tail of the noise.

    And neighbours differ in at most U groups that only one side has, each with one unit.
    """
    found = []
    for where, run in replay.all():
        for part in run.parts:
            if part.selects:
                found += [f"{where}: {problem}" for problem in _appearance(part, run.promise.neighbours)]
    for where, one, two in replay.pairs():
        for part, other in zip(one.parts, two.parts, strict=True):
            if part.selects:
                swap = 2 if one.promise.neighbours == "replace_one" else 1
                own = [n for a, b in ((part, other), (other, part)) for g, (n,) in a.raw.items() if g not in b.raw]
                if any(n != 1 for n in own) or len(own) > swap * _groups(part, one.promise.neighbours):
                    found.append(f"{where}: a neighbour brings {len(own)} new groups, of {sorted(own)} units")
    return found


def _groups(part: Part, neighbours: str) -> int:
    """U, the groups one unit may touch: epsilon is U / scale, or 2 U / scale where units are replaced."""
    return int(claims(part)[0] * part.draws[0].parameter) // (2 if neighbours == "replace_one" else 1)


def _appearance(part: Part, neighbours: str) -> list[str]:
    release, scale = part.release, part.draws[0].parameter
    assert isinstance(release, ThresholdRelease)
    assert isinstance(release.loss, Approximate)
    lone = RawTable({"m0": [1]})
    reach = 4 * math.ceil(scale) * 60

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
    # P(noise >= k) = q^k / (1 + q) for k >= 1, q = exp(-1 / scale)
    q = math.exp(-1 / float(scale))
    p = q**high / (1 + q) if high >= 1 else 1.0
    delta = -math.expm1(_groups(part, neighbours) * math.log1p(-p)) if p < 1 else 1.0
    problems = []
    if delta > float(release.loss.delta) * (1 + 1e-9):
        problems.append(f"a group of one unit appears with delta {delta:.3g}, charged {float(release.loss.delta):.3g}")
    if p > -math.expm1(-1 / float(scale)) * (1 + 1e-12):
        problems.append("a silent group tells more than one unit of the others")
    return problems


AUDITS: Mapping[str, Callable[[Replay], list[str]]] = {
    "control flow": control_flow,
    "sensitivity": sensitivity,
    "charge": charge,
    "fresh noise": fresh_noise,
    "grid": grid,
    "threshold": threshold,
}
"""By the name under which a conviction is reported."""
