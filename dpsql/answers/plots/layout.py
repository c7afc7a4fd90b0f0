"""Where the panels of a picture stand and what is drawn in each: one way to lay out for each of `shapes`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from dpsql.answers.plots import marks
from dpsql.answers.plots.scale import PAD, Reach, reach
from dpsql.answers.plots.series import Seen, Series, number_of, words
from dpsql.answers.plots.shapes import MOST_GROUPS
from dpsql.answers.shown.screen import number, with_error
from dpsql.plan.types import Type

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LAYOUTS", "Panel", "Sheet"]

MOST_COLUMNS, MOST_PANELS, MOST_SMALL = 4, 9, 15
"""Of numbers side by side, of small multiples, and of bars in each of these. Choices: what a page holds."""
Lists = dict[str, list[tuple[str, int | None]]]
"""The bars of each panel: their names and rows; None where a panel has none of that name."""
ACROSS, MOST_STACKED = 3, 8
"""Panels in a row, and bars of panels that stand one below the other, with words beside them. Choices, for a page."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel.

    Attributes:
        row: From 0.
        column: From 0.
        paint: Draws it.
    """

    row: int
    column: int
    paint: Callable[[Axes], None]


@dataclass(slots=True)
class Sheet:
    """What is drawn, and where.

    Attributes:
        panels: All of them.
        height: Of one row of panels, in inches.
        rows: How many.
        columns: How many.
        share: Which axes the panels share: "x", "y", both or "".
        said: What the caption says besides.
    """

    panels: list[Panel] = field(default_factory=list)
    height: float = 3.2
    rows: int = 1
    columns: int = 1
    share: str = ""
    said: dict[str, None] = field(default_factory=dict)


def _nothing(answer: Seen) -> Sheet:
    def paint(axes: Axes) -> None:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "The answer has no rows.", ha="center", va="center")

    return Sheet([Panel(0, 0, paint)], height=0.9)


def _single(answer: Seen) -> Sheet:
    """Each number on an axis of its own, one below the other."""
    values = answer.values
    sheet = Sheet(height=0.85, rows=len(values))

    def paint(own: Series, axes: Axes) -> None:
        numbers, intervals = own.numbers([0]), own.intervals([0])
        span = reach(numbers, intervals, zero=False)
        marks.bars(axes, [0], numbers, intervals, span, sheet.said, flat=True, whole=False)
        axes.set_xlim(span.low, span.high)
        axes.set_ylim(-0.6, 0.6)
        axes.set_yticks([0], [own.title])
        axes.tick_params(axis="y", length=0)
        marks.number_axis(axes.xaxis, 1)
        _told(axes, [0], own, [0])

    sheet.panels = [Panel(i, 0, partial(paint, own)) for i, own in enumerate(values)]
    return sheet


def _groups(answer: Seen) -> Sheet:
    """Lying bars: their names stand at the left, the values in words at the right of a picture of one panel."""
    panels, sheet = _panels(answer)
    most = MOST_GROUPS if len(panels) == 1 else MOST_SMALL
    axis = answer.axis
    values = _columns(answer, sheet)
    if len(panels) == 1:
        ((title, rows),) = panels.items()
        panels = {title: (kept := _largest(rows, values[0], most))}
        _count(sheet, len(kept), len(rows), f"rows, by {values[0].named}")
        lists: Lists = {title: [(axis.label(row) if axis else str(row + 1), row) for row in kept]}
    else:
        lists = _aligned(panels, axis or answer.keys[0], values[0], most, sheet)
    length = max(len(own) for own in lists.values())
    sheet.height = 0.55 + max(0.22 * length, 0.45)

    def paint(own: Series, title: str, axes: Axes, *, told: bool) -> None:
        listed = [(name, row) for name, row in lists[title]]
        places = [float(length - 1 - i) for i in range(len(listed))]
        rows = [row for _, row in listed if row is not None]
        at = [place for place, (_, row) in zip(places, listed, strict=True) if row is not None]
        span = _span(own, [row for each in panels.values() for row in each], zero=True)
        numbers, intervals, whole = own.numbers(rows), own.intervals(rows), own.type is Type.INTEGER
        marks.bars(axes, at, numbers, intervals, span, sheet.said, flat=True, whole=whole)
        axes.set_xlim(span.low, span.high)
        axes.set_ylim(-0.6, length - 0.4)
        axes.set_yticks(places, [name for name, _ in listed])
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(own.title)
        marks.number_axis(axes.xaxis, sheet.columns)
        axes.set_title(_wrapped(title, sheet), fontsize=9, loc="left")
        if told:
            _told(axes, at, own, rows)
        if span.low < 0 < span.high:
            axes.axvline(0, color="black", linewidth=0.6, zorder=1)

    stacked = len(panels) == 1 and length <= MOST_STACKED
    told = stacked or len(panels) * len(values) == 1
    _place(sheet, values, panels, lambda own, title: partial(paint, own, title, told=told))
    sheet.share += "y"
    if stacked:
        _stack(sheet)
    return sheet


def _upright(answer: Seen, *, lines: bool) -> Sheet:
    """A line or upright bars, by numbers or times."""
    panels, sheet = _panels(answer)
    values, axis = _columns(answer, sheet), answer.axis or answer.keys[0]
    times = axis.type in (Type.DATE, Type.TIMESTAMP)
    every = sorted({number_of(value) for value in axis.values if value is not None})
    step = marks.step_of(every)
    beyond = every[-1] + max(2 * step, 0.06 * (every[-1] - every[0]))
    at_null = any(value is None for value in axis.values)
    sheet.height = 2.6 if len(values) * len(panels) == 1 else 1.9

    def paint(own: Series, title: str, axes: Axes) -> None:
        rows = panels[title]
        span = _span(own, [row for each in panels.values() for row in each], zero=not lines)
        there = [row for row in rows if axis.values[row] is not None]
        null = [row for row in rows if axis.values[row] is None]
        whole = own.type is Type.INTEGER and not lines

        def draw(at: Sequence[float], of: Sequence[int]) -> None:
            marks.bars(
                axes, at, own.numbers(of), own.intervals(of), span, sheet.said,
                flat=False, whole=whole, thick=0.8 * step,
            )  # fmt: skip

        places = [number_of(axis.values[row]) for row in there]
        if lines:
            marks.line(axes, places, own.numbers(there), own.intervals(there), span, sheet.said)
        else:
            draw(places, there)
        draw([beyond] * len(null), null)
        room = PAD * (every[-1] - every[0]) if lines else 0.7 * step  # a bar is 0.8 steps wide
        axes.set_xlim(every[0] - room, (beyond if at_null else every[-1]) + room)
        marks.key_axis(axes, places, [axis.label(row) for row in there], sheet.columns, times=times)
        if at_null:
            axes.set_xticks([tick for tick in axes.get_xticks() if every[0] <= tick <= every[-1]])
            axes.text(beyond, -0.04, "NULL", transform=axes.get_xaxis_transform(), ha="center", va="top", fontsize=8)
        axes.set_ylim(span.low, span.high)
        axes.set_ylabel(own.title)
        axes.set_xlabel(axis.title)
        marks.number_axis(axes.yaxis, 1)
        axes.set_title(_wrapped(title, sheet), fontsize=9, loc="left")
        if span.low < 0 < span.high:
            axes.axhline(0, color="black", linewidth=0.6, zorder=1)

    _place(sheet, values, panels, lambda own, title: partial(paint, own, title))
    sheet.share += "x"
    if len(panels) == 1:
        _stack(sheet)
    return sheet


def _points(answer: Seen) -> Sheet:
    """A panel for each pair of coordinates."""
    sheet, rows = Sheet(), range(answer.count)
    names = [", ".join(key.label(row) for key in answer.keys) for row in rows]

    def paint(across: Series, up: Series, axes: Axes) -> None:
        boxes = [
            None if x is None or y is None or not all(map(math.isfinite, (*x, *y))) else (x, y)
            for x, y in zip(across.intervals(rows), up.intervals(rows), strict=True)
        ]
        points = list(zip(across.numbers(rows), up.numbers(rows), strict=True))
        marks.ellipses(axes, points, boxes, names)
        marks.number_axis(axes.xaxis, sheet.columns)
        marks.number_axis(axes.yaxis, 1)
        missing = sum(math.isnan(x) or math.isnan(y) for x, y in points)
        if missing:
            sheet.said[f"{missing} of {len(points)} points have no value."] = None
        if any(box is None for box in boxes[missing:]) and any(boxes):
            sheet.said[marks.UNKNOWN] = None
        axes.set_xlabel(across.title)
        axes.set_ylabel(up.title)

    return _pairs(sheet, answer, paint)


def _matrix(answer: Seen) -> Sheet:
    """A panel for each pair of variables."""
    sheet = Sheet()
    place = {own.name: i for i, own in enumerate(answer.values)}

    def paint(across: Series, up: Series, axes: Axes) -> None:
        at = [place[across.name], place[up.name]]
        marks.spread(axes, [[number_of(own.values[row]) for own in (across, up)] for row in at])
        axes.set_xlabel(across.title)
        axes.set_ylabel(up.title)

    sheet.said["Ellipses of one and two standard deviations around the means, which this answer does not tell."] = None
    return _pairs(sheet, answer, paint)


def _pairs(sheet: Sheet, answer: Seen, paint: Callable[[Series, Series, Axes], None]) -> Sheet:
    pairs = list(combinations(answer.values, 2))
    kept = pairs[:MOST_PANELS]
    _count(sheet, len(kept), len(pairs), "pairs of columns", largest=False)
    sheet.columns = min(len(kept), ACROSS)
    sheet.rows = math.ceil(len(kept) / ACROSS)
    sheet.height = (4.4, 3.3, 2.5)[sheet.columns - 1]
    sheet.panels = [Panel(i // ACROSS, i % ACROSS, partial(paint, *pair)) for i, pair in enumerate(kept)]
    return sheet


def _columns(answer: Seen, sheet: Sheet) -> Sequence[Series]:
    kept = answer.values[:MOST_COLUMNS]
    _count(sheet, len(kept), len(answer.values), "columns of numbers", largest=False)
    return kept


def _panels(answer: Seen) -> tuple[dict[str, list[int]], Sheet]:
    """The small multiples that are drawn: those whose numbers are the largest, in the order of the answer."""
    sheet, panels, first = Sheet(), answer.panels, answer.values[0]
    sizes = {
        title: sum(abs(own) for own in first.numbers(rows) if not math.isnan(own)) for title, rows in panels.items()
    }
    kept = sorted(panels, key=lambda title: -sizes[title])[:MOST_PANELS]
    _count(sheet, len(kept), len(panels), f"panels, by {first.named}")
    return {title: rows for title, rows in panels.items() if title in kept}, sheet


def _largest(rows: Sequence[int], by: Series, most: int) -> list[int]:
    """Those of the rows with the largest numbers, in their order."""
    sizes = {row: -1.0 if math.isnan(own := number_of(by.values[row])) else abs(own) for row in rows}
    kept = set(sorted(rows, key=lambda row: -sizes[row])[:most])
    return [row for row in rows if row in kept]


def _aligned(panels: Mapping[str, list[int]], axis: Series, by: Series, most: int, sheet: Sheet) -> Lists:
    """The bars of each panel, at the same places in all."""
    sizes: dict[Any, float] = {}
    labels: dict[Any, str] = {}
    for row in (row for rows in panels.values() for row in rows):
        size, own = number_of(by.values[row]), axis.values[row]
        sizes[own] = sizes.get(own, 0.0) + (0.0 if math.isnan(size) else abs(size))
        labels[own] = axis.label(row)
    chosen = set(sorted(sizes, key=lambda own: -sizes[own])[:most])
    kept = [own for own in sizes if own in chosen]
    _count(sheet, len(kept), len(sizes), f"groups, by {by.named}")
    places = {title: {axis.values[row]: row for row in reversed(rows)} for title, rows in panels.items()}
    return {title: [(labels[own], rows.get(own)) for own in kept] for title, rows in places.items()}


def _place(
    sheet: Sheet,
    values: Sequence[Series],
    panels: Mapping[str, list[int]],
    painting: Callable[[Series, str], Callable[[Axes], None]],
) -> None:
    """One number's panels in rows of a few; of several numbers, a row for each panel."""
    if len(values) == 1:
        across = 2 if len(panels) in (2, 4) else min(ACROSS, len(panels))
        sheet.columns, sheet.rows, sheet.share = across, math.ceil(len(panels) / across), "xy"
        sheet.panels = [Panel(i // across, i % across, painting(values[0], title)) for i, title in enumerate(panels)]
        return
    sheet.columns, sheet.rows = len(values), len(panels)
    sheet.panels = [Panel(i, j, painting(own, title)) for i, title in enumerate(panels) for j, own in enumerate(values)]


def _stack(sheet: Sheet) -> None:
    """What stands side by side in one row, one below the other."""
    sheet.rows, sheet.columns = sheet.columns, sheet.rows
    sheet.panels = [Panel(panel.column, panel.row, panel.paint) for panel in sheet.panels]


def _span(own: Series, rows: Sequence[int], *, zero: bool) -> Reach:
    return reach(own.numbers(rows), own.intervals(rows), zero=zero and own.type is Type.INTEGER)


def _wrapped(title: str, sheet: Sheet) -> str:
    """A panel's title in at most two lines of its width."""
    width = 75 // sheet.columns  # 75 characters are as wide as a picture
    return "\n".join(textwrap.wrap(words(title, 2 * width), width)[:2])


def _told(axes: Axes, places: Sequence[float], own: Series, rows: Sequence[int]) -> None:
    """Values with their errors in words, at the right."""
    for place, row in zip(places, rows, strict=True):
        ends = own.ends[row] if own.ends else (None, None)
        rounded = not own.ends and own.type is Type.REAL and own.values[row] is not None
        text = number(own.values[row], 6) if rounded else with_error(own.values[row], ends)
        axes.text(1.02, place, words(text, 40), transform=axes.get_yaxis_transform(), va="center", fontsize=8)


def _count(sheet: Sheet, kept: int, there: int, what: str, *, largest: bool = True) -> None:
    """Says what is left out."""
    if kept < there:
        which = "largest" if largest else "first"
        sheet.said[f"The {kept} {which} of {there:,} {what}; {there - kept:,} more."] = None


LAYOUTS: Mapping[str, Callable[[Seen], Sheet]] = {
    "nothing": _nothing,
    "matrix": _matrix,
    "points": _points,
    "single": _single,
    "line": partial(_upright, lines=True),
    "histogram": partial(_upright, lines=False),
    "groups": _groups,
}
"""By the name of the shape."""
