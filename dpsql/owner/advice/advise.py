"""Facts: what `dpsql advise` would cost and find, and how it measures, charges, keeps and reads them again.

They are drawn in two stages under one charge: sizes and single values first, which bounds and caps follow from, then
what each unit adds up to under those. Each is kept in the ledger, on the disk, before anything of it is told; one that
a lost process did not keep told nobody anything, and is drawn again under its charge as long as the ledger owes it.

Tests: tests/unit/test_advising.py, tests/unit/test_advising_once.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from dpsql.errors import InvariantBroken, OperationalError
from dpsql.ledger.ledger import FACTS, Ledger, Release
from dpsql.mechanisms.advice import Advice, advice, as_raw
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.owner.advice.questions import MOST_BINS, Tally, of_sizes, of_totals, open_texts
from dpsql.owner.building.builder import counted, data_digest, data_digest_of
from dpsql.owner.jobs import Progress, of_source
from dpsql.owner.shape import Shape, shape_of
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable
from dpsql.worker import wire

if TYPE_CHECKING:
    from dpsql.policy.model import Policy

__all__ = ["Foretold", "ReleasedFacts", "data_now", "foretold", "measure", "newest", "paid"]

PRICES = tuple(Fraction(digit, 10**place) for place in (3, 2, 1, 0) for digit in (1, 2, 5))
"""Epsilons that are proposed: the series 1, 2, 5 from 0.001 to 5, by which people set such numbers."""
SHARE = 4
"""A column's values are taken to lie in so many bins: what stands above the noise must be that part of the units. A
guess."""
ROWS_OF_A_UNIT = 10
"""So many rows a unit is taken to have where the policy allows more: only `rows_about` is known. A guess."""


@dataclass(frozen=True, slots=True)
class Foretold:
    """What facts would cost and find, from the policy alone.

    Attributes:
        epsilon, delta: The price.
        advice: The noise; None where the price is too small for any.
        listed: In how many counts one unit is at most, of histograms.
        texts: Open text columns whose frequent values are asked for.
        thin: What stays empty, as ``table`` (its numbers of rows) and ``table.column``, if its guessed rows are right.
        serves: The least price of the series 1, 2, 5 at which nothing does; None where none of them is enough.
        needs: A table of fewer units may stay empty.
        units: How many units each table is taken to have.
    """

    epsilon: Fraction
    delta: Fraction
    advice: Advice | None
    listed: int
    texts: tuple[tuple[str, str], ...]
    thin: tuple[str, ...]
    serves: Fraction | None
    needs: int
    units: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReleasedFacts:
    """The facts of one version, as they were released.

    Attributes:
        release: Their charge.
        data: The digest of the data that they tell of.
        law: Of the noise of every count.
        reach, likely: As of `mechanisms.advice.Advice`.
        sizes: Each question's noised counts.
        heavy: (table, column) to values and noised numbers of units.
        totals: The same as ``sizes`` of the second stage; None until it is drawn.
        shapes: Each table to the digest of its shape when its totals were drawn.
    """

    release: Release
    data: str
    law: Law
    reach: int
    likely: int
    sizes: Mapping[Tally, tuple[int, ...]]
    heavy: Mapping[tuple[str, str], tuple[tuple[str, int], ...]]
    totals: Mapping[Tally, tuple[int, ...]] | None
    shapes: Mapping[str, str]


def foretold(policy: Policy, epsilon: Fraction, delta: Fraction) -> Foretold:
    """What facts would cost and find at a price; nothing is read."""
    shape = shape_of(policy)
    sizes, totals = list(of_sizes(shape)), list(of_totals(shape))
    asked = [*sizes, *totals]
    # Totals are asked for under bounds that follow from the sizes: how many bins they have then is not known yet.
    cells = sum(question.cells for question in sizes) + 2 * MOST_BINS * len(totals)
    listed = sum(question.moves for question in asked)
    texts = tuple(open_texts(shape)) if delta else ()
    units = {question.table: _units_about(policy, question.table) for question in asked}

    def at(price: Fraction) -> Advice | None:
        swaps = policy.neighbours == "replace_one"
        return advice(listed, len(texts), cells, Price(price, delta), swaps=swaps, classes=policy.classes)

    def thin(found: Advice | None) -> tuple[str, ...]:
        seen = {".".join(filter(None, (question.table, question.column))): question for question in asked}
        return tuple(name for name, one in seen.items() if found is None or units[one.table] < SHARE * found.likely)

    found = at(epsilon)
    serves = next((price for price in PRICES if price >= epsilon and not thin(at(price))), None)
    needs = 0 if found is None else SHARE * found.likely
    return Foretold(epsilon, delta, found, listed, texts, thin(found), serves, needs, units)


def _units_about(policy: Policy, table: str) -> int:
    """A guess of how many units a table has, from the guess of its rows."""
    own = policy.tables[table]
    return own.rows_about // min(own.most_rows, ROWS_OF_A_UNIT)


def newest(ledger: Ledger) -> ReleasedFacts | None:
    """The newest facts that the ledger has; None where nothing was drawn yet."""
    for release in reversed(ledger.releases(FACTS)):
        if (sizes := _found(ledger, release, 0)) is not None:
            totals = _found(ledger, release, 1)
            return ReleasedFacts(
                release=release,
                data=sizes["data"],
                law=_law(sizes),
                reach=sizes["reach"],
                likely=sizes["likely"],
                sizes=_answers(sizes),
                heavy={(table, column): tuple(map(tuple, values)) for table, column, values in sizes["heavy"]},
                totals=None if totals is None else _answers(totals),
                shapes={} if totals is None else totals["shapes"],
            )
    return None


def data_now(policy: Policy, ledger: Ledger, directory: Path) -> str:
    """The digest of the data as they are, which fit the policy and are those of the current version.

    Raises:
        PolicyError: If the policy and the schema of the data disagree.
        OperationalError: If they changed since it was built, or cannot be read.
    """
    shape, version = shape_of(policy), ledger.version()
    of_source(policy, "readable")
    data = data_digest(shape)
    if version and data_digest_of(directory, version) not in (data, None):
        raise OperationalError(
            f"The data changed since version {version} was built. Nothing was charged. Run: dpsql refresh POLICY"
        )
    return data


def paid(ledger: Ledger, data: str | None, named: Foretold | None) -> Release | None:
    """The charge that facts of these data were bought by; None where there is none.

    It is the newest one, where its facts tell of these data, or where a lost process kept nothing of them. What it
    lacks must be owed: a ledger that was restored, or damaged, does not know who was told it, and it is bought anew.

    Args:
        ledger: An open one.
        data: The digest of the data.
        named: What is asked for at a price that the owner named. A larger epsilon than what was paid buys new facts.
    """
    charges = [release for release in ledger.releases(FACTS) if release.version]
    if not charges:
        return None
    if any(ledger.find(part) is None and not ledger.owes(part) for part in charges[-1].parts):
        return None
    sizes = _found(ledger, charges[-1], 0)
    other = sizes is not None and (sizes["data"] != data or (named is not None and _is_more(named, charges[-1])))
    return None if other else charges[-1]


def _is_more(wanted: Foretold, charge: Release) -> bool:
    """Whether a price has a larger epsilon than a charge."""
    if wanted.advice is None:
        return False
    return (wanted.advice.loss.priced().epsilon or 0) > (charge.loss.priced().epsilon or 0)


def measure(
    policy: Policy,
    ledger: Ledger,
    directory: Path,
    data: str,
    wanted: Foretold,
    release: Release | None,
    sampler: Sampler,
    between: Callable[[ReleasedFacts], Policy | None],
    progress: Progress | None = None,
) -> ReleasedFacts:
    """The facts of the data as they are: the stored ones, free, or new ones, charged to all. To be done under `alone`.

    Args:
        policy: The owner's promises.
        ledger: Its open ledger.
        directory: The private directory of the bounded tables.
        data: Their digest.
        wanted: What is asked for, at which price.
        release: The charge that has `paid` for them already, or None.
        sampler: The source of noise.
        between: The policy under which totals are drawn, from the facts about sizes; None where bounds are lacking, so
            that totals wait until these are written, under the same charge.
        progress: Told each public step and the share done.

    Raises:
        BudgetExceeded: Naming who cannot pay. Nothing was spent.
        OperationalError: If the data cannot be read.
    """
    release = release or _charged(ledger, max(1, ledger.version()), wanted)
    if _found(ledger, release, 0) is None:
        _sizes(ledger, release, shape_of(policy), directory, data, wanted, sampler, progress)
    facts = newest(ledger)
    if facts is None:
        raise InvariantBroken("facts that were stored are not in the ledger")
    if facts.totals is None and (under := between(facts)) is not None:
        _totals(ledger, facts, shape_of(under), directory, sampler, progress)
    return newest(ledger) or facts


def _charged(ledger: Ledger, version: int, wanted: Foretold) -> Release:
    if wanted.advice is None:
        raise OperationalError(f"epsilon {float(wanted.epsilon):g} is too small to buy any noise; ask for more.")
    parts = [f"{FACTS}/{version}/{token_hex(8)}/{stage}" for stage in ("sizes", "totals")]
    price = f"--epsilon {float(wanted.epsilon):g}" + (f" --delta {float(wanted.delta):g}" if wanted.delta else "")
    statement = f"dpsql advise {price}: facts of version {version}"
    charge = ledger.publish(FACTS, version, wanted.advice.loss, statement=statement, parts=parts)
    return next(one for one in ledger.releases(FACTS) if one.sequence == charge)


def _sizes(
    ledger: Ledger,
    release: Release,
    shape: Shape,
    directory: Path,
    data: str,
    wanted: Foretold,
    sampler: Sampler,
    progress: Progress | None,
) -> None:
    noise = wanted.advice
    if noise is None or noise.loss != release.loss:
        raise OperationalError(
            "These facts were charged at another price, and their process was lost. Ask again at that price, which "
            "stands in `dpsql log POLICY`: it is not charged again."
        )
    asked = list(of_sizes(shape))
    raw = counted(
        shape,
        key=ledger.contribution_key,
        directory=directory,
        stage="sizes",
        heavy=bool(wanted.texts),
        progress=progress,
    )
    heavy = [
        RawTable({"value": [value for value, _ in found], "count": [count for _, count in found]})
        for found in raw["heavy"]
    ]
    law = noise.law
    _keep(
        ledger,
        release,
        0,
        {
            "data": data,
            "law": ["laplace", law.scale] if isinstance(law, LaplaceLaw) else ["gaussian", _variance(law)],
            "reach": noise.reach,
            "likely": noise.likely,
            "left": wanted.listed - sum(question.moves for question in asked),
            "questions": [_told(question) for question in asked],
            "counts": noise.counts(as_raw(raw["counts"]), sampler),
            "heavy": [
                [table, column, noise.values(found, sampler)]
                for (table, column), found in zip(wanted.texts, heavy, strict=True)
            ],
        },
    )


def _totals(
    ledger: Ledger, facts: ReleasedFacts, shape: Shape, directory: Path, sampler: Sampler, progress: Progress | None
) -> None:
    first = _found(ledger, facts.release, 0) or {}
    asked = list(of_totals(shape))
    if sum(question.moves for question in asked) > first["left"]:
        raise OperationalError(
            "The policy's columns changed since these facts were charged, so that their totals cannot be drawn. "
            "Write the columns as they were, or take the new ones with the next version."
        )
    noise = Advice(facts.law, facts.release.loss, facts.reach, facts.likely, None)
    raw = counted(
        shape, key=ledger.contribution_key, directory=directory, stage="totals", heavy=False, progress=progress
    )
    kept = {
        "questions": [_told(question) for question in asked],
        "counts": noise.counts(as_raw(raw["counts"]), sampler),
        "shapes": {table.name: shape.digest_of(table.name) for table in shape.tables if not table.public},
    }
    _keep(ledger, facts.release, 1, kept)


def _law(payload: Mapping[str, Any]) -> Law:
    kind, amount = payload["law"]
    return LaplaceLaw(amount) if kind == "laplace" else GaussianLaw(amount)


def _variance(law: Any) -> Fraction:
    variance: Fraction = law.variance
    return variance


def _keep(ledger: Ledger, release: Release, part: int, payload: Mapping[str, Any]) -> None:
    ledger.keep(release.sequence, release.parts[part], wire.encode(payload))


def _found(ledger: Ledger, release: Release, part: int) -> dict[str, Any] | None:
    """What is stored of one stage, or None."""
    if part >= len(release.parts):
        return None
    stored = ledger.find(release.parts[part])
    return None if stored is None else dict(wire.decode(stored[0]))


def _told(question: Tally) -> list[Any]:
    return [
        question.table,
        question.column,
        question.about,
        question.bins,
        question.step,
        question.signed,
        question.both,
    ]


def _answers(payload: Mapping[str, Any]) -> dict[Tally, tuple[int, ...]]:
    """Each question to its counts."""
    counts: Sequence[int] = payload["counts"]
    answers, at = {}, 0
    for told in payload["questions"]:
        question = Tally(*told)
        answers[question] = tuple(counts[at : at + question.cells])
        at += question.cells
    return answers
