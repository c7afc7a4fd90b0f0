"""Questions about tables, columns and types, as tools ask them: answered from the policy, in a process without data."""

from __future__ import annotations

import hashlib
import re
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.answers.listing import comment, descriptions
from dpsql.plan.types import Parameters, Type
from dpsql.proxy import Proxy
from dpsql.server.core import Guest
from dpsql.server.events import tell
from dpsql.server.postgres.messages import ResultColumn
from dpsql.server.postgres.relations import ALLOWED, KNOWN, OIDS_OF_NAMES, CatalogueTable, setup_of
from dpsql.server.postgres.rewriting import cast_to, listed, rewritten
from dpsql.server.postgres.scan import words
from dpsql.server.postgres.settings import Settings, shown
from dpsql.server.postgres.states import PgRefusal
from dpsql.server.postgres.types import NUMERIC, TEXT, column_of
from dpsql.session import Session
from dpsql.sql.rewording.any_of import elements
from dpsql.worker import wire
from dpsql.worker.process import Child, WorkerFailed

__all__ = ["MOST_BYTES", "Catalogue", "Found", "NotAnswered", "named"]

MEMORY = 3 << 29  # Bytes of address space of the process: 1.5 GiB, of which it uses some 100 MB.
DEADLINE = 5  # Seconds for one question. It is a choice: tools' own take milliseconds.
MOST_BYTES = 8_000_000  # Of an answer. It is a choice: the columns of 10,000 tables have as many.
QUESTIONS = 10_000  # Questions of one process, then comes a fresh one. It is a choice.
KINDS = {
    "BOOLEAN": 16, "TINYINT": 21, "SMALLINT": 21, "INTEGER": 23, "BIGINT": 20, "HUGEINT": 1700, "UINTEGER": 26,
    "FLOAT": 700, "DOUBLE": 701, "VARCHAR": 25, "DATE": 1082, "TIMESTAMP": 1114, "VARCHAR[]": 1009, "INTEGER[]": 1007,
    "TIMESTAMP WITH TIME ZONE": 1184,
}  # fmt: skip
"""DuckDB's types, by PostgreSQL's oids; all others are shown as text."""
REGCLASSES = frozenset(f"pg_catalog.{name}" for name in OIDS_OF_NAMES)
"""How drivers name a system table in a parameter that is to be its number."""
LARGE = "The answer has more than 20,000 rows or {:,} bytes, which are the most."
FAILED = "The catalogue does not answer this. Nothing was charged."
CALLED = r'"?[^\W\d]\w*"?(\(.*\))?'
"""What has a name of its own: a column, or a function's call."""
CASTS: Mapping[str, str] = {
    "BIGINT": "int8", "INTEGER": "int4", "SMALLINT": "int2", "DOUBLE": "float8", "FLOAT": "float4", "BOOLEAN": "bool",
    "VARCHAR": "text", "DECIMAL": "numeric", "UINTEGER": "oid",
}  # fmt: skip
"""PostgreSQL's short names of types by DuckDB's, where they are others."""


class NotAnswered(PgRefusal):
    """The catalogue's process has no answer to a question."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer of the catalogue.

    Attributes:
        columns: Its columns.
        rows: Their values.
        parameters: The types of the statement's parameters, where they are known.
        lists: Which of them take an array, and the type of its elements.
    """

    columns: tuple[ResultColumn, ...]
    rows: Sequence[Sequence[Any]]
    parameters: tuple[Type | None, ...]
    lists: Mapping[int, int]


class Catalogue:
    """The process, and what it is asked. Threads may share it: they take turns.

    Args:
        proxy: Whose policy it tells of.
    """

    def __init__(self, proxy: Proxy) -> None:
        policy = proxy.policy
        self._database = policy.name
        names = {name.lower() for name in policy.tables}
        names |= {column.lower() for table in policy.tables.values() for column in table.columns}
        self.own_names = frozenset(name for name in names if name.startswith("pg_"))
        self._lock = threading.Lock()
        self._child: Child | None = None
        self._end: weakref.finalize[[Child], Catalogue] | None = None
        self._asked = 0

    def answer(
        self, guest: Guest, settings: Settings, text: str, values: Parameters | None, most: int = MOST_BYTES
    ) -> Found:
        """The answer to a client's question.

        Args:
            guest: Who asks: their own synthetic tables are in their catalogue, and nobody else's.
            settings: PostgreSQL's, as they set them.
            text: The statement.
            values: Of its parameters; None where only its columns are wanted.
            most: Bytes of its answer.

        Raises:
            NotAnswered: The catalogue cannot answer it.
            PgRefusal: It asks for a setting that does not exist, or for more bytes than are sent.
        """
        setup, oids = setup_of(guest.free(tables_of), guest.analyst, self._database)
        count, lists = _parameters(text), listed(text)
        request = {
            "sql": rewritten(
                text,
                guest.analyst,
                self._database,
                {**OIDS_OF_NAMES, **oids},
                lambda name: shown(name, settings, guest),
            ),
            "relations": KNOWN,
            "functions": ALLOWED,
            "parameters": [None] * count if values is None else [_passed(i in lists, v) for i, v in enumerate(values)],
            "deadline": DEADLINE,
            "bytes": most,
            "name": hashlib.sha256(setup.encode()).hexdigest(),
            "setup": None,
        }
        reply = self._told(request)
        if "unknown" in reply:
            reply = self._told(request | {"setup": setup})
        if "large" in reply:
            raise PgRefusal(
                "54000", f"{LARGE.format(most)} Nothing was charged.", "Ask for fewer rows, or shorter texts."
            )
        if "columns" not in reply:
            tell("catalogue", analyst=guest.analyst, text=text, why=reply.get("failed"))
            raise NotAnswered("0A000", f"{FAILED} {_first(reply.get('failed'))}".strip())
        columns = tuple(column_of(named(name), _oid_of(kind)) for name, kind in reply["columns"])
        kinds = cast_to(text)
        return Found(
            columns,
            reply["rows"],
            tuple(kinds.get(at) for at in range(count)),
            {at: OIDS_OF_NAMES.get(kind, TEXT) for at, kind in lists.items()},
        )

    def close(self) -> None:
        """Ends the process."""
        with self._lock:
            self._stop()

    def _told(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the process replies; a fresh one next time, where it does not."""
        with self._lock:
            try:
                if self._child is None or not self._child.alive or self._asked >= QUESTIONS:
                    self._child = self._started()
                self._asked += 1
                return self._exchanged(self._child, request)
            except (OSError, EOFError, WorkerFailed):
                self._stop()
        return {}

    @staticmethod
    def _exchanged(child: Child, request: dict[str, Any]) -> dict[str, Any]:
        child.connection.send_bytes(wire.encode(request))
        if not child.connection.poll(DEADLINE + 1):
            raise EOFError
        reply: dict[str, Any] = wire.decode(child.connection.recv_bytes())
        return reply

    def _started(self) -> Child:
        self._stop()
        child, self._asked = Child("dpsql.worker.catalogue", {"memory": MEMORY}), 0
        self._end = weakref.finalize(self, Child.stop, child)
        child.wait_until_ready()
        return child

    def _stop(self) -> None:
        if self._end is not None:
            self._end()
        self._child = self._end = None


def tables_of(session: Session) -> tuple[CatalogueTable, ...]:
    """The tables that an analyst may name, as SHOW TABLES and DESCRIBE tell of them."""
    found = []
    tables = session.tables()
    for (name, kind, unit, rows, about, *_), own in zip(tables, descriptions(tables), strict=True):
        each = "" if rows is None else f", at most {rows} row{'' if rows == 1 else 's'} of each {unit}"
        size = "" if about is None else f", about {about} rows"
        described = session.describe(name)
        columns = tuple(
            (column, type_, comment(words, str(domain)), bool(nullable) or kind == "private")
            for (column, type_, domain, nullable, *_), words in zip(described, descriptions(described), strict=True)
        )
        found.append(CatalogueTable(name, comment(own, f"{kind}{each}{size}"), columns))
    return tuple(found)


def _parameters(text: str) -> int:
    """How many parameters a statement has: the largest of ``$1``, ``$2`` ..."""
    return max((int(word.text[1:]) for word in words(text) if word.kind == "parameter"), default=0)


def _oid_of(kind: str) -> int:
    """PostgreSQL's type for one of DuckDB's.

    >>> _oid_of("HUGEINT"), _oid_of("DECIMAL(10,5)"), _oid_of("BLOB")
    (1700, 1700, 25)
    """
    return NUMERIC if kind.startswith("DECIMAL(") else KINDS.get(kind, TEXT)


def _passed(many: bool, value: object) -> Any:
    """A parameter as the process takes it: an array as a list, the name of a system table as its number."""
    if many and isinstance(value, str):
        return elements(value)
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, str) and value in REGCLASSES:
        return str(OIDS_OF_NAMES[value.removeprefix("pg_catalog.")])
    return value


def named(name: str) -> str:
    """A column's name as PostgreSQL would give it: of a function without another, the function's, and of a cast that of
    what is cast, or else of the type.

    >>> named("version()"), named('"substring"(x, 7)'), named("1"), named("relname")
    ('version', 'substring', '?column?', 'relname')
    >>> named("CAST(1 AS DECIMAL(18, 3))"), named("CAST(now() AS DATE)"), named("CAST('a' AS VARCHAR)")
    ('numeric', 'now', 'text')
    """
    if cast := re.fullmatch(r"CAST\((.*) AS (\w+)[^()]*(?:\([^()]*\))?\)", name, re.DOTALL):
        return named(cast[1]) if re.fullmatch(CALLED, cast[1], re.DOTALL) else CASTS.get(cast[2], cast[2].lower())
    if call := re.fullmatch(r'"?(\w+)"?\(.*\)', name, re.DOTALL):
        return call[1]
    return name if re.fullmatch(r"[^\W\d].*", name, re.DOTALL) else "?column?"


def _first(text: object) -> str:
    """The first line of what DuckDB says, which knows of nothing but the catalogue."""
    return str(text or "").strip().split("\n")[0][:300]
