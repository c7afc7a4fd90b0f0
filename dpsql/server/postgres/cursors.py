"""SQL's cursors: a query is asked, and charged, when its cursor is declared; its rows are fetched as they are wanted.

A cursor is a portal, as in PostgreSQL: it can be described and executed by its name, and ends with its transaction.

Source: PostgreSQL 17 documentation, "DECLARE", "FETCH", "MOVE" and "CLOSE".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsql.plan.types import Parameters
from dpsql.server.postgres.inquiry import Around, Inquiry, Portal, PreparedStatement, Result, weighed
from dpsql.server.postgres.messages import ResultColumn
from dpsql.server.postgres.scan import Word, words
from dpsql.server.postgres.states import PgRefusal

__all__ = ["MOST_HELD", "MOST_KEPT", "Close", "Declare", "Declared", "Fetch", "declared"]

MOST_KEPT = 1000  # Prepared statements, and portals, of one connection. It is a choice: drivers keep a hundred.
MOST_HELD = 50_000_000
"""Bytes of them beyond which no further one is begun. It is a choice: an answer of 100,000 rows of seven columns."""
LONGEST = 18  # Digits of a number of rows; one of 64 bits has no fewer. It is a choice.
PLAIN = ("no", "asensitive", "insensitive", "scroll", "binary")
"""What may stand before CURSOR."""
FORWARD = "A cursor goes forward: FETCH NEXT, FETCH n and FETCH ALL, with or without FORWARD."


@dataclass(frozen=True, slots=True)
class Declared:
    """A cursor's name and query.

    Attributes:
        name: The cursor's.
        text: The query.
        before: Characters before it.
        refused: What it asks for that is not served; None where it is served.
    """

    name: str
    text: str
    before: int
    refused: str | None


def declared(text: str, found: Sequence[Word]) -> Declared | None:
    """What a DECLARE declares; None where it is none.

    >>> declare = 'DECLARE "C" NO SCROLL CURSOR FOR SELECT 1'
    >>> declared(declare, list(words(declare)))
    Declared(name='C', text=' SELECT 1', before=32, refused=None)
    """
    said = [word.text if word.kind == "word" else "" for word in found]
    if len(found) < 5 or found[1].kind not in ("word", "quoted") or "cursor" not in said[2:] or "for" not in said:
        return None
    cursor, begun = said.index("cursor", 2), said.index("for")
    before, behind = said[2:cursor], said[cursor + 1 : begun]
    if not set(before) <= set(PLAIN) or behind not in ([], ["with", "hold"], ["without", "hold"]):
        return None
    held = behind == ["with", "hold"]
    scrolls = "scroll" in before and "no" not in before
    refused = "WITH HOLD" if held else "SCROLL" if scrolls else "BINARY" if "binary" in before else None
    return Declared(found[1].text, text[found[begun].end :], found[begun].end, refused)


class Declare(Around):
    """DECLARE name CURSOR FOR a query.

    Args:
        query: What is asked.
        own: The cursor.
    """

    def __init__(self, query: Inquiry, own: Declared) -> None:
        super().__init__(query, own.before)
        self._own = own

    def answered(self, values: Parameters) -> Result:
        context, name = self.context, self._own.name
        if self._own.refused is not None:
            raise PgRefusal("0A000", f"A cursor {self._own.refused} is not served.", "Write DECLARE name CURSOR FOR.")
        if not context.inside:
            raise PgRefusal("25P01", "DECLARE CURSOR can only be used in transaction blocks", "Write BEGIN before it.")
        if name in context.portals:
            raise PgRefusal("42P03", f'cursor "{name}" already exists')
        if len(context.portals) >= MOST_KEPT:
            raise PgRefusal("53400", f"{MOST_KEPT} cursors are the most. Close one.")
        result = weighed(self.query.answered(values))
        return Result("DECLARE CURSOR", notices=result.notices, opened=result)

    def open(self, opened: Result) -> None:
        """Keeps the cursor, once the client waits no longer for its answer."""
        statement = PreparedStatement(0, self.query, columns=opened.columns, described=True)
        self.context.portals[self._own.name] = Portal(statement, [], [], opened)


class Fetch(Inquiry):
    """FETCH and MOVE: the next rows of a cursor, or past them."""

    varies = True  # with the cursor that has the name

    def columns(self) -> tuple[ResultColumn, ...] | None:
        return None if self._moves else self._cursor(self._read()[0]).columns

    def answered(self, values: Parameters) -> Result:
        name, most = self._read()
        result, portal = self._cursor(name), self.context.portals[name]
        begun = portal.sent
        portal.sent = len(result.rows) if most is None else min(len(result.rows), begun + most)
        if self._moves:
            return Result(f"MOVE {portal.sent - begun}")
        return Result("FETCH {}", result.columns, result.rows[begun : portal.sent])

    @property
    def _moves(self) -> bool:
        return next(words(self.text)).text == "move"

    def _cursor(self, name: str) -> Result:
        portal = self.context.portals.get(name)
        if portal is None or portal.result is None:
            raise PgRefusal("34000", f'cursor "{name}" does not exist')
        return portal.result

    def _read(self) -> tuple[str, int | None]:
        """The cursor's name, and how many rows at most; None for all.

        Raises:
            PgRefusal: It goes another way than forward.
        """
        *said, name = list(words(self.text))[1:] or [Word("other", "", 0, 0)]
        how = [word.text for word in said]
        if how[-1:] in (["from"], ["in"]):
            how.pop()
        if how[:1] == ["forward"]:
            how = how[1:] or ["next"]
        if name.kind not in ("word", "quoted"):
            raise PgRefusal("42601", "FETCH names no cursor.", "Write FETCH 100 FROM name.")
        match how:
            case [] | ["next"]:
                return name.text, 1
            case ["all"]:
                return name.text, None
            case [count] if count.isdecimal() and count.isascii() and len(count) <= LONGEST and int(count) > 0:
                return name.text, int(count)
        raise PgRefusal("0A000", "Only the next rows of a cursor can be fetched.", FORWARD)


class Close(Inquiry):
    """CLOSE: a cursor is forgotten, or all."""

    def answered(self, values: Parameters) -> Result:
        named = list(words(self.text))[1:]
        if len(named) != 1 or named[0].kind not in ("word", "quoted"):
            raise PgRefusal("42601", "CLOSE names no cursor.", "Write CLOSE name, or CLOSE ALL.")
        if named[0].text == "all" and named[0].kind == "word":
            self.context.portals.clear()
            return Result("CLOSE CURSOR ALL")
        if self.context.portals.pop(named[0].text, None) is None:
            raise PgRefusal("34000", f'cursor "{named[0].text}" does not exist')
        return Result("CLOSE CURSOR")
