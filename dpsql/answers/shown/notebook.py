"""What notebooks show of answers, quotes, budgets, sessions and proxies: HTML that no theme hides.

Every colour is the page's own, or a grey that is seen on white and on black. All texts are escaped.

Tests: tests/unit/answers/shown/test_notebook.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dpsql.answers.shown.markup import Html, element
from dpsql.errors import Error

__all__ = ["card", "folded", "heading", "known", "small", "stamp", "values"]

GREY = "rgba(128,128,128,0.4)"
DIM = "opacity:0.75;font-size:90%;margin:0.3em 0;max-width:60em"
"""In hundredths of the page's own size, and in widths of an m: for what stands beside numbers."""


def card(*parts: str) -> str:
    """All that is shown of one thing."""
    return str(element("div", *parts, style="color:inherit;overflow-x:auto"))


def heading(text: str) -> Html:
    """What it is, in one line above it."""
    return element("p", element("strong", text), style="margin:0.2em 0")


def stamp(text: str) -> Html:
    """A warning that is not overlooked."""
    return element("p", element("strong", text), style=f"border:2px solid {GREY};padding:0.3em 0.6em;margin:0.3em 0")


def small(text: str) -> Html:
    """A sentence below a table."""
    return element("p", text, style=DIM)


def known(parts: Callable[[], Sequence[str]]) -> Sequence[str]:
    """What a ledger tells; or why it tells nothing, as once it is closed."""
    try:
        return parts()
    except Error as refusal:
        return [small(str(refusal))]


def folded(title: str, lines: Iterable[str], *, code: bool = False) -> Html:
    """Lines that are shown at a click; nothing where there are none.

    Args:
        title: What is clicked.
        lines: Of text.
        code: Whether they are one program.
    """
    shown = list(lines)
    if not shown:
        return Html("")
    if code:  # escaped line by line: a line break within one would be a blank
        inner = element("pre", *(part for own in shown for part in (own, Html("\n"))))
    else:
        inner = element("ul", *(element("li", own) for own in shown))
    return element("details", element("summary", title), inner, style=DIM)


def values(names: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[bool] = ()) -> Html:
    """A table; what follows ± or stands in brackets is dimmer than the value.

    Args:
        names: Of the columns.
        rows: Cells, as many as there are names.
        right: Which columns are aligned to the right (numbers); none where absent.

    >>> values(["n"], [["<7 ± 2"]], [True]).count("&lt;7")
    1
    """
    aligned = [*right, *[False] * (len(names) - len(right))]
    styles = [f"text-align:{'right' if own else 'left'};padding:0.2em 0.8em;color:inherit" for own in aligned]
    line = f"border-bottom:1px solid {GREY};background:transparent"
    head = (element("th", name, style=f"{style};{line}") for name, style in zip(names, styles, strict=True))
    body = (
        element(
            "tr",
            *(
                element("td", *_cell(cell, own), style=style)
                for cell, own, style in zip(row, aligned, styles, strict=True)
            ),
            style="background:transparent",
        )
        for row in rows
    )
    return element(
        "table", element("thead", element("tr", *head)), element("tbody", *body),
        style="border-collapse:collapse;margin:0.3em 0",
    )  # fmt: skip


def _cell(text: str, number: bool) -> list[str]:
    for mark in (" ± ", " ["):
        value, found, error = text.partition(mark)
        if number and found and not text.startswith("["):  # of a list, each element has its own error
            return [value, element("span", f"{found}{error}", style="opacity:0.65")]
    return [text]
