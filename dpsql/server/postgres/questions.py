"""What a client asks in one statement, by kinds: who answers it, what its columns are, and what its answer is.

A statement is sorted by its first words and by the names in it, and refused by nobody here but those who answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dpsql.answers.answer import NOT_PRIVATE, Answer
from dpsql.answers.shown.grouped import grouped
from dpsql.errors import UnsupportedQuery
from dpsql.plan import aggregates
from dpsql.plan.options import NAMES
from dpsql.plan.over_answers.work import MOST_OF_CONSTANTS
from dpsql.plan.types import Parameters, Shown, Type
from dpsql.server.outlines import outline
from dpsql.server.postgres.catalogue import MOST_BYTES, Found, NotAnswered, named
from dpsql.server.postgres.copying import CopyOut, enclosed
from dpsql.server.postgres.cursors import Close, Declare, Fetch, declared
from dpsql.server.postgres.inquiry import Context, Inquiry, Result
from dpsql.server.postgres.messages import ResultColumn
from dpsql.server.postgres.scan import Word, words
from dpsql.server.postgres.settings import assignment, shown
from dpsql.server.postgres.states import PgRefusal
from dpsql.server.postgres.types import INT4, OIDS, TEXT, TYPICAL, column_of, oid_of
from dpsql.session import Session

__all__ = ["Deallocate", "question_of"]

TRANSACTIONS = {
    "begin": "BEGIN", "start": "START TRANSACTION", "commit": "COMMIT", "end": "COMMIT", "rollback": "ROLLBACK",
    "abort": "ROLLBACK", "savepoint": "SAVEPOINT", "release": "RELEASE",
}  # fmt: skip
"""First words of statements about transactions, and what PostgreSQL says when they are done."""
NO_OPS = {"unlisten": "UNLISTEN", "discard": "DISCARD ALL"}
"""First words of statements that clean up, where nothing is to be cleaned but what SET said."""
REFUSED = {
    "copy": "Write COPY (SELECT ..) TO STDOUT, or a SELECT: nothing else is copied.",
    "listen": "Nothing here ever changes by itself.",
    "notify": "Nothing here ever changes by itself.",
    "declare": "Write DECLARE name CURSOR FOR SELECT .. in a transaction.",
    "prepare": "Prepare it in the protocol, as drivers do.",
    "execute": "Prepare it in the protocol, as drivers do.",
    "lock": "Nothing here ever changes by itself.",
}
"""First words of PostgreSQL's statements that are not served, and what to do instead."""
SELECTS = ("select", "with", "values", "table", "(")
"""How a question about the catalogue begins."""
SYSTEM = ("pg_catalog", "information_schema")
"""The schemas of the catalogue."""
INTERVALS = "How far noise may be off: SET intervals = on shows an interval beside each value; asked again, it is free."
SAID = {"set": "SET", "reset": "RESET"}
NUMBER = re.compile(r"'[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?'")
"""A number in quotes, as PostgreSQL takes one for a setting."""


class _Transaction(Inquiry):
    """BEGIN, COMMIT and their like: nothing can be changed or taken back, so they do nothing."""

    def answered(self, values: Parameters) -> Result:
        first, *rest = [word.text for word in words(self.text)]
        if "prepared" in rest:
            raise PgRefusal("0A000", "Transactions in two phases are not served.")
        if first in ("begin", "start"):
            self.context.inside = True
        elif first in ("commit", "end", "rollback", "abort") and "to" not in rest:
            self.context.inside = "chain" in rest and "no" not in rest
            self.context.portals.clear()
        return Result(TRANSACTIONS[first])


class _NoOp(Inquiry):
    """DISCARD and UNLISTEN."""

    def answered(self, values: Parameters) -> Result:
        first, *rest = [word.text for word in words(self.text)]
        if first == "discard" and "all" in rest:
            self.context.guest.reset()
            self.context.settings.reset()
            self.context.changed += self.context.settings.reported()
            self.context.portals.clear()
        return Result(NO_OPS[first])


class Deallocate(Inquiry):
    """DEALLOCATE: a prepared statement is forgotten, or all."""

    @property
    def name(self) -> str | None:
        """Which; None for all."""
        named = [word for word in list(words(self.text))[1:] if word.text != "prepare" or word.kind == "quoted"]
        return None if not named or (named[0].kind == "word" and named[0].text == "all") else named[0].text

    def answered(self, values: Parameters) -> Result:
        return Result("DEALLOCATE" if self.name is not None else "DEALLOCATE ALL")


class _Set(Inquiry):
    """SET and RESET: dpsql's options, or PostgreSQL's settings, which mean nothing."""

    def answered(self, values: Parameters) -> Result:
        context = self.context
        first, *rest = words(self.text)
        tag = SAID[first.text]
        if first.text == "reset" and [word.text for word in rest] == ["all"]:
            context.guest.reset()
            context.settings.reset()
            context.changed += context.settings.reported()
            return Result(tag)
        name, value = (".".join(w.text for w in rest if w.text != "."), None) if first.text == "reset" else _given(rest)
        if name in NAMES or name == "intervals":
            context.guest.query("SET intervals = off" if (name, value) == ("intervals", None) else _ours(self.text))
        elif (told := context.settings.set(name, value)) is not None:
            context.changed.append(told)
        return Result(tag)


def _given(found: Sequence[Word]) -> tuple[str, str | None]:
    name, value = assignment(found)
    return name.lower(), value


def _ours(text: str) -> str:
    """A SET as dpsql reads it: without PostgreSQL's SESSION, and without quotes around a number; places stay.

    >>> _ours("SET SESSION epsilon = '0.2'"), _ours("SET mechanism = 'laplace'")
    ('SET         epsilon =  0.2 ', "SET mechanism = 'laplace'")
    """
    found = list(words(text))
    last = next((word for word in reversed(found) if word.text != ";"), found[0])
    if last.kind == "string" and NUMBER.fullmatch(last.text):
        text = f"{text[: last.start]} {last.text[1:-1]} {text[last.end :]}"
    if len(found) > 2 and found[1].text == "session" and found[2].kind == "word" and found[2].text != "to":
        text = text[: found[1].start] + " " * len("session") + text[found[1].end :]
    return text


class _Show(Inquiry):
    """SHOW of one of dpsql's options, or of PostgreSQL's settings, or of all of these."""

    def columns(self) -> tuple[ResultColumn, ...]:
        name = self._name()
        if name == "all":
            return tuple(column_of(one, TEXT) for one in ("name", "setting", "description"))
        return (column_of(name, TEXT),)

    def answered(self, values: Parameters) -> Result:
        name, settings = self._name(), self.context.settings
        rows: Sequence[Sequence[str]] = (
            settings.all() if name == "all" else [(shown(name, settings, self.context.guest),)]
        )
        return Result("SHOW", self.columns(), rows)

    def _name(self) -> str:
        rest = [word.text for word in words(self.text)][1:]
        match rest:
            case ["transaction", "isolation", "level"]:
                return "transaction_isolation"
            case ["time", "zone"]:
                return "timezone"
            case ["session", "authorization"]:
                return "session_authorization"
        return "".join(rest)


class _OfCatalogue(Inquiry):
    """A question about tables, columns and types, answered from the policy alone."""

    most = MOST_BYTES

    def columns(self) -> tuple[ResultColumn, ...]:
        found = self._found(None)
        self.parameters, self.lists = found.parameters, found.lists
        return found.columns

    def answered(self, values: Parameters) -> Result:
        found = self._found(values)
        return Result("SELECT {}", found.columns, found.rows)

    def _found(self, values: Parameters | None) -> Found:
        self.context.guest.admit(len(self.text))
        return self._in_catalogue(values)

    def _in_catalogue(self, values: Parameters | None) -> Found:
        context = self.context
        return context.catalogue.answer(context.guest, context.settings, self.text, values, self.most)


class _WithoutFrom(_OfCatalogue):
    """What names no table. It is answered as at every other door, where it is no function of PostgreSQL's own, such as
    ``version()``: what is refused there is asked of the catalogue.
    """

    most = MOST_OF_CONSTANTS

    def _found(self, values: Parameters | None) -> Found:
        guest, typical = self.context.guest, [TYPICAL.get(oid) for oid in self.told]
        guest.admit(len(self.text))
        if values is None and typical and None not in typical:  # the client said which types will come
            values = typical
        try:
            return guest.free(lambda session: self._of_constants(session, values))
        except UnsupportedQuery as refusal:
            try:
                return self._in_catalogue(values)
            except NotAnswered:
                raise refusal from None

    def _of_constants(self, session: Session, values: Parameters | None) -> Found:
        """What dpsql answers; its columns alone, where values are not known."""
        own = outline(session, self.text, values)
        lists = {at: OIDS.get(own.parameters[at] or Type.TEXT, TEXT) for at in own.lists}
        if own.parameters and values is None:
            return Found(_named(_columns(own.columns, own.types)), (), own.parameters, lists)
        answer = session.query(self.text, values or ())
        columns = _columns(answer.columns, answer.types)
        if not own.parameters:  # so that its columns are the same whenever it is asked
            columns = tuple(map(_shortened, columns, zip(*answer.rows, strict=True)))
        return Found(_named(columns), answer.rows, own.parameters, lists)


def _named(columns: Iterable[ResultColumn]) -> tuple[ResultColumn, ...]:
    """The columns by the names that PostgreSQL gives them."""
    return tuple(replace(column, name=named(column.name)) for column in columns)


def _shortened(column: ResultColumn, values: Iterable[Any]) -> ResultColumn:
    """A column of whole numbers as PostgreSQL types constants: in 32 bits, where they have no more."""
    fits = column.oid == OIDS[Type.INTEGER] and all(value is None or -(2**31) <= value < 2**31 for value in values)
    return column_of(column.name, INT4) if fits else column


class _Refused(Inquiry):
    """What PostgreSQL has and this door has not."""

    def answered(self, values: Parameters) -> Result:
        first = next(words(self.text)).text
        raise PgRefusal("0A000", f"{first.upper()} is not served.", REFUSED[first])


class _Asked(Inquiry):
    """A statement of dpsql's."""

    def columns(self) -> tuple[ResultColumn, ...] | None:
        outline = self.context.guest.outline(self.text)
        self.parameters = outline.parameters
        self.lists = {at: OIDS.get(outline.parameters[at] or Type.TEXT, TEXT) for at in outline.lists}
        return _columns(outline.columns, outline.types)

    def answered(self, values: Parameters) -> Result:
        answer = self.context.guest.query(self.text, values)
        return Result("SELECT {}", _columns(answer.columns, answer.types), answer.rows, tuple(self._notices(answer)))

    def _notices(self, answer: Answer) -> list[str]:
        if not answer.measurements and not answer.released_from:
            return []
        told = f"Cost: {answer.paid}. Left for one query: {self.context.guest.left()}."
        stamp = [] if answer.private else [NOT_PRIVATE]
        return [told, *grouped(answer.notes), *stamp, *self._hint(answer)]

    def _hint(self, answer: Answer) -> list[str]:
        """How intervals are shown, once a connection, with its first answer that holds noise."""
        if self.context.told or self.context.guest.intervals or not answer.measurements:
            return []
        self.context.told = True
        return [INTERVALS]


def _columns(names: Sequence[str], types: Sequence[Shown]) -> tuple[ResultColumn, ...]:
    return tuple(column_of(name, oid_of(kind)) for name, kind in zip(names, types, strict=True))


def question_of(context: Context, text: str, told: Sequence[int] = ()) -> Inquiry:
    """The question that a statement is; where the client told the types of its parameters, by these oids."""
    found = list(words(text))
    first = found[0].text if found else ""
    second = found[1].text if len(found) > 1 else ""
    if first in TRANSACTIONS:
        return _Transaction(context, text)
    if first in NO_OPS:
        return _NoOp(context, text)
    if first == "deallocate":
        return Deallocate(context, text)
    if first in SAID:
        return _Set(context, text)
    if first == "show" and second not in ("budget", "tables"):
        return _Show(context, text)
    if first == "copy" and (query := enclosed(text, found)) is not None and _is_query(query.text):
        return CopyOut(question_of(context, query.text, told), query)
    if first == "declare" and (cursor := declared(text, found)) is not None and _is_query(cursor.text):
        return Declare(question_of(context, cursor.text, told), cursor)
    if first in ("fetch", "move"):
        return Fetch(context, text)
    if first == "close":
        return Close(context, text)
    if first in REFUSED:
        return _Refused(context, text)
    if first in SELECTS and _of_catalogue(found, context.catalogue.own_names):
        return _OfCatalogue(context, text)
    if first in SELECTS and first != "table" and _of_constants(found):
        return _WithoutFrom(context, text, told)
    return _Asked(context, text)


def _is_query(text: str) -> bool:
    """Whether a text, such as what COPY copies, asks for rows."""
    return next((word.text for word in words(text)), "") in SELECTS


def _of_catalogue(found: Sequence[Word], own: frozenset[str]) -> bool:
    """Whether a statement names the catalogue.

    Args:
        found: Its words.
        own: Names of the policy's that look like the catalogue's.
    """
    names = [word.text.lower() for word in found if word.kind in ("word", "quoted")]
    return any(name in SYSTEM or (name.startswith("pg_") and name not in own) for name in names)


def _of_constants(found: Sequence[Word]) -> bool:
    """Whether a statement names no table, and aggregates nothing: else FROM was forgotten, or misspelt."""
    named = [word.text if word.kind == "word" else "" for word in found]
    called = {name for name, word in zip(named, found[1:], strict=False) if word.text == "("}
    return "from" not in named and not called & aggregates.NAMES
