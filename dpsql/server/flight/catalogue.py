"""What Flight SQL's clients ask about the server: catalogues, tables, keys, types, what it can do. All of it public.

The schemas are those of `FlightSql.proto`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from dpsql.answers.answer import Answer
from dpsql.answers.listing import descriptions
from dpsql.plan.outline import Outline
from dpsql.plan.types import DECLARED, Type
from dpsql.server.core import Guest
from dpsql.server.flight.arrow import schema_of
from dpsql.server.flight.wire import Fields

__all__ = ["COMMANDS", "SCHEMA", "listed", "schema_named"]

SCHEMA = "main"
"""The one schema of the one catalogue, which has the policy's name."""
TABLE = "TABLE"
REMARKS = "ARROW:FLIGHT:SQL:REMARKS"
"""The metadata of a field that drivers show as its column's comment."""


def _names(*columns: str, more: tuple[pa.Field, ...] = ()) -> pa.Schema:
    """Columns of text; a ! before a name says that it is never NULL."""
    return pa.schema([pa.field(name.lstrip("!"), pa.string(), not name.startswith("!")) for name in columns] + [*more])


_SEQUENCE = pa.field("key_sequence", pa.int32(), False)
_KEYS = _names("pk_catalog_name", "pk_db_schema_name", "!pk_table_name", "!pk_column_name", "fk_catalog_name",
    "fk_db_schema_name", "!fk_table_name", "!fk_column_name",
    more=(_SEQUENCE, pa.field("fk_key_name", pa.string()), pa.field("pk_key_name", pa.string()),
          pa.field("update_rule", pa.uint8(), False), pa.field("delete_rule", pa.uint8(), False)))  # fmt: skip
_VALUES = {
    "string_value": pa.string(), "bool_value": pa.bool_(), "bigint_value": pa.int64(), "int32_bitmask": pa.int32(),
    "string_list": pa.list_(pa.string()), "int32_to_int32_list_map": pa.map_(pa.int32(), pa.list_(pa.int32())),
}  # fmt: skip
_INFO = pa.schema([
    pa.field("info_name", pa.uint32(), False),
    pa.field("value", pa.dense_union([pa.field(name, kind) for name, kind in _VALUES.items()]), False),
])  # fmt: skip
_TYPES = pa.schema([
    pa.field("type_name", pa.string(), False), pa.field("data_type", pa.int32(), False),
    pa.field("column_size", pa.int32()), pa.field("literal_prefix", pa.string()),
    pa.field("literal_suffix", pa.string()), pa.field("create_params", pa.list_(pa.field("item", pa.string(), False))),
    pa.field("nullable", pa.int32(), False), pa.field("case_sensitive", pa.bool_(), False),
    pa.field("searchable", pa.int32(), False), pa.field("unsigned_attribute", pa.bool_()),
    pa.field("fixed_prec_scale", pa.bool_(), False), pa.field("auto_increment", pa.bool_()),
    pa.field("local_type_name", pa.string()), pa.field("minimum_scale", pa.int32()),
    pa.field("maximum_scale", pa.int32()), pa.field("sql_data_type", pa.int32(), False),
    pa.field("datetime_subcode", pa.int32()), pa.field("num_prec_radix", pa.int32()),
    pa.field("interval_precision", pa.int32()),
])  # fmt: skip

COMMANDS: Mapping[str, pa.Schema] = {
    "CommandGetCatalogs": _names("!catalog_name"),
    "CommandGetDbSchemas": _names("catalog_name", "!db_schema_name"),
    "CommandGetTables": _names("catalog_name", "db_schema_name", "!table_name", "!table_type"),
    "CommandGetTableTypes": _names("!table_type"),
    "CommandGetPrimaryKeys": _names("catalog_name", "db_schema_name", "!table_name", "!column_name",
                                    more=(pa.field("key_name", pa.string()), _SEQUENCE)),
    "CommandGetExportedKeys": _KEYS,
    "CommandGetImportedKeys": _KEYS,
    "CommandGetCrossReference": _KEYS,
    "CommandGetSqlInfo": _INFO,
    "CommandGetXdbcTypeInfo": _TYPES,
}  # fmt: skip
"""What may be asked, and the columns of its answer. No keys are listed: none can be selected."""

ABILITIES: Mapping[int, str | bool | int] = {
    0: "dpsql", 1: version("dpsql"), 2: pa.__version__, 3: True, 4: True, 5: False, 8: 1, 9: False, 10: False,
    500: False, 501: False, 502: False, 503: 1, 504: '"', 505: 1, 506: True, 507: 1,
}  # fmt: skip
"""SqlInfo: name and versions; read-only; SQL, no Substrait; transactions, which do nothing; no bulk load; no DDL but
synthetic tables; names in any letter case, quoted by "; NULLs last."""
INFO_FIELDS = {str: 0, bool: 1, int: 3}  # Which member of the union has such a value.
BIG = (503, 505, 507)  # Those of them that are 64 bits wide.
JDBC = {
    Type.INTEGER: (-5, 19), Type.REAL: (8, 17), Type.BOOLEAN: (-7, 1), Type.TEXT: (12, None), Type.DATE: (91, 10),
    Type.TIMESTAMP: (93, 26),
}  # fmt: skip
"""Types by their numbers in JDBC (java.sql.Types), and their width in digits or characters."""


def schema_named(name: str, body: Fields) -> pa.Schema | None:
    """The columns of what a command asks about; None where it asks about nothing of this."""
    schema = COMMANDS.get(name)
    if name == "CommandGetTables" and schema is not None and body.number(5):
        return schema.append(pa.field("table_schema", pa.binary(), False))
    return schema


def listed(name: str, body: Fields, guest: Guest, catalogue: str) -> pa.Table:
    """What a command asks about.

    Args:
        name: One of `COMMANDS`.
        body: What it says.
        guest: Who asks: their synthetic tables are listed, too.
        catalogue: The policy's name.
    """
    rows = _LISTS[name](body, guest, catalogue) if name in _LISTS else []
    schema = schema_named(name, body)
    assert schema is not None
    if name == "CommandGetSqlInfo":
        return _union(rows)
    return pa.Table.from_pylist([dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema)


def _catalogues(body: Fields, guest: Guest, catalogue: str) -> list[tuple[Any, ...]]:
    return [(catalogue,)]


def _schemas(body: Fields, guest: Guest, catalogue: str) -> list[tuple[Any, ...]]:
    return [(catalogue, SCHEMA)] if _inside(body, catalogue) else []


def _tables(body: Fields, guest: Guest, catalogue: str) -> list[tuple[Any, ...]]:
    kinds, like = body.texts(4), _like(body.optional(3))
    if not _inside(body, catalogue) or (kinds and TABLE not in kinds):
        return []
    names = [str(row[0]) for row in guest.ask("tables", lambda session: session.tables()).rows]
    rows: list[tuple[Any, ...]] = [(catalogue, SCHEMA, name, TABLE) for name in sorted(names) if like(name)]
    if not body.number(5):
        return rows
    return [(*row, _columns(guest, row[2]).serialize().to_pybytes()) for row in rows]


def _columns(guest: Guest, table: str) -> pa.Schema:
    """A table's columns. What can only be joined or counted (units, keys) is shown as text."""

    def described(session: Any) -> Answer:
        answer: Answer = session.describe(table)
        return answer

    answer = guest.ask(f"table {table}", described)
    kinds = [DECLARED.get(str(kind), Type.TEXT) for _, kind, *_ in answer]
    schema = schema_of(Outline(tuple(map(str, answer["column"])), tuple(kinds)))
    return pa.schema(
        [
            field if words is None else field.with_metadata({REMARKS: words})
            for field, words in zip(schema, descriptions(answer), strict=True)
        ],
        schema.metadata,
    )


def _infos(body: Fields, guest: Guest, catalogue: str) -> list[tuple[Any, ...]]:
    wanted = body.numbers(1) or list(ABILITIES)
    return [(code, ABILITIES[code]) for code in wanted if code in ABILITIES]


def _types(body: Fields, guest: Guest, catalogue: str) -> list[tuple[Any, ...]]:
    wanted, rows = body.number(1), []
    for kind, (number, width) in JDBC.items():
        quote = None if kind.numeric or kind is Type.BOOLEAN else "'"
        row = (kind.value, number, width, quote, quote, None, 1, kind is Type.TEXT, 3, False if kind.numeric else None,
               False, False, kind.value, None, None, number, None, 10 if kind.numeric else None, None)  # fmt: skip
        rows += [row] if not wanted or wanted == number % 2**64 else []
    return rows


_LISTS: Mapping[str, Callable[[Fields, Guest, str], list[tuple[Any, ...]]]] = {
    "CommandGetCatalogs": _catalogues,
    "CommandGetDbSchemas": _schemas,
    "CommandGetTables": _tables,
    "CommandGetTableTypes": lambda *_: [(TABLE,)],
    "CommandGetSqlInfo": _infos,
    "CommandGetXdbcTypeInfo": _types,
}


def _union(rows: list[tuple[Any, ...]]) -> pa.Table:
    """SqlInfo's rows, whose values are of several types."""
    kinds = [2 if code in BIG else INFO_FIELDS[type(value)] for code, value in rows]
    children = [
        pa.array([value for (_, value), own in zip(rows, kinds, strict=True) if own == place], kind)
        for place, kind in enumerate(_VALUES.values())
    ]
    offsets = [kinds[:i].count(kind) for i, kind in enumerate(kinds)]
    union = pa.UnionArray.from_dense(pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), children, list(_VALUES))
    return pa.Table.from_arrays([pa.array([code for code, _ in rows], pa.uint32()), union], schema=_INFO)


def _inside(body: Fields, catalogue: str) -> bool:
    """Whether a command's catalogue and pattern of schemas are the ones there are."""
    return body.optional(1) in (None, catalogue) and _like(body.optional(2))(SCHEMA)


def _like(pattern: str | None) -> Callable[[str], bool]:
    """Whether a name fits a pattern of LIKE, in any letter case.

    >>> _like("p_t%")("patients"), _like("p_")("patients"), _like(None)("x")
    (True, False, True)
    """
    if pattern is None:
        return lambda name: True
    parts = re.findall(r"[%_]|[^%_]+", pattern)
    found = re.compile("".join({"%": ".*", "_": "."}.get(part) or re.escape(part) for part in parts), re.I | re.S)
    return lambda name: found.fullmatch(name) is not None
