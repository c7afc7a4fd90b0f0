"""The catalogue of one analyst: PostgreSQL's system tables, filled from the policy and from their own synthetic tables.

Columns are those of PostgreSQL 16 that clients ask for; relations of which nothing is here are there, and empty.

Source: PostgreSQL 16 documentation, chapters 37 ("The Information Schema") and 53 ("System Catalogs").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsql.server.postgres.definitions import FUNCTIONS, MACROS, RELATIONS, SQL_TYPES, TYPES, VIEWS
from dpsql.server.postgres.settings import KNOWN as KNOWN_SETTINGS

__all__ = ["ALLOWED", "KNOWN", "OIDS_OF_NAMES", "CatalogueTable", "setup_of"]

FIRST = 16384  # The oid of the first table, as in a new database of PostgreSQL.
PUBLIC, CATALOG, INFORMATION = 2200, 11, 13183  # Oids of schemas; of PostgreSQL's pg_namespace.
OWNER = 10  # The oid of the first role, as in PostgreSQL.
COLUMN_TYPES = {
    "integer": ("int8", 20), "real": ("float8", 701), "boolean": ("bool", 16), "text": ("text", 25),
    "date": ("date", 1082), "timestamp": ("timestamp", 1114), "privacy unit": ("text", 25), "key": ("text", 25),
}  # fmt: skip
"""The policy's types in PostgreSQL: name and oid."""
APART = "date time timestamp timestamptz interval numeric json uuid record void".split()
"""Types whose functions have a low line in their names."""
LENGTHS = {"int8": 8, "float8": 8, "bool": 1, "date": 4, "timestamp": 8}
"""Bytes of a value, where they do not vary."""
OIDS_OF_NAMES: Mapping[str, int] = {
    "pg_class": 1259, "pg_namespace": 2615, "pg_type": 1247, "pg_proc": 1255, "pg_attribute": 1249,
    "pg_database": 1262, "pg_constraint": 2606, "pg_description": 2609, "pg_extension": 3079, "pg_trigger": 2620,
    "pg_catalog": CATALOG, "public": PUBLIC, "information_schema": INFORMATION,
} | {name: oid for oid, name, *_ in TYPES}  # fmt: skip
"""Oids by name, for constants of PostgreSQL's reg types."""
ALLOWED: Sequence[str] = FUNCTIONS
"""Functions that a question may use."""
KNOWN: Sequence[str] = sorted({name.partition(".")[2] for name in (*RELATIONS, *(view.split()[2] for view in VIEWS))})
"""Relations that it may read, without their schemas."""


@dataclass(frozen=True, slots=True)
class CatalogueTable:
    """A table, as SHOW TABLES and DESCRIBE tell of it.

    Attributes:
        name: Its name.
        comment: What else is known of it.
        columns: Name, type, comment and whether it takes NULL, of each.
    """

    name: str
    comment: str
    columns: tuple[tuple[str, str, str, bool], ...]


def setup_of(tables: Sequence[CatalogueTable], user: str, database: str) -> tuple[str, dict[str, int]]:
    """The statements that make an analyst's catalogue, and the oids of the tables in it."""
    made = ["CREATE SCHEMA pgc", "CREATE SCHEMA pgi", *SQL_TYPES]
    made += [f"CREATE TABLE {name} ({columns})" for name, columns in RELATIONS.items()]
    for name, rows in _rows(tables, user, database).items():
        for names in dict.fromkeys(tuple(row) for row in rows):
            alike = [row for row in rows if tuple(row) == names]
            values = ", ".join(f"({', '.join(map(_constant, row.values()))})" for row in alike)
            made.append(f"INSERT INTO pgc.{name} ({', '.join(names)}) VALUES {values}")
    made += [*MACROS, "SET search_path = 'pgc,pgi'", *VIEWS]
    return ";\n".join(made), {table.name: FIRST + i for i, table in enumerate(tables)}


def _rows(tables: Sequence[CatalogueTable], user: str, database: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of the relations that have any: of each the columns that are not NULL."""
    return {
        "pg_namespace": [
            {"oid": oid, "nspname": name, "nspowner": OWNER}
            for oid, name in ((CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION, "information_schema"))
        ],
        "pg_roles": [_role(OWNER, "owner"), _role(OWNER + 1, user)],
        "pg_database": [
            {
                "oid": 5, "datname": database, "datdba": OWNER, "encoding": 6, "datlocprovider": "c",
                "datistemplate": False, "datallowconn": True, "datconnlimit": -1, "dattablespace": 1663,
                "datcollate": "C", "datctype": "C",
            }
        ],
        "pg_tablespace": [{"oid": 1663, "spcname": "pg_default", "spcowner": OWNER}],
        "pg_am": [{"oid": 2, "amname": "heap", "amhandler": "heap_tableam_handler", "amtype": "t"}],
        "pg_language": [{"oid": 14, "lanname": "sql", "lanowner": OWNER, "lanispl": False, "lanpltrusted": True}],
        "pg_collation": [{"oid": 100, "collname": "default", "collnamespace": CATALOG, "collowner": OWNER}],
        "pg_type": [_type(*own) for own in TYPES],
        "pg_settings": [
            {"name": name, "setting": value, "context": "user", "vartype": "string", "source": "default"}
            for name, value in sorted(KNOWN_SETTINGS.items())
        ],
        "pg_class": [_class(FIRST + i, table) for i, table in enumerate(tables)],
        "pg_attribute": [
            _attribute(FIRST + i, number, *column)
            for i, table in enumerate(tables)
            for number, column in enumerate(table.columns, 1)
        ],
        "pg_description": [
            {"objoid": FIRST + i, "classoid": 1259, "objsubid": number, "description": comment}
            for i, table in enumerate(tables)
            for number, comment in enumerate((table.comment, *(own[2] for own in table.columns)))
            if comment
        ],
    }  # fmt: skip


def _role(oid: int, name: str) -> dict[str, Any]:
    return {
        "oid": oid, "rolname": name, "rolsuper": False, "rolinherit": True, "rolcreaterole": False,
        "rolcreatedb": False, "rolcanlogin": True, "rolreplication": False, "rolconnlimit": -1, "rolbypassrls": False,
    }  # fmt: skip


def _type(oid: int, name: str, length: int, category: str, element: int, array: int) -> dict[str, Any]:
    stem = "array_" if element and category == "A" else f"{name}_" if name in APART else name
    return {
        "oid": oid, "typname": name, "typnamespace": CATALOG, "typowner": OWNER, "typlen": length,
        "typbyval": 0 < length <= 8, "typtype": "p" if category == "P" else "b", "typcategory": category,
        "typispreferred": False, "typisdefined": True, "typdelim": ",", "typrelid": 0, "typelem": element,
        "typarray": array, "typinput": f"{stem}in",
        "typoutput": f"{stem}out", "typreceive": f"{stem}recv", "typnotnull": False,
        "typbasetype": 0, "typtypmod": -1, "typndims": 0, "typcollation": 100 if category == "S" else 0,
    }  # fmt: skip


def _class(oid: int, table: CatalogueTable) -> dict[str, Any]:
    return {
        "oid": oid, "relname": table.name, "relnamespace": PUBLIC, "reltype": 0, "reloftype": 0, "relowner": OWNER,
        "relam": 2, "relfilenode": oid, "reltablespace": 0, "relpages": 0, "reltuples": -1.0, "reltoastrelid": 0,
        "relhasindex": False, "relisshared": False, "relpersistence": "p", "relkind": "r",
        "relnatts": len(table.columns), "relchecks": 0, "relhasrules": False, "relhastriggers": False,
        "relhassubclass": False, "relrowsecurity": False, "relforcerowsecurity": False, "relispopulated": True,
        "relreplident": "d", "relispartition": False,
    }  # fmt: skip


def _attribute(table: int, number: int, name: str, kind: str, comment: str, nullable: bool) -> dict[str, Any]:
    own, oid = COLUMN_TYPES.get(kind, ("text", 25))
    return {
        "attrelid": table, "attname": name, "atttypid": oid, "attstattarget": -1, "attlen": LENGTHS.get(own, -1),
        "attnum": number, "attndims": 0, "atttypmod": -1, "attbyval": own in LENGTHS, "attstorage": "p",
        "attnotnull": not nullable, "atthasdef": False, "atthasmissing": False, "attidentity": "",
        "attgenerated": "", "attisdropped": False, "attislocal": True, "attinhcount": 0,
        "attcollation": 100 if own == "text" else 0,
    }  # fmt: skip


def _constant(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return str(value)
    doubled = str(value).replace("'", "''")
    return f"'{doubled}'"
