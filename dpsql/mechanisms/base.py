"""What every mechanism is given and what it offers.

    offer(request) -> Offer | Refusal      public facts only
    together(requests) -> Joint offers     public facts only
    Offer.release(raw, sampler)            the only place where a raw number becomes one that may leave

One theorem per file; `MECHANISMS` lists them.

Tests: tests/contracts.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpsql.errors import InvariantBroken
from dpsql.plan.needs import Need, Source
from dpsql.plan.nodes import Aggregate, Expression
from dpsql.plan.options import Options
from dpsql.plan.plans import Plan, TableFunction
from dpsql.plan.rows.per_class import UnitValues
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = [
    "CHOICE",
    "OWN",
    "PRICE",
    "Interval",
    "Joint",
    "Mechanism",
    "Offer",
    "Personal",
    "Price",
    "Refusal",
    "Request",
    "Top",
    "alike",
    "derive",
    "total_price",
]

OWN = frozenset({"mechanism", "confidence", "privacy_unit_column"})
"""The options that every statement reads itself."""

PRICE = frozenset({"epsilon", "delta", "rho", "max_rows_contributed"})
"""The options by which most answers are priced and their rows bounded."""

GROUPS = frozenset({"max_groups_per_unit", "max_rows_per_group", "group_selection_strategy"})
"""Those that bear on groups of rows besides."""

CHOICE = frozenset({"min_privacy_units_per_group", "group_selection_epsilon", "rest"})
"""Those that bear on a measurement which chooses the groups."""

Interval = tuple[float | int | None, float | int | None]
"""A confidence interval in the column's unit; None where there is no value."""


@dataclass(frozen=True, slots=True)
class Price:
    """What one measurement may cost: by epsilon (with a ceiling on delta), by rho, or by a multiple of a metric.

    Attributes:
        epsilon: Pure loss, or the epsilon of an (epsilon, delta) loss; None when priced otherwise.
        delta: Ceiling on delta; 0 where the statement names none.
        rho: zCDP loss; None when priced otherwise.
        multiple: Of the metric that the statement names, what all of its measurements may cost together; or None.
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None = None
    multiple: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Personal:
    """The same rows as one value for each unit and group, where units have classes.

    Attributes:
        values: The values, beside the unit's class.
        source: Their rows, with the contribution bounds in force: one row a unit in each group.
        prices: Every class of the policy to what a unit of it may lose.
    """

    values: UnitValues
    source: Source
    prices: Mapping[str, Price]


@dataclass(frozen=True, slots=True)
class Top:
    """Which groups of an order are wanted.

    Attributes:
        count: How many, those that OFFSET skips included.
        largest: Whether the order is from the largest on.
        listed: Of how many.
    """

    count: int
    largest: bool
    listed: int


@dataclass(frozen=True, slots=True)
class Request:
    """One aggregate to be answered, with everything public that bears on it.

    Attributes:
        aggregate: What is asked.
        source: The rows, the keys and the contribution bounds in force.
        price: What it may cost everybody: where units have classes, what the strictest class may lose.
        neighbours: ``"add_remove"`` or ``"replace_one"``.
        grid, second_grid: Those of the argument and of a second one, where they are bounded numbers, else None.
        selects: Whether this measurement must also decide which groups of an open domain appear.
        rows_public: Under replace_one: the exact number of rows is public (whole table, one row a unit, no
            WHERE, GROUP BY or join).
        rows_about: Guess of the rows per group that conditions leave; used to choose and to predict errors, never in a
            proof.
        rows_read: The same of rows that no condition left out: what may have to be read, and takes time.
        rows_at_least: The owner's floor on a whole table's rows, without groups, or None; for accuracy alone.
        narrowed: What is known of the argument, and of the second one, where the statement's conditions and bounds tell
            more than their own facts; None for what tells no more. The grids are made of it.
        idealised: Whether the owner admits mechanisms whose exact arithmetic is not proved.
        options: What the statement asks for; a mechanism reads those that it names in `Mechanism.options`.
        personal: Under add_remove, where units have classes and the aggregate is made of one value for each unit: those
            values, and what each class may lose; else None.
        table: The function of a whole table of which this is one column: all of them are answered by one release, for
            the price that each of them names; or None.
        top: Where this measurement chooses the first groups of an order: which; else None.
        policy_file: Where the owner writes, for messages.
        listed: How many groups the answer lists; None where not all keys are listed. Like ``rows_about`` it is never in
            a proof.
        units_at_least: Units a group needs before it appears (``min_privacy_units_per_group``), tested on the
            noised count; 0 for none.
        min_units: Units a group needs before it may appear at all (the policy's), tested before the noise, which allows
            a proof.
        deadline: Seconds that a statement may run.
    """

    aggregate: Aggregate
    source: Source
    price: Price
    neighbours: str
    grid: Grid | None
    selects: bool
    rows_public: bool
    rows_about: int
    rows_read: int
    units_at_least: int = 0
    min_units: int = 1
    second_grid: Grid | None = None
    rows_at_least: int | None = None
    options: Options = Options()  # noqa: RUF009 - frozen
    idealised: bool = False
    personal: Personal | None = None
    narrowed: tuple[Facts | None, Facts | None] = (None, None)
    table: TableFunction | None = None
    top: Top | None = None
    policy_file: str = "the policy"
    listed: int | None = None
    deadline: float = 30.0

    @property
    def facts(self) -> Facts:
        """What is known of the argument over the rows that count.

        It serves to choose, to centre and to predict; what a sensitivity rests on is the grid, to which the engine
        clamps.

        Raises:
            InvariantBroken: There is no argument.
        """
        return self._facts(self.aggregate.argument, self.narrowed[0])

    @property
    def second_facts(self) -> Facts:
        """The same of the second argument."""
        return self._facts(self.aggregate.second, self.narrowed[1])

    def _facts(self, argument: Expression | None, narrowed: Facts | None) -> Facts:
        if argument is None:
            raise InvariantBroken("an aggregate without an argument has no facts")
        return narrowed or argument.facts

    @property
    def whole(self) -> bool:
        """Whether all requests of the statement are answered together only, for the price that each of them names."""
        return self.table is not None or self.price.multiple is not None

    @property
    def cells(self) -> int:
        """How many groups are listed, by the keys of which values are; 1 without keys."""
        if self.listed is not None:
            return self.listed
        return math.prod(len(key.domain) for key in self.source.keys if key.domain is not None)

    @property
    def neighbour_rows(self) -> int:
        """How many units a neighbour differs in: 2 under replace_one (one leaves, one comes), else 1.

        It multiplies every sensitivity that was worked out for one removal or one addition.
        """
        return 2 if self.neighbours == "replace_one" else 1


def total_price(requests: Sequence[Request]) -> Price:
    """What several requests with prices of their own may cost together."""
    prices = [request.price for request in requests]
    delta = sum((price.delta for price in prices), Fraction(0))
    rhos, epsilons = [p.rho for p in prices if p.rho is not None], [p.epsilon for p in prices if p.epsilon is not None]
    if rhos:
        return Price(None, delta, sum(rhos, Fraction(0)))
    return Price(sum(epsilons, Fraction(0)), delta)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a mechanism does not answer a request, in one sentence for `explain`."""

    mechanism: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Offer(ABC):
    """What a release would cost and do. Every field comes from public facts, when the offer is made.

    Two offers of one class are equal where they would give the same answers to the same raw numbers and draws: what is
    only foretold or said of an answer is not compared, and no part of its identity (`prepare.identity`).

    Attributes:
        mechanism: Its name, as in ``OPTIONS (mechanism = ...)``.
        loss: The loss of this release, all groups together.
        need: What it wants from the engine.
        sensitivity: L1 (laplace, threshold) or L2 (gaussian) sensitivity in the column's unit; None where it rests on
            several measurements.
        scale: Noise scale or standard deviation in the column's unit; None where it rests on several measurements.
        half_width: Expected half width of a 95% interval in the column's unit; infinite where it cannot be foretold.
        notes: What a reader of the answer must know beside its error, one sentence each; most need nothing.
        quoted: The same of a quote alone: what the released numbers will tell better.
    """

    mechanism: str
    loss: Loss
    need: Need
    sensitivity: float | None = field(default=None, kw_only=True)
    scale: float | None = field(default=None, kw_only=True)
    half_width: float = field(default=math.inf, kw_only=True, compare=False)
    notes: tuple[str, ...] = field(default=(), kw_only=True, compare=False)
    quoted: tuple[str, ...] = field(default=(), kw_only=True, compare=False)

    @property
    def expected_error(self) -> float:
        """What mechanisms are compared by: how far off answers are expected, at 95%; a bracket is wider."""
        return self.half_width

    @property
    def near_end(self) -> float:
        """How far the nearer end of a 95% interval is expected to be from its value; of most both ends are alike."""
        return self.half_width

    @property
    def bracketed(self) -> bool:
        """Whether its values have intervals; where they have none, `half_width` is how far off they are expected."""
        return True

    @abstractmethod
    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """Noised values, one row per row of ``raw`` (``m0``, ``m1``, ... as ``need`` names them)."""

    @abstractmethod
    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """A confidence interval for each value's noise-free answer, from public quantities only."""

    def told(self, released: ReleasedTable) -> tuple[str, ...]:
        """What the released numbers tell a reader beside values and intervals, one sentence each; mostly nothing."""
        return ()

    def selected(self, released: ReleasedTable) -> Sequence[int]:
        """Rows of the released table whose groups may be named in the answer, where the release decides that.

        Raises:
            InvariantBroken: It does not.
        """
        raise InvariantBroken(f"{self.mechanism} cannot choose groups")

    def appears_from(self, released: ReleasedTable | None = None) -> float | None:
        """About how many units a group needs to appear, where the release decides which do; None where it does not.

        Args:
            released: What it released; None before that.
        """
        return None

    def placed(self, place: int) -> Offer:
        """The same release, as what answers another of several aggregates.

        Raises:
            InvariantBroken: It answers one alone.
        """
        if place:
            raise InvariantBroken(f"{self.mechanism} answers one aggregate here")
        return self


def derive(offer: Offer, **values: Any) -> None:
    """Sets the fields that follow from the others, while an offer is made (``__post_init__``)."""
    for name, value in values.items():
        object.__setattr__(offer, name, value)


@dataclass(frozen=True, slots=True)
class Joint:
    """An offer for several requests together: one release that answers all of them, or several with a common price.

    Attributes:
        members: Which of them, by index.
        offers: What answers each member, in their order.
        places: Where each stands among the members that one release answers; the first, 0, is followed by the others.
        loss: Of all of them together; it may be less than those of the releases added up.
    """

    members: tuple[int, ...]
    offers: tuple[Offer, ...]
    places: tuple[int, ...]
    loss: Loss

    @classmethod
    def of_one(cls, members: tuple[int, ...], offer: Offer) -> Joint:
        """An offer of one release, by `Offer.placed`."""
        places = tuple(range(len(members)))
        return cls(members, tuple(offer.placed(place) for place in places), places, offer.loss)


@dataclass(frozen=True, slots=True)
class Mechanism(ABC):
    """One way to answer; registered in `MECHANISMS`.

    Attributes:
        name: The name SQL knows it by.
        options: The options that are its own.
    """

    name: str
    options: frozenset[str] = frozenset()

    def takes(self, request: Request) -> bool:
        """Whether a request is of the kind that it answers; most answer what has a price of its own."""
        return not request.whole and request.top is None

    def may_answer(self, request: Request) -> bool:
        """Whether it takes a request, and an offer is worth asking for; `takes` alone tells who has a reason."""
        return self.takes(request)

    def is_named(self, options: Options) -> bool:
        """Whether a statement asks for it, by its name or by an option of its own."""
        return options.mechanism == self.name or any(getattr(options, own) is not None for own in self.options)

    def reads(self, request: Request) -> frozenset[str]:
        """Names of the options that bear on its answer to a request: its own, the price, and how rows are bounded."""
        return self.options | PRICE | GROUPS | (CHOICE if request.selects else frozenset())

    def statement(self, plan: Plan, options: Options) -> tuple[Plan, Options]:
        """A whole statement as this mechanism alone answers it; every other statement as it is."""
        return plan, options

    @abstractmethod
    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for this request, or why there is none; looks at public facts only."""

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """Offers for some of these requests of one statement at once, at the sum of their prices; public facts only.

        `Request.whole` ones are answered all at once, at the price that each of them names.
        """
        return ()


def alike(
    requests: Sequence[Request], fits: Callable[[Request], bool], same: Callable[[Request, Request], bool]
) -> list[tuple[int, ...]]:
    """Indices of the requests that fit and are the same in some way, two or more together."""
    groups: list[list[int]] = []
    for index, request in enumerate(requests):
        if fits(request):
            like = next((group for group in groups if same(requests[group[0]], request)), None)
            if like is None:
                groups.append([index])
            else:
                like.append(index)
    return [tuple(group) for group in groups if len(group) > 1]
