"""SQL over every tiny table: prepared and run by the package, and the exact law of what it would release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from math import isqrt
from typing import Any

from dpsql.answers.released.release import noised, release
from dpsql.answers.released.written import write_released
from dpsql.errors import InvariantBroken
from dpsql.plan.plans import Plan
from dpsql.prepare import Prepared
from dpsql.privacy.kinds import Approximate, Concentrated, Free, Loss, MetricLoss, Pure, RandomDPLoss
from dpsql.privacy.loss import Composed
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from dpsql.sql import syntax
from dpsql.sql.parse import parse
from tests.exhaustive.branching import Law, Window, law_of
from tests.exhaustive.distances import PRESENCE, SHAPES
from tests.exhaustive.in_step import Pairs, Released
from tests.exhaustive.steps import FEW
from tests.exhaustive.tables import (
    FAMILIES,
    RELATIONS,
    Family,
    Table,
    apart,
    exposed,
    neighbours,
)
from tests.exhaustive.verdicts import Claim, Verdict, compared
from tests.exhaustive.world import TinyWorld

__all__ = ["Case", "Laws", "claimed", "convicted", "in_step", "laws", "verified"]

ROOT_BITS = 40
"""Binary digits of a root behind the point: exponents stay short. It is a choice."""


@dataclass(frozen=True)
class Case:
    """One statement at one price.

    Attributes:
        mechanism: What must answer it.
        sql: Its text, with ``{t}`` for the table.
        options: Keyword options, with ``{t}`` for the table's name, too.
        family: Over which tables.
        spreads: How far noise is compared, in scales or standard deviations.
        relations: For which relations.
        apart: How many of the numbers that noise may make are followed, as `steps` says.
    """

    mechanism: str
    sql: str
    options: Mapping[str, Any] = field(default_factory=dict)
    family: str = "single"
    spreads: int = 0
    relations: Sequence[str] = RELATIONS
    apart: int = FEW

    def __str__(self) -> str:
        return f"{self.sql} {dict(self.options)} over {self.family}"


@dataclass
class Laws:
    """A statement on every table: what it claims, and its law.

    Attributes:
        loss: What it costs.
        mechanisms: What answers it.
        by_table: Each table's law.
        raws: How many of the tables' raw numbers differ.
    """

    loss: Loss
    mechanisms: tuple[str, ...]
    by_table: dict[Table, Law]
    raws: int


def laws(world: TinyWorld, case: Case, relation: str) -> Laws:
    """The laws of a statement over every table of its family that the world has.

    Raises:
        UnlistedError: One of them cannot be listed.
    """
    listing = _Listing(world, case, relation)
    by_table = {table: listing.law(table) for table in FAMILIES[case.family].of(world.most[case.family])}
    return Laws(listing.losses[0], tuple(listing.mechanisms), by_table, len(listing.by_raw))


@dataclass
class _Listing:
    """The laws of a statement over tables of its family, each worked out when it is asked for.

    Attributes:
        world, case, relation: Where, what and for which relation.
        by_raw: The laws so far, by the tables' raw numbers.
        losses, mechanisms: What the statement costs, and what answers it, on the tables so far.
    """

    world: TinyWorld
    case: Case
    relation: str
    by_raw: dict[Any, Law] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    mechanisms: dict[str, None] = field(default_factory=dict)

    def law(self, table: Table) -> Law:
        """That of one table.

        Raises:
            UnlistedError: It cannot be listed.
        """
        family = FAMILIES[self.case.family]
        session = self.world.session(family, table, self.relation)
        prepared = _prepared(session, self.case, family.named(table))
        raw = [reading.own(session._run(reading.statement)) for reading in prepared.readings]
        self.losses.append(prepared.loss)
        self.mechanisms |= dict.fromkeys(measured.choice.release.mechanism for measured in prepared.measured)
        (claim,) = {claimed(loss) for loss in (self.losses[0], prepared.loss)}
        key = tuple(_plain(own) for own in raw)
        if key not in self.by_raw:
            self.by_raw[key] = law_of(_released(prepared, raw), Window(Fraction(self.case.spreads), claim.reach))
        return self.by_raw[key]


def verified(world: TinyWorld, case: Case, relation: str) -> Verdict:
    """Every pair of neighbours compared, in both directions.

    Raises:
        UnlistedError: A law cannot be listed.
    """
    found, total = laws(world, case, relation), Verdict()
    assert case.mechanism in found.mechanisms, (case, found.mechanisms)
    for one, two in neighbours(FAMILIES[case.family], relation, world.most[case.family]):
        if case.mechanism == "random_dp" and exposed(one, two):
            continue
        total += compared(found.by_table[one], found.by_table[two], claimed(found.loss, (one, two)))
    return total


def convicted(world: TinyWorld, case: Case, relation: str) -> bool:
    """Whether a pair of neighbours breaks what is claimed; none is looked at after the first that does.

    Raises:
        UnlistedError: A law cannot be listed.
    """
    listing = _Listing(world, case, relation)
    law = cache(listing.law)
    for one, two in neighbours(FAMILIES[case.family], relation, world.most[case.family]):
        if case.mechanism == "random_dp" and exposed(one, two):
            continue
        first, second = law(one), law(two)
        assert case.mechanism in listing.mechanisms, (case, listing.mechanisms)
        if compared(first, second, claimed(listing.losses[0], (one, two))).broken:
            return True
    return False


def in_step(world: TinyWorld, case: Case, relation: str) -> Verdict:
    """Every pair of neighbours, draw by draw, in both directions.

    Raises:
        UnlistedError: A release draws what cannot be followed.
    """
    family, total = FAMILIES[case.family], Verdict()
    most = world.most[case.family]
    released, raws = dict[Table, Released](), dict[Table, Any]()
    for table in family.of(most):
        session = world.session(family, table, relation)
        prepared = _prepared(session, case, family.named(table))
        raw = [reading.own(session._run(reading.statement)) for reading in prepared.readings]
        assert case.mechanism in {measured.choice.release.mechanism for measured in prepared.measured}, case
        released[table], raws[table] = _released(prepared, raw), tuple(_plain(own) for own in raw)
    pairs = Pairs(case.apart, case.spreads)
    for one, two in neighbours(family, relation, most):
        if case.mechanism == "random_dp" and exposed(one, two):
            continue
        claim = claimed(prepared.loss, (one, two))
        total += pairs.verdict((released[one], released[two]), (raws[one], raws[two]), claim)
    return total


def claimed(loss: Loss, pair: tuple[Table, Table] | None = None) -> Claim:
    """What a loss says: exactly, before the ledger rounds it up.

    Args:
        loss: The loss.
        pair: Of which neighbours, where that matters: under a metric; by default of those that are farthest apart.

    Raises:
        InvariantBroken: It says nothing of these.
    """
    match loss:
        case Free():
            return Claim(Fraction(0))
        case Pure():
            return Claim(loss.epsilon, rho=loss.rho)
        case Approximate():
            return Claim(loss.epsilon, loss.delta)
        case Concentrated():
            return Claim(loss.epsilon, loss.delta or Fraction(0), loss.rho, loss.outside or Fraction(0))
        case RandomDPLoss():
            return Claim(loss.epsilon, loss.delta or Fraction(0))
        case MetricLoss():
            return Claim(_by_metric(FAMILIES[loss.name.rpartition("_")[0]], loss.multiples, pair))
        case Composed():
            parts = [claimed(part, pair) for part in loss.parts]
            delta, outside = (
                loss.count * sum((getattr(part, own) for part in parts), Fraction(0)) for own in ("delta", "outside")
            )
            return Claim(_added(loss, [p.epsilon for p in parts]), delta, _added(loss, [p.rho for p in parts]), outside)
    raise InvariantBroken(f"nothing follows from {loss}")


def _added(loss: Composed, parts: Sequence[Fraction | None]) -> Fraction | None:
    known = [part for part in parts if part is not None]
    return loss.count * sum(known, Fraction(0)) if len(known) == len(parts) else None


def _by_metric(family: Family, multiples: Mapping[str, Fraction], pair: tuple[Table, Table] | None) -> Fraction:
    """Multiples of the distance between the two rows, or of the presence of one: never more than they are.

    The root of `l2` is rounded down to 2^-`ROOT_BITS`: by less than that, what is claimed is held to less.
    """
    there = multiples.get("presence", multiples.get("", Fraction(0))) * PRESENCE
    far = {name: SHAPES[family.shape][name].most for name in family.metric}
    steps = far if pair is None else apart(family, *pair)
    if steps is None:
        return there
    own = [steps[name] for name in family.metric]
    if family.combine == "sum":
        along = sum((multiples.get(name, Fraction(0)) * steps[name] for name in family.metric), Fraction(0))
    elif family.combine == "sup":
        along = multiples[""] * Fraction(max(own))
    else:
        along = multiples[""] * Fraction(
            isqrt(int(sum(step**2 for step in own) * (1 << 2 * ROOT_BITS))), 1 << ROOT_BITS
        )
    return max(there, along) if pair is None else along


def _prepared(session: Session, case: Case, name: str) -> Prepared:
    statement = parse(case.sql.format(t=name))
    assert isinstance(statement, syntax.QueryStatement)
    plan = session._plan(statement.select, ())
    assert isinstance(plan, Plan)
    named = {key: value.format(t=name) if isinstance(value, str) else value for key, value in case.options.items()}
    return session._prepare(plan, named)


def _released(prepared: Prepared, raw: Sequence[RawTable]) -> Callable[[Sampler], bytes]:
    """The whole statement's release, as bytes that hold all that it releases."""
    return lambda sampler: write_released(release(prepared, raw, partial(noised, sampler=sampler)))


def _plain(raw: RawTable) -> Any:
    return raw.size, tuple((name, tuple(map(str, values))) for name, values in raw._columns.items())
