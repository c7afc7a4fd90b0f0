"""From a plan to what would be done: bounds in force, prices, one mechanism per aggregate, one engine statement.

Everything here rests on public facts: the policy, the statement, the options. Nothing has been charged or read.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from dpsql.engines.base import EngineStatement
from dpsql.engines.lower import lower, lower_released
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.mechanisms import by_name
from dpsql.mechanisms.base import Personal, Price, Request
from dpsql.mechanisms.choose import Choice, choose
from dpsql.mechanisms.classes import price_of_everyone, share_of
from dpsql.plan.catalog import Catalog
from dpsql.plan.domains import MOST_CELLS
from dpsql.plan.grids import grid_of
from dpsql.plan.nodes import Aggregate, Column, Key, Plan, Relation, Scan
from dpsql.plan.options import MECHANISM_OF, Options
from dpsql.plan.per_class import values_per_unit
from dpsql.plan.per_unit import totals_per_unit
from dpsql.plan.relations import origins, private_scans, rows_in_group, rows_per_unit, unit_of
from dpsql.plan.requests import Aggregates, Contribution, Histogram, Measure, MeasureKind, Need, Source
from dpsql.plan.types import Grid
from dpsql.privacy.account import DELTA_UNIT, UNIT
from dpsql.privacy.loss import Composed, Loss, encode
from dpsql.privacy.tables import Group

__all__ = [
    "Grouping",
    "Measured",
    "Prepared",
    "Reading",
    "check_unit",
    "prepare",
    "price_of_one",
    "rows_about",
    "source_of",
]

UNBOUNDED = ("avg", "quantile_cont", "trimmed_mean", "var_pop", "var_samp", "stddev_pop", "stddev_samp")
"""Aggregates that a centre and a spread can do for, instead of bounds."""

SELECTION_SHARE = Fraction(1, 5)  # of epsilon, for a unit count that only decides which groups appear


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
    """

    aggregate: Aggregate
    request: Request
    choice: Choice
    reading: int
    columns: tuple[str, ...]
    grouping: int = 0
    place: int = 0

    @property
    def name(self) -> str:
        """Its table among the released ones."""
        return f"{self.aggregate.name}@{self.grouping}"


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
    """One statement for the engine, for all releases that read the same rows."""

    need: Need
    statement: EngineStatement


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
        meaning: What tells the statement apart where neither the engine's SQL nor the releases do; '' for nothing.
    """

    plan: Plan
    options: Options
    measured: tuple[Measured, ...]
    selection: int | None
    groupings: tuple[Grouping, ...]
    readings: tuple[Reading, ...]
    loss: Loss
    meaning: str = ""

    def keys_of(self, measured: Measured) -> tuple[str, ...]:
        """The raw key columns of what a measurement is grouped by."""
        return tuple(self.plan.keys[index].name for index in self.groupings[measured.grouping].keys)

    def fingerprint(self, analyst: str, version: int) -> str:
        """What must be equal for an answer to be replayed: what runs, on which rows, how it is noised, for whom."""
        described = [analyst, str(version), repr(self.groupings), repr(encode(self.loss)), self.meaning]
        for reading in self.readings:
            described += [reading.statement.sql, repr(reading.statement.parameters)]
        for measured in self.measured:
            release, request = measured.choice.release, measured.request
            described += [release.mechanism, repr(encode(release.loss)), repr(release.scale), repr(measured.columns)]
            asked = measured.aggregate
            described += [measured.name, asked.function, repr((asked.fraction, asked.bounds, asked.per_group))]
            described += [repr((request.grid, request.second_grid, request.selects, request.units_at_least))]
            described += [repr((request.options.sensitivity, request.options.centre, request.options.scale))]
            described.append(repr(release.notes))
            if asked.argument is not None:
                described.append(repr(asked.argument.facts))
        after = lower_released(self.plan)
        described += [
            after.sql,
            repr(after.parameters),
            repr([(output.name, output.end) for output in self.plan.answer]),
        ]
        return hashlib.sha256("\x00".join(described).encode()).hexdigest()


def prepare(plan: Plan, options: Options, catalog: Catalog, contribution_key: bytes) -> Prepared:
    """The offers taken for every aggregate of a plan, and their price.

    Args:
        plan: What is asked.
        options: In force for this statement, defaults included.
        catalog: Tables and neighbours.
        contribution_key: The ledger's secret; orders rows and groups where a cap cuts.

    Raises:
        UnsupportedQuery: No mechanism answers an aggregate, bounds are missing, or a group cap is impossible.
        ProgrammingError: Options that do not fit this statement.
    """
    check_unit(plan.relation, options)
    groupings = _groupings(plan)
    listed = all(grouping.groups is not None for grouping in groupings)
    if options.group_selection_strategy == "PUBLIC_GROUPS" and not listed:
        raise UnsupportedQuery(
            "PUBLIC_GROUPS needs a declared domain for every key.", construct="GROUP BY",
            hint="Declare values in the policy, or leave the strategy out and give delta.",
        )  # fmt: skip
    asked_threshold = options.group_selection_strategy == "LAPLACE_THRESHOLD"
    selects = not listed or (asked_threshold and bool(plan.keys))
    if selects and (len(groupings) > 1 or unit_of(plan.relation) is None):
        raise UnsupportedQuery(
            "groups of an open domain are chosen by counting people, in one GROUP BY of rows that have their unit.",
            construct="GROUPING SETS" if len(groupings) > 1 else "GROUP BY",
            hint="Declare the values of every key in the policy, or name them in WHERE.",
        )  # fmt: skip
    if not selects:
        _refuse_selection(options)
    aggregates, selection = _with_selection(plan.aggregates, source_of(plan, plan.keys, options), selects)
    asked = _prices(aggregates, selection, len(aggregates) > len(plan.aggregates), options, len(groupings))
    requests, of = [], []
    for at, grouping in enumerate(groupings):
        keys = tuple(plan.keys[index] for index in grouping.keys)
        for index, (aggregate, price) in enumerate(zip(aggregates, asked, strict=True)):
            requests.append(_request(plan, keys, grouping, aggregate, price, options, catalog, index == selection))
            of.append(at)
    choices = _choose(requests, options, catalog)
    readings, where = _readings([choice.release.need for choice in choices], contribution_key)
    measured = tuple(
        Measured(request.aggregate, request, choice, *place, grouping=at)
        for request, choice, place, at in zip(requests, choices, where, of, strict=True)
    )
    loss = Composed(tuple(choice.release.loss for choice in choices))
    if selects:
        groupings = (replace(groupings[0], groups=None),)
    return Prepared(plan, options, measured, selection, groupings, readings, loss)


def _request(
    plan: Plan,
    keys: tuple[Key, ...],
    grouping: Grouping,
    aggregate: Aggregate,
    price: Price,
    options: Options,
    catalog: Catalog,
    selects: bool,
) -> Request:
    """What the mechanisms are told of one aggregate over one grouping."""
    relation = plan.relation
    personal = None if selects else _personal(plan, keys, aggregate, price, options, catalog)
    if aggregate.per_group is not None:
        relation, keys, aggregate = totals_per_unit(relation, keys, aggregate, f"totals_{aggregate.name}")
    grid, second_grid = _grids(aggregate)
    return Request(
        aggregate=aggregate,
        source=source_of(replace(plan, relation=relation), keys, options),
        price=_positive(price_of_everyone(price, catalog.classes)),
        neighbours=catalog.neighbours,
        grid=grid,
        second_grid=second_grid,
        selects=selects,
        rows_public=_rows_public(relation, keys, catalog),
        rows_about=rows_about(plan, grouping.groups),
        rows_at_least=_rows_at_least(relation, keys),
        units_at_least=(options.min_privacy_units_per_group or 0) if selects else 0,
        options=options,
        personal=personal,
    )


def _personal(
    plan: Plan, keys: tuple[Key, ...], aggregate: Aggregate, price: Price, options: Options, catalog: Catalog
) -> Personal | None:
    """One value for each unit beside its class, and what each class pays; None where there is no such thing.

    There is none under replace_one, where a swap moves the sensitivities of two classes at once, and none where the
    statement caps rows: a class caps the values.
    """
    capped = options.max_rows_contributed or options.max_rows_per_group
    if catalog.class_of is None or catalog.neighbours != "add_remove" or capped:
        return None
    values = values_per_unit(plan.relation, keys, aggregate, catalog.class_of)
    if values is None:
        return None
    source = source_of(replace(plan, relation=values.relation), values.keys, options)
    return Personal(values, source, {name: share_of(price, share) for name, share in catalog.classes.items()})


def _refuse_selection(options: Options) -> None:
    """Options of a choice of groups, where every group is listed, would be ignored.

    Raises:
        ProgrammingError: Naming the option.
    """
    for name in ("min_privacy_units_per_group", "group_selection_epsilon"):
        if getattr(options, name) is not None:
            raise ProgrammingError(
                f"{name} is for groups that must be chosen; every group of this statement is listed. Leave it out, "
                "or write HAVING COUNT(DISTINCT unit) >= k over the answer."
            )


def check_unit(relation: Relation, options: Options) -> None:
    units = [str(scan.table.unit) for scan in private_scans(relation)]
    wanted = options.privacy_unit_column
    if wanted is not None and wanted not in [unit.lower() for unit in units]:
        raise ProgrammingError(f"privacy_unit_column is {wanted}; the policy's privacy unit here is {units[0]}.")


# ------------------------------------------------------------------------------------------ contribution bounds


def source_of(plan: Plan, keys: tuple[Key, ...], options: Options) -> Source:
    """The rows, with the bounds in force: the policy's, or tighter ones of the statement."""
    most = rows_per_unit(plan.relation)
    if unit_of(plan.relation) is None:
        return _uncut(plan, keys, options, most)
    rows = min(most, options.max_rows_contributed or most)
    caps = [scan.table.max_groups_per_unit for scan in private_scans(plan.relation)] + [options.max_groups_per_unit]
    groups = min([rows, *(cap for cap in caps if cap is not None)]) if keys else 1
    most_in_group = min(rows, rows_in_group(plan.relation, [key.expression for key in keys]))
    in_group = min(most_in_group, options.max_rows_per_group or rows)
    return Source(
        relation=plan.relation,
        keys=keys,
        contribution=Contribution(rows=rows, groups=groups, rows_in_group=in_group),
        cap_rows=rows < most,
        cap_groups=bool(keys) and groups < rows,
        cap_rows_in_group=in_group < most_in_group,
    )


def _uncut(plan: Plan, keys: tuple[Key, ...], options: Options, most: int) -> Source:
    """Rows that have lost their unit: a unit's arrival moves at most ``most`` of them; nothing can cut them further."""
    if options.max_rows_contributed or options.max_groups_per_unit or options.max_rows_per_group:
        raise ProgrammingError(
            "max_groups_per_unit, max_rows_per_group and max_rows_contributed need rows that have their privacy unit. "
            "Keep the unit among the columns of the sub-query, or leave the option out."
        )
    return Source(plan.relation, keys, Contribution(rows=most, groups=most if keys else 1, rows_in_group=most))


def _groupings(plan: Plan) -> tuple[Grouping, ...]:
    """What the answer's rows are grouped by: once for a plain GROUP BY, once for each grouping set."""
    every = tuple(range(len(plan.keys)))
    sets = plan.sets if plan.sets is not None else (every,)
    return tuple(Grouping(keys, _listed([plan.keys[index] for index in keys])) for keys in sets)


def _listed(keys: Sequence[Key]) -> tuple[Group, ...] | None:
    """Every group of the answer, or None where some key is open or there are too many."""
    domains = [key.domain for key in keys if key.domain is not None]
    if len(domains) < len(keys) or math.prod(map(len, domains)) > MOST_CELLS:
        return None
    return tuple(product(*domains))


def rows_about(plan: Plan, groups: tuple[Group, ...] | None) -> int:
    """A guess of the rows per group: the largest table's, spread evenly; open keys as if they had 100 groups."""
    rows = max(scan.table.rows_about for scan in private_scans(plan.relation))
    return max(1, rows // max(1, len(groups) if groups is not None else 100))


def _rows_at_least(relation: Relation, keys: tuple[Key, ...]) -> int | None:
    """The owner's floor on the number of rows, where it is that of a whole table."""
    return relation.table.rows_at_least if isinstance(relation, Scan) and not keys else None


def _rows_public(relation: Relation, keys: tuple[Key, ...], catalog: Catalog) -> bool:
    """Whether the exact number of rows is public: a whole table with exactly one row for every unit, replaced."""
    whole = isinstance(relation, Scan) and relation.table.every_unit and relation.table.rows_per_unit == 1
    return catalog.neighbours == "replace_one" and whole and not keys


# ------------------------------------------------------------------------------------------------------- prices


def _with_selection(
    aggregates: tuple[Aggregate, ...], source: Source, selects: bool
) -> tuple[tuple[Aggregate, ...], int | None]:
    """The aggregates, with a hidden count of units in front where groups must be chosen and none asked counts units."""
    if not selects:
        return aggregates, None
    for index, aggregate in enumerate(aggregates):
        counts_units = aggregate.function == "count_units"
        one_each = aggregate.function == "count_rows" and source.contribution.rows == 1 and aggregate.per_group is None
        if counts_units or one_each:
            return aggregates, index
    return (Aggregate("selection", "count_units", None, "choice of groups"), *aggregates), 0


def _prices(
    aggregates: Sequence[Aggregate], selection: int | None, hidden: bool, options: Options, sets: int
) -> list[Price]:
    """One price per aggregate: own epsilons first, a fifth for a hidden selection, the rest in equal parts.

    With several grouping sets each aggregate is measured once for each, at an equal part of its price.
    """
    delta = (options.delta or Fraction(0)) / (len(aggregates) * sets) // DELTA_UNIT * DELTA_UNIT
    if options.rho is not None:
        if any(aggregate.epsilon is not None for aggregate in aggregates):
            raise ProgrammingError("epsilon => cannot stand in a statement priced by rho. Leave it out.")
        if options.group_selection_epsilon is not None:
            raise ProgrammingError(
                "group_selection_epsilon cannot stand in a statement priced by rho, which shares it out. Leave it out."
            )
        shares = _shares(aggregates, selection, hidden, options.rho, None)
        return [Price(None, delta, _of_one_set(share, sets)) for share in shares]
    if options.epsilon is None:
        raise ProgrammingError("The statement has no price. Write OPTIONS (epsilon = 0.1), or per_query in the policy.")
    shares = _shares(aggregates, selection, hidden, options.epsilon, options.group_selection_epsilon)
    return [Price(_of_one_set(share, sets), delta) for share in shares]


def price_of_one(options: Options, catalog: Catalog) -> Price:
    """The price of a statement that is one release: all of it, or what the strictest class of units pays."""
    (price,) = _prices([Aggregate("a0", "whole", None, "")], None, False, options, 1)
    return _positive(price_of_everyone(price, catalog.classes))


def _of_one_set(share: Fraction, sets: int) -> Fraction:
    return _down(share / sets)


def _positive(price: Price) -> Price:
    if price.epsilon == 0 or price.rho == 0:
        raise ProgrammingError("The price is too small to be shared by so many aggregates. Raise it.")
    return price


def _shares(
    aggregates: Sequence[Aggregate],
    selection: int | None,
    hidden: bool,
    whole: Fraction,
    own_selection: Fraction | None,
) -> list[Fraction]:
    fixed: dict[int, Fraction] = {i: a.epsilon for i, a in enumerate(aggregates) if a.epsilon is not None}
    if own_selection is not None and selection is not None:
        fixed[selection] = own_selection
    rest = whole - sum(fixed.values())
    if hidden and selection is not None and selection not in fixed and rest > 0:
        alone = len(fixed) == len(aggregates) - 1
        fixed[selection] = rest if alone else rest * SELECTION_SHARE
        rest -= fixed[selection]
    free = len(aggregates) - len(fixed)
    if rest < 0 or (free and rest <= 0):
        raise ProgrammingError(
            f"The aggregates' own prices add up to {float(whole - rest):g}, but the statement's epsilon is "
            f"{float(whole):g}. Raise epsilon, or lower epsilon => of an aggregate."
        )
    return [_down(fixed[i] if i in fixed else rest / free) for i in range(len(aggregates))]


def _down(share: Fraction) -> Fraction:
    """A share in whole ledger units, so that rounding each up adds nothing to the statement's price."""
    return share // UNIT * UNIT


# -------------------------------------------------------------------------------------------------------- grids


def _grids(aggregate: Aggregate) -> tuple[Grid | None, Grid | None]:
    """The grids of the arguments, on the analyst's tighter bounds where there are some; None without bounds."""
    if aggregate.argument is None:
        return None, None
    facts = aggregate.argument.facts
    if aggregate.bounds is not None:
        facts = replace(facts, low=aggregate.bounds[0], high=aggregate.bounds[1])
    return grid_of(facts), None if aggregate.second is None else grid_of(aggregate.second.facts)


# ------------------------------------------------------------------------------------------- choices, statements


def _choose(requests: Sequence[Request], options: Options, catalog: Catalog) -> list[Choice]:
    """The best offer for each; a wanted mechanism holds for every aggregate that offers it, and one must."""
    choices = []
    refusals: list[UnsupportedQuery] = []
    for request in requests:
        wanted = options.mechanism
        try:
            choices.append(_best(request, wanted))
        except UnsupportedQuery as error:
            if wanted is None:
                raise _without_bounds(request, catalog) or error from None
            refusals.append(error)
            try:
                choices.append(_best(request, None))
            except UnsupportedQuery:
                raise error from None
    taken = {choice.release.mechanism for choice in choices}
    if refusals and options.mechanism not in taken:
        raise refusals[0]
    _refuse_idle(options, taken)
    return choices


def _best(request: Request, wanted: str | None) -> Choice:
    """The wanted mechanism's offer, else that of the owner's default for this column, else the best.

    Raises:
        UnsupportedQuery: No mechanism that the owner allows, or not the wanted one, makes an offer.
    """
    argument, banned, default = request.aggregate.argument, frozenset[str](), None
    if argument is not None:
        for column, bare in origins(request.source.relation, argument):
            banned |= column.banned
            default = column.defaults.get(_default_key(request.aggregate)) if bare else default
    if wanted is None and default is not None and default not in banned:
        try:
            return choose(request, wanted=default, banned=banned)
        except UnsupportedQuery:
            pass  # a default is no promise: here it makes no offer
    return choose(request, wanted=wanted, banned=banned)


def _default_key(aggregate: Aggregate) -> str:
    """What the policy calls an aggregate in its defaults."""
    if aggregate.function.startswith("quantile"):
        return "median" if aggregate.fraction == Fraction(1, 2) else "quantile"
    return aggregate.function.removesuffix("_pop").removesuffix("_samp")


def _refuse_idle(options: Options, taken: Collection[str]) -> None:
    """An option of a mechanism that answers nothing here would be ignored.

    Raises:
        ProgrammingError: Naming it.
    """
    for option, mechanism in MECHANISM_OF.items():
        if getattr(options, option) is not None and mechanism not in taken:
            have = by_name(mechanism) is not None
            raise ProgrammingError(
                f"{option} is an option of mechanism {mechanism}, which "
                + (
                    f"answers nothing in this statement. Leave it out, or write mechanism = '{mechanism}'."
                    if have
                    else "this version does not have. Leave it out."
                )
            )


def _without_bounds(request: Request, catalog: Catalog) -> UnsupportedQuery | None:
    """That bounds are missing where nothing else is, with what to write."""
    aggregate, options = request.aggregate, request.options
    if options.sensitivity is not None or options.centre is not None or options.scale is not None:
        return None  # asked for without bounds: each mechanism's own reason says more
    if aggregate.function == "avg" and aggregate.argument is not None and aggregate.argument.facts.scale is not None:
        return None
    bounded = aggregate.function not in ("count_rows", "count", "count_units", "count_distinct", "mode")
    if bounded and (request.grid is None or (aggregate.second is not None and request.second_grid is None)):
        bare = isinstance(aggregate.argument, Column)  # what is worked out has neither
        hints = "bounds, or centre and spread," if bare and aggregate.function in UNBOUNDED else "bounds"
        hints += " or a scale," if bare and aggregate.function == "avg" else ""
        return UnsupportedQuery(
            "the bounds of its argument are not known.", construct=aggregate.text, position=aggregate.position,
            hint=f"Add {hints} to its columns in {catalog.policy_file}, or keep it within constants: "
            "GREATEST(0, LEAST(x, 500)).",
        )  # fmt: skip
    return None


def _readings(needs: Sequence[Need], key: bytes) -> tuple[tuple[Reading, ...], list[tuple[int, tuple[str, ...]]]]:
    """As few engine statements as the needs allow, and where each release finds its raw columns."""
    merged: list[tuple[Source | None, Need]] = []
    where: list[tuple[int, tuple[str, ...]]] = []
    for need in needs:
        measures = _measures(need)
        if measures is None:
            at = next((i for i, (source, read) in enumerate(merged) if source is None and read == need), len(merged))
            if at == len(merged):
                merged.append((None, need))
            where.append((at, ("group", "value", "rows")))
            continue
        at = next((i for i, (source, _) in enumerate(merged) if source == need.source), len(merged))
        if at == len(merged):
            merged.append((need.source, Aggregates(need.source, ())))
        known = _measures(merged[at][1]) or ()
        known += tuple(measure for measure in dict.fromkeys(measures) if measure not in known)
        merged[at] = (need.source, Aggregates(need.source, known))
        where.append((at, tuple(f"m{known.index(measure)}" for measure in measures)))
    return tuple(Reading(need, lower(need, key)) for _, need in merged), where


def _measures(need: Need) -> tuple[Measure, ...] | None:
    match need:
        case Aggregates():
            return need.measures
        case Histogram():
            return (Measure(MeasureKind.UNITS if need.of_units else MeasureKind.ROWS),)
        case _:
            return None
