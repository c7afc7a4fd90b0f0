"""What to know of groups that are listed: which of them may be empty, and which rows are in none of them.

An empty group shows noise, or its policy's centre, as any other does. So it may come first in an order of means, and
windows, totals and aggregates over the answer read it, where SQL has no such group. HAVING COUNT(*) > k leaves it out,
for a k that no empty group is expected to exceed. A key that nobody declared as nullable has no NULL group.

Both follow from what is public, and, beside an answer, from what was released.

Tests: tests/unit/answers/quotes/test_listed.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from fractions import Fraction

from dpsql.answers.computed.totals import several_rows
from dpsql.answers.released.release import Released
from dpsql.errors import ProgrammingError
from dpsql.mechanisms.foretold import of_use
from dpsql.mechanisms.laplace import laplace_noise
from dpsql.mechanisms.noise.sensitivity import sensitivity_of
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.known.relations import is_number_of_row, origins, predicates, private_scans
from dpsql.plan.known.value_lists import is_strict
from dpsql.plan.needs import Measure, MeasureKind
from dpsql.plan.nodes import Aggregate, Column, Expression
from dpsql.plan.plans import Plan, Stage
from dpsql.plan.types import Type
from dpsql.plan.values.expressions import columns_of, substituted
from dpsql.prepare import Measured, Prepared
from dpsql.prepare.prices import positive, prices

__all__ = ["beside_answer", "beside_quote"]

BY_CHANCE = Fraction(1, 20)  # That noise lifts any empty group above the k that is named. It is a choice.
FIRST = "such groups may come first in this order"
READ = "windows, totals and aggregates over the answer read such groups, too"


def beside_quote(prepared: Prepared) -> Iterator[str]:
    """How many groups there are, one sentence, and how the empty ones are left out where they matter."""
    if not _lists(prepared):
        return
    listed = sum(len(grouping.groups or ()) for grouping in prepared.groupings)
    left = f"; rows whose {own} is NULL are in none" if (own := _unlisted(prepared)) else ""
    yield f"All {listed} groups of the declared domain are listed, empty ones included{left}."
    if (matter := _Matter(prepared.plan)).names and not _by_name(prepared.plan):
        texts = ", ".join(dict.fromkeys(own.aggregate.text for own in _of(prepared, matter.names)))
        yield f"Of an empty group {texts} is noise{matter.why}.{_having(prepared, listed)}"


def beside_answer(prepared: Prepared, released: Released) -> Iterator[str]:
    """Of how many groups an answer says no more than of empty ones, where they matter; rows that totals leave out.

    Groups that were chosen have rows, and matter where an answer says nothing of them: of means, that is.
    """
    plan = prepared.plan
    if not _lists(prepared):
        if plan.keys and plan.table is None and (said := _says_nothing(prepared, released, _means(plan))):
            yield f"{said}."
        return
    if (_over_groups(plan) or plan.sets is not None) and (own := _unlisted(prepared)):
        yield f"Totals and windows leave out rows whose {own} is NULL, which are in no group."
    matter, listed = _Matter(plan), len(prepared.groupings[0].groups or ())
    if said := _says_nothing(prepared, released, matter.names):
        yield f"{said}{matter.why}.{_having(prepared, listed)}"


def _says_nothing(prepared: Prepared, released: Released, names: Collection[str]) -> str:
    """Of how many groups that one of some aggregates which says the least says nothing; empty where of none."""
    groups = len(prepared.groupings[0].groups or released.groups[0])
    found = [
        (Fraction(useful.count(False), max(1, len(useful))), len(useful), own.aggregate.text)
        for own in _of(prepared, names)
        for useful in (of_use(own.request, own.choice.release, released.tables[own.name]),)
    ]
    share, looked, text = max(found, key=lambda one: one[0], default=(Fraction(0), 0, ""))
    empty = round(share * groups)
    about = "about " * (looked < groups)
    return f"Of {about}{empty:,} of {groups:,} groups {text} says no more than of an empty one" if empty else ""


def _of(prepared: Prepared, names: Collection[str]) -> list[Measured]:
    """The measurements of some aggregates, for each group."""
    return [own for own in prepared.measured if own.aggregate.name in names and not own.grouping and not own.rest]


def _means(plan: Plan) -> set[str]:
    """What is no count and no sum."""
    return {own.name for own in plan.aggregates if FUNCTIONS[own.function].kind not in (Kind.COUNT, Kind.SUM)}


def _lists(prepared: Prepared) -> bool:
    chosen = prepared.selection is not None or prepared.candidates is not None
    return bool(prepared.plan.keys) and prepared.plan.table is None and not chosen


def _by_name(plan: Plan) -> bool:
    """Whether each group is a value that the owner names: then few of them are empty."""
    alone = plan.keys[0].expression if len(plan.keys) == 1 else None
    return isinstance(alone, Column) and (alone.values is not None or alone.facts.type is Type.BOOLEAN)


class _Matter:
    """Why empty groups matter to an answer, and of which aggregates.

    Args:
        plan: The statement.
    """

    def __init__(self, plan: Plan) -> None:
        kinds = {own.name: FUNCTIONS[own.function].kind for own in plan.aggregates}
        counts = {name for name, kind in kinds.items() if kind is Kind.COUNT}
        self.names, self.why = set[str](), ""
        if counts & _names(_conditions(plan)):
            return  # they are left out already
        means = _means(plan)
        over, ranked = set(kinds) & _names(_over_groups(plan)), set(kinds) & _names(_ranking(plan, means))
        self.names = over | ranked | means
        told = [FIRST] * bool(ranked) + [READ] * bool(over)
        self.why = "".join(f"; {reason}" for reason in told)


def _names(expressions: list[Expression]) -> set[str]:
    return {column.name for expression in expressions for column in columns_of(expression)}


def _steps(plan: Plan) -> Iterator[tuple[Plan | Stage, dict[str, Expression]]]:
    """The plan and its stages, each with what its columns are over released values."""
    over, steps = dict[str, Expression](), list[Plan | Stage]([plan.shown, *plan.shown.stages])
    for step in steps:
        yield step, over
        over = {f"c{i}": substituted(output.expression, over) for i, output in enumerate(step.outputs)}


def _conditions(plan: Plan) -> list[Expression]:
    """HAVING, and WHERE over the answer."""
    found = [(own, over) for step, over in _steps(plan) for own in (step.having, getattr(step, "where", None))]
    return [substituted(own, over) for own, over in found if own is not None]


def _over_groups(plan: Plan) -> list[Expression]:
    """What is computed of several groups at once, over released values: windows, sub-queries as values, aggregates."""
    found = list[Expression]()
    for (step, over), grouped in zip(_steps(plan), (False, *(stage.aggregates for stage in plan.stages)), strict=True):
        written = [*(output.expression for output in step.outputs), *(term.expression for term in step.order_by)]
        found += [substituted(own, over) for whole in written for own in ([whole] if grouped else several_rows(whole))]
    names = {own.name for own in plan.aggregates}
    return [own for own in found if any(column.name in names for column in columns_of(own))]


def _ranking(plan: Plan, means: set[str]) -> list[Expression]:
    """The terms of orders that are cut by LIMIT and that empty groups may win: of means, or from the least on."""
    terms = [
        (substituted(term.expression, over), term.descending)
        for step, over in _steps(plan)
        if step.limit is not None
        for term in step.order_by
    ]
    return [term for term, descending in terms if not descending or means & _names([term])]


def _having(prepared: Prepared, listed: int) -> str:
    """What leaves empty groups out, a sentence; empty where a count has no such price."""
    plan, options = prepared.plan, prepared.options
    own = next((own for own in plan.aggregates if own.function == "count_rows"), None)
    counted = Aggregate("counted", "count_rows", None, "COUNT(*)")
    some, sets = prepared.measured[0].request, 1 if plan.sets is None else len(plan.sets)
    if options.multiple is not None or options.mechanism == "random_dp":
        return ""
    try:
        share = prices((*plan.aggregates, counted), None, None, options, sets, table=False)[-1]
        price = positive(share if own is None else prepared.prices[own.name])
    except ProgrammingError:  # a price so small that it cannot be shared once more
        return ""
    request = replace(some, aggregate=counted, price=price, grid=None, second_grid=None, narrowed=(None, None))
    noise = laplace_noise(sensitivity_of(request, Measure(MeasureKind.ROWS)), price)
    if noise is None:
        return ""
    k = noise[0].beyond(BY_CHANCE / max(1, listed))
    part = " for a part of the price" if own is None else ""
    return f" HAVING COUNT(*) > {_rounded_up(k)} leaves empty groups out{part}."


def _rounded_up(k: int) -> int:
    """To two digits.

    >>> [_rounded_up(k) for k in (7, 99, 101, 1234)]
    [7, 99, 110, 1300]
    """
    step: int = 10 ** max(0, len(str(k)) - 2)
    return -(-k // step) * step


def _unlisted(prepared: Prepared) -> str:
    """The columns of keys that may be NULL although nobody declared it, of whose rows there is no group."""
    relation, plan = prepared.plan.relation, prepared.plan
    private = {id(column) for scan in private_scans(relation) for column in scan.table.columns.values()}
    met = set() if plan.sets is not None else _names(predicates(relation))  # those of sets leave NULL out unasked
    names = list[str]()
    for key in plan.written:
        if key.domain is None or None in key.domain or not is_strict(key.expression):
            continue
        if is_number_of_row(relation, key.expression):
            continue
        if met.isdisjoint(_names([key.expression])):
            names += [column.name for column, _ in origins(relation, key.expression) if id(column) in private]
    return " or ".join(dict.fromkeys(names))
