"""What a catalogue is made of beside its rows: types, macros in the place of PostgreSQL's functions, and views.

Source: PostgreSQL 16's pg_type.dat for the types, and chapter 9.26 of its documentation for the functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsql.plan.options import NAMES
from dpsql.server.postgres.columns import INFORMATION, KINDS, SYSTEM

__all__ = ["FUNCTIONS", "MACROS", "RELATIONS", "SQL_TYPES", "TYPES", "VIEWS"]


OPTIONS = (*NAMES, "intervals")
"""What SET alone sets: PostgreSQL's settings mean nothing, so that set_config says what it was told."""


def _columns(text: str) -> str:
    pairs = (column.split(" ") for column in text.split(","))
    return ", ".join(f"{name} {KINDS[kind]}" for name, kind in pairs)


RELATIONS: Mapping[str, str] = {f"pgc.{name}": _columns(text) for name, text in SYSTEM.items()} | {
    f"pgi.{name}": _columns(text) for name, text in INFORMATION.items()
}
"""Every relation with its columns, as CREATE TABLE writes them."""

TYPES: Sequence[tuple[int, str, int, str, int, int]] = (
    (16, "bool", 1, "B", 0, 1000), (17, "bytea", -1, "U", 0, 1001), (18, "char", 1, "Z", 0, 1002),
    (19, "name", 64, "S", 18, 1003), (20, "int8", 8, "N", 0, 1016), (21, "int2", 2, "N", 0, 1005),
    (22, "int2vector", -1, "A", 21, 1006), (23, "int4", 4, "N", 0, 1007), (24, "regproc", 4, "N", 0, 1008),
    (25, "text", -1, "S", 0, 1009), (26, "oid", 4, "N", 0, 1028), (28, "xid", 4, "U", 0, 1011),
    (30, "oidvector", -1, "A", 26, 1013), (114, "json", -1, "U", 0, 199), (700, "float4", 4, "N", 0, 1021),
    (701, "float8", 8, "N", 0, 1022), (705, "unknown", -2, "X", 0, 0), (1000, "_bool", -1, "A", 16, 0),
    (1005, "_int2", -1, "A", 21, 0), (1007, "_int4", -1, "A", 23, 0), (1009, "_text", -1, "A", 25, 0),
    (1016, "_int8", -1, "A", 20, 0), (1021, "_float4", -1, "A", 700, 0), (1022, "_float8", -1, "A", 701, 0),
    (1015, "_varchar", -1, "A", 1043, 0), (1028, "_oid", -1, "A", 26, 0), (1033, "aclitem", 16, "U", 0, 1034),
    (1034, "_aclitem", -1, "A", 1033, 0), (1042, "bpchar", -1, "S", 0, 1014), (1043, "varchar", -1, "S", 0, 1015),
    (1082, "date", 4, "D", 0, 1182), (1083, "time", 8, "D", 0, 1183), (1114, "timestamp", 8, "D", 0, 1115),
    (1115, "_timestamp", -1, "A", 1114, 0), (1182, "_date", -1, "A", 1082, 0), (1184, "timestamptz", 8, "D", 0, 1185),
    (1186, "interval", 16, "T", 0, 1187), (1700, "numeric", -1, "N", 0, 1231), (1231, "_numeric", -1, "A", 1700, 0),
    (2205, "regclass", 4, "N", 0, 2210), (2206, "regtype", 4, "N", 0, 2211), (2249, "record", -1, "P", 0, 2287),
    (2278, "void", 4, "P", 0, 0), (2950, "uuid", 16, "U", 0, 2951),
)  # fmt: skip
"""Oid, name, length, category, element and array of each type; of pg_type.dat."""

SQL_TYPES: Sequence[str] = tuple(
    f"CREATE TYPE pgc.{name} AS {kind}"
    for kind, names in {
        "UINTEGER": "regclass regtype regnamespace regrole xid",
        "VARCHAR": "name regproc regprocedure regoper regoperator aclitem",
    }.items()
    for name in names.split()
)
"""Names of PostgreSQL's types that DuckDB has not."""

NAMES_OF_TYPES = (
    "CASE t WHEN 16 THEN 'boolean' WHEN 20 THEN 'bigint' WHEN 21 THEN 'smallint' WHEN 23 THEN 'integer' "
    "WHEN 25 THEN 'text' WHEN 26 THEN 'oid' WHEN 700 THEN 'real' WHEN 701 THEN 'double precision' "
    "WHEN 1043 THEN 'character varying' WHEN 1082 THEN 'date' WHEN 1114 THEN 'timestamp without time zone' "
    "WHEN 1700 THEN 'numeric' ELSE (SELECT any_value(y.typname) FROM pgc.pg_type y WHERE y.oid = t) END"
)
KEYWORDS = (
    "all and any array as asc both case cast check collate column constraint create current_date current_role "
    "current_time current_timestamp current_user default desc distinct do else end except false fetch for foreign from "
    "grant group having in initially intersect into leading limit localtime not null offset on only or order primary "
    "references returning select session_user some symmetric table then to trailing true union unique user using when "
    "where window with"
)
_ONE = {  # Name and parameters of a function, and what it gives.
    "format_type(t, m)": NAMES_OF_TYPES,
    "version()": "'PostgreSQL 16.4 (dpsql)'",
    "current_schemas(x)": "CASE WHEN x THEN ['pg_catalog', 'public'] ELSE ['public'] END",
    "array_upper(a, n)": "NULLIF(len(a), 0)",
    "array_lower(a, n)": "CASE WHEN len(a) > 0 THEN 1 END",
    "array_length(a, n)": "NULLIF(len(a), 0)",
    "array_ndims(a)": "CASE WHEN len(a) > 0 THEN 1 END",
    "pg_get_userbyid(o)": "(SELECT any_value(r.rolname) FROM pgc.pg_roles r WHERE r.oid = o)",
    "pg_encoding_to_char(e)": "'UTF8'",
    "pg_table_is_visible(o)": "TRUE",
    "pg_type_is_visible(o)": "TRUE",
    "pg_function_is_visible(o)": "TRUE",
    "pg_opclass_is_visible(o)": "TRUE",
    "pg_operator_is_visible(o)": "TRUE",
    "pg_collation_is_visible(o)": "TRUE",
    "pg_statistics_obj_is_visible(o)": "TRUE",
    "pg_ts_config_is_visible(o)": "TRUE",
    "pg_relation_is_publishable(o)": "FALSE",
    "pg_get_partkeydef(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_function_result(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_function_arguments(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_function_identity_arguments(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_functiondef(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_statisticsobjdef(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_statisticsobjdef_columns(o)": "CAST(NULL AS VARCHAR)",
    "pg_get_serial_sequence(t, c)": "CAST(NULL AS VARCHAR)",
    "pg_tablespace_location(o)": "''",
    "pg_size_pretty(n)": "CAST(NULL AS VARCHAR)",
    "pg_database_size(o)": "CAST(NULL AS BIGINT)",
    "pg_table_size(o)": "CAST(NULL AS BIGINT)",
    "pg_total_relation_size(o)": "CAST(NULL AS BIGINT)",
    "pg_indexes_size(o)": "CAST(NULL AS BIGINT)",
    "pg_stat_get_numscans(o)": "CAST(NULL AS BIGINT)",
    "pg_relation_filenode(o)": "CAST(NULL AS BIGINT)",
    "pg_backend_pid()": "0",
    "pg_is_in_recovery()": "FALSE",
    "pg_is_wal_replay_paused()": "FALSE",
    "pg_postmaster_start_time()": "TIMESTAMP '2000-01-01'",
    "pg_conf_load_time()": "TIMESTAMP '2000-01-01'",
    "pg_my_temp_schema()": "0",
    "pg_is_other_temp_schema(o)": "FALSE",
    "pg_advisory_unlock_all()": "CAST(NULL AS VARCHAR)",
    "pg_char_to_encoding(e)": "6",
    "inet_server_addr()": "CAST(NULL AS VARCHAR)",
    "inet_server_port()": "CAST(NULL AS INTEGER)",
    "inet_client_addr()": "CAST(NULL AS VARCHAR)",
    "pg_partition_ancestors(o)": "CAST(o AS UINTEGER)",
    "generate_subscripts(a, n)": "unnest(range(1, len(a) + 1))",
    "_pg_expandarray(a)": "struct_pack(x := a[1], n := 1)",
    "regclass_of(x)": "coalesce(TRY_CAST(x AS UINTEGER), (SELECT any_value(c.oid) FROM pgc.pg_class c "
    "WHERE c.relname = replace(replace(x, '\"', ''), 'public.', '')))",
    "txid_current()": "1",
    "to_regclass(n)": "(SELECT any_value(c.oid) FROM pgc.pg_class c WHERE c.relname = CAST(n AS VARCHAR))",
    "to_regtype(n)": "(SELECT any_value(y.oid) FROM pgc.pg_type y WHERE y.typname = CAST(n AS VARCHAR))",
    "shobj_description(o, c)": "CAST(NULL AS VARCHAR)",
    "quote_ident(n)": "n",
    "quote_literal(n)": "'''' || replace(CAST(n AS VARCHAR), '''', '''''') || ''''",
    "set_config(n, v, l)": f"CASE WHEN lower(n) IN {OPTIONS} THEN error('Write SET epsilon = 0.2.') ELSE v END",
    "regexp_match(s, p)": "CASE WHEN regexp_matches(s, p) THEN [regexp_extract(s, p, 0)] END",
}
_COLUMN = (
    "(SELECT any_value(d.description) FROM pgc.pg_description d WHERE d.objoid = o AND d.objsubid = n "
    "AND d.classoid = 1259)"
)
_SETTING = "(SELECT any_value(s.setting) FROM pgc.pg_settings s WHERE s.name = lower(CAST(n AS VARCHAR)))"
_MORE = {  # Functions with several numbers of parameters, and what each gives.
    "generate_series": (  # in FROM it is DuckDB's own; in a SELECT that gives a list, and PostgreSQL gives rows
        "(a, b) AS unnest(system.main.generate_series(a, b))",
        "(a, b, c) AS unnest(system.main.generate_series(a, b, c))",
    ),
    "pg_get_expr": ("(a, b) AS CAST(NULL AS VARCHAR)", "(a, b, c) AS CAST(NULL AS VARCHAR)"),
    "pg_get_constraintdef": ("(o) AS CAST(NULL AS VARCHAR)", "(o, p) AS CAST(NULL AS VARCHAR)"),
    "pg_get_viewdef": ("(o) AS CAST(NULL AS VARCHAR)", "(o, p) AS CAST(NULL AS VARCHAR)"),
    "pg_get_ruledef": ("(o) AS CAST(NULL AS VARCHAR)", "(o, p) AS CAST(NULL AS VARCHAR)"),
    "pg_get_triggerdef": ("(o) AS CAST(NULL AS VARCHAR)", "(o, p) AS CAST(NULL AS VARCHAR)"),
    "pg_get_indexdef": ("(o) AS CAST(NULL AS VARCHAR)", "(o, c, p) AS CAST(NULL AS VARCHAR)"),
    "pg_relation_size": ("(o) AS CAST(NULL AS BIGINT)", "(o, f) AS CAST(NULL AS BIGINT)"),
    "obj_description": (f"(o) AS {_COLUMN.replace('= n ', '= 0 ')}", f"(o, c) AS {_COLUMN.replace('= n ', '= 0 ')}"),
    "col_description": (f"(o, n) AS {_COLUMN}",),
    "current_setting": (f"(n) AS {_SETTING}", f"(n, m) AS {_SETTING}", "(n, m, v) AS v"),
    "has_database_privilege": ("(d, p) AS lower(p) = 'connect'", "(u, d, p) AS lower(p) = 'connect'"),
} | {
    f"has_{what}_privilege": (f"(o, p) AS lower(p) = '{right}'", f"(u, o, p) AS lower(p) = '{right}'")
    for what, right in {
        "table": "select", "any_column": "select", "schema": "usage", "sequence": "usage", "function": "execute",
        "tablespace": "create", "language": "usage", "type": "usage", "foreign_data_wrapper": "none", "server": "none",
    }.items()
} | {"has_column_privilege": ("(o, c, p) AS lower(p) = 'select'", "(u, o, c, p) AS lower(p) = 'select'")} | {
    "pg_has_role": ("(r, p) AS TRUE", "(u, r, p) AS TRUE")
}  # fmt: skip
_TABLES = {
    "pg_get_keywords()": f"SELECT unnest(string_split('{KEYWORDS}', ' ')) AS word, 'R' AS catcode, "
    "'reserved' AS catdesc",
    "aclexplode(a)": "SELECT 0 AS grantor, 0 AS grantee, '' AS privilege_type, FALSE AS is_grantable WHERE FALSE",
}
MACROS: Sequence[str] = (
    *(f"CREATE MACRO pgc.{name} AS {text}" for name, text in _ONE.items()),
    *(f"CREATE MACRO pgc.{name}{', '.join(forms)}" for name, forms in _MORE.items()),
    *(f"CREATE MACRO pgc.{name} AS TABLE {text}" for name, text in _TABLES.items()),
)
"""PostgreSQL's functions; each is made after the relations that it reads."""

_COLUMNS = (
    "a.attname AS column_name, a.attnum AS ordinal_position, CAST(NULL AS VARCHAR) AS column_default, "
    "CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END AS is_nullable, format_type(a.atttypid, -1) AS data_type, "
    "CAST(NULL AS INTEGER) AS character_maximum_length, CAST(NULL AS INTEGER) AS character_octet_length, "
    "CASE a.atttypid WHEN 20 THEN 64 WHEN 701 THEN 53 END AS numeric_precision, "
    "CASE a.atttypid WHEN 20 THEN 2 WHEN 701 THEN 2 END AS numeric_precision_radix, "
    "CASE a.atttypid WHEN 20 THEN 0 END AS numeric_scale, CAST(NULL AS INTEGER) AS datetime_precision, "
    "CAST(NULL AS VARCHAR) AS character_set_name, CAST(NULL AS VARCHAR) AS collation_name, "
    "CAST(NULL AS VARCHAR) AS domain_name, 'pg_catalog' AS udt_schema, y.typname AS udt_name, "
    "'NO' AS is_identity, CAST(NULL AS VARCHAR) AS identity_generation, 'NEVER' AS is_generated, "
    "CAST(NULL AS VARCHAR) AS generation_expression, 'NO' AS is_updatable"
)
_DATABASE = "(SELECT any_value(b.datname) FROM pgc.pg_database b)"
VIEWS: Sequence[str] = (
    "CREATE VIEW pgc.pg_tables AS SELECT n.nspname AS schemaname, c.relname AS tablename, 'owner' AS tableowner, "
    "CAST(NULL AS VARCHAR) AS tablespace, FALSE AS hasindexes, FALSE AS hasrules, FALSE AS hastriggers, "
    "FALSE AS rowsecurity FROM pgc.pg_class c JOIN pgc.pg_namespace n ON n.oid = c.relnamespace",
    "CREATE VIEW pgc.pg_user AS SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, "
    "rolsuper AS usesuper FROM pgc.pg_roles",
    "CREATE VIEW pgc.pg_authid AS SELECT * FROM pgc.pg_roles",
    "CREATE VIEW pgi.tables AS SELECT " + _DATABASE + " AS table_catalog, n.nspname AS table_schema, "
    "c.relname AS table_name, 'BASE TABLE' AS table_type, 'NO' AS is_insertable_into, 'NO' AS is_typed "
    "FROM pgc.pg_class c JOIN pgc.pg_namespace n ON n.oid = c.relnamespace",
    "CREATE VIEW pgi.columns AS SELECT " + _DATABASE + " AS table_catalog, n.nspname AS table_schema, "
    "c.relname AS table_name, " + _COLUMNS + " FROM pgc.pg_attribute a JOIN pgc.pg_class c ON c.oid = a.attrelid "
    "JOIN pgc.pg_namespace n ON n.oid = c.relnamespace JOIN pgc.pg_type y ON y.oid = a.atttypid",
    "CREATE VIEW pgi.schemata AS SELECT " + _DATABASE + " AS catalog_name, nspname AS schema_name, "
    "'owner' AS schema_owner FROM pgc.pg_namespace",
    "CREATE VIEW pgi.table_privileges AS SELECT 'owner' AS grantor, r.rolname AS grantee, t.table_catalog, "
    "t.table_schema, t.table_name, 'SELECT' AS privilege_type, 'NO' AS is_grantable "
    "FROM pgi.tables t, pgc.pg_roles r WHERE r.rolname <> 'owner'",
)
"""Views over the relations."""

FUNCTIONS: Sequence[str] = sorted(
    {name.partition("(")[0] for name in (*_ONE, *_TABLES)} | set(_MORE) | set(
        "+ - * / % & | << >> || ~~ !~~ ~~* !~~* = <> < <= > >= "
        "regexp_matches regexp_full_match regexp_replace regexp_extract "
        "not count count_star sum min max avg string_agg array_agg list any_value bool_and bool_or every "
        "coalesce nullif ifnull concat concat_ws lower upper length strlen len substring substr replace trim ltrim "
        "rtrim btrim left right position strpos instr starts_with split_part string_split ascii chr repeat lpad rpad "
        "abs ceil ceiling floor round greatest least sign mod unnest generate_series range array_to_string "
        "array_extract list_value list_contains array_contains contains row_number rank dense_rank lag lead "
        "first_value last_value cast to_char date_trunc date_part extract now struct_pack row "
        "array_position list_position like_escape not_like_escape ilike_escape not_ilike_escape "
        "json_object json_group_array array_length list_slice array_slice list_append array_cat list_cat".split()
    )
)  # fmt: skip
"""Every function that a client's question may use, by the names that DuckDB's parser has for them."""
