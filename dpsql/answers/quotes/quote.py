"""The quote of a prepared statement: each column's mechanism, noise and expected error, before anything is spent.

Tests: tests/unit/answers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from dpsql.answers.quotes.apart import columns_apart
from dpsql.answers.quotes.beyond import beyond_bounds
from dpsql.answers.quotes.chance import left_to_chance
from dpsql.answers.quotes.foreseen import computed_columns, endless_from, half_width_of, lost_in_noise, parts_of
from dpsql.answers.quotes.listed import beside_quote
from dpsql.answers.quotes.lying import counted, lies_evenly, lying
from dpsql.answers.quotes.means import means_written_out
from dpsql.answers.quotes.narrow import CLIPPING, FOUND
from dpsql.answers.quotes.picked import beside_picked, wider
from dpsql.answers.quotes.quoted import Quote, QuoteColumn, computed_column, endless_note
from dpsql.answers.shown.noted import caller, said_once
from dpsql.answers.shown.screen import number
from dpsql.limits import MOST_IN_PARTS, MOST_OPEN_GROUPS
from dpsql.mechanisms.foretold import foretold_answer
from dpsql.mechanisms.noise.moments import MomentsRelease
from dpsql.mechanisms.shared import SharedRelease
from dpsql.owner.advice.advised import rows_lost
from dpsql.owner.finding import MUCH
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.known.guesses import rows_guessed
from dpsql.plan.known.relations import origins, private_scans
from dpsql.plan.nodes import Aggregate, Apply, Column, PerUnit, Project, Scan
from dpsql.plan.plans import Key
from dpsql.plan.values.expressions import columns_of
from dpsql.prepare import Measured, Prepared
from dpsql.privacy.account import Composition
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import Composed, PrivacyLoss, summary

__all__ = [
    "advice",
    "caps",
    "clipped",
    "public_quote",
    "quote",
    "summary_fields",
]

BETWEEN = frozenset({"least", "date_diff", "datediff", "date_sub", "datesub"})
"""Functions that keys of times between two dates are made with: in most data one of them is the earlier one."""

ADDING = frozenset({"laplace", "gaussian"})  # They divide by a spread that they must guess before.
RIVALS = (
    " So is the choice of it: with a few rows far from the rest, a mechanism whose noise is known before may err less."
)


def quote(
    prepared: Prepared,
    repeats_left: int | None,
    composition: Composition,
    classes: Mapping[str, Fraction],
    loss: Loss,
    free: Collection[str] = frozenset(),
) -> Quote:
    """What a prepared statement would cost and how precise it would be.

    Args:
        prepared: The statement.
        repeats_left: How often the budget would still grant what it pays.
        composition: How the ledger adds losses up.
        classes: The policy's classes of units with their shares.
        loss: What it pays: less than its own, where others pay for a part.
        free: Its measurements, by name, that others pay for.
    """

    def line(name: str, measured: Measured) -> QuoteColumn:
        own = replace(_column(name, measured, composition), half_width=wider(prepared, measured))
        return replace(own, loss=summary(Composed(()), composition)) if measured.name in free else own

    by_name = {measured.aggregate.name: measured for measured in prepared.told if measured.grouping == 0}
    computed, shown = _computed(prepared, composition), set()
    columns = [*computed]
    for output in prepared.plan.outputs:
        for column in columns_of(output.expression):
            measured = by_name.get(column.name)
            if measured is None:
                continue
            bare = isinstance(output.expression, Column)
            days = "" if measured.aggregate.since is None else ", in days"
            name = output.label if bare else f"{output.label}: {measured.aggregate.text}{days}"
            columns.append(line(name, measured))
            shown.add(measured.aggregate.name)
    hidden = [line(measured.aggregate.text, measured) for name, measured in by_name.items() if name not in shown]
    return Quote(
        cost=summary(loss, composition, classes),
        columns=(*columns, *hidden),
        sql="\n".join(dict.fromkeys(reading.statement.sql for reading in prepared.readings)),
        repeats_left=repeats_left,
        notes=(*_notes(prepared), *_endless(prepared, computed), *_notes_on_classes(prepared, classes)),
    )


def public_quote(sql: str) -> Quote:
    """The quote of a statement over public tables alone."""
    return Quote(PrivacyLoss(), (), sql, None, ("Every table is public: the answer is exact and free.",))


def _computed(prepared: Prepared, composition: Composition) -> list[QuoteColumn]:
    """What is expected of the columns that are computed from released ones."""
    nothing = summary(Composed(()), composition)
    return [
        computed_column(
            label, nothing, half_width_of(prepared, own), own, evenly=any(map(lies_evenly, parts_of(prepared, own)))
        )
        for label, own in computed_columns(prepared.plan).items()
    ]


def _endless(prepared: Prepared, computed: Sequence[QuoteColumn]) -> Iterator[str]:
    """Which columns may have intervals without an end."""
    expressions = computed_columns(prepared.plan)
    for column in computed:
        if column.said:
            continue
        if note := endless_note(column):
            yield note
        elif total := lost_in_noise(prepared, expressions[column.name], column.half_width):
            yield (
                f"{column.name}: Expected to say next to nothing: ±{number(column.half_width)}, a difference of totals "
                f"of about {number(total)} by the rows and values that are guessed."
            )
        elif far := endless_from(prepared, expressions[column.name]):
            yield (
                f"{column.name}: at this price its interval has no end, as where a divisor may be 0, if its values are "
                f"about {far} times smaller than their bounds allow. With their centre in the policy it is foretold."
            )


def _column(name: str, measured: Measured, composition: Composition) -> QuoteColumn:
    others = [(other.mechanism, _reason(other.half_width, other.reason)) for other in measured.choice.others]
    told = summary_fields(name, measured, composition)
    return QuoteColumn(*told, others=tuple(others), said=_said(measured), evenly=lies_evenly(measured))


def _said(measured: Measured) -> str:
    """What is said of a release's error that is no half of an interval; empty where it is."""
    release = measured.choice.release
    if release.bracketed:
        return ""
    if release.half_width == math.inf:
        return "not foretold"
    if FUNCTIONS[measured.aggregate.function].kind is Kind.CHOICE:
        return f"± {number(release.half_width)} rows"
    return f"about {number(release.half_width)}, without interval"


def summary_fields(
    name: str, measured: Measured, composition: Composition
) -> tuple[str, str, PrivacyLoss, float | None, float | None, float]:
    """What quotes and answers say of a release: the fields of a `ReleaseSummary`, in their order.

    Args:
        name: What it is called there.
        measured: The aggregate and its release.
        composition: How the ledger adds losses up.
    """
    release = measured.choice.release
    loss = summary(release.loss, composition)
    return name, release.mechanism, loss, release.sensitivity, release.scale, release.half_width


def advice(aggregate: Aggregate) -> tuple[str, ...]:
    """What says more than an aggregate that rests on a single row; nothing for others."""
    if aggregate.function not in ("min", "max"):
        return ()
    share = "0.01" if aggregate.function == "min" else "0.99"
    name = "QUANTILE_CONT" if aggregate.since is None else "QUANTILE_DISC"
    inside = aggregate.text[len("min(") : -1]
    column = inside if inside.isidentifier() else "x"
    return (f"it rests on the outermost rows; {name}({column}, {share}) says more.",)


def caps(prepared: Prepared) -> tuple[str, ...]:
    """How many rows of each unit the policy uses, in a sentence; nothing where that has no bearing on the answer.

    It has none where no unit may have several rows, where a metric prices each row, and on the number of units in a
    whole table.
    """
    tables = {scan.table.name: scan.table for scan in private_scans(prepared.plan.relation)}
    several = [table for table in tables.values() if table.rows_per_unit > 1 and table.key != table.unit]
    if not several or prepared.options.multiple is not None or _counts_all_units(prepared):
        return ()
    first, *others = (f"{table.rows_per_unit:,} rows of {table.name}" for table in several)
    used = " and ".join([", ".join([first, *others[:-1]]), *others[-1:]])
    lost = [
        f" By released facts about {share:.0%} of the rows seen of {table.name} are."
        for table in several
        if table.advised is not None
        and (share := rows_lost(table.advised.per_unit, table.rows_per_unit, table.advised.per_unit.seen)) > MUCH
    ]
    return (f"Of each unit at most {used} are used (rows_per_unit): rows beyond do not count.{''.join(lost)}",)


def clipped(prepared: Prepared) -> Iterator[str]:
    """Where released facts say that the policy's bounds clip much of what is measured."""
    relation = prepared.plan.relation
    values = [value for measured in prepared.measured for value in measured.aggregate.values]
    read = {id(column) for value in values for column, _ in origins(relation, value)}
    for table in {scan.table.name: scan.table for scan in private_scans(relation)}.values():
        for name, facts in ({} if table.advised is None else table.advised.columns).items():
            low, high = table.columns[name].facts.low, table.columns[name].facts.high
            if id(table.columns[name]) not in read or not isinstance(low, Fraction) or not isinstance(high, Fraction):
                continue
            share = facts.largest.beyond(low, high) / max(1, facts.largest.units)
            if share > MUCH:
                yield (
                    f"Values of {table.name}.{name} count within [{float(low):g}, {float(high):g}] (bounds): by "
                    f"released facts about {share:.0%} of the units have values beyond."
                )


def _stated(prepared: Prepared) -> tuple[int, ...]:
    """What the caps say already of the rows of one unit: of one table alone it is what one unit counts with."""
    return tuple(scan.table.rows_per_unit for scan in private_scans(prepared.plan.relation)) if caps(prepared) else ()


def _counts_all_units(prepared: Prepared) -> bool:
    relation = prepared.plan.relation
    while isinstance(relation, Project | PerUnit):
        relation = relation.input
    alone = isinstance(relation, Scan) and not prepared.plan.keys
    return alone and all(measured.aggregate.function == "count_units" for measured in prepared.measured)


def _reason(error: float | None, reason: str) -> str:
    return reason if error is None else f"±{number(error)}, {reason}"


def _notes_on_classes(prepared: Prepared, classes: Mapping[str, Fraction]) -> tuple[str, ...]:
    """What the statement's price means for each class of units."""
    if not classes:
        return ()
    options = prepared.options
    kind, whole, power = ("epsilon", options.epsilon, 1) if options.rho is None else ("rho", options.rho, 2)
    most = ", ".join(f"{name} {float((whole or 0) * share**power):g}" for name, share in classes.items())
    return (f"At a price of {kind} {float(whole or 0):g} a unit of each class loses at most: {most}.",)


def _too_many(prepared: Prepared) -> tuple[str, ...]:
    """That so many rows may have more keys than the engine hands over, where nobody listed these."""
    rows = rows_guessed(prepared.plan.relation)
    read = [reading.statement for reading in prepared.readings if reading.statement.most_rows is not None]
    most = MOST_IN_PARTS if all(own.parted is not None for own in read) else MOST_OPEN_GROUPS
    if not read or rows <= most:
        return ()
    return (
        f"Its rows ({rows:,} by the policy's guess) may have more than {most:,} different keys: then there is no "
        "answer, and the cost stays charged. Group by something coarser, such as floor(x) or date_trunc('hour', x).",
    )


def _below_0(key: Key) -> str | None:
    """That many values of a key that was computed are below 0, as of days between two dates in either order."""
    low = None if key.domain is None else next((value for value in key.domain if value is not None), None)
    if not isinstance(key.expression, Apply) or not isinstance(low, int | Decimal) or low >= 0:
        return None
    below = sum(isinstance(value, int | Decimal) and value < 0 for value in key.domain or ())
    if key.expression.function.name not in BETWEEN or 3 * below < len(key.domain or ()):
        return None
    return f"{below} values of a key lie below 0, from {low} on: GREATEST(0, ..) around it makes one group of them."


def _found_in_data(prepared: Prepared) -> tuple[str, ...]:
    """Which half widths are guesses, since what the noise must reach is found in the data."""
    found = [
        own
        for own in prepared.told
        if own.choice.release.mechanism in FOUND and own.choice.release.bracketed and not lying(own)
    ]
    if not found:
        return ()
    called = caller(prepared.plan)
    texts = ", ".join(dict.fromkeys(called(own.aggregate) for own in found))
    note = f"The half width of {texts} is a guess: noise is found in the data, and an interval may be several times"
    summed = (own for own in found if not FUNCTIONS[own.aggregate.function].drawn)
    chosen = any(own.choice.release.mechanism in CLIPPING and own.request.options.mechanism is None for own in summed)
    return (f"{note} as wide.{RIVALS if chosen else ''}",)


def _by_spread(prepared: Prepared) -> tuple[str, ...]:
    """Which half widths rest on how far apart values are thought to lie."""
    kinds, found = (Kind.DEVIATION, Kind.CORRELATION), dict[str, None]()
    for own in prepared.told:
        divided = FUNCTIONS[own.aggregate.function].kind in kinds or own.aggregate.function == "regr_slope"
        if divided and own.choice.release.mechanism in ADDING:
            found[f"{own.aggregate.text}{_spreads(own)}"] = None
    if not found:
        return ()
    return (
        f"The half width of {', '.join(found)} is for values as far apart as their bounds, or a spread, make likely: "
        "where they lie closer together, an interval is far wider, and shorter where they lie farther apart. Tighter "
        "bounds mend that.",
    )


def _spreads(measured: Measured) -> str:
    """The standard deviations that a half width is foretold by, in the order of the arguments."""
    release = measured.choice.release
    part = release.parts[release.at] if isinstance(release, SharedRelease) else release
    if not isinstance(part, MomentsRelease) or measured.aggregate.since is not None:
        return ""
    query = part.query
    found = [getattr(query.spreads, name) * float(query.grids[name].step) for name in query.grids]
    return f" (by standard deviations of {' and '.join(f'{spread:,.3g}' for spread in found)})"


def _notes(prepared: Prepared) -> tuple[str, ...]:
    notes = [*caps(prepared), *clipped(prepared), *beyond_bounds(prepared.plan), *left_to_chance(prepared)]
    notes += (*means_written_out(prepared.plan), *columns_apart(prepared.plan))
    contribution = prepared.measured[0].request.source.contribution
    if contribution.rows > 1 and contribution.rows not in _stated(prepared):
        notes.append(f"One privacy unit counts with at most {contribution.rows} rows.")
    if prepared.plan.keys and contribution.groups < contribution.rows:
        notes.append(
            f"One privacy unit counts in at most {contribution.groups} group{'s' * (contribution.groups > 1)}."
        )
    if prepared.candidates is not None:
        notes.append(
            "Only the groups that the order begins with are measured: they are chosen first, for a part of the price."
        )
    elif prepared.selection is not None:
        notes.append("Groups are discovered: rare ones stay hidden. A declared domain would list every group.")
        notes += _too_many(prepared)
    elif prepared.plan.keys and prepared.plan.table is None:
        notes += beside_quote(prepared)
        notes += filter(None, map(_below_0, prepared.plan.keys))
    rest = [measured for measured in prepared.told if measured.rest]
    if rest:
        widths = ", ".join(f"{m.aggregate.text} ±{number(m.choice.release.half_width)}" for m in rest)
        notes.append(
            f"A tenth of each aggregate's price is for one more row, of all groups that stay hidden: {widths}."
        )
    elif len(prepared.groupings) > 1:
        notes.append(
            f"Each aggregate is measured for {len(prepared.groupings)} groupings, at an equal part of its price."
        )
    notes += (*beside_picked(prepared), *counted(prepared), *_found_in_data(prepared), *_by_spread(prepared))
    called = caller(prepared.plan)
    about = ((m, (lying(m), *m.notes(), *advice(m.aggregate))) for m in prepared.told)
    noted = ((called(m.aggregate), note) for m, found in about for note in filter(None, found))
    notes += said_once(noted)
    notes += foretold_answer(prepared.plan)
    return tuple(dict.fromkeys(notes))
