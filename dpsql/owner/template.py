"""A first policy, written from a database's schema alone: never from its values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dpsql.engine.database import SourceType

__all__ = ["first_policy", "plain_name"]

_HEAD = """\
# yaml-language-server: $schema=policy.schema.json
# (`dpsql schema > policy.schema.json` writes it; with it an editor completes keys and marks mistakes.)
#
# A first policy, made from the names and types of your tables, never from their values. Each FILL_IN is a choice
# that only you can make; until all are made, nothing opens. What is not named here does not exist for analysts.
version: 1
name: {name}
engine: {{kind: {kind}, {keys}memory: 2GiB, deadline: 30s}}

# What must be hard to tell apart: a person's being in the data or not (add_remove), or one person's being exchanged
# for another (replace_one).
#
# Then: `dpsql advise --quote` says what measuring costs, `dpsql advise --write` measures how many rows people have and
# where numbers lie, privately, and fills that in; `dpsql check` compares the policy with the data.
neighbours: add_remove

budget:
  ledger: {name}.ledger.db         # every charge ever made; keep it with the data
  composition: basic               # losses are summed; zcdp lets many small queries cost less, and needs a total delta
  # The whole promise: after everything that anyone asks, the chances of any outcome differ by a factor of at most
  # e^epsilon, whether a person takes part or not. 1 is strong, 10 is weak. delta is the chance of more: at most one
  # in a hundred times the number of people; leave it out to refuse what needs it.
  total: {{epsilon: FILL_IN}}        # such as {{epsilon: 3, delta: 1.0e-7}}
  analysts:
    "*": {{epsilon: FILL_IN}}        # everyone not named shares this account; or name: {{epsilon: ...}}, one line each
  per_query: {{epsilon: FILL_IN}}    # the price of a query that names none, such as 0.1

# Where people agreed to different losses, name the column that says which; a strict one loses a quarter, then:
# privacy_classes: {{table: TABLE, column: COLUMN, share: {{strict: 0.25, normal: 1}}}}

# For each table either
#   public: true     nobody's data, joined freely and returned as it is; its other keys may go, or
#   unit             the column that says which protected person a row is about, named so in every private table,
#   rows_per_unit    how many rows of one person are used at most: more keeps more data, and needs more noise.
# Uncomment the columns that analysts may use. Each LOW, HIGH and value must come from what is publicly known, not
# from a look at the data: numbers outside are moved to the nearer bound, other values outside read as NULL.
#   bounds: auto                 `dpsql advise` finds them, privately, at a small price; or, where they are known,
#   bounds: [LOW, HIGH]          tight bounds mean little noise; cutting off rare extremes is often worth it
#   values: [a, b]               every value there is; or values_from: table.column of a public table; without
#                                either the domain is open, and grouping by it needs delta
#   nullable: true               where missing values are a group of their own
# A CSV file says no TYPE: write integer, real or decimal (with bounds), text, boolean, or date or timestamp (with
# bounds: [LOW, HIGH]). `dpsql check` says where values are none of that type.
tables:
"""

_TABLE = """\
  {name}:
{source}    unit: {unit}                  # {candidates}; or public: true
    # key: COLUMN                  # a column that is unique in this table, if there is one
    rows_per_unit: {rows}            # a ceiling, which advise --write lowers; 1 where everyone has one row
    # rows_about: 10000            # a public guess at the number of rows: advise foretells from it what it will find
    columns:
"""

CEILING = 1024
"""Rows of one person that a first policy uses at most, before anything is known. It is a choice: few tables have more
of any person, and facts lower it."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_UNITS = ("integer", "wide", "text", "untyped")
_NUMBER = "type: integer, bounds: auto"
_FIELDS = {
    "integer": _NUMBER,
    "wide": _NUMBER,
    "real": "type: real, bounds: auto",
    "decimal": "type: decimal, bounds: auto, grid: 1.0e-{places}",
    "boolean": "type: boolean",
    "text": "type: text",
    "date": "type: date, bounds: [LOW, HIGH]",
    "timestamp": "type: timestamp, bounds: [LOW, HIGH]",
    "untyped": "type: TYPE",
}
"""What to declare for each family of types."""


def first_policy(
    name: str,
    kind: str,
    keys: Mapping[str, str],
    tables: Mapping[str, Sequence[tuple[str, SourceType]]],
    files: Mapping[str, str] | None = None,
    unit: str | None = None,
) -> str:
    """The text of a commented first policy; loading it unchanged names what is still to be filled in.

    Args:
        name: The policy's, as `plain_name` makes it one.
        kind: The engine's.
        keys: The engine's own keys; a path is relative to where the policy will lie.
        tables: For each table its columns, as (name, type).
        files: For each table that is a file of its own, its path, relative as well.
        unit: The column of the protected person, where it is known.

    >>> columns = [("id", SourceType("INTEGER", "integer")), ("cost", SourceType("DOUBLE", "real"))]
    >>> text = first_policy("clinic", "duckdb", {"database": "clinic.duckdb"}, {"visits": columns})
    >>> text.splitlines()[-1]
    '      # cost: {type: real, bounds: auto}'
    """
    written = "".join(f"{key}: {_quoted(value)}, " for key, value in keys.items())
    head = _HEAD.format(name=plain_name(name, "policy"), kind=kind, keys=written)
    return head + "".join(_table(table, columns, (files or {}).get(table), unit) for table, columns in tables.items())


def plain_name(name: str, kind: str) -> str:
    """A name that a policy can have: the same, or with one _ for each run of what is no letter or digit.

    Args:
        name: Any.
        kind: What begins it where no letter does.

    >>> plain_name("my_visits", "table"), plain_name("my-visits (new)", "table"), plain_name("2024-05", "table")
    ('my_visits', 'my_visits_new', 'table_2024_05')
    """
    if _PLAIN.fullmatch(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name)[:40].strip("_")
    return plain if _PLAIN.fullmatch(plain) else f"{kind}_{plain}"


def _table(name: str, columns: Sequence[tuple[str, SourceType]], file: str | None, unit: str | None) -> str:
    if not _PLAIN.fullmatch(name):
        return f"  # {_quoted(name)}: not a plain name in the schema main; make a view of it there\n"
    likely = [name for name, kind in columns if name.lower().endswith("id") and kind.family in _UNITS]
    candidates = " or ".join(filter(_PLAIN.fullmatch, likely)) or "the column of the protected person"
    known = next((column for column, _ in columns if unit is not None and column.lower() == unit.lower()), None)
    source = "" if file is None else f"    source: {_quoted(file)}\n"
    head = _TABLE.format(name=name, unit=known or "FILL_IN", candidates=candidates, source=source, rows=CEILING)
    return head + "".join(_column(*column, file) for column in columns if column[0] != known)


def _column(name: str, kind: SourceType, file: str | None) -> str:
    if not _PLAIN.fullmatch(name):
        cure = "give the column another one in a view" if file is None else "rename the column in the file"
        return f"      # {_quoted(name)}: not a plain name; {cure}\n"
    if kind.family in _FIELDS:
        return f"      # {name}: {{{_FIELDS[kind.family].format(places=kind.places)}}}\n"
    cure = "cast it in a view" if file is None else "write the file with another"
    return f"      # {name}: its type cannot be used as it is; {cure}\n"


def _quoted(text: str) -> str:
    """The text as a double-quoted YAML scalar."""
    return '"' + "".join(f"\\U{ord(c):08x}" if c in '"\\' or not c.isprintable() else c for c in text) + '"'
