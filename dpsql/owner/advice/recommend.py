"""What `dpsql advise` says of a policy, and what it would write there: caps, bounds and guesses, from released facts.

Caps and bounds that the owner wrote stay: facts count units, so nobody can tell from them how much of a total lies
beyond. Where the owner asks for it they are tightened, and never widened: more noise is the owner's to choose. What
cuts more than it should is told instead.

Tests: tests/unit/owner/advice/test_recommend.py, tests/unit/owner/advice/test_advised.py, tests/unit/test_advising.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dpsql.owner.advice.advise import PRICES
from dpsql.owner.advice.advised import (
    Bounds,
    advised_bounds,
    at_most,
    bounds_seen,
    histogram,
    keeps_guess,
    most_with_another,
    own_bounds,
    rows_about,
    rows_guessed,
    rows_lost,
    two_digits,
    unresolved,
    zeros_about,
)
from dpsql.owner.advice.outside import (
    LOST,
    MISS,
    bins_inside,
    hidden,
    most_beyond,
    rows_at_least,
    share_lost,
    sides_of,
    taken,
    units_at_least,
)
from dpsql.owner.advice.typical import place_of
from dpsql.owner.advice.waves import waves_of
from dpsql.owner.finding import MUCH, Finding
from dpsql.plan.advised import Signed
from dpsql.privacy.account import UNIT

if TYPE_CHECKING:
    from dpsql.mechanisms.noise.laws import Law
    from dpsql.owner.advice.advise import ReleasedFacts
    from dpsql.policy.column import ColumnPolicy
    from dpsql.policy.model import Policy

__all__ = ["Advised", "cap_of", "contradictions", "recommended", "unmeasured"]

WIDE = 2
"""Declared bounds this many times wider than the advised ones are narrowed: every sum pays for the width. A guess."""
DIGITS = 15  # Of a float64 that reads as written.


@dataclass(frozen=True, slots=True)
class Advised:
    """What is said, and what would be written.

    Attributes:
        lines: For people to read, table by table.
        changes: The keys that lead to a value of the policy, and the value in one line of YAML.
        unseen: The tables of which nothing stands above the noise.
    """

    lines: tuple[str, ...]
    changes: Mapping[tuple[str, ...], str]
    unseen: tuple[str, ...] = ()


def recommended(policy: Policy, facts: ReleasedFacts, *, narrow: bool = False) -> Advised:
    """What the facts say of a policy, as it is written.

    Args:
        policy: As it was loaded, with ``auto`` where the owner wrote it.
        facts: The newest.
        narrow: Whether caps and bounds that the owner wrote are tightened, too.
    """
    # A metric is one of a column's declared domain: other bounds would be another metric.
    fixed = {(metric.table, column) for metric in policy.metrics.values() for column in metric.attributes}
    lines, kept, unseen = list[str](), list[str](), list[str]()
    changes: dict[tuple[str, ...], str] = {}
    for name, table in policy.tables.items():
        rows = histogram(facts, facts.sizes, name, None, "rows")
        if table.public or rows is None:
            continue
        if not rows.up.units:
            lines.append(f"{name}: nothing stands above the noise.")
            unseen.append(name)
            continue
        at, most = ("tables", name), cap_of(rows)
        cap = min(table.most_rows, most) if narrow else table.most_rows
        lines.append(f"{name}: about {rows.up.units:,} units, {_rows(rows, table.most_rows, facts.law)}")
        if table.most_rows > 1:
            lines.append(f"  {_caps(rows, most, table.most_rows, facts.law)}")
            if cap < table.most_rows:
                changes[*at, "rows_per_unit"] = str(cap)
            elif most < cap:
                kept.append(f"rows_per_unit: {cap} of {name}")
        guess = rows_guessed(table, rows, facts.law, cap)
        if guess != table.rows_about:
            changes[*at, "rows_about"] = str(max(int(two_digits(Fraction(guess))), table.rows_at_least or 1))
        elif keeps_guess(table, rows, guess, cap):
            lines.append(f"  rows_about: {guess} stays: what is seen, and what the noise may hide, fits it.")
        for key, column in table.columns.items():
            for said, value in _of_column(facts, name, key, table.columns, units_at_least(rows, facts.law)):
                lines.append(f"  {key}: {said}")
                if (name, key) in fixed:
                    continue
                if "bounds" in value and not (column.auto or narrow):
                    kept.append(f"bounds of {name}.{key}")
                    del value["bounds"]
                changes |= {(*at, "columns", key, part): text for part, text in value.items()}
        for (owner, key), values in facts.heavy.items():
            if owner == name:
                shown = ", ".join(f"{value} ({count:,})" for value, count in values) or "none stands above the noise"
                lines.append(f"  {key}: values that many units have most often: {shown}.")
    if kept:
        lines.append(
            f"As you wrote them stay: {', '.join(kept)}. --narrow puts what is advised in their place, which cuts "
            "off what lies beyond, and where a few units have very much, that is much of every total."
        )
    lines.extend(_sure(policy, facts))
    new = {place: value for place, value in changes.items() if value != _now(policy, place)}
    return Advised(tuple(lines), new, tuple(unseen))


def _sure(policy: Policy, facts: ReleasedFacts) -> Iterator[str]:
    """How sure it is what is said of shares, and about the price at which noise would hide little of them."""
    times = Fraction(0)
    for one in facts.sizes:
        question = histogram(facts, facts.sizes, one.table, one.column, one.about)
        rows = histogram(facts, facts.sizes, one.table, None, "rows")
        if one.about != "single" and question is not None and rows is not None and rows.up.units:
            times = max(times, hidden(question, facts.law) / (MUCH * rows.up.units))
    paid = (facts.release.loss.priced().epsilon or 0) * UNIT / min(policy.classes.values(), default=1)
    serves = next((price for price in PRICES if price >= paid * times), None)
    more = f" At --epsilon {float(serves):g} that would be about {float(MUCH):.0%} of the units." if serves else ""
    if times:
        held = f"holds {1 / MISS - 1} times of {1 / MISS}, and counts what the noise may hide."
        said = f"Each 'at least' and 'at most' {held}"
        yield f"{said}{more if times > 1 else ''}"


def _now(policy: Policy, place: tuple[str, ...]) -> str | None:
    """The number that stands at a place already, written as here; None where there is none, or another thing."""
    table = policy.tables[place[1]]
    found = getattr(table.columns[place[3]], place[4]) if len(place) > 3 else getattr(table, place[2])
    if place[-1] == "centre" and found is not None:
        return _plain(_exact(found))
    return _text(two_digits(_exact(found))) if isinstance(found, Decimal) else _text(found)


def cap_of(rows: Signed) -> int:
    """The least power of two beyond which at most a thousandth of the rows lies, of those taken to be there."""
    (counts,) = taken(rows)
    return next(cap for cap in (1 << j for j in range(64)) if rows_lost(rows.up, cap, counts) <= LOST)


def _rows(rows: Signed, now: int, law: Law) -> str:
    """How many rows are seen, and which may be hidden."""
    if now == 1:
        return f"{rows_about(rows.up, 1):,} rows."
    least = _text(two_digits(Fraction(rows_at_least(rows, hidden(rows, law))), ROUND_FLOOR))
    return (
        f"at least {int(least):,} rows. Above the noise are seen about {rows_about(rows.up):,}; units with "
        f"{int(rows.up.farthest):,} rows and more may be hidden, with any number of rows."
    )


def _caps(rows: Signed, most: int, now: int, law: Law) -> str:
    """What some caps lose and cost, beside the one in force and the one that loses next to nothing of what is seen.

    How many rows a cap loses at most, nobody can tell from numbers of units.
    """
    parts, noise, units = [], hidden(rows, law), units_at_least(rows, law)
    for cap in sorted({max(1, most // 8), max(1, most // 2), most, now}):
        lost = share_lost(rows, noise, cap)
        beyond = most_beyond(rows, [(cap + 1).bit_length() - 1], noise, units)
        seen = rows_lost(rows.up, cap, rows.up.seen)
        told = f"{_lost(lost, seen)} lost, and {at_most(beyond)} of the units have more"
        # A cap above the one in force is shown for what it costs, and is not advised.
        marks = [name for name, own in (("now", now), ("advised", min(now, most))) if cap == own]
        mark = f" ({', '.join(marks)})" if marks else ""
        parts.append(f"at {cap:,}{mark} {told}, the noise is {cap / now:.2g}x")
    return f"rows_per_unit: {'; '.join(parts)}."


def _lost(least: Fraction, seen: float) -> str:
    """Which share of all rows is lost at least, else which of those that are seen."""
    if least > LOST:
        return f"at least {float(least):.1%} of the rows are"
    share = f"about {seen:.1%} of the rows seen and " if seen > LOST else ""
    return f"{share}an unknown share of all rows is"


def _of_column(
    facts: ReleasedFacts, table: str, name: str, columns: Mapping[str, ColumnPolicy], units: int
) -> Iterator[tuple[str, dict[str, str]]]:
    """What is said of a numeric column, and what would be written of it."""
    largest = histogram(facts, facts.sizes, table, name, "largest")
    if largest is None:
        return
    column = columns[name]
    found, alike = own_bounds(facts, table, name, column), advised_bounds(facts, table, name, columns)
    single, noise = histogram(facts, facts.sizes, table, name, "single") or largest, hidden(largest, facts.law)
    zeros = zeros_about(facts, table, single, column)
    place = place_of(single, column.bounds, zeros)
    if found is None or alike is None:
        other = at_most(most_with_another(facts, table, largest))
        yield f"no value but 0 stands above the noise; {other} of the units have another one.", {}
        return
    written: dict[str, str] = {}
    low, high = found
    beyond = at_most(most_beyond(largest, bins_inside(largest, noise), noise, units))
    # Values below 0 of a column that has none by its bounds are in no bin, so that nothing is said of them.
    where = f"above {_text(high)}" if largest.down is None else f"outside [{_text(low)}, {_text(high)}]"
    said = f"the value furthest from 0 of {beyond} of the units is {where}"
    if any(asked.both for asked in facts.sizes if (asked.table, asked.column) == (table, name)):
        said = f"{beyond} of the units have a value {where}"
    if zeros:
        everybody = zeros + sum(sum(side.counts) for side in sides_of(single))
        about = f"about {min(1, zeros / everybody):.0%} of the units have 0"
        said = f"{about} (write nullable: true if some have no value); {said}"
    bounds = _bounds(alike, column)
    if bounds is not None:
        written["bounds"] = f"[{_text(bounds[0])}, {_text(bounds[1])}]"
        wave = f", to be compared with {', '.join(waves_of(name, columns))}" if alike != found else ""
        said += f"; bounds: {written['bounds']}{wave}"
    ends = bounds or column.bounds
    if place is not None and place.spread > 0:
        centre = place.centre if ends is None else min(max(place.centre, _exact(ends[0])), _exact(ends[1]))
        written |= {"centre": _plain(centre), "spread": _text(two_digits(place.spread))}
        if ends is not None and not _exact(ends[0]) <= Fraction(written["centre"]) <= _exact(ends[1]):
            del written["centre"]
        bin_ = "" if place.within is None else f"most lie somewhere from {' to '.join(map(_short, place.within))}, so "
        said += f"; {bin_}about {_plain(centre)}, give or take {_text(two_digits(place.spread))}"
        if ends is None:
            written["scale"] = f"[{', '.join(_text(two_digits(end)) for end in place.scale)}]"
    elif place is None:
        said += "; where most values lie is hidden by the noise"
    yield said + ".", written


def _bounds(found: tuple[Decimal, Decimal] | tuple[int, int], column: ColumnPolicy) -> tuple[object, object] | None:
    """The bounds that would be written; None where the column keeps what it has."""
    if column.auto:
        return found
    if column.bounds is None:
        return None
    low, high = column.bounds
    now, new = _exact(high) - _exact(low), (max(_exact(low), Fraction(found[0])), min(_exact(high), Fraction(found[1])))
    if new[0] > new[1] or WIDE * (new[1] - new[0]) > now:
        return None
    return found[0] if new[0] > _exact(low) else low, found[1] if new[1] < _exact(high) else high


def unmeasured(policy: Policy) -> Iterator[Finding]:
    """What facts would find, where there are none: bounds, without which no policy opens, and caps that are no use."""
    for name, table in policy.tables.items():
        if not table.public and (off := _count_is_off_by(policy, table.most_rows)) > max(table.rows_about, 1):
            what = (
                f"rows_per_unit: {table.most_rows} drowns a COUNT(*): ±{off:,} at the price of a query, of about "
                f"{table.rows_about:,} rows. Write what hardly anybody passes, or run dpsql advise POLICY --write."
            )
            yield Finding(name, None, what, None, None, "warning")
        for key, column in table.columns.items():
            if column.auto:
                what = "has bounds: auto, and no facts yet. Run dpsql advise POLICY --write, or write [LOW, HIGH]."
                yield Finding(name, key, what, None, None, "error", lacks=True)


def _count_is_off_by(policy: Policy, rows: int) -> int:
    """Half of the 95% interval of a COUNT(*) at the default price, with noise for so many rows of a unit; 0 for one."""
    price = policy.budget.per_query
    if price.epsilon is not None:
        off = math.log(20) / float(price.epsilon)  # the tail of Laplace noise of scale 1 / epsilon
    else:
        off = 1.96 / math.sqrt(2 * float(price.rho or 1))  # that of Gaussian noise of variance 1 / (2 rho)
    return round(rows * off) if rows > 1 else 0


def contradictions(policy: Policy, facts: ReleasedFacts) -> Iterator[Finding]:
    """Where a policy's caps and bounds do not fit the facts; for the owner alone, though facts are public."""
    for name, key in unresolved(policy, facts):
        what = (
            "has bounds: auto, and the facts hold no value but 0 above their noise, which may hide "
            "others. Write [LOW, HIGH] from what is "
            "publicly known ([0, 1] for a column of nothing but 0), or run dpsql advise POLICY --write with a larger "
            "--epsilon than theirs."
        )
        yield Finding(name, key, what, None, None, "error", lacks=True)
    if facts.totals is None:
        what = (
            "totals under the bounds are paid for and not drawn yet. Run dpsql advise POLICY once bounds are written."
        )
        yield Finding(None, None, what, None, None, "note")
    for name, table in policy.tables.items():
        rows = histogram(facts, facts.sizes, name, None, "rows")
        if table.public or rows is None or not rows.up.units:
            continue
        if (lost := share_lost(rows, hidden(rows, facts.law), table.most_rows)) > MUCH:
            what = f"by the facts rows_per_unit: {table.most_rows} leaves out at least {float(lost):.0%} of the rows."
            what += f" {cap_of(rows)} would keep those that are seen."
            yield Finding(name, None, what, None, None, "warning")
        for key, column in table.columns.items():
            largest = histogram(facts, facts.sizes, name, key, "largest")
            if largest is not None and column.bounds is not None and not column.auto:
                found = advised_bounds(facts, name, key, table.columns)
                yield from _of_bounds(name, key, column, largest, found, rows.up.units)


def _of_bounds(
    table: str, name: str, column: ColumnPolicy, largest: Signed, found: Bounds | None, units: int
) -> Iterator[Finding]:
    if found is None or column.bounds is None:
        return
    advised, reached = _written(found), bounds_seen(largest, column.type)
    seen: tuple[Any, Any] = min(found[0], reached[0]), max(found[1], reached[1])
    cut = _cut(largest, column.bounds, units)
    if cut > MUCH and _cut(largest, found, units) < cut:
        what = f"by the facts the bounds cut values of about {cut:.0%} of the units. {advised} would keep what is seen."
        yield Finding(table, name, what, None, None, "warning")
    elif cut > MUCH:
        what = (
            f"by the facts about {cut:.0%} of the units may have values beyond the bounds, or the noise of the facts "
            f"looks like it. {_written(seen)} would keep them; dpsql advise POLICY with a larger --epsilon tells."
        )
        yield Finding(table, name, what, None, None, "warning")
    elif _bounds(seen, column) is not None:
        what = f"by the facts the bounds are more than {WIDE} times as wide as {advised}; a few may lie beyond these."
        yield Finding(table, name, what, None, None, "note")


def _cut(largest: Signed, bounds: tuple[Any, Any], units: int) -> float:
    """About which share of the units has its value in bins that bounds leave out whole."""
    low, high = map(_exact, bounds)
    return min(1.0, largest.beyond(low, high) / units)


def _written(bounds: tuple[Any, Any]) -> str:
    return f"[{_text(bounds[0])}, {_text(bounds[1])}]"


def _exact(number: Any) -> Fraction:
    return Fraction(number)


def _plain(number: Fraction) -> str:
    """A number in all its digits that a policy keeps."""
    return _text(Context(prec=DIGITS).divide(Decimal(number.numerator), Decimal(number.denominator)))


def _short(number: Fraction) -> str:
    """A number in three digits."""
    return _text(Context(prec=3).divide(Decimal(number.numerator), Decimal(number.denominator)).normalize())


def _text(number: object) -> str:
    return f"{number:f}" if isinstance(number, Decimal) else str(number)
