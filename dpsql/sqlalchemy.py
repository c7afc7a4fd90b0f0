"""SQLAlchemy's dialect: ``create_engine("dpsql:///hospital.yaml?analyst=ana&epsilon=0.1")``.

It needs the extra ``sqlalchemy``. It compiles for DuckDB's form of SQL, hands statements to `dpsql.dbapi`, and reflects
what SHOW TABLES and DESCRIBE say: the policy's public promises. An engine has one connection, which its threads share.

Tests: tests/unit/test_sqlalchemy.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, types
from sqlalchemy.engine import reflection
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.engine.url import URL
from sqlalchemy.exc import ArgumentError, NoSuchTableError
from sqlalchemy.pool import Pool, StaticPool
from sqlalchemy.sql.compiler import GenericTypeCompiler, IdentifierPreparer, SQLCompiler
from sqlalchemy.sql.elements import BinaryExpression

from dpsql.sql.keywords import COLUMN_ONLY, FUNCTION_ONLY, RESERVED

__all__ = ["DpsqlDialect"]

URLS = "dpsql:///hospital.yaml?analyst=ana&epsilon=0.1, with four slashes before an absolute path"

TYPES: dict[str, Callable[[], types.TypeEngine[Any]]] = {
    "integer": types.BigInteger,
    "real": types.Double,
    "text": types.String,
    "boolean": types.Boolean,
    "date": types.Date,
    "timestamp": types.DateTime,
}
"""A column's type by DESCRIBE's word for it. Keys and the privacy unit, which are joined alone, have none."""

_NUMBER = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?")
_WORDS = {"true": True, "on": True, "false": False, "off": False}


class _Names(IdentifierPreparer):
    reserved_words = set(RESERVED | FUNCTION_ONLY | COLUMN_ONLY)  # noqa: RUF012 - SQLAlchemy asks for a set


class _Statements(SQLCompiler):
    def visit_ilike_op_binary(self, binary: BinaryExpression[Any], operator: Any, **kw: Any) -> str:
        return self._ilike(binary, "ILIKE", **kw)

    def visit_not_ilike_op_binary(self, binary: BinaryExpression[Any], operator: Any, **kw: Any) -> str:
        return self._ilike(binary, "NOT ILIKE", **kw)

    def _ilike(self, binary: BinaryExpression[Any], word: str, **kw: Any) -> str:
        mark = (binary.modifiers or {}).get("escape")
        escape = "" if mark is None else f" ESCAPE {self.render_literal_value(mark, types.String())}"
        return f"{self.process(binary.left, **kw)} {word} {self.process(binary.right, **kw)}{escape}"


class _TypeNames(GenericTypeCompiler):
    def visit_FLOAT(self, type_: types.Float[Any], **kw: Any) -> str:  # noqa: N802 - SQLAlchemy fixes the name
        return "DOUBLE"

    def visit_DOUBLE(self, type_: types.Double[Any], **kw: Any) -> str:  # noqa: N802 - SQLAlchemy fixes the name
        return "DOUBLE"

    def visit_DATETIME(self, type_: types.DateTime, **kw: Any) -> str:  # noqa: N802 - SQLAlchemy fixes the name
        return "TIMESTAMP"

    def visit_TEXT(self, type_: types.Text, **kw: Any) -> str:  # noqa: N802 - SQLAlchemy fixes the name
        return "VARCHAR"

    def visit_VARCHAR(self, type_: types.String, **kw: Any) -> str:  # noqa: N802 - SQLAlchemy fixes the name
        return "VARCHAR"


class DpsqlDialect(DefaultDialect):
    """What SQLAlchemy asks of a database."""

    name = "dpsql"
    driver = "dpsql"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_alter = False
    supports_sane_multi_rowcount = False
    div_is_floordiv = False
    preparer = _Names
    statement_compiler = _Statements
    type_compiler_cls = _TypeNames

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """dpsql's DB-API 2.0."""
        from dpsql import dbapi

        return dbapi

    @classmethod
    def get_pool_class(cls, url: URL) -> type[Pool]:
        """One connection for all: to open a policy takes time, and threads may share it."""
        return StaticPool

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of `dpsql.connect`: the policy's path, the analyst, options of the connection.

        Raises:
            ArgumentError: The URL names no policy, no analyst, a server, or an option twice.
        """
        asked = dict(url.query)
        analyst = asked.pop("analyst", url.username)
        if not url.database or not analyst or url.host or url.password:
            raise ArgumentError(f"{url!r} does not say which policy and which analyst. Write {URLS}.")
        if twice := [name for name, value in asked.items() if not isinstance(value, str)]:
            raise ArgumentError(f"The URL names {twice[0]} more than once. Write it once.")
        options = {name: _value(str(text)) for name, text in asked.items()}
        return [url.database], {"analyst": analyst, **options}

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Whether the connection is open; nothing is asked."""
        dbapi_connection.session()
        return True

    def _get_server_version_info(self, connection: Connection) -> tuple[int, ...]:
        from dpsql import __version__

        return tuple(int(part) for part in __version__.split("."))

    # ------------------------------------------------------------------------------- reflection: the policy alone

    @reflection.cache  # type: ignore[untyped-decorator, call-overload, unused-ignore]  # SQLAlchemy leaves it untyped
    def get_table_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """The tables that the analyst may ask about, synthetic ones among them."""
        return [row[0] for row in connection.exec_driver_sql("SHOW TABLES")]

    def has_table(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> bool:
        """Whether there is such a table."""
        return table_name.lower() in [name.lower() for name in self.get_table_names(connection, schema, **kw)]

    @reflection.cache  # type: ignore[untyped-decorator, call-overload, unused-ignore]  # SQLAlchemy leaves it untyped
    def get_columns(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:
        """Names, types and, as comments, descriptions and public bounds or values of a table's columns."""
        from dpsql.answers.listing import comment

        if not self.has_table(connection, table_name, schema, **kw):
            raise NoSuchTableError(table_name)
        quoted = self.identifier_preparer.quote_identifier(table_name)
        return [
            {
                "name": row["column"],
                "type": TYPES.get(row["type"], types.NullType)(),
                "nullable": bool(row["nullable"]),
                "default": None,
                "autoincrement": False,
                "comment": comment(
                    row.get("description"),
                    row["domain"] if row["type"] in TYPES else f"{row['type']}: {row['domain']}",
                ),
            }
            for row in connection.exec_driver_sql(f"DESCRIBE {quoted}").mappings()
        ]

    def get_pk_constraint(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """None that a statement may show: keys are in no answer."""
        return {"constrained_columns": [], "name": None}

    def _none(self, connection: Connection, *place: str | None, **kw: Any) -> list[Any]:
        """What there is none of, or none that a statement may show: DESCRIBE's comments say what joins with what."""
        return []

    get_view_names = get_foreign_keys = get_indexes = _none
    get_unique_constraints = get_check_constraints = get_schema_names = _none

    def get_table_comment(self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any) -> Any:
        """The owner's description of it, where there is one."""
        tables = {row["table"].lower(): row for row in connection.exec_driver_sql("SHOW TABLES").mappings()}
        if table_name.lower() not in tables:
            raise NoSuchTableError(table_name)
        return {"text": tables[table_name.lower()].get("description")}


def _value(text: str) -> str | bool | Decimal:
    """An option of the URL as `dpsql.connect` takes it.

    >>> _value("0.1"), _value("laplace"), _value("on")
    (Decimal('0.1'), 'laplace', True)
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return Decimal(text) if _NUMBER.fullmatch(text) and text.count(".") < 2 and text != "." else text
