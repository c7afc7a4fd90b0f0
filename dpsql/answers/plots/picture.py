"""A picture of an answer, made of its panels, a title, and a caption that says what the errors are."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from dpsql.answers.plots.files import kind_of
from dpsql.answers.plots.layout import LAYOUTS, Sheet
from dpsql.answers.plots.series import Seen, Series, seen, words
from dpsql.answers.plots.shapes import PictureShape, shape_of
from dpsql.answers.shown.screen import percent, safe
from dpsql.errors import ProgrammingError
from dpsql.given import text_given

__all__ = ["Picture", "Telling", "picture"]

WIDTH, LINE = 7.5, 0.17
"""In inches: of a picture, as wide as a page's text; and of a line of its caption."""
UNTOLD = "How far noise moved these values is not known."
"""What a caption says where no interval is known."""
DOTS = 200
"""Per inch of a PNG: sharp on a screen of twice the usual density."""


@dataclass(frozen=True, slots=True)
class Telling:
    """What a picture tells in words.

    Attributes:
        confidence: Of the intervals.
        lines: Sentences for the end of the caption: the cost, what is proved.
        title: Above; made of the columns' names where empty.
        stamp: In front of the title, of what is not private.
    """

    confidence: float
    lines: Sequence[str] = ()
    title: str = ""
    stamp: str = ""


class Picture(Figure):
    """A figure of matplotlib's, which shows itself in notebooks and knows how to be written to a file."""

    caption = ""

    def save(self, file: str | Path) -> None:
        """Write it to a file, which is a PNG or an SVG by the end of its name.

        Raises:
            ProgrammingError: Its name ends otherwise.
            OSError: It cannot be written.
        """
        kind = kind_of(file)
        Path(file).write_bytes(self._bytes(kind))

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        width, height = self.get_size_inches() * 96  # pixels of a browser's inch
        return self._bytes("png"), {"width": round(width), "height": round(height)}

    def _bytes(self, kind: str) -> bytes:
        told = {"Title": self.get_label(), "Description": self.caption}
        file = io.BytesIO()
        with _quiet(), rc_context({"svg.hashsalt": "dpsql"}):  # the same picture is the same file
            self.savefig(file, format=kind, dpi=DOTS, metadata=told | ({"Date": None} if kind == "svg" else {}))
        return file.getvalue()


def picture(columns: Sequence[Series], telling: Telling) -> Picture:
    """The picture of an answer.

    Args:
        columns: All of them but the lists.
        telling: What it says in words.

    Raises:
        ProgrammingError: No column holds numbers.
    """
    text_given(telling.title, "The title", "Write a text, or leave it out.")
    answer = seen(columns)
    if not answer.values:
        named = ", ".join(safe(own.name) for own in columns)
        beside = f"Its columns are {named}." if named else "A list is not drawn: ask for each element as a column."
        raise ProgrammingError(f"The answer has no number to draw. {beside}")
    shape = shape_of(answer)
    sheet = LAYOUTS[shape.name](answer)
    figure = Picture(figsize=(WIDTH, sheet.rows * sheet.height), layout="constrained", facecolor="white")
    shared: dict[str, Any] = {f"share{axis}": True for axis in sheet.share}
    drawn = figure.subplots(sheet.rows, sheet.columns, squeeze=False, **shared)
    with _quiet():
        for panel in sheet.panels:
            axes = drawn[panel.row][panel.column]
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelsize=8)
            panel.paint(axes)
    _tidy(drawn, sheet)
    _frame(figure, sheet, telling.title or _title(answer, shape), telling, _sentences(answer, shape, sheet, telling))
    return figure


def _tidy(drawn: Any, sheet: Sheet) -> None:
    """Empty places vanish; what panels share is told once."""
    there = {(panel.row, panel.column) for panel in sheet.panels}
    for row in range(sheet.rows):
        for column in range(sheet.columns):
            axes = drawn[row][column]
            if (row, column) not in there:
                axes.set_axis_off()
                continue
            if "x" in sheet.share and (row + 1, column) in there:
                axes.set_xlabel("")
            elif "x" in sheet.share:
                axes.tick_params(labelbottom=True)
            if "y" in sheet.share and column:
                axes.set_ylabel("")


def _title(answer: Seen, shape: PictureShape) -> str:
    numbers = ", ".join(own.named for own in answer.values)
    keys = ", ".join(own.named for own in answer.keys)
    if shape.name == "matrix":
        return f"Covariances of {numbers}"
    return f"{numbers} by {keys}" if keys else numbers


def _sentences(answer: Seen, shape: PictureShape, sheet: Sheet, telling: Telling) -> list[str]:
    """The caption: what the intervals hold, what is left out, and what else is told."""
    known = any(interval for own in answer.values for interval in own.intervals(range(answer.count)))
    noised = any(own.role.barred for own in answer.values)
    told = shape.holds if known else UNTOLD if noised else ""
    about = told.format(level=f"{percent(telling.confidence)}%") if answer.count else ""
    return [*([about] if about else []), *sheet.said, *telling.lines]


def _frame(figure: Picture, sheet: Sheet, title: str, telling: Telling, sentences: Sequence[str]) -> None:
    """Title and caption around the panels, in a figure that is as high as all of it."""
    stamp = [telling.stamp] if telling.stamp else []
    above = [*stamp, *textwrap.wrap(words(title, 200), 78)]  # characters of a line as wide as a picture
    below = textwrap.wrap(" ".join(words(sentence, 400) for sentence in sentences), 130)  # characters of such a line
    top, bottom = 0.12 + 0.22 * len(above), 0.12 + LINE * len(below)
    height = sheet.rows * sheet.height + top + bottom
    figure.set_size_inches(WIDTH, height)
    space = (0.01, bottom / height, 0.98, 1 - (top + bottom) / height)
    figure.set_layout_engine("constrained", rect=space)
    figure.text(0.012, 1 - 0.08 / height, "\n".join(above), va="top", fontsize=11, weight="bold", linespacing=1.25)
    figure.text(0.012, 0.08 / height, "\n".join(below), va="bottom", fontsize=8, color="#333333", linespacing=1.3)
    figure.set_label(" ".join([*stamp, title]))
    figure.caption = " ".join(sentences)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without matplotlib's word on characters that its font lacks: it draws a box for each."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
