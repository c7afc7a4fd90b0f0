"""A statement ready to be charged and run.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from dpsql.engine.base import EngineStatement
from dpsql.engine.released import lower_released
from dpsql.engine.riding import plain_totals
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import Choice
from dpsql.mechanisms.foretold import foretold
from dpsql.plan.needs import Aggregates, Need
from dpsql.plan.nodes import Aggregate
from dpsql.plan.options import Options
from dpsql.plan.over_answers.members import Members
from dpsql.plan.plans import Plan
from dpsql.plan.types import Awaited, Value
from dpsql.prepare.identity import canonical
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import encode
from dpsql.privacy.tables import Group, RawTable, ReleasedTable
from dpsql.worker.ordered import OF

__all__ = ["Grouping", "Measured", "Prepared", "Reading"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One aggregate and the release that will answer it.

    Attributes:
        aggregate: What was asked; a hidden count of units (``selection``) when no asked one can choose the groups.
        request: What the mechanisms were given.
        choice: The release, and the mechanisms not taken.
        reading: Index of its engine statement in `Prepared.readings`.
        columns: The statement's raw columns that are the release's ``m0``, ``m1``, ...
        grouping: Index of what it is grouped by in `Prepared.groupings`.
        place: Where it stands among the aggregates that one release answers; the first, 0, is followed by the others.
        rest: Whether it is for all groups together that were not chosen (`prepare.rest`).
    """

    aggregate: Aggregate
    request: Request
    choice: Choice
    reading: int
    columns: tuple[str, ...]
    grouping: int = 0
    place: int = 0
    rest: bool = False

    @property
    def name(self) -> str:
        """Its table among the released ones."""
        return f"{self.aggregate.name}@{self.grouping}"

    def notes(self, released: ReleasedTable | None = None) -> tuple[str, ...]:
        """What a reader must know beside the error, and what can be foretold of the answer; one sentence each.

        Args:
            released: What it released; None before that.
        """
        release = self.choice.release
        told = release.quoted if released is None else release.told(released)
        expected = () if self.rest else foretold(self.request, release, released)  # nobody guesses how many are hidden
        return (*release.notes, *told, *expected)


@dataclass(frozen=True, slots=True)
class Grouping:
    """One way in which the answer's rows are grouped.

    Attributes:
        keys: Indices of the statement's keys.
        groups: The listed groups in order, one value for each of these keys; None where groups are chosen.
    """

    keys: tuple[int, ...]
    groups: tuple[Group, ...] | None


@dataclass(frozen=True, slots=True)
class Reading:
    """One statement for the engine, for all releases that read the same rows.

    Attributes:
        need: What it finds.
        statement: How; several readings may be of one statement.
        of: Which of the kinds of totals that the statement finds, the first of several where the need is of plain
            totals that ride along (`engine.riding`); None where it finds nothing else.
    """

    need: Need
    statement: EngineStatement
    of: int | None = None

    def own(self, found: RawTable) -> RawTable:
        """Its part of what the statement found."""
        if self.of is None:
            return found
        if isinstance(self.need, Aggregates):
            return plain_totals(self.need, found, self.of)
        return found.where(OF, self.of)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement ready to be charged and run.

    Attributes:
        plan: What it means.
        options: The options in force.
        measured: Aggregates with their releases.
        selection: Index of the measurement that chooses the groups, or None where the domain lists them.
        groupings: What the answer's rows are grouped by: one, or one for each grouping set.
        readings: Engine statements.
        loss: The whole price.
        read: Names of the options that the statement and its mechanisms read.
        candidates: The listed groups of which some are chosen; None where all are listed, or found.
        prices: What each aggregate may cost in one grouping, by its name; what chooses the groups included.
        members: Which listed groups each row of a query over the answer aggregates; None where that is not known.
    """

    plan: Plan
    options: Options
    measured: tuple[Measured, ...]
    selection: int | None
    groupings: tuple[Grouping, ...]
    readings: tuple[Reading, ...]
    loss: Loss
    read: frozenset[str] = frozenset()
    prices: Mapping[str, Price] = field(default_factory=dict)
    candidates: tuple[Group, ...] | None = None
    members: tuple[Members, ...] | None = None
    _prints: dict[tuple[str, str, int], str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def at(self, values: Mapping[Awaited, Value]) -> Prepared:
        """The statement with the values that it waits for."""
        readings = (replace(reading, statement=reading.statement.at(values)) for reading in self.readings)
        return replace(self, readings=tuple(readings))

    @property
    def told(self) -> tuple[Measured, ...]:
        """What is measured, in the order in which the aggregates are written; what chooses groups comes first."""
        if not self.plan.told_by:
            return self.measured
        places = {self.plan.aggregates[own].name: place for place, own in enumerate(self.plan.told_by)}
        return tuple(sorted(self.measured, key=lambda own: (own.grouping, places.get(own.aggregate.name, -1))))

    def keys_of(self, measured: Measured) -> tuple[str, ...]:
        """The raw key columns of what a measurement is grouped by; all of them, of what is added up over groups."""
        keys = range(len(self.plan.keys)) if measured.rest else self.groupings[measured.grouping].keys
        return tuple(self.plan.keys[index].name for index in keys)

    def fingerprint(self, analyst: str, version: int) -> str:
        """What must be equal for a release to answer again: what runs, on which rows, how it is noised, for whom.

        What is made of the released values is no part of it: other names, another order, HAVING, LIMIT, arithmetic and
        queries over the answer are functions of them (post-processing), and cost nothing.
        """
        return self._printed("release", analyst, version, self._release)

    def named(self, analyst: str, version: int) -> str:
        """What must be equal for an answer to be the same: its release, and what is made of it."""
        return self._printed("answer", analyst, version, self._answer)

    def _printed(self, what: str, analyst: str, version: int, described: Callable[[str, int], list[str]]) -> str:
        found = self._prints.get((what, analyst, version))
        if found is None:
            found = hashlib.sha256(repr(described(analyst, version)).encode()).hexdigest()
            self._prints[what, analyst, version] = found
        return found

    def _release(self, analyst: str, version: int) -> list[str]:
        described = [analyst, str(version), *map(self._grouped, self.groupings), repr(encode(self.loss))]
        described.append(repr((len(self.groupings), self.selection, self.candidates is None)))
        if self.candidates is not None:
            described.append(self._grouped(replace(self.groupings[0], groups=self.candidates)))
        described.append(repr([key.expression.facts.type for key in self.plan.keys]))
        described += [reading.statement.identity for reading in self.readings]
        for measured in self.measured:
            own = measured.aggregate
            kind = own.function, None if own.argument is None else own.argument.facts.type
            release = canonical(measured.choice.release)
            described.append(repr((measured.name, kind, measured.reading, measured.columns, release)))
        return described

    def _grouped(self, grouping: Grouping) -> str:
        """What tells a grouping from any other.

        Groups are listed in the order of their keys' domains (`plan.measured.combined.listed_groups`): where they are
        as many as these make, the domains say which they are, in few words of 90,000 groups.
        """
        domains = [self.plan.keys[key].domain for key in grouping.keys]
        sizes = [0 if domain is None else len(domain) for domain in domains]
        if grouping.groups is None or len(grouping.groups) != math.prod(sizes):
            return repr(grouping)
        return repr((grouping.keys, domains))

    def _answer(self, analyst: str, version: int) -> list[str]:
        after = lower_released(self.plan)
        answer = [(output.name, output.end, output.type, output.element) for output in self.plan.answer]
        described = [self.fingerprint(analyst, version), after.sql, repr(after.parameters), repr(answer)]
        return described + [output.report for output in self.plan.answer if output.report not in ("", "JSON")]
