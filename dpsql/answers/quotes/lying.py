"""Of which rows and values half widths are foretold: how many, how far apart they are thought to lie, what is open.

The error of a mean, a variance or a correlation grows as the rows get fewer, and how many conditions leave is a guess.
The ends of a quantile's interval are ranks that noise moves: how far apart the values there are, no public fact says.
Told is what comes of values that lie evenly over the bounds, where nothing says more of them. Most lie closer together.

Tests: tests/unit/answers/quotes/test_lying.py.
"""

from __future__ import annotations

from dpsql.mechanisms.base import Request
from dpsql.mechanisms.foretold import rows_said
from dpsql.mechanisms.ranked import OFTEN, Ranked
from dpsql.plan.aggregates import FUNCTIONS, Kind
from dpsql.plan.known.relations import conjuncts, predicates
from dpsql.plan.known.there import filtered
from dpsql.plan.values.expressions import columns_of
from dpsql.prepare import Measured, Prepared

__all__ = ["counted", "is_fixed", "lies_evenly", "lying"]

CALLED = {
    Kind.PLACE: "a mean",
    Kind.VARIANCE: "a variance",
    Kind.DEVIATION: "a standard deviation",
    Kind.CORRELATION: "a correlation",
    Kind.PAIR: "a covariance or slope",
}
"""What is divided by a number of rows."""


def counted(prepared: Prepared) -> tuple[str, ...]:
    """For how many rows the errors of means and their like are foretold, one sentence."""
    found = dict[str, None]()
    requests = list[Request]()
    for measured in prepared.told:
        function = FUNCTIONS[measured.aggregate.function]
        if function.kind in CALLED and measured.aggregate.rank is None and not is_fixed(measured):
            found[CALLED[function.kind]] = None
            requests.append(measured.request)
    if not requests:
        return ()
    least, most = (end(requests, key=lambda request: request.rows_about) for end in (min, max))
    many = " to ".join(dict.fromkeys(f"{request.rows_about:,}" for request in (least, most)))
    each, fewer = " in a group" * bool(prepared.plan.keys), ""
    if least.rows_about < least.rows_read:
        fewer = ": of half as many it is about twice as large"
        if _conditions(least) > 1:
            fewer = (
                ". What several conditions leave together is often ten times fewer, or more: of a tenth as many it is "
                "about ten times as large"
            )
    what = " and of ".join(found)
    return (f"The error of {what} is for {many} rows{each}, by the number {rows_said(least)}{fewer}.",)


def _conditions(request: Request) -> int:
    """How many columns, or sets of them, have conditions that its rows meet, in WHERE and FILTER."""
    own = None if request.aggregate.argument is None else filtered(request.aggregate.argument)[0]
    written = (*predicates(request.source.relation), *(() if own is None else (own,)))
    return len({columns_of(part) for condition in written for part in conjuncts(condition)})


def is_fixed(measured: Measured) -> bool:
    """Whether the statement names how far one person may move it: then its noise is the same for any rows."""
    return measured.choice.release.mechanism == "preprocessing" and measured.request.options.sensitivity is not None


def lies_evenly(measured: Measured) -> bool:
    """Whether the half width is that of values which lie evenly over all of their bounds: most come out shorter."""
    release = measured.choice.release
    return isinstance(release, Ranked) and release.evenly


def lying(measured: Measured) -> str:
    """Of which values it is foretold, as a sentence; empty of whatever is no quantile."""
    release, request = measured.choice.release, measured.request
    if not isinstance(release, Ranked):
        return ""
    group = " in a group" * bool(request.source.keys)
    rows = f"{request.rows_about:,} rows{group}, by the number {rows_said(request)}"
    what = "its half width" if release.bracketed else "its expected error"
    few = release.few if release.bracketed else None
    if release.bracketed and not release.between:
        many = "" if few is None else f" Of more than about {few:,} rows none is, and it is far shorter."
        return f"{what} is for {rows}: an end of its interval, or both, is a bound then.{many}"
    fewer = "" if few is None else f" Of about {few:,} rows or fewer an interval reaches to a bound."
    if not release.evenly:
        return f"{what} is a guess, for {rows}, and for values as far apart as they are thought to be.{fewer}"
    if not release.bracketed and release.half_width >= release.most:
        return f"{what} is for {rows}."
    return (
        f"{what} is for {rows}, and for values that lie evenly over all of their bounds: where they lie within "
        f"1/{OFTEN} of these it is about 1/{OFTEN} of it.{fewer}"
    )
