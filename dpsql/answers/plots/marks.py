"""Values and their intervals, drawn in one panel. Grey tones and shapes alone tell them apart, so that print can."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.patches import Ellipse
from matplotlib.ticker import FuncFormatter, MaxNLocator

from dpsql.answers.plots.scale import Reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = [
    *("CUT", "MISSING", "UNKNOWN", "bars", "ellipses", "key_axis", "line", "number_axis", "spread", "step_of"),
    "whiskers",
]

INK, FILL = "#16324f", "#b9c6d3"
"""Dark blue and light blue: dark and light grey in print."""
CUT = "An arrow: the interval goes on beyond the picture."
UNKNOWN = "A hollow mark: its error is not known."
MISSING = "×: no value is known."
"""What a caption says of them."""
MARKED = 80
"""Points of a line that still are marked one by one. A choice: they touch where there are more."""

Intervals = Sequence[tuple[float, float] | None]
Said = dict[str, None]


def bars(
    axes: Axes, places: Sequence[float], values: Sequence[float], intervals: Intervals, reach: Reach, said: Said,
    *, flat: bool, whole: bool, thick: float = 0.72,
) -> None:  # fmt: skip
    """Bars from 0, or points, with their whiskers.

    Args:
        axes: Where.
        places: Along the axis of the keys.
        values: NaN where there is none.
        intervals: Of the values.
        reach: Of the axis of the values.
        said: What the caption says besides.
        flat: Whether bars lie, and values run to the right.
        whole: Bars rather than points.
        thick: A bar's width.
    """
    known = any(intervals)
    for place, value, interval in zip(places, values, intervals, strict=True):
        if math.isnan(value):
            _put(axes, reach.low + 0.02 * (reach.high - reach.low), place, "x", flat=flat)
            said[MISSING] = None
            continue
        filled = interval or not known
        if whole:
            draw = axes.barh if flat else axes.bar
            draw(place, value, thick, facecolor=FILL if filled else "white", edgecolor=INK, linewidth=0.6, zorder=2)
        else:
            _put(axes, value, place, "o", flat=flat, face=INK if filled else "white")
    hollow = any(interval is None and not math.isnan(value) for value, interval in zip(values, intervals, strict=True))
    if hollow and known:
        said[UNKNOWN] = None
    whiskers(axes, places, intervals, reach, said, flat=flat)


def whiskers(
    axes: Axes, places: Sequence[float], intervals: Intervals, reach: Reach, said: Said, *, flat: bool
) -> None:
    """Each interval as a line with ends; an arrow where it goes on beyond the axis."""
    for place, interval in zip(places, intervals, strict=True):
        if interval is None:
            continue
        (low, low_cut), (high, high_cut) = reach.cut(interval[0]), reach.cut(interval[1])
        draw = axes.hlines if flat else axes.vlines
        draw(place, low, high, color="black", linewidth=1.0, zorder=3)
        _put(axes, low, place, ("<" if flat else "v") if low_cut else ("|" if flat else "_"), flat=flat, size=4)
        _put(axes, high, place, (">" if flat else "^") if high_cut else ("|" if flat else "_"), flat=flat, size=4)
        if low_cut or high_cut:
            said[CUT] = None


def line(
    axes: Axes, places: Sequence[float], values: Sequence[float], intervals: Intervals, reach: Reach, said: Said
) -> None:
    """A line through the values over a band of their intervals. A point without neighbours keeps a whisker."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    x, y = [places[i] for i in order], [values[i] for i in order]
    known, some = [intervals[i] for i in order], any(intervals)
    low = [math.nan if own is None else reach.cut(own[0])[0] for own in known]
    high = [math.nan if own is None else reach.cut(own[1])[0] for own in known]
    axes.fill_between(x, low, high, color=FILL, linewidth=0, zorder=1)
    for edge in (low, high):
        axes.plot(x, edge, color=INK, linewidth=0.5, zorder=2)
    marker = "o" if len(x) <= MARKED else ""
    axes.plot(x, y, color=INK, linewidth=1.4, marker=marker, markersize=3, zorder=3)
    there = [False, *(not math.isnan(end) for end in low), False]
    alone = [i for i in range(len(x)) if there[i + 1] and not there[i] and not there[i + 2]]
    whiskers(axes, [x[i] for i in alone], [known[i] for i in alone], reach, said, flat=False)
    for i, value in enumerate(y):
        if math.isnan(value):
            _put(axes, reach.low + 0.02 * (reach.high - reach.low), x[i], "x", flat=False)
            said[MISSING] = None
        elif some and known[i] is None:
            _put(axes, value, x[i], "o", flat=False, face="white")
            said[UNKNOWN] = None
    if any(own is not None and (reach.cut(own[0])[1] or reach.cut(own[1])[1]) for own in known):
        said["Where the band ends at the edge, the interval goes on beyond the picture."] = None


def ellipses(
    axes: Axes,
    points: Sequence[tuple[float, float]],
    boxes: Sequence[tuple[tuple[float, float], tuple[float, float]] | None],
    names: Sequence[str],
) -> None:
    """Points with the ellipse around each one's box, as wide and high as the box times the root of 2.

    Args:
        axes: Where.
        points: (n, 2) floats; NaN where there is none.
        boxes: The intervals of the two coordinates of each; None where one is not known or has no bound.
        names: What each point is called.
    """
    known = any(boxes)
    for (x, y), box, name in sorted(zip(points, boxes, names, strict=True), key=lambda own: -_area(own[1])):
        if math.isnan(x) or math.isnan(y):
            continue
        if box is not None:  # the small ones lie above the large ones
            (left, right), (low, high) = box
            middle, root = ((left + right) / 2, (low + high) / 2), math.sqrt(2)
            size = root * (right - left), root * (high - low)
            axes.add_patch(Ellipse(middle, *size, facecolor=FILL, edgecolor=INK, linewidth=0.8, zorder=2))
        face = INK if box or not known else "white"
        axes.plot(x, y, "o", color=INK, markersize=4, markerfacecolor=face, zorder=3)
        axes.annotate(name, (x, y), (5, 5), textcoords="offset points", fontsize=8, zorder=4)
    axes.margins(0.15)
    axes.autoscale_view()


def _area(box: tuple[tuple[float, float], tuple[float, float]] | None) -> float:
    return 0.0 if box is None else (box[0][1] - box[0][0]) * (box[1][1] - box[1][0])


def spread(axes: Axes, matrix: Sequence[Sequence[float]]) -> None:
    """Two columns' covariance matrix: the ellipses of one and two standard deviations around their means, and r.

    Args:
        axes: Where.
        matrix: (2, 2) floats; NaN where there is none.
    """
    table = np.asarray(matrix)
    if np.isnan(table).any():
        axes.text(0.5, 0.5, "no value is known", transform=axes.transAxes, ha="center", va="center", color=INK)
        return
    lengths, turned = np.linalg.eigh((table + table.T) / 2)
    axis_lengths = 2 * np.sqrt(np.maximum(lengths, 0.0))
    angle = math.degrees(math.atan2(turned[1, 1], turned[0, 1]))
    for times, style in ((2, "--"), (1, "-")):
        shape = Ellipse(
            (0, 0), times * axis_lengths[1], times * axis_lengths[0], angle=angle,
            facecolor=FILL if times == 1 else "none", edgecolor=INK, linewidth=1, linestyle=style,
        )  # fmt: skip
        axes.add_patch(shape)
    product = math.sqrt(max(table[0, 0] * table[1, 1], 0.0))
    axes.set_title(f"r = {table[0, 1] / product:.2f}" if product else "", fontsize=9, loc="left")
    axes.plot(0, 0, "+", color=INK)
    axes.margins(0.1)
    axes.autoscale_view()


def key_axis(axes: Axes, places: Sequence[float], labels: Sequence[str], columns: int, *, times: bool) -> None:
    """Ticks of an upright picture's keys: each one's where they are few, else of the numbers or days as such.

    Args:
        axes: Where.
        places: Of the keys.
        labels: What each is called.
        columns: How many panels stand side by side.
        times: Whether places are days since 1970.
    """
    if times:
        axes.xaxis_date()
        locator = AutoDateLocator(minticks=3, maxticks=max(3, 9 // columns))  # type: ignore[no-untyped-call]
        axes.xaxis.set_major_locator(locator)
        axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    elif sum(map(len, labels)) + 2 * len(labels) <= 70 // columns:  # 70 characters fit below a picture
        axes.set_xticks(list(places), list(labels))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(9 // columns, integer=all(place.is_integer() for place in places)))
        axes.ticklabel_format(axis="x", useOffset=False)


def number_axis(axis: Axis, columns: int) -> None:
    """Ticks of numbers, in full up to seven digits, and few where panels are narrow.

    Args:
        axis: Whose.
        columns: How many panels stand side by side.
    """
    axis.set_major_locator(MaxNLocator({1: 7, 2: 5}.get(columns, 3)))
    axis.set_major_formatter(FuncFormatter(_tick))


def _tick(value: float, place: int | None = None) -> str:
    """A number beside an axis.

    >>> _tick(-250000.0), _tick(0.015), _tick(3e9)
    ('-250,000', '0.015', '3e9')
    """
    return f"{value:,.10g}" if abs(value) < 1e7 else f"{value:.4g}".replace("e+0", "e").replace("e+", "e")


def step_of(places: Sequence[float]) -> float:
    """The least distance of two places, and no less than a 200th of all."""
    ordered = sorted(set(places))
    apart = [after - before for before, after in pairwise(ordered)]
    return max(min(apart), (ordered[-1] - ordered[0]) / 200) if apart else 1.0


def _put(axes: Axes, value: float, place: float, marker: str, *, flat: bool, face: str = INK, size: float = 5) -> None:
    x, y = (value, place) if flat else (place, value)
    colour = "black" if marker in "|_" else INK
    axes.plot(x, y, marker, color=colour, markerfacecolor=face, markersize=size, zorder=4, clip_on=False)
