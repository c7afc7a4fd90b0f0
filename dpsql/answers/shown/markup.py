"""HTML whose texts are escaped, and hold nothing that a screen would act on.

Tests: tests/unit/server/page, tests/unit/answers/shown/test_notebook.py.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from dpsql.answers.shown.screen import safe

__all__ = ["Html", "element", "joined", "table"]

EMPTY = ("br", "hr", "input", "link", "meta", "line", "circle", "rect", "path", "polyline")
"""Elements without an end tag, or without content."""


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put in."""

    __slots__ = ()


def element(tag: str, /, *children: str, **attributes: str) -> Html:
    """One element. An attribute's ``_`` is a hyphen, and one at its end is left out, as in ``class_``.

    >>> element("p", "1 < 2", element("b", "yes"), class_="note")
    '<p class="note">1 &lt; 2<b>yes</b></p>'
    """
    own = "".join(f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for key, value in attributes.items())
    return Html(f"<{tag}{own}/>" if tag in EMPTY else f"<{tag}{own}>{joined(children)}</{tag}>")


def joined(children: Iterable[str]) -> Html:
    """All of them, one after the other."""
    return Html("".join(child if isinstance(child, Html) else _escaped(child) for child in children))


def table(caption: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table that a narrow screen shows as a list: each cell knows its column's name.

    Args:
        caption: What it is, for those who do not see it.
        names: Of the columns.
        rows: Cells, as many as there are names.
    """
    head = element("tr", *(element("th", name, scope="col", role="columnheader") for name in names), role="row")
    body = [
        element(
            "tr", *(element("td", cell, data_label=name, role="cell") for name, cell in zip(names, row, strict=True)),
            role="row",
        )
        for row in rows
    ]  # fmt: skip
    return element(
        "table",
        element("caption", caption, class_="unseen"),
        element("thead", head, role="rowgroup"),
        element("tbody", *body, role="rowgroup"),
        role="table",
    )


def _escaped(text: str) -> str:
    return html.escape(safe(text), quote=True)
