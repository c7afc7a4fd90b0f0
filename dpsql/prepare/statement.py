"""From a plan to what would be done: bounds in force, prices, one mechanism per aggregate, few engine statements.

Tests: tests/unit/prepare.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.engine.lower import Lower
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.base import Mechanism, Personal, Price, Request, Top
from dpsql.plan.catalog import Catalog
from dpsql.plan.grids import grid_of
from dpsql.plan.known.guesses import units_guessed
from dpsql.plan.known.relations import unit_of
from dpsql.plan.nodes import Aggregate, Column
from dpsql.plan.options import Options
from dpsql.plan.plans import Key, Plan
from dpsql.plan.rows.per_class import values_per_unit
from dpsql.plan.rows.per_unit import totals_per_unit
from dpsql.plan.types import Type
from dpsql.prepare.choices import choices_of
from dpsql.prepare.classes import price_of_everyone, share_of
from dpsql.prepare.prepared import Grouping, Measured, Prepared
from dpsql.prepare.prices import positive, prices
from dpsql.prepare.readings import readings_of
from dpsql.prepare.reads import read_by
from dpsql.prepare.rest import rest_of, shown_prices, with_rest
from dpsql.prepare.selection import SELECTION, best_share, with_selection
from dpsql.prepare.sources import (
    check_unit,
    facts_of,
    groupings_of,
    min_units,
    rows_about,
    rows_at_least,
    rows_left_about,
    rows_public,
    source_of,
)
from dpsql.prepare.top import TOP_SHARE, better, only_first, top_of, with_top
from dpsql.privacy.loss import Composed

__all__ = ["prepare"]


def prepare(
    plan: Plan,
    options: Options,
    catalog: Catalog,
    lower: Lower,
    mechanisms: Sequence[Mechanism] = MECHANISMS,
    own: Mapping[str, Price] | None = None,
) -> Prepared:
    """The offers taken for every aggregate of a plan, and their price.

    Args:
        plan: What is asked.
        options: In force for this statement, defaults included.
        catalog: Tables and neighbours.
        lower: How what mechanisms need becomes the engine's statements.
        mechanisms: Who may offer.
        own: The price of each aggregate by its name, in place of a share of the statement's; without grouping sets.

    Raises:
        UnsupportedQuery: No mechanism answers an aggregate, bounds are missing, or a group cap is impossible.
        ProgrammingError: Options that do not fit this statement.
    """
    check_unit(plan.relation, options)
    if plan.awaits and (options.multiple is not None or options.mechanism == "random_dp"):
        raise UnsupportedQuery(
            "a metric and random_dp answer over cells that are known before anything is released.",
            construct="scalar sub-query", hint="Ask it first, then pass its answer as a parameter (?).",
        )  # fmt: skip
    for mechanism in mechanisms:
        plan, options = mechanism.statement(plan, options)
    groupings = groupings_of(plan)
    # What a function of a whole table measures has no groups, whatever the answer's rows are called.
    over = groupings if plan.table is None else (Grouping((), ((),)),)
    selects = _must_choose(plan, over, options, catalog)
    top = None if selects else top_of(plan, groupings, options)

    def prepared(first: Top | None) -> Prepared:
        return _prepared(plan, options, catalog, lower, mechanisms, own, groupings, over, selects, first)

    if top is None or (own is not None and SELECTION not in own):
        return prepared(None)
    if own is not None or options.mechanism is not None:
        return prepared(top)
    every = prepared(None)
    try:
        first = prepared(top)
    except (UnsupportedQuery, ProgrammingError):  # the price is too small to be shared with a choice
        return every
    return better(every, first, top)


def _prepared(
    plan: Plan,
    options: Options,
    catalog: Catalog,
    lower: Lower,
    mechanisms: Sequence[Mechanism],
    own: Mapping[str, Price] | None,
    groupings: tuple[Grouping, ...],
    over: tuple[Grouping, ...],
    selects: bool,
    top: Top | None,
) -> Prepared:
    """The statement with its groups listed, chosen by counting people (``selects``), or the first of an order."""
    aggregates, selection = with_selection(plan.aggregates, source_of(plan, plan.keys, options), selects)
    if top is not None:
        aggregates, selection = with_top(plan, top), 0
    rest = selects and options.rest is True
    plan = with_rest(plan) if rest else plan
    if own is None:
        shares = _prices(plan, aggregates, selection, groupings[0], options, catalog, top)
        own = {aggregate.name: share for aggregate, share in zip(aggregates, shares, strict=True)}
    requests, of, shown = list[Request](), list[int](), shown_prices(own, plan) if rest else own
    for at, grouping in enumerate(over):
        keys = tuple(plan.keys[index] for index in grouping.keys)
        for index, aggregate in enumerate(aggregates):
            price = shown[aggregate.name]
            request = _request(plan, keys, grouping, aggregate, price, options, catalog, index == selection)
            requests.append(only_first(request, top))
            of.append(at)
    taken = choices_of(requests, options, catalog, mechanisms)
    for request, hidden in rest_of(requests, own, plan, catalog.classes) if rest else ():
        requests, taken, of = [*requests, request], [*taken, hidden], [*of, len(over)]
    readings, where = readings_of([own.choice.release.need for own in taken], lower)
    found = [
        Measured(
            request.aggregate, request, answer.choice, *read, grouping=at, place=answer.place, rest=at == len(over)
        )
        for request, answer, read, at in zip(requests, taken, where, of, strict=True)
    ]
    order = sorted(range(len(found)), key=lambda index: (taken[index].first, taken[index].place))
    measured = tuple(found[index] for index in order)
    selection = None if selection is None else order.index(selection)
    loss = Composed(tuple(loss for index in order if (loss := taken[index].loss) is not None))
    candidates = None if top is None else groupings[0].groups
    if selects or top is not None:
        groupings = (replace(groupings[0], groups=None), *(Grouping((), ((),)) for _ in range(rest)))
    return Prepared(plan, options, measured, selection, groupings, readings, loss, read_by(measured), own, candidates)


def _prices(
    plan: Plan,
    aggregates: Sequence[Aggregate],
    selection: int | None,
    grouping: Grouping,
    options: Options,
    catalog: Catalog,
    top: Top | None,
) -> list[Price]:
    """Of each aggregate; a hidden count of units gets the share that is expected to serve best."""
    sets = 1 if plan.sets is None else len(plan.sets)

    def shared(share: Fraction | None) -> list[Price]:
        return prices(aggregates, selection, share, options, sets, table=plan.table is not None)

    if len(aggregates) == len(plan.aggregates):
        return shared(None)
    if top is not None:
        return shared(TOP_SHARE)
    some = shared(Fraction(1, 5))[0]
    hidden = _request(plan, plan.keys, grouping, aggregates[0], some, options, catalog, True)
    units = units_guessed(plan.relation)
    return shared(
        best_share(hidden, units, lambda share: [price_of_everyone(own, catalog.classes) for own in shared(share)])
    )


def _must_choose(plan: Plan, groupings: Sequence[Grouping], options: Options, catalog: Catalog) -> bool:
    """Whether the groups that appear must be chosen, by counting people.

    Raises:
        UnsupportedQuery: They must, and cannot be.
    """
    listed, least = all(grouping.groups is not None for grouping in groupings), min_units(plan.relation)
    strategy, grouped = options.group_selection_strategy, any(grouping.keys for grouping in groupings)
    if strategy == "PUBLIC_GROUPS" and not listed:
        raise UnsupportedQuery(
            "PUBLIC_GROUPS needs a declared domain for every key.", construct="GROUP BY",
            hint="Declare values in the policy, or leave the strategy out and give delta.",
        )  # fmt: skip
    if grouped and least > 1 and (strategy == "PUBLIC_GROUPS" or options.multiple is not None or not options.delta):
        raise UnsupportedQuery(
            f"groups of fewer than {least} units stay hidden ({catalog.policy_file}, min_units), so groups are chosen.",
            construct="GROUP BY",
            hint="Give a price with delta, such as epsilon = 0.5, delta = 1e-8, and no PUBLIC_GROUPS.",
        )
    selects = not listed or (grouped and (least > 1 or strategy in ("LAPLACE_THRESHOLD", "GAUSSIAN_THRESHOLD")))
    if selects and (len(groupings) > 1 or unit_of(plan.relation) is None):
        raise UnsupportedQuery(
            "groups of an open domain are chosen by counting people, in one GROUP BY of rows that have their unit.",
            construct="GROUPING SETS" if len(groupings) > 1 else "GROUP BY",
            hint=HIDDEN if least > 1 else "Declare the values of every key in the policy, or name them in WHERE.",
        )
    if not listed and not options.delta and options.mechanism in (None, "threshold", "gaussian_threshold"):
        raise _open_key(plan, catalog)
    return selects


HIDDEN = "min_units of the policy hides small groups: ask for one GROUP BY at a time, of rows with their unit."


def _open_key(plan: Plan, catalog: Catalog) -> UnsupportedQuery:
    """Why groups that nobody lists have no answer without delta, and what lists them."""
    key = next((key for key in plan.written if key.domain is None), None)
    name = key.expression.shown if key is not None and isinstance(key.expression, Column) else "GROUP BY"
    reason = "its values are not known." if key is not None else "it has more groups than dpsql lists (100,000)."
    listing = f"WHERE {name} IN (..)" if name != "GROUP BY" else "WHERE"
    hint = f"Name those that you ask for, in {listing}"
    if key is not None and isinstance(key.expression, Column) and key.expression.facts.type is Type.TIMESTAMP:
        hint = f"Write date_trunc('day', {name}), or 'hour', or 'month': their values follow from its bounds"
    if key is None or key.expression.facts.type.numeric:
        hint += "; write CAST(x AS INTEGER) or width_bucket(x, low, high, count) of a number with bounds"
    if catalog.grants_delta:
        hint += "; or give delta, such as delta = 1e-8, and groups of few people stay hidden"
    owner = "" if catalog.grants_delta else ", or grant a delta, with which those of enough people are found"
    return UnsupportedQuery(
        reason, construct=name, position=None if key is None else key.position,
        hint=f"{hint}. The owner can declare values in {catalog.policy_file}{owner}.",
    )  # fmt: skip


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
    personal = None if selects or plan.table is not None else _personal(plan, keys, aggregate, price, options, catalog)
    if aggregate.per_group is not None and price.multiple is None:
        relation, keys, aggregate = totals_per_unit(relation, keys, aggregate, f"totals_{aggregate.name}")
    narrowed = facts_of(aggregate, relation)
    grid, second_grid = (None if facts is None else grid_of(facts) for facts in narrowed)
    return Request(
        aggregate=aggregate,
        source=source_of(replace(plan, relation=relation), keys, options),
        price=positive(price_of_everyone(price, catalog.classes)),
        neighbours=catalog.neighbours,
        grid=grid,
        second_grid=second_grid,
        selects=selects,
        rows_public=rows_public(relation, keys, catalog),
        rows_about=rows_left_about(relation, grouping.groups, aggregate.argument),
        rows_read=rows_about(relation, grouping.groups),
        rows_at_least=rows_at_least(relation, keys),
        units_at_least=(options.min_privacy_units_per_group or 0) if selects else 0,
        min_units=min_units(plan.relation) if selects else 1,
        options=options,
        personal=personal,
        narrowed=narrowed,
        idealised=catalog.idealised,
        table=plan.table,
        policy_file=catalog.policy_file,
        listed=None if grouping.groups is None else len(grouping.groups),
        deadline=catalog.deadline,
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
