"""A first policy, written from a database's schema alone: never from its values, but for how CSV files write these."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from dpsql.engine.database import SourceType, TableSchema
from dpsql.limits import LONGEST_DESCRIPTION
from dpsql.owner.proposed import Link, also_leading, links, names_somebody, units

__all__ = ["CEILING", "Choices", "first_policy", "plain_name", "quoted", "shown", "with_plain_columns"]

_HEAD = """\
# yaml-language-server: $schema=policy.schema.json
# (`dpsql schema > policy.schema.json` writes it; with it an editor completes keys and marks mistakes.)
#
# A first policy, made from the names and types of your tables, never from their values. (Of CSV files, only the types
# and formats of the first lines are used.) Each FILL_IN is a choice that only you can make; until all are made, dpsql
# does not open this policy. For analysts, tables and columns that are not named here do not exist.
#
# Then: `dpsql advise --quote` says what measuring costs, `dpsql advise --write` measures how many rows people have and
# where numbers lie, privately, and fills that in; `dpsql check` compares the policy with the data.
version: 1
name: {name}
engine: {{kind: {kind}, {keys}memory: 2GiB, deadline: 30s}}

# What nobody can tell: whether a person is in the data (add_remove), or one person from another one in their place
# (replace_one).
neighbours: add_remove

budget:
  ledger: {name}.ledger.db         # every charge ever made; keep it with the data
  composition: basic               # losses are summed; zcdp lets many small queries cost less, and needs a total delta
  # The whole promise: after everything that anyone asks, the probability of any outcome with a person in the data and
  # without differs by a factor of at most e^epsilon. 1 is strong, 10 is weak. delta is the chance that this fails: at
  # most 1 / (100 * the number of people). Without delta, questions that need it are refused.
  total: {{epsilon: {total}}}        # such as {{epsilon: 3, delta: 1.0e-7}}
  analysts:
    "*": {{epsilon: {each}}}        # everyone not named shares this account; or name: {{epsilon: ...}}, one line each
  per_query: {{epsilon: {per_query}}}    # the price of a query that names none, such as 0.1

# If people agreed to different losses, name the column that says which. Here strict people lose a quarter:
# privacy_classes: {{table: TABLE, column: COLUMN, share: {{strict: 0.25, normal: 1}}}}

# Each table has either
#   public: true     it is nobody's data, joined freely and returned as it is. Then remove unit, rows_per_unit and
#                    rows_about; columns, if they stay, have a type and no bounds; or
#   unit             the column that says which protected person a row is about, with one name in all private tables;
#                    or {{via: visits, on: visit_id}}: the person of the row of visits with that key; and
#   rows_per_unit    how many rows of one person are used at most: more keeps more data, and needs more noise.
# {nobody}
# Uncomment the columns that analysts may use. Each LOW, HIGH and value must come from what is publicly known, not
# from a look at the data: numbers outside are moved to the nearer bound, other values outside read as NULL.
#   bounds: auto                 `dpsql advise` finds them, privately (numbers of private tables). Each such column adds
#                                to its price
#   bounds: [LOW, HIGH]          better, if known: tight bounds mean little noise. Of days they also list the groups
#   values: [a, b]               every value that the column can have; or values_from: table.column of a public table.
#                                Without either the column is open, and grouping by it needs delta
#   description: "In years"      what it means, in a line; also for tables. Analysts read it: write what all may know,
#                                and nothing about single people{commented}
#   nullable: true               if missing values are a group of their own
# CSV files have no types: those below are what the first lines look like. If it says TYPE, write integer, real or
# decimal (with bounds), text, boolean, date or timestamp. `dpsql check` says where values do not fit their type. If a
# file writes 31.12.2024, 1,5, ja or NULL, say so at its table:
#   csv: {{dateformat: "%d.%m.%Y", decimal_separator: ",", true_values: [ja], false_values: [nein], nullstr: [NULL]}}
tables:
"""

CEILING = 1024
"""Rows of one person that a first policy uses at most, before anything is known. It is a choice: few tables have more
of any person, and facts lower it."""
QUERIES = 100  # Of open groups that a first policy's delta is enough for. It is a choice: more need zcdp.
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "Ae"}
    | {"ø": "oe", "Ø": "Oe", "œ": "oe", "Œ": "Oe", "å": "a", "Å": "A", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i"}
)
"""Letters that are written otherwise where there are only those of ASCII; all others lose their accents."""
_NUMBER = "type: integer, bounds: auto"
_DAY = "# bounds: [LOW, HIGH] in the braces, each like {like}, lists its days, months and years as groups"
_ENUM = "# values: [a, b] in the braces as its ENUM lists them, if that list was not made from the data"
_LIKE = {"date": "2024-01-31", "timestamp": "2024-01-31 00:00:00"}
_FIELDS = {
    "integer": _NUMBER,
    "wide": _NUMBER,
    "real": "type: real, bounds: auto",
    "decimal": "type: decimal, bounds: auto, grid: 1.0e-{places}",
    "boolean": "type: boolean",
    "text": "type: text",
    "date": "type: date",
    "timestamp": "type: timestamp",
    "untyped": "type: TYPE",
}
"""What to declare for each family of types."""
_COMMENTED = ". Those below are the source's own comments: read them first"
_NOBODY = """\
If no column is a person, but each row is another person (a survey), number the rows once and keep the numbers:
#   python -c "import duckdb; duckdb.sql('''COPY (SELECT row_number() OVER () AS person, * \
FROM 'survey.parquet') TO 'persons.parquet' ''')"
# If rows are events at places or of things (planes, shops, sensors), the place may be the unit. Then everything about
# one place is hidden, but not a person who was at several. If rows are nobody's data at all: public: true.
#"""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the owner has chosen before the file is written; what is absent is to be filled in.

    Attributes:
        unit: The column of the protected person.
        public: Tables that are nobody's data.
        columns: Whether analysts may use every column that can be declared at once and does not look as if it named
            somebody.
        rows: A public guess at the number of rows of tables.
        caps: The most rows of one person that tables use.
        known: Of columns, each as table.column: "bounds: [0, 110]", or the values that there are.
        total, each, per_query: Epsilons: of all analysts together, of one, of one query.
        delta: Of all analysts together, and of one; a query may have a hundredth.
    """

    unit: str | None = None
    public: frozenset[str] = frozenset()
    columns: bool = False
    rows: Mapping[str, str] = field(default_factory=dict)
    caps: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, str] = field(default_factory=dict)
    total: str | None = None
    each: str | None = None
    per_query: str | None = None
    delta: Decimal | None = None


def first_policy(
    name: str, kind: str, keys: Mapping[str, str], tables: Mapping[str, TableSchema], chosen: Choices | None = None
) -> str:
    """The text of a commented first policy; loading it unchanged names what is still to be filled in.

    Args:
        name: The policy's, as `plain_name` makes it one.
        kind: The engine's.
        keys: The engine's own keys; a path is relative to where the policy will lie.
        tables: What the schema says of each table; paths are relative as well.
        chosen: What the owner has chosen already.

    >>> columns = (("id", SourceType("INTEGER", "integer")), ("cost", SourceType("DOUBLE", "real")))
    >>> text = first_policy("clinic", "duckdb", {"database": "clinic.duckdb"}, {"visits": TableSchema(columns)})
    >>> text.splitlines()[-1]
    '      # cost: {type: real, bounds: auto}'
    """
    chosen, tables = chosen or Choices(), with_plain_columns(tables)
    head = _HEAD.format(
        name=plain_name(name, "policy"),
        kind=kind,
        keys="".join(f"{key}: {quoted(value)}, " for key, value in keys.items()),
        nobody=_NOBODY,
        commented=_COMMENTED if any(table.comment or table.comments for table in tables.values()) else "",
        total=(chosen.total or "FILL_IN") + _delta(chosen.delta),
        each=(chosen.each or "FILL_IN") + _delta(chosen.delta),
        per_query=(chosen.per_query or "FILL_IN") + _delta(chosen.delta and chosen.delta / QUERIES),
    )
    found = links(tables, chosen.unit) if chosen.unit is not None else {}
    return head + "".join(_table(name, tables, found, chosen) for name in tables)


def _delta(delta: Decimal | None) -> str:
    return "" if delta is None else f", delta: {delta:.1e}"


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
    plain = re.sub(r"[^A-Za-z0-9]+", "_", _in_ascii(name))[:40].strip("_")
    return plain if _PLAIN.fullmatch(plain) else f"{kind}_{plain}"


def _in_ascii(name: str) -> str:
    """The name with letters of ASCII in the place of those that have some.

    >>> _in_ascii("Größe"), _in_ascii("Prénom"), _in_ascii("Łódź")
    ('Groesse', 'Prenom', 'Lodz')
    """
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", name).translate(_LETTERS))
    return "".join(part for part in parts if not unicodedata.combining(part))


def with_plain_columns(tables: Mapping[str, TableSchema]) -> dict[str, TableSchema]:
    """The same tables, whose columns have names that a policy can have; they say how these are renamed.

    >>> kind = SourceType("DOUBLE", "real")
    >>> table = TableSchema((("Total Cost", kind), ("total-cost", kind), ("day", kind)))
    >>> found = with_plain_columns({"visits": table})["visits"]
    >>> [name for name, _ in found.columns], found.rename
    (['Total_Cost', 'total_cost_2', 'day'], {'Total_Cost': 'Total Cost', 'total_cost_2': 'total-cost'})
    """
    plain = {name: _plain_columns(table) for name, table in tables.items()}
    return {
        name: replace(
            table,
            columns=tuple((plain[name][column], kind) for column, kind in table.columns),
            keys=tuple(tuple(plain[name].get(column, column) for column in key) for key in table.keys),
            references={
                plain[name].get(column, column): (owner, plain.get(owner, {}).get(key, key))
                for column, (owner, key) in table.references.items()
            },
            comments={plain[name].get(column, column): text for column, text in table.comments.items()},
            seen={plain[name].get(column, column): text for column, text in table.seen.items()},
            rename={
                new: table.rename.get(column, column)
                for column, new in plain[name].items()
                if new != column or column in table.rename
            },
        )
        for name, table in tables.items()
    }


def _plain_columns(table: TableSchema) -> dict[str, str]:
    """From the name of each column to one that a policy can have: its own, where it can and no other has it in SQL.

    One that does not print stays as it is: no policy holds it.
    """
    found = {name: name for name, _ in table.columns if not name.isprintable()}
    for name in sorted((name for name, _ in table.columns), key=lambda name: not _PLAIN.fullmatch(name)):
        if name in found:
            continue
        wanted, taken = plain_name(name, "column"), {one.lower() for one in found.values()}
        free = (wanted, *(f"{wanted}_{number}" for number in range(2, len(taken) + 3)))
        found[name] = next(one for one in free if one.lower() not in taken)
    return {name: found[name] for name, _ in table.columns}


def _table(name: str, tables: Mapping[str, TableSchema], found: Mapping[str, Link], chosen: Choices) -> str:
    table, link = tables[name], found.get(name)
    if not _PLAIN.fullmatch(name) or (table.stored and not all(map(_PLAIN.fullmatch, table.stored.split(".")))):
        return f"  # {quoted(table.stored or name)}: not a plain name; make a view of it in the schema main\n"
    source = table.stored or (None if table.file is None else str(table.file))
    lines = [f"  {name}:\n"] + ([] if source is None else [f"    source: {quoted(source)}\n"])
    if (words := _description(table.comment)) is not None:
        lines.append(f"    description: {words}\n")
    if table.rename:
        lines.append("    rename:                      # names to use, and those in the data, which are none in SQL\n")
        lines += [f"      {new}: {quoted(own)}\n" for new, own in table.rename.items()]
    lines += _csv(table)
    if name in chosen.public:
        lines.append("    public: true                 # nobody's data: joined freely, returned as it is\n")
        return "".join([*lines, *_public_columns(table)])
    targets = {link.via: str(link.key) for link in found.values() if link.via is not None}
    also = also_leading(tables, name, found) if link is not None and link.via is None else None
    return "".join(
        [*lines, *_owned(name, table, (link, also), targets.get(name), chosen), *_columns(name, table, link, chosen)]
    )


def _csv(table: TableSchema) -> Iterator[str]:
    """How a CSV file writes what it holds."""
    if table.csv:
        yield "    csv:                         # how the file writes values, by its first lines; all may know it\n"
    for option in table.csv:
        value = quoted(option.value) if isinstance(option.value, str) else f"[{', '.join(map(quoted, option.value))}]"
        yield f"      {f'{option.name}: {value}':<26} # {option.why}\n"


def _public_columns(table: TableSchema) -> Iterator[str]:
    """The types of a CSV file's columns, which are text without."""
    typed = [(name, kind.family) for name, kind in table.columns if kind.name == "CSV" and _PLAIN.fullmatch(name)]
    if any(family not in ("text", "untyped") for _, family in typed):
        yield "    columns:\n"
        yield from (f"      {name}: {{type: {family.replace('untyped', 'text')}}}\n" for name, family in typed)


def _owned(
    name: str, table: TableSchema, led: tuple[Link | None, Link | None], target: str | None, chosen: Choices
) -> Iterator[str]:
    """Whose the rows are, or also may be, their key, and how many of one person count."""
    link, also = led
    if link is None:
        known = [column for column in units({"": table}) if _PLAIN.fullmatch(column)]
        candidates = " or ".join(known) or "the column of the protected person"
        if chosen.unit is not None:
            candidates = f"no column leads to {chosen.unit}: if one does, write rename: {{{chosen.unit}: COLUMN}}"
        yield f"    unit: FILL_IN                # {candidates}; or public: true\n"
    elif link.via is None:
        yield f"    unit: {link.column}\n"
        if also is not None and also.via is not None and all(map(_PLAIN.fullmatch, (also.via, also.column))):
            yield f"    # Instead, where each row belongs to one of {also.via} (there: key: {also.key}), so that the\n"
            yield f"    # two join by it. Then leave {also.column} out below:\n"
            yield f"    # unit: {{via: {also.via}, on: {also.column}}}\n"
    else:
        yield f"    unit: {{via: {link.via}, on: {link.column}}}\n"
    declared = next(iter(table.keys), None)
    if target is not None:
        yield f"    key: {target}\n"
    elif declared is None or not all(map(_PLAIN.fullmatch, declared)):
        yield "    # key: COLUMN                # unique in this table, if there is one; or [person, year] together\n"
    elif len(declared) == 1:
        yield f"    key: {declared[0]}\n"
    elif link is not None and {*declared} <= {link.column, *shown(table, chosen)}:
        yield f"    key: [{', '.join(declared)}]\n"
    else:
        yield f"    # key: [{', '.join(declared)}]   # as the database says; uncomment its columns, too\n"
    own = link is not None and link.via is None and (link.column,) in table.keys
    comment = "one row a person" if own else "a ceiling, which advise --narrow lowers; 1 where everyone has one row"
    yield f"    rows_per_unit: {1 if own else chosen.caps.get(name, CEILING):<14}# {comment}\n"
    rows = f"rows_about: {chosen.rows[name]:<12}" if name in chosen.rows else "# rows_about: 10000      "
    yield f"    {rows}    # a public guess at the number of rows: advise foretells from it\n"


def _columns(of: str, table: TableSchema, link: Link | None, chosen: Choices) -> Iterator[str]:
    yield "    columns:\n"
    usable = shown(table, chosen)
    for name, kind in table.columns:
        if link is None or name != link.column:
            known = chosen.known.get(f"{of}.{name}")
            words = _description(table.comments.get(name, ""))
            seen = f"  # {table.seen[name]}" if name in table.seen and known is None else ""
            yield _column(name, kind, known, words, table.file is not None, shown=name in usable) + seen + "\n"


def shown(table: TableSchema, chosen: Choices) -> set[str]:
    """The columns that analysts may use as a first policy declares them."""
    declarable = _FIELDS.keys() - {"untyped"}
    usable = {name for name, kind in table.columns if kind.family in declarable and _PLAIN.fullmatch(name)}
    return {name for name in usable if not names_somebody(name)} if chosen.columns else set()


def _description(comment: str) -> str | None:
    """A comment of the source as a description in YAML: what prints of it, on one line; None where nothing does.

    >>> _description("In years,\\n at the  visit"), _description(" ")
    ('"In years, at the visit"', None)
    """
    words = " ".join("".join(mark if mark.isprintable() else " " for mark in comment).split())
    words = words if len(words) <= LONGEST_DESCRIPTION else words[: LONGEST_DESCRIPTION - 1] + "…"
    return quoted(words) if words and words != "FILL_IN" else None


def _column(name: str, kind: SourceType, known: str | None, words: str | None, of_file: bool, *, shown: bool) -> str:
    if not _PLAIN.fullmatch(name):
        cure = "rename the column in the file" if of_file else "give the column another one in a view"
        return f"      # {quoted(name)}: its name does not print; {cure}"
    if kind.family not in _FIELDS:
        cure = "write the file with another" if of_file else kind.cure
        return f"      # {name}: its type cannot be used as it is; {cure}"
    hidden = "" if shown else "# "
    fields = _FIELDS[kind.family].format(places=kind.places)
    if known is not None:
        fields = fields.replace("bounds: auto", known) if "auto" in fields else f"{fields}, {known}"
    if words is not None:
        fields += f", description: {words}"
    day = f"  {_DAY.format(like=_LIKE[kind.family])}" if kind.family in _LIKE and known is None else ""
    listed = f"  {_ENUM}" if kind.listed and known is None else ""
    return f"      {hidden}{name}: {{{fields}}}{day}{listed}"


def quoted(text: str) -> str:
    """The text as a double-quoted YAML scalar."""
    return '"' + "".join(f"\\U{ord(c):08x}" if c in '"\\' or not c.isprintable() else c for c in text) + '"'
