"""Of which values a quantile's half width is foretold: how many, how far apart they are thought to lie, and what that
leaves open.

The ends of its interval are ranks that noise moves: how far apart the values there are, no public fact says. Told is
what comes of values that lie evenly over the bounds, where nothing says more of them. Most bounds are far wider.

Tests: tests/unit/answers/quotes/test_lying.py.
"""

from __future__ import annotations

from dpsql.mechanisms.foretold import rows_said
from dpsql.mechanisms.ranked import OFTEN, Ranked
from dpsql.prepare import Measured

__all__ = ["lies_evenly", "lying"]


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
