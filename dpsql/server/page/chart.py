"""The picture of the owner's page: how much of each account was used over time, as inline SVG.

Tests: tests/unit/server/page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from fractions import Fraction

from dpsql.answers.shown.markup import Html, element
from dpsql.charging import ALERTS

__all__ = ["Line", "chart"]

WIDTH, HEIGHT = 720, 260  # Of the picture, in its own units; it is scaled to the page.
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 28  # Of the frame around the lines, in the same units.

Line = tuple[str, Sequence[tuple[datetime, Fraction]]]
"""An account's name, and how much of it was used when, from 0 to 1."""


def chart(lines: Sequence[Line], now: datetime) -> Html:
    """The lines of some accounts, in steps: an account stays as it is until the next charge.

    Args:
        lines: At most eight, each with a colour of its own.
        now: Where the picture ends.
    """
    times = [at for _, past in lines for at, _ in past]
    if not times:
        return element("p", "Nothing was charged yet.", class_="quiet")
    first, span = min(times), max((now - min(times)).total_seconds(), 1.0)

    def x(at: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, (at - first).total_seconds() / span))

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share)

    drawn = [*_frame(y), *_dates(first, now)]
    for place, (_, past) in enumerate(lines):
        drawn.append(_steps([(x(at), y(float(share))) for at, share in past], x(now), place))
    told = "; ".join(f"{name}: {float(past[-1][1]):.0%}" for name, past in lines if past)
    picture = element(
        "svg",
        element("title", "Share of each account that is used, over time", id="chart-title"),
        element("desc", f"Used now: {told}.", id="chart-desc"),
        *drawn,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby="chart-title chart-desc",
    )
    legend = [
        element("li", element("span", class_=f"key c{place}", aria_hidden="true"), name)
        for place, (name, _) in enumerate(lines)
    ]
    return element("figure", picture, element("ul", *legend, class_="legend"))


def _frame(y: Callable[[float], float]) -> list[Html]:
    """Lines at none, half, all, and where alerts are told."""
    drawn = []
    for share in (0.0, 1.0, *map(float, ALERTS)):
        height = f"{y(share):.1f}"
        kind = "grid" if share in (0.0, 1.0) else "alert"
        drawn.append(element("line", x1=str(LEFT), x2=str(WIDTH - RIGHT), y1=height, y2=height, class_=kind))
        if share != float(ALERTS[-1]):  # too near to the line of all to be named beside it
            label = element("text", f"{share:.0%}", x=str(LEFT - 6), y=height, class_="y")
            drawn.append(label)
    return drawn


def _dates(first: datetime, now: datetime) -> list[Html]:
    form = "%Y-%m-%d %H:%M" if (now - first).days < 2 else "%Y-%m-%d"
    height = str(HEIGHT - 8)
    return [
        element("text", first.strftime(form), x=str(LEFT), y=height, class_="x"),
        element("text", now.strftime(form), x=str(WIDTH - RIGHT), y=height, class_="x end"),
    ]


def _steps(points: Sequence[tuple[float, float]], end: float, place: int) -> Html:
    path = f"M{points[0][0]:.1f} {HEIGHT - BOTTOM}" if points else ""
    for across, down in points:
        path += f"H{across:.1f}V{down:.1f}"
    return element("path", d=f"{path}H{end:.1f}", class_=f"step c{place}")
