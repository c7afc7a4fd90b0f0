"""The owner's synthetic tables: made for readers, granted to more of them, listed, dropped, written to files.

A table made for readers is charged to the total once and to each of them. Who is granted it later pays the whole price
at the first reading, the total nothing. The owner is told who cannot pay, an analyst never.

Tests: tests/unit/releasing/test_sharing.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from dpsql.answers.answer import Answer, public
from dpsql.answers.quotes.quoted import Quote
from dpsql.answers.shown.costs import cost_text
from dpsql.answers.writers import WRITERS
from dpsql.backend import Backend
from dpsql.charging import check_name
from dpsql.closing import OfOneProcess
from dpsql.errors import ProgrammingError, door
from dpsql.given import path_given, text_given, texts_given
from dpsql.ledger.folders import write_new
from dpsql.ledger.synthetic import SyntheticTable
from dpsql.ledger.tables import LedgerTables
from dpsql.plan.resolve import resolve_query
from dpsql.plan.types import Type
from dpsql.releasing.creation import SILENT, Creation, Progress, planned
from dpsql.releasing.names import lost
from dpsql.releasing.payers import Readers
from dpsql.releasing.stored import StoredTable, read_stored
from dpsql.sql import syntax
from dpsql.sql.parse import parse

__all__ = ["FILES", "Sharing"]

FILES = ("parquet", "csv")
"""The ends of the names of files that a table is written to."""


class Sharing(OfOneProcess):
    """What the owner does with synthetic tables.

    Args:
        backend: What the proxy shares.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @door
    def create(self, sql: str, readers: Sequence[str], progress: Progress = SILENT) -> Answer:
        """Makes a table for readers, each of whom pays; one row of name, method, rows, error and cost.

        Args:
            sql: One CREATE SYNTHETIC TABLE.
            readers: Names of analysts.
            progress: Told each public step and the share done, 0 to 1.

        Raises:
            UnsupportedQuery, ProgrammingError: It cannot be.
            BudgetExceeded: Naming who cannot pay. Nothing was spent.
        """
        return self._planned(sql, readers).made(progress)

    @door
    def quote(self, sql: str, readers: Sequence[str]) -> Quote:
        """What it would cost each reader and the total, and err by."""
        return self._planned(sql, readers).quote()

    @door
    def grant(self, name: str, reader: str) -> str:
        """Lets one more analyst read a table; what to tell the owner.

        Raises:
            ProgrammingError: There is no such table, SQL does not read it, or the analyst has one of that name; or
                no analyst can have such a name.
            BudgetExceeded: The analyst has no account.
        """
        table = self._named(name)
        check_name(reader)
        found = self._backend.ledger.find(table.fingerprint)
        if found is None:
            raise ProgrammingError(f"{table.name} is not there: its process was lost. Its maker can make it again.")
        if large := read_stored(table.name, table.fingerprint, found[0]).too_large:
            raise ProgrammingError(f"{large} {reader} would pay for what no query can read.")
        lacks = LedgerTables(self._backend.ledger).grant(table.fingerprint, reader)
        price = cost_text(self._backend.summary(table.loss))
        told = f"{reader} may read {table.name}, and pays {price} at the first reading."
        return f"{told} As things stand that would be refused: {lacks}" if lacks else told

    @door
    def listed(self) -> Answer:
        """One row a table: name, id, who made it, what it cost, its rows, its readers and who has not read it yet."""
        text = Type.TEXT
        rows = []
        for table, readers in LedgerTables(self._backend.ledger).every():
            found = self._backend.ledger.find(table.fingerprint)
            number = None if found is None else sum(read_stored(table.name, table.fingerprint, found[0]).rows)
            paid = ", ".join(name for name, own in readers.items() if own)
            unpaid = ", ".join(name for name, own in readers.items() if not own)
            cost = cost_text(self._backend.summary(table.loss))
            rows.append((table.name, _id(table), table.maker or "the owner", cost, number, paid, unpaid))
        names = ("table", "id", "made_by", "cost", "rows", "paid_by", "granted_to")
        return public(names, (text, text, text, text, Type.INTEGER, text, text), rows)

    @door
    def drop(self, name: str) -> str:
        """Forgets a table, for all of its readers; nothing is given back."""
        table = self._named(name)
        LedgerTables(self._backend.ledger).drop_for_all(table.fingerprint)
        return f"{table.name} is dropped for all of its readers; what it cost stays charged."

    @door
    def export(self, name: str, file: str | PathLike[str]) -> str:
        """Writes all rows to a new file, with the types of their columns."""
        file = path_given(file, "The file", f"Write its path, which ends in .{' or .'.join(FILES)}.")
        ending = file.suffix.removeprefix(".").lower()
        if ending not in FILES:
            raise ProgrammingError(f"{file} ends in {ending!r}. Name a file that ends in .{' or .'.join(FILES)}.")
        if file.exists():
            raise ProgrammingError(f"There is a file at {file} already. Name a new one.")
        table = self._named(name)
        found = self._backend.ledger.find(table.fingerprint)
        if found is None:
            raise lost(table, self._backend.ledger)
        answer = _whole(read_stored(table.name, table.fingerprint, found[0]))
        write_new(file, WRITERS[ending](answer))
        return f"Wrote {len(answer):,} rows of {table.name} to {file}."

    def _planned(self, sql: str, readers: Sequence[str]) -> Creation:
        statement = parse(sql, self._backend.database)
        if not isinstance(statement, syntax.CreateSynthetic):
            raise ProgrammingError(
                "Write CREATE SYNTHETIC TABLE name WITH (epsilon = 1) AS SELECT .. to make a release."
            )
        readers = texts_given(
            readers, "The list of readers", "Write a list of analysts' names, such as ['ana', 'bob']."
        )
        names = [name for name in dict.fromkeys(readers) if name and name != "*"]
        if not names or len(names) < len(readers):
            raise ProgrammingError(f"readers are {', '.join(readers) or 'nobody'}. Name each once, such as ana,bob.")
        for name in names:
            check_name(name)
        backend = self._backend
        payer = Readers(backend.ledger, names)
        return planned(
            backend, payer, backend.engine.run, statement,
            lambda query: resolve_query(query, backend.catalog, (), backend.post_process.cells), backend.defaults,
        )  # fmt: skip

    def _named(self, name: str) -> SyntheticTable:
        """The table of a name or an id.

        Raises:
            ProgrammingError: There is none, or several.
        """
        name = text_given(name, "The table", "Write its name or its id, as text.")
        known = [table for table, _ in LedgerTables(self._backend.ledger).every()]
        found = [table for table in known if name.lower() in (table.name, _id(table))]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(f"{_id(table)} of {table.maker or 'the owner'}" for table in found)
            raise ProgrammingError(f"Several releases are called {name}. Write an id: {ids}.")
        names = ", ".join(dict.fromkeys(table.name for table in known))
        raise ProgrammingError(f"There is no release {name!r}. There are: {names or 'none'}.")


def _id(table: SyntheticTable) -> str:
    """An id that people can write: the number of the record that paid for it."""
    return str(table.charge)


def _whole(stored: StoredTable) -> Answer:
    """All rows, as an answer."""
    kinds = tuple(column.facts.type for column in stored.info.columns.values())
    return public(tuple(stored.info.columns), kinds, stored.expanded())
