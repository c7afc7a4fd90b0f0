"""The queries of one connection: simple ones, and extended ones with their statements and portals.

Source: PostgreSQL 17 documentation, sections 53.2.2 to 53.2.5.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from dpsql.errors import Error
from dpsql.server.core import Server
from dpsql.server.postgres import messages, types
from dpsql.server.postgres.cursors import MOST_HELD, MOST_KEPT, Declare
from dpsql.server.postgres.inquiry import (
    Context,
    CopyForm,
    Inquiry,
    Portal,
    PreparedStatement,
    Result,
    formats_of,
    weighed,
)
from dpsql.server.postgres.messages import MessageFields, ProtocolViolation
from dpsql.server.postgres.questions import Deallocate, question_of
from dpsql.server.postgres.scan import statements
from dpsql.server.postgres.states import CANCELLED, PgRefusal, fields_of, told
from dpsql.server.postgres.wire import Wire
from dpsql.sql.tokens import LONGEST_TEXT

__all__ = ["Conversation"]

Done = TypeVar("Done")

AT_A_TIME = 500  # Rows between two looks at whether the client reads them. It is a choice.
GIVEN_UP = (
    "The statement was cancelled. If it had been charged, the cost stays, and asking the very same again is free when "
    "its answer is stored."
)


class Conversation:
    """What is said on one connection after it was let in.

    Args:
        server: Whose door it is.
        wire: The connection.
        context: Who asks, and what they set.
    """

    def __init__(self, server: Server, wire: Wire, context: Context) -> None:
        self._server = server
        self._wire = wire
        self._context = context
        self._statements: dict[str, PreparedStatement] = {}
        self._portals = context.portals
        self._cancelled = asyncio.Event()
        self._at_work = False
        self._ready_told = True
        self._skipping = False

    @property
    def ready(self) -> bool:
        """Whether all that came was answered to its end, so that the client waits for nothing."""
        return self._ready_told

    @property
    def at_work(self) -> bool:
        """Whether a statement is being answered."""
        return self._at_work

    def cancel(self) -> None:
        """Gives up the statement that is being answered."""
        self._cancelled.set()

    async def go_on(self) -> bool:
        """Reads one message and answers it; False when the client says goodbye."""
        kind, data = await self._wire.read(self._server.limits.idle_seconds)
        self._ready_told = False
        if kind == b"X":
            return False
        if kind == b"S":
            self._skipping = False
            MessageFields(data).end()
            await self._ready()
            return True
        if self._skipping:
            return True
        if kind == b"Q":
            await self._simple(MessageFields(data))
            return True
        handlers = {b"P": self._parse, b"B": self._bind, b"D": self._describe, b"E": self._execute, b"C": self._close}
        if kind == b"H":
            await self._wire.flush()
        elif kind in handlers:
            try:
                await handlers[kind](MessageFields(data))
            except _Told:
                self._skipping = True
                await self._wire.flush()  # what is skipped may hold the Flush that the client waits by
            await self._wire.relieve()
        elif kind not in (b"d", b"c", b"f"):  # what is left of a COPY that was refused
            raise ProtocolViolation(f"{kind!r} is no message that a client sends here")
        return True

    # --------------------------------------------------------------------------------------------------- simple queries

    async def _simple(self, fields: MessageFields) -> None:
        text = fields.string()
        fields.end()
        self._portals.pop("", None)
        self._statements.pop("", None)
        with suppress(_Told):
            found = self._told_apart(text)
            if not found:
                self._wire.write(messages.empty_query)
            for own, offset in found:
                portal = Portal(PreparedStatement(offset, self._question(own)), [], [])
                await self._run(portal)
                result = portal.result
                if result is not None and result.columns is not None and result.copied is None:
                    self._wire.write(messages.row_description(result.columns, [0] * len(result.columns)))
                await self._rows(portal, 0)
                await self._wire.relieve()
        await self._ready()

    async def _ready(self) -> None:
        if not self._context.inside:  # each statement is a transaction of its own then, and portals end with it
            self._portals.clear()
        self._wire.write(messages.ready("T" if self._context.inside else "I"))
        await self._wire.flush()
        self._ready_told = True

    # ------------------------------------------------------------------------------------------------- extended queries

    async def _parse(self, fields: MessageFields) -> None:
        name, text = fields.string(), fields.string()
        oids = [fields.int32() for _ in range(fields.int16())]
        fields.end()
        found = self._told_apart(text)
        own, offset = found[0] if found else ("", 0)
        statement = PreparedStatement(offset, self._question(own, oids), oids)
        async with self._telling(statement):
            if len(found) > 1:
                raise PgRefusal("42601", "cannot insert multiple commands into a prepared statement")
            if name and name in self._statements:
                raise PgRefusal("42P05", f'prepared statement "{name}" already exists')
            if len(self._statements) >= MOST_KEPT and name:
                raise PgRefusal("53400", f"{MOST_KEPT} prepared statements are the most. Close one.")
            if name:
                self._refuse_overfull()
        self._statements[name] = statement
        self._wire.write(messages.parse_complete)

    async def _bind(self, fields: MessageFields) -> None:
        portal, name = fields.string(), fields.string()
        formats, given = fields.formats(), fields.values()
        results = fields.formats()
        fields.end()
        statement = self._statement(name)
        async with self._telling(statement):
            if len(formats) not in (0, 1, len(given)):
                raise ProtocolViolation("there are not as many formats as parameters")
            if given and len([oid for oid in statement.oids if oid]) < len(given):
                await self._outlined(statement)
            wanted = statement.question.parameters if statement.question else ()
            values = [
                types.parameter(
                    value,
                    statement.sent(i),
                    wanted[i] if i < len(wanted) else None,
                    binary=bool((formats * len(given) if len(formats) == 1 else formats)[i]) if formats else False,
                )
                for i, value in enumerate(given)
            ]
            if len(self._portals) >= MOST_KEPT:
                raise PgRefusal("53400", f"{MOST_KEPT} portals are the most. Close one.")
            if portal and portal in self._portals:
                raise PgRefusal("42P03", f'cursor "{portal}" already exists')
            if portal:
                self._refuse_overfull()
        self._portals[portal] = Portal(statement, values, results)
        self._wire.write(messages.bind_complete)

    async def _describe(self, fields: MessageFields) -> None:
        kind, name = fields.take(1), fields.string()
        fields.end()
        portal = self._portal(name) if kind == b"P" else None
        statement = portal.statement if portal else self._statement(name)
        async with self._telling(statement):
            await self._outlined(statement)
            if kind == b"S" and statement.question is not None:
                known = statement.question.parameters
                count = max(len(known), len(statement.oids))
                self._wire.write(messages.parameter_description([statement.oid(i) for i in range(count)]))
            elif kind == b"S":
                self._wire.write(messages.parameter_description([]))
            if statement.columns is None:
                self._wire.write(messages.no_data)
            else:
                formats = formats_of(portal.formats if portal else [], statement.columns)
                self._wire.write(messages.row_description(statement.columns, formats))

    async def _execute(self, fields: MessageFields) -> None:
        name, most = fields.string(), fields.int32()
        fields.end()
        portal = self._portal(name)
        if portal.statement.question is None:
            self._wire.write(messages.empty_query)
            return
        if portal.result is None:
            await self._run(portal, kept=bool(name))
        await self._rows(portal, most)

    async def _close(self, fields: MessageFields) -> None:
        kind, name = fields.take(1), fields.string()
        fields.end()
        if kind == b"S":
            self._statements.pop(name, None)
        else:
            self._portals.pop(name, None)
        self._wire.write(messages.close_complete)

    # ------------------------------------------------------------------------------------------------------------ parts

    def _told_apart(self, text: str) -> list[tuple[str, int]]:
        """The statements of a text that is not too long: all connections wait while it is read."""
        if len(text) <= LONGEST_TEXT:
            return statements(text)
        self._tell(PgRefusal("54000", f"A query has {LONGEST_TEXT} characters at the most.", "Ask in smaller ones."))
        raise _Told

    def _question(self, text: str, told: Sequence[int] = ()) -> Inquiry | None:
        return question_of(self._context, text, told) if text else None

    def _statement(self, name: str) -> PreparedStatement:
        found = self._statements.get(name)
        if found is None:
            self._tell(PgRefusal("26000", f'prepared statement "{name}" does not exist'))
            raise _Told
        return found

    def _portal(self, name: str) -> Portal:
        found = self._portals.get(name)
        if found is None:
            self._tell(PgRefusal("34000", f'portal "{name}" does not exist'))
            raise _Told
        return found

    async def _outlined(self, statement: PreparedStatement) -> None:
        """Finds out a statement's columns and the types of its parameters."""
        if not statement.described and statement.question is not None:
            statement.intervals, statement.version = self._context.guest.intervals, self._context.version
            statement.columns = await self._work(statement.question.columns)
            statement.described = True

    async def _refuse_changed(self, statement: PreparedStatement, question: Inquiry) -> None:
        """Refuses, before it is charged, what the client was told other columns of than it would get."""
        if statement.intervals != self._context.guest.intervals:
            raise PgRefusal("0A000", "cached plan must not change result type", "Prepare it again: SET changed it.")
        now = self._context.version
        if (question.varies or now != statement.version) and await self._work(question.columns) != statement.columns:
            what = "another cursor has this name" if question.varies else "the tables changed"
            raise PgRefusal("0A000", "cached plan must not change result type", f"Prepare it again: {what}.")
        statement.version = now

    def _refuse_overfull(self) -> None:
        """Refuses to keep one more statement or portal beside those whose texts, values and rows take too much."""
        held = sum(own.weight for own in self._statements.values()) + sum(own.weight for own in self._portals.values())
        if held > MOST_HELD:
            raise PgRefusal("53400", f"Statements, portals and cursors hold {MOST_HELD} bytes, the most. Close some.")

    async def _run(self, portal: Portal, *, kept: bool = False) -> None:
        """Asks, and tells what changed and what is to be known.

        Args:
            portal: What is asked.
            kept: Whether the client may ask for more of its rows while it asks something else.
        """
        statement, question = portal.statement, portal.statement.question
        async with self._telling(statement):
            if question is None:
                return
            if statement.described:
                await self._refuse_changed(statement, question)
            if kept or isinstance(question, Declare):
                self._refuse_overfull()
            held = weighed if kept else _as_it_is
            portal.result = await self._work(lambda: held(question.answered(portal.values)))
            for name, value in self._context.changed:
                self._wire.write(messages.parameter_status(name, value))
            self._context.changed.clear()
            if isinstance(question, Deallocate):
                self._forget(question.name)
            if isinstance(question, Declare) and portal.result.opened is not None:
                question.open(portal.result.opened)
            for text in portal.result.notices:
                self._wire.write(messages.notice(told(text)))

    def _forget(self, name: str | None) -> None:
        if name is None:
            self._statements.clear()
        elif self._statements.pop(name, None) is None:
            raise PgRefusal("26000", f'prepared statement "{name}" does not exist')

    async def _rows(self, portal: Portal, most: int) -> None:
        """Sends rows, at most so many (0: all), and what ends them."""
        result, before = portal.result, portal.sent
        if result is None:
            return
        if result.copied is not None:
            async with self._telling(portal.statement):
                await self._copied(result, result.copied)
                portal.sent = len(result.rows)
        elif result.columns is not None:
            formats = formats_of(portal.formats, result.columns)
            end = len(result.rows) if most <= 0 else min(len(result.rows), portal.sent + most)
            async with self._telling(portal.statement):
                while portal.sent < end:
                    upto = min(end, portal.sent + AT_A_TIME)
                    for row in result.rows[portal.sent : upto]:
                        self._wire.write(messages.data_row(types.wire_row(row, result.columns, formats)))
                    portal.sent = upto
                    await self._wire.flush()
            if most > 0 and end < len(result.rows):
                self._wire.write(messages.portal_suspended)
                return
        self._wire.write(messages.command_complete(result.tag.format(portal.sent - before)))

    async def _copied(self, result: Result, form: CopyForm) -> None:
        """Sends the rows of a COPY, each in a message."""
        columns = result.columns or ()
        formats = [int(form.binary)] * len(columns)
        self._wire.write(messages.copy_out(formats, binary=form.binary))
        before = form.begun(columns)
        for at, row in enumerate(result.rows, 1):
            self._wire.write(messages.copy_data(before + form.row(types.wire_row(row, columns, formats))))
            before = b""
            if at % AT_A_TIME == 0:
                await self._wire.flush()
        if last := before + form.ended():
            self._wire.write(messages.copy_data(last))
        self._wire.write(messages.copy_done)

    async def _work(self, call: Callable[[], Done]) -> Done:
        """What a call returns; it goes on without us when the client cancels.

        Raises:
            PgRefusal: It was cancelled.
        """
        self._cancelled.clear()
        self._at_work = True
        task = asyncio.ensure_future(self._server.work(self._context.guest.analyst, call))
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait({task, cancelled}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            raise PgRefusal(CANCELLED, GIVEN_UP)
        finally:
            self._at_work = False
            cancelled.cancel()
            task.cancel()

    def _telling(self, statement: PreparedStatement) -> _Telling:
        return _Telling(self, statement)

    def _tell(self, refusal: BaseException, statement: PreparedStatement | None = None) -> None:
        asked = statement.question if statement is not None else None
        text, offset = (asked.text, asked.before + statement.offset) if statement and asked else ("", 0)
        self._wire.write(messages.error(fields_of(refusal, text, offset)))


def _as_it_is(result: Result) -> Result:
    return result


class _Told(Exception):  # noqa: N818 - it is no error: the client knows already
    """A refusal was sent; the rest of what hangs on it is skipped."""


@dataclass(frozen=True, slots=True)
class _Telling:
    """Sends a refusal to the client, and then raises `_Told`."""

    conversation: Conversation
    statement: PreparedStatement

    async def __aenter__(self) -> None:
        """Nothing."""

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Error):
            self.conversation._tell(error, self.statement)
            raise _Told from None
