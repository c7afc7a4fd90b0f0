"""PostgreSQL on the owner's side: its tables to read, and the bounded ones to write, in one transaction.

All is read from one snapshot of the data. What is built stands when the transaction ends, or not at all.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.engine.database import Parts, SourceTable, SourceType
from dpsql.engine.dialect import Dialect
from dpsql.engine.postgres.bounded import Bounded, kept_by, new
from dpsql.engine.postgres.casts import READING
from dpsql.engine.postgres.connecting import connected, settle, understood
from dpsql.engine.postgres.numbers import read_numbers
from dpsql.engine.postgres.relations import HOLDS_ROWS, columns_of, named, searched
from dpsql.engine.postgres.types import PLACES
from dpsql.errors import PolicyError

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["PostgresDatabase", "building", "reading"]

LONGEST = 63  # Bytes of a name; PostgreSQL cuts off what is longer, and two names might become one.
_ONCE = {
    family: [primitive for primitive in (*READING, "unscaled_decimal") if primitive.endswith(f"_{family}")]
    for family in ("wide", "decimal", "text")
}
"""What is read of a value once, however often the SQL of a bounded column says it: PostgreSQL does not see that two
expressions are the same. Numbers of 64 bits and dates cost nothing to read."""
_OWN = "dpsql, ledger "  # What the comment on every bounded table begins with.
_BECOMES = "SELECT oid, rolname FROM pg_roles WHERE pg_has_role($1, oid, 'MEMBER')"
_READABLE = f"""
    SELECT DISTINCT format('%I.%I', n.nspname, c.relname)
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN ({_BECOMES}) AS r
    WHERE {HOLDS_ROWS} AND has_any_column_privilege(r.oid, c.oid, 'SELECT')
          AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'
          AND NOT starts_with(coalesce(obj_description(c.oid, 'pg_class'), ''), '{_OWN}')
          AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                          AND d.deptype = 'e')
    UNION ALL SELECT format('files of the server, as a member of %I', rolname) FROM ({_BECOMES}) AS r
    WHERE rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
    ORDER BY 1 LIMIT 1
"""
_CALLED = """
    SELECT format('%I.%I', n.nspname, p.proname)
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')
          AND has_schema_privilege($1, n.oid, 'USAGE') AND has_function_privilege($1, p.oid, 'EXECUTE')
    ORDER BY 1 LIMIT 1
"""
_OLD = """
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relkind = 'r' AND obj_description(c.oid, 'pg_class') = $2
"""


@contextmanager
def reading(source: Mapping[str, str], into: Path) -> Iterator[PostgresDatabase]:
    """The source, to be read; see `dpsql.owner.engines.Building`."""
    with _database(source, "", new(source["bounded"])) as database:
        yield database


@contextmanager
def building(source: Mapping[str, str], key: str, into: Path) -> Iterator[PostgresDatabase]:
    """The source, and the bounded tables of a new version; see `dpsql.owner.engines.Building`."""
    cache = next(place for place in into.parents if not place.name.startswith(".building-"))
    bounded = new(source["bounded"])
    with _database(source, key, bounded) as database:
        database.begin(cache)
        yield database
        database.end(cache)
    bounded.write(into)


@contextmanager
def _database(source: Mapping[str, str], key: str, bounded: Bounded) -> Iterator[PostgresDatabase]:
    with connected(source["dsn"]) as connection:
        with understood():
            schemas = searched(connection)
            settle(connection, **{"dpsql.key": key})
            read_numbers(connection)
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        yield PostgresDatabase(connection, bounded, schemas, source["query_dsn"])
        with understood():
            connection.execute("COMMIT")


class PostgresDatabase:
    """A `Database` over one transaction of the owner's role.

    Args:
        connection: An open one.
        bounded: Where bounded tables are to stand.
        schemas: Where tables of the source are looked for, in this order.
        query_dsn: How the role that answers statements connects; empty where that is the owner's.
    """

    counting = None  # its engine does not

    def __init__(
        self, connection: Connection[Any], bounded: Bounded, schemas: Sequence[str], query_dsn: str = ""
    ) -> None:
        self._connection, self._bounded, self._schemas = connection, bounded, list(schemas)
        self._query_dsn = query_dsn
        self._dialect = bounded.dialect
        self._scratched = 0
        self._made: list[str] = []

    @property
    def dialect(self) -> Dialect:
        """PostgreSQL's words."""
        return self._dialect

    def begin(self, cache: Path) -> None:
        """Makes the schema if it is not there, and drops what no version of this ledger's directory names."""
        words, schema = self._dialect, self._bounded.schema
        if not self.rows(f"SELECT 1 FROM pg_namespace WHERE nspname = {words.text(schema)}"):
            self.rows(f"CREATE SCHEMA {words.quoted(schema)}")
            self.rows(f"REVOKE ALL ON SCHEMA {words.quoted(schema)} FROM PUBLIC")
        kept = kept_by(cache)
        for (name,) in self._connection.execute(_OLD, [schema, _mark(cache)]).fetchall():
            if name.partition(":")[0] not in kept:
                self.rows(f"DROP TABLE {words.quoted(schema)}.{words.quoted(name)}")

    def cautions(self) -> Sequence[str]:
        """What to know of the roles."""
        if not self._query_dsn:
            return (
                "engine.query_dsn is not set: analysts' statements run as the owner's role. They are dpsql's own and "
                "read the bounded tables alone; a role that may read nothing else is a second lock. Create one.",
            )
        role = _role(self._query_dsn)
        error = self._too_open(role)
        called = self._first(_CALLED, role)
        return (
            *([f"{error} Until then no tables are built."] if error else []),
            *(
                [f"The role {role} may call {called}, which runs with its owner's rights. Revoke that."]
                if called
                else []
            ),
        )

    def end(self, cache: Path) -> None:
        """Lets the role that answers statements read what was built.

        Raises:
            PolicyError: If it may read the source, too.
        """
        words = self._dialect
        for table in self._made:
            self.rows(f"COMMENT ON TABLE {table} IS {words.text(_mark(cache))}")
            self.rows(f"ANALYZE {table}")
        if not self._query_dsn:
            return
        role = _role(self._query_dsn)
        if error := self._too_open(role):
            raise PolicyError(f"{error} No tables were built.")
        self.rows(f"GRANT USAGE ON SCHEMA {words.quoted(self._bounded.schema)} TO {words.quoted(role)}")
        for table in self._made:
            self.rows(f"GRANT SELECT ON {table} TO {words.quoted(role)}")

    def _too_open(self, role: str) -> str:
        """What is wrong where the role that answers statements may read something else, as itself or as a role that it
        can become; empty where it may not.
        """
        found = self._first(_READABLE, role)
        if not found:
            return ""
        return (
            f"The role {role} of engine.query_dsn may read {found}. Take that right from it: it answers analysts, and "
            "shall reach the bounded tables alone."
        )

    def _first(self, sql: str, role: str) -> str:
        """The first that is found for a role, or nothing."""
        with understood():
            found = self._connection.execute(sql.encode(), [role]).fetchone()
        return str(found[0]) if found else ""

    def table(self, name: str, file: str | None) -> SourceTable:
        """A table of the source; see `Database.table`."""
        found = named(self._connection, name, self._schemas)
        if found is None:
            where = " or ".join(self._schemas) or "the search path of engine.dsn"
            raise PolicyError(
                f"The database has no table or view {name} in {where}. Create it there, as a view if need be: upper "
                f"and lower case differ here."
            )
        relation, source = found
        types = columns_of(self._connection, [relation])[relation]
        words = self._dialect
        read = [_in_places(words.quoted(column), kind) for column, kind in types.items()]
        ready = {
            (column, primitive): f"{place}:{primitive}"
            for place, (column, kind) in enumerate(types.items())
            for primitive in _ONCE.get(kind.family, ())
        }
        made = list[str]()
        for (column, primitive), name in ready.items():
            value = f"r.{words.quoted(column)}"
            if types[column].family == "text":  # that of an ENUM, too
                value = f"CAST({value} AS text)"
            made.append(f"{words.call(primitive, value)} AS {words.quoted(name)}")
        once = f"({words.once}SELECT {', '.join(read)} FROM {source})"  # a view's columns are expressions, too
        sql = f"({words.once}SELECT {', '.join(('r.*', *made))} FROM {once} AS r)"
        return SourceTable(sql, types, True, words, ready)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The result of a query; empty for what has none."""
        with understood():
            done = self._connection.execute(sql.encode())
            return done.fetchall() if done.description else []

    def done(self) -> float:
        """Nobody knows."""
        return 0.0

    def create(
        self, name: str, sql: str, order: Sequence[str] = (), first: str | None = None, parts: Parts | None = None
    ) -> None:
        """Makes a bounded table out of the rows of a query. No statement relies on how it lies here."""
        whole = self._dialect.prefix + name
        if len(whole.encode()) > LONGEST:
            table = name.partition("$")[0]  # what stands behind it is ours
            raise PolicyError(f"{table} is too long a name for PostgreSQL. Give the table a shorter one, in a view.")
        self.rows(f"CREATE TABLE {self._dialect.bounded(name)} AS {sql}")
        self._made.append(self._dialect.bounded(name))

    def again(self, names: Sequence[str], place: Path, make: Callable[[Callable[[str], str]], None]) -> bool:
        """Nothing: the tables of a version do not lie in its directory."""
        return False

    @contextmanager
    def scratch(self, sql: str) -> Iterator[str]:
        """A table of a query's rows for the time of a block."""
        table = self._temporary(f"AS {sql}")
        yield table
        self.rows(f"DROP TABLE {table}")

    def record(self, sql: str, file: Path) -> None:
        """Keeps the rows of a query in a file of tab-separated values."""
        told = f"COPY ({sql}) TO STDOUT (HEADER)".encode()
        with understood(), file.open("wb") as written, self._connection.cursor().copy(told) as copy:
            for part in copy:
                written.write(part)

    def recorded(self, files: Sequence[str]) -> str:
        """The rows of these files, which have one header."""
        with Path(files[0]).open("rb") as first:
            names = first.readline().decode().rstrip("\n").split("\t")
        table = self._temporary(f"({', '.join(f'{self._dialect.quoted(name)} text' for name in names)})")
        for file in files:
            with understood(), self._connection.cursor().copy(f"COPY {table} FROM STDIN (HEADER)".encode()) as copy:
                copy.write(Path(file).read_bytes())
        return table

    def _temporary(self, made: str) -> str:
        self._scratched += 1
        table = f"pg_temp.scratch{self._scratched}"
        self.rows(f"CREATE TEMPORARY TABLE scratch{self._scratched} {made}")
        return table


def _in_places(column: str, kind: SourceType) -> str:
    """A column with as many digits behind the point as its type says; a numeric that states none has any number."""
    return f"round({column}, {PLACES}) AS {column}" if kind.places == PLACES else column


def _mark(cache: Path) -> str:
    """What is said of each bounded table: whose it is."""
    return f"{_OWN}{cache.name}"


def _role(dsn: str) -> str:
    """The role behind a connection string."""
    with connected(dsn) as connection:
        ((role,),) = connection.execute("SELECT current_user::text").fetchall()
    return str(role)
