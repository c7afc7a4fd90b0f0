"""What all doors share: one open proxy, who may come in, how much each may ask, and the owner's log of it.

A door lets somebody in by `Server.bearer` or by `Server.attempt`, and then asks through their `Guest`: no name, option
or parameter of theirs leads to another's account. Few statements are at work at a time, whichever threads they have.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any, TypeVar

from dpsql.answers.answer import Answer
from dpsql.answers.budget import left_now
from dpsql.answers.quotes.quoted import Quote
from dpsql.answers.switch import intervals_set, set_answer
from dpsql.errors import OperationalError
from dpsql.plan.outline import Outline
from dpsql.plan.types import Parameters
from dpsql.policy import Policy
from dpsql.policy.server import ServerSection
from dpsql.proxy import Proxy
from dpsql.server.attempt import Attempt
from dpsql.server.current import CurrentLimits
from dpsql.server.events import Seldom, paid, tell, telling
from dpsql.server.gate import Gate
from dpsql.server.health import Health
from dpsql.server.lockout import WRONG, Lockout
from dpsql.server.outlines import outline, with_intervals
from dpsql.server.refusals import NotAdmitted, Stopping, UsersUnusable, without_the_owners_places
from dpsql.server.seats import Seats
from dpsql.server.tables import CurrentTables
from dpsql.server.users import OWNER, User, Users
from dpsql.session import Session

__all__ = ["Guest", "Server"]

AT_WORK = 2 * (os.cpu_count() or 1) + 2
"""Statements at work at a time. It is a choice: engines take turns, and what waits for one keeps no processor busy."""

Result = TypeVar("Result")


class Server:
    """What the doors of one server share. Threads may share it.

    Args:
        proxy: Open; its owner closes it, after `close`.
        users: Who may come in.
        gate: Counts connections and statements.
        lockout: Counts wrong tokens.

    Attributes:
        strangers: Writes what they bring about into the owner's log.
        tables: The version of the tables that statements are asked of.
    """

    def __init__(self, proxy: Proxy, users: Users, *, gate: Gate | None = None, lockout: Lockout | None = None) -> None:
        self.proxy = proxy
        self.users = users
        self.gate = gate or Gate()
        self.lockout = lockout or Lockout()
        self.strangers = Seldom()
        self.pool = ThreadPoolExecutor(AT_WORK, thread_name_prefix="statement")
        self._stopping = False
        self.tables = CurrentTables(proxy)
        self._limits = CurrentLimits(proxy.policy, proxy.adopt, self.tables.look)
        self._health = Health(self.tables.stand)
        self._seats = Seats(AT_WORK)

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self.proxy.policy

    @property
    def limits(self) -> ServerSection:
        """The ``server`` section in force; `watch` keeps it as the policy file says."""
        return self._limits.now()

    @property
    def stopping(self) -> bool:
        """Whether nothing more is asked of the data."""
        return self._stopping

    @property
    def ready(self) -> bool:
        """Whether statements are taken: the engine stood when `watch` looked at it last."""
        return self._health.ready

    def bearer(self, token: str, door: str, address: str) -> User:
        """Whose token it is.

        Args:
            token: What came.
            door: At which door, for the log.
            address: From where.

        Raises:
            NotAdmitted: It is nobody's, or was tried in vain too often.
            UsersUnusable: The file of users cannot be used.
        """
        user = self._known(lambda users: users.of_token(token))
        name = token.partition("-")[0] if user is None else user.name
        return self.attempt(name, door, address, user).by_token(token)

    def attempt(self, name: str, door: str, address: str, user: User | None = None) -> Attempt:
        """Somebody says that they are an analyst, and is to prove it.

        Args:
            name: Whom they say they are.
            door: At which door.
            address: From where.
            user: The user, where the caller knows it: the owner is found by no name.

        Raises:
            NotAdmitted: This was tried in vain too often.
            UsersUnusable: The file of users cannot be used.
        """
        self.lockout.check(name, address)
        user = user or self._known(lambda users: users.named(name))
        verifier = user.verifier if user else self.users.stranger(name)
        return Attempt(self.lockout, self.strangers, name, door, address, user, verifier)

    def stands(self, user: User) -> bool:
        """Whether a user was not removed meanwhile.

        Raises:
            UsersUnusable: Nobody knows.
        """
        return self._known(lambda users: users.stands(user))

    def _known(self, look: Callable[[Users], Result]) -> Result:
        """What the file of users says now. What is wrong with it names its place, which is the owner's to know."""
        try:
            return look(self.users)
        except OperationalError as problem:
            self.strangers.tell("users", why=str(problem))
            raise UsersUnusable from None

    def owner(self, token: str, address: str) -> User:
        """The owner, whose token it is.

        Raises:
            NotAdmitted: It is not.
        """
        user = self.bearer(token, "page", address)
        if user.name != OWNER:
            self.lockout.wrong(user.name, address)
            raise NotAdmitted(WRONG)
        return user

    @without_the_owners_places()
    def guest(self, user: User, door: str, address: str) -> Guest:
        """An analyst who was admitted, with a session of their own; to be closed.

        Raises:
            NotAdmitted: It is the owner, who asks no questions of a door.
            TooMuch: There are too many connections.
        """
        if user.name == OWNER:
            raise NotAdmitted("The owner's token opens the owner's page alone. Add a user to ask as an analyst.")
        if self._stopping:
            raise Stopping
        self.gate.enter(user.name, self.limits)
        try:
            return Guest(self, user, door, address, self.proxy.session(analyst=user.name))
        except BaseException:
            self.gate.leave(user.name)
            raise

    async def work(self, analyst: str, call: Callable[[], Result]) -> Result:
        """What a call returns, made in the pool: for doors that run a loop. Cancelled before it began, it is not made.

        Args:
            analyst: For whom: one analyst takes half of the pool at most.
            call: What is to be done.

        Raises:
            Stopping: The server stops, and the call had not begun.
        """
        await self._seats.taken(analyst)
        try:
            if self._stopping:
                raise Stopping
            try:
                made = self.pool.submit(call)
            except RuntimeError:  # the pool was shut down meanwhile; what the call itself raises comes from `made`
                raise Stopping from None
        except BaseException:
            self._seats.leave(analyst)
            raise
        made.add_done_callback(lambda _: self._seats.leave(analyst))  # who cancels it while it runs keeps the seat
        return await asyncio.wrap_future(made)

    def done(self, analyst: str, call: Callable[[], Result], wanted: Callable[[], bool]) -> Result:
        """What a call returns, made here: for doors that have threads of their own. They wait for it when they stop.

        Args:
            analyst: For whom, as in `work`.
            call: What is to be done.
            wanted: Whether somebody still waits for it, when its turn has come.

        Raises:
            Stopping: The server stops, or nobody waits any more, and the call had not begun.
        """
        self._seats.asked(analyst).result()
        try:
            if self._stopping or not wanted():
                raise Stopping
            return call()
        finally:
            self._seats.leave(analyst)

    def watch(self) -> None:
        """Takes up new limits and versions of the tables, and looks after the engine, until `close`."""
        self._limits.watch()
        self._health.watch()

    def stop_taking(self) -> None:
        """Takes no more statements from now on; what had not begun is uncharged. Those at work go on."""
        self._stopping = True

    def close(self) -> None:
        """Takes no more statements, and returns when those at work are done; what had not begun is uncharged."""
        self.stop_taking()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self._health.end()
        self._limits.end()
        self.tables.end()
        self.strangers.end()


class Guest:
    """One authenticated analyst at one door, with a session of their own. Made by `Server.guest`; to be closed.

    Its calls take as long as they take: a door that runs a loop makes them in `Server.pool`.

    Attributes:
        analyst: Whose account is charged.
        intervals: Whether answers have the ends of intervals as columns (``SET intervals = on``).
    """

    def __init__(self, server: Server, user: User, door: str, address: str, session: Session) -> None:
        self.analyst = user.name
        self.intervals = False
        self._server = server
        self._user = user
        self._door = door
        self._address = address
        self._session = session
        self._lock = RLock()
        self._open = True

    def query(self, sql: str, parameters: Parameters = (), *, intervals: bool | None = None, **options: Any) -> Answer:
        """The answer to one statement, charged before anything is read; cut at the most rows that leave.

        Args:
            sql: The statement. ``SET intervals = on`` is remembered in `intervals`.
            parameters: Values for its ``?``.
            intervals: Whether the ends of intervals are columns; where absent as `intervals` says.
            **options: As `Session.query`.

        Raises:
            TooMuch, NotAdmitted, Stopping: As the doors of this server allow.
            Error: As `Session.query`.
        """
        answer = self._told("statement", sql, lambda session: self._asked(session, sql, parameters, options))
        answer = answer.first(self._server.limits.rows)
        return answer.with_intervals() if self._wide(intervals) else answer

    def query_all(self, statements: Sequence[str], **options: Any) -> list[Answer]:
        """The answers to several statements, bought together; each is one of those that may be asked in a minute.

        Raises:
            TooMuch, NotAdmitted, Stopping: As `query`.
            Error: As `Session.query_all`.
        """
        text, many = ";\n".join(statements), len(statements)
        answers = self._told("statement", text, lambda session: session.query_all(statements, **options), together=many)
        return [answer.first(self._server.limits.rows) for answer in answers]

    def _wide(self, intervals: bool | None) -> bool:
        return self.intervals if intervals is None else intervals

    def _asked(self, session: Session, sql: str, parameters: Parameters, options: dict[str, Any]) -> Answer:
        on = intervals_set(sql)
        if on is None:
            return session.query(sql, parameters, **options)
        self.intervals = on
        return set_answer(on)

    def outline(self, sql: str, parameters: Parameters | None = None, *, intervals: bool | None = None) -> Outline:
        """What `query` would return, for nothing; see `outlines.outline`."""
        own = self._told("outline", sql, lambda session: outline(session, sql, parameters), free=True)
        return with_intervals(own) if self._wide(intervals) else own

    def reset(self) -> None:
        """Forgets what SET said."""
        self.intervals = False
        self._session = self._server.proxy.session(analyst=self.analyst)

    def explain(self, sql: str, parameters: Parameters = (), **options: Any) -> Quote:
        """What a statement would cost, and how precise it would be; see `Session.explain`."""
        return self._told("quote", sql, lambda session: session.explain(sql, parameters, **options), free=True)

    def ask(self, what: str, work: Callable[[Session], Result], *, together: int = 1) -> Result:
        """Something of the session that costs nothing: tables, columns, the budget, prices.

        Args:
            what: In a word, for the log.
            work: What is to be done.
            together: How many such questions it is: of several statements that are priced at once, one each.
        """
        return self._told("free", what, work, free=True, together=together)

    @without_the_owners_places()
    def free(self, work: Callable[[Session], Result]) -> Result:
        """The same where it was admitted already, and needs no line in the log."""
        with self._server.tables.used(self._moved) as session:
            return work(session)

    def admit(self, size: int, *, free: bool = True, together: int = 1) -> None:
        """Returns if one more statement may be asked, or several more.

        Args:
            size: Its bytes.
            free: Whether it costs nothing, as questions about the catalogue.
            together: How many are asked at once.

        Raises:
            TooMuch, NotAdmitted, Stopping: It may not.
        """
        if self._server.stopping:
            raise Stopping
        if not self.stands:
            raise NotAdmitted("This user was removed. Nothing was charged.")
        self._server.gate.statement(self.analyst, size, self._server.limits, free=free, together=max(1, together))

    @property
    def stands(self) -> bool:
        """Whether the user was not removed meanwhile."""
        return self._server.stands(self._user)

    def asking(self) -> AbstractContextManager[None]:
        """See `Session.asking`."""
        return self._session.asking()

    def left(self) -> str:
        """What is left of the budget for one query, in words."""
        return left_now(self._session.budget)

    def close(self) -> None:
        """Gives the place up. Harmless when repeated."""
        with self._lock:
            was, self._open = self._open, False
        if was:
            self._server.gate.leave(self.analyst)
            tell("left", door=self._door, analyst=self.analyst, address=self._address)

    @without_the_owners_places()
    def _told(
        self, event: str, sql: str, work: Callable[[Session], Result], *, free: bool = False, together: int = 1
    ) -> Result:
        """Does the work if it may be done, over the tables in force, and writes one line of the owner's log."""
        with telling(event, door=self._door, analyst=self.analyst, address=self._address, text=sql) as came:
            self.admit(len(sql.encode(errors="replace")), free=free, together=together)
            with self._server.tables.used(self._moved) as session:
                result = work(session)
            came |= paid(result)
        return result

    def _moved(self) -> Session:
        """The session over the tables in force."""
        self._session = self._session.over(self._server.proxy.backend)
        return self._session
