"""Who decides the mechanism: the statement, then the owner, then the least expected error; bans always hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms import by_name
from dpsql.mechanisms.base import Joint, Mechanism, Refusal, Request
from dpsql.mechanisms.choose import Choice, choose
from dpsql.mechanisms.unasked import only_named
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.catalog import Catalog, ColumnInfo
from dpsql.plan.known.relations import origins
from dpsql.plan.known.unbounded import LOGARITHMS, unbounded
from dpsql.plan.measured.aggregate_calls import FILTERED
from dpsql.plan.nodes import Aggregate, Apply, Column, Expression
from dpsql.plan.options import Options
from dpsql.plan.values.applied import KEPT_WITHIN
from dpsql.plan.values.expressions import arguments_of
from dpsql.prepare.together import Taken, joined
from dpsql.sql.parse import parse

__all__ = ["banned_for", "choices_of"]


def choices_of(
    requests: Sequence[Request], options: Options, catalog: Catalog, mechanisms: Sequence[Mechanism]
) -> list[Taken]:
    """The best offer for each, alone or with others.

    A wanted mechanism holds for every aggregate that offers it, and one must.
    """
    if requests[0].whole:
        return _whole(requests, options.mechanism, mechanisms)
    choices: list[Choice | None] = []
    refusals: list[UnsupportedQuery] = []
    wanted = options.mechanism
    joints = _together(requests, wanted, mechanisms) if len(requests) > 1 else []
    for index, request in enumerate(requests):
        try:
            choices.append(_best(request, wanted, mechanisms))
        except UnsupportedQuery as error:
            if any(index in joint.members for joint in joints):  # too few rows for a part of the price alone
                choices.append(None)
                continue
            if wanted is None:
                raise _without_bounds(request, catalog) or error from None
            refusals.append(error)
            try:
                choices.append(_best(request, None, mechanisms))
            except UnsupportedQuery:
                raise error from None
    found = joined(choices, joints)
    if refusals and options.mechanism not in {taken.choice.release.mechanism for taken in found}:
        raise refusals[0]
    return found


def _whole(requests: Sequence[Request], wanted: str | None, mechanisms: Sequence[Mechanism]) -> list[Taken]:
    """What answers all requests of a statement that are answered together only, by the one mechanism that takes them.

    Raises:
        UnsupportedQuery: The statement wants another mechanism, or the owner bans this one for a column.
    """
    (mechanism,) = [mechanism for mechanism in mechanisms if mechanism.may_answer(requests[0])]
    for request in requests:
        construct, position = request.aggregate.text, request.aggregate.position
        if wanted not in (None, mechanism.name):
            raise UnsupportedQuery(
                f"mechanism '{wanted}' does not answer this: {mechanism.name} alone does.",
                construct=construct, position=position, hint="Leave the mechanism out.",
            )  # fmt: skip
        for column, _ in _columns(request):
            if mechanism.name in column.banned:
                raise UnsupportedQuery(
                    f"the policy bans mechanism '{mechanism.name}' for {column.name}.",
                    construct=construct, position=position, hint="Leave this column out.",
                )  # fmt: skip
    (joint,) = mechanism.together(requests)
    return joined([None] * len(requests), [joint])


def _together(requests: Sequence[Request], wanted: str | None, mechanisms: Sequence[Mechanism]) -> list[Joint]:
    """Each mechanism's offers for several of the requests that are left to it."""
    owners, found = [_owners(request) for request in requests], list[Joint]()
    for mechanism in mechanisms:
        left = [at for at, request in enumerate(requests) if _allows(request, mechanism, wanted, *owners[at])]
        joints = mechanism.together([requests[at] for at in left])
        found += [replace(joint, members=tuple(left[member] for member in joint.members)) for joint in joints]
    return found


def _allows(
    request: Request, mechanism: Mechanism, wanted: str | None, banned: Collection[str], default: str | None
) -> bool:
    """Whether the statement and the owner leave a request to this mechanism."""
    named = wanted or default
    if mechanism.name in banned or (named != mechanism.name if named else only_named(mechanism, request) is not None):
        return False
    return mechanism.may_answer(request)


def _owners(request: Request) -> tuple[frozenset[str], str | None]:
    """The mechanisms that the owner bans for an aggregate's columns, and the default for a bare one."""
    banned, default = frozenset[str](), None
    for column, bare in _columns(request):
        banned |= column.banned
        default = column.defaults.get(_default_key(request.aggregate)) if bare else default
    return banned, default


def banned_for(request: Request) -> frozenset[str]:
    """The mechanisms that the owner bans for an aggregate's columns."""
    return _owners(request)[0]


def _columns(request: Request) -> Iterator[tuple[ColumnInfo, bool]]:
    """The tables' columns behind the argument, and whether it is that bare column."""
    argument = request.aggregate.argument
    return iter(()) if argument is None else origins(request.source.relation, argument)


def _best(request: Request, wanted: str | None, mechanisms: Sequence[Mechanism]) -> Choice:
    """The wanted mechanism's offer, else that of the owner's default for this column, else the best.

    Raises:
        UnsupportedQuery: No mechanism that the owner allows, or not the wanted one, makes an offer.
    """
    banned, default = _owners(request)
    if wanted is None and default is not None and default not in banned:
        try:
            return choose(request, mechanisms, default, banned)
        except UnsupportedQuery:
            pass  # a default is no promise: here it makes no offer
    return choose(request, mechanisms, wanted, banned)


def _default_key(aggregate: Aggregate) -> str:
    """What the policy calls an aggregate in its defaults; empty where it has none for it."""
    key = FUNCTIONS[aggregate.function].default or ""
    return "median" if key == "quantile" and aggregate.fraction == Fraction(1, 2) else key


def _without_bounds(request: Request, catalog: Catalog) -> UnsupportedQuery | None:
    """That bounds are missing where nothing else is, with what to write."""
    aggregate, options = request.aggregate, request.options
    if options.sensitivity is not None or options.centre is not None or options.scale is not None:
        return None  # asked for without bounds: each mechanism's own reason says more
    if request.idealised and aggregate.second is not None:
        return None  # a core's covariances need none
    if aggregate.function == "avg" and aggregate.argument is not None and aggregate.argument.facts.scale is not None:
        return _scale_alone(request, catalog) if request.grid is None else None
    known = None if aggregate.argument is None else aggregate.argument.facts
    if FUNCTIONS[aggregate.function].located and known is not None and None not in (known.centre, known.spread):
        return None  # what its centre and spread do for is asked for by name, or says why not
    bounded = FUNCTIONS[aggregate.function].kind not in (Kind.COUNT, Kind.CHOICE)
    if bounded and (request.grid is None or (aggregate.second is not None and request.second_grid is None)):
        if (lost := _bounds_lost(request)) is not None:
            return lost
        bare = isinstance(aggregate.argument, Column)  # what is worked out has neither
        hints = "bounds, or centre and spread," if bare and FUNCTIONS[aggregate.function].located else "bounds"
        hints += " or a scale," if bare and aggregate.function == "avg" else ""
        return UnsupportedQuery(
            "the bounds of its argument are not known.", construct=aggregate.text, position=aggregate.position,
            hint=f"Add {hints} to its columns in {catalog.policy_file}, or {_own_bounds(aggregate)}.",
        )  # fmt: skip
    return None


def _bounds_lost(request: Request) -> UnsupportedQuery | None:
    """That the bounds of its columns are lost in what is computed of them, where it is so."""
    aggregate = request.aggregate
    for argument, grid in ((aggregate.argument, request.grid), (aggregate.second, request.second_grid)):
        if argument is not None and grid is None and (found := unbounded(argument, request.source.relation)):
            return UnsupportedQuery(
                found[0], construct=aggregate.text, position=aggregate.position,
                hint=f"{found[1]} Or {_own_bounds(aggregate)}.",
            )  # fmt: skip
    return None


def _own_bounds(aggregate: Aggregate) -> str:
    """How a statement bounds what it aggregates; what is NULL stays so, and the call its own but for that."""
    if aggregate.second is not None or aggregate.vector or aggregate.per_group is not None:
        return f"keep each argument within constants: {KEPT_WITHIN}"
    call = re.sub(r"\[OFFSET\(\d+\)\]$", "", aggregate.text.partition(FILTERED)[0])
    if aggregate.epsilon is not None or not _reads(call):
        call = f"{call.partition('(')[0]}(...)"
    ends = "(0, 500)" if aggregate.argument is None else _example(aggregate.argument)
    named = "" if aggregate.function != "trimmed_mean" else ", with OPTIONS (mechanism = 'preprocessing')"
    return f"name bounds in the call: {call.removesuffix(')')}, contribution_bounds_per_row => {ends}){named}"


def _example(argument: Expression) -> str:
    """Bounds such as an argument might have: below 0 as well, where it may be."""
    if isinstance(argument, Apply) and argument.function.name in LOGARITHMS:
        return "(-5, 20)"
    inside = [argument]
    for own in inside:
        inside.extend(arguments_of(own))
    if any(isinstance(own, Apply) and own.function.name in LOGARITHMS for own in inside):
        return "(-10, 10)"
    below = any(isinstance(own.facts.low, Fraction) and own.facts.low < 0 for own in inside)
    less = any(isinstance(own, Apply) and own.function.name == "-" for own in inside)
    return "(-500, 500)" if below or less else "(0, 500)"


def _reads(call: str) -> bool:
    """Whether a call reads back as it is shown: the names of columns show some functions in quotes."""
    try:
        parse(f"SELECT {call}")
    except UnsupportedQuery:
        return False
    return True


def _scale_alone(request: Request, catalog: Catalog) -> UnsupportedQuery | None:
    """Why a mean of a column with a scale, and neither bounds nor a centre, has no answer; None for other reasons."""
    aggregate, friendly = request.aggregate, by_name("friendly_core")
    offer = None if friendly is None else friendly.offer(request)
    if not isinstance(offer, Refusal) or (
        aggregate.argument is not None and aggregate.argument.facts.centre is not None
    ):
        return None
    return UnsupportedQuery(
        f"its column has a scale and no bounds, so that friendly_core alone could answer. There {offer.reason}",
        construct=aggregate.text, position=aggregate.position,
        hint=f"Or add bounds to the column in {catalog.policy_file}.",
    )  # fmt: skip
