"""A client's question about the catalogue in DuckDB's words: a few of PostgreSQL's spellings are exchanged.

Nothing here guards anything: what comes out is confirmed, and run, in a process that holds no data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from dpsql.plan.functions.casts import cast_type
from dpsql.plan.types import Type
from dpsql.server.postgres.scan import Word, words
from dpsql.server.postgres.states import PgRefusal

__all__ = ["cast_to", "listed", "rewritten"]

SCHEMAS = {"pg_catalog": "pgc", "information_schema": "pgi"}
"""The catalogue's schemas, and where they are in the process: its own are DuckDB's."""
NAMED = ("current_user", "session_user", "current_role", "user")
"""Words that stand for the analyst."""
RENAMED = {
    "json_build_object": "row", "jsonb_build_object": "row", "json_agg": "json_group_array",
    "jsonb_agg": "json_group_array",
}  # fmt: skip
"""Functions that DuckDB has by other names, or in another form: of what is built by them, nothing is here."""
PROCEDURES = ("typinput", "typoutput", "typreceive", "typsend")
"""Columns with names of functions, which clients compare with the number 0."""
REGS = ("regclass", "regtype", "regproc", "regprocedure", "regnamespace", "regrole", "regoper", "regoperator")
"""Types whose constants are names of the catalogue's entries."""


def rewritten(text: str, user: str, database: str, oids: Mapping[str, int], setting: Callable[[str], str]) -> str:
    """The statement as the process reads it.

    Args:
        text: As the client wrote it.
        user: The analyst.
        database: The policy's name.
        oids: Names of relations and types to their numbers.
        setting: The value of a setting, by its name.

    Raises:
        PgRefusal: There is no setting of a name.
    """
    found, pieces, at, last = list(words(text)), list[str](), 0, 0
    while at < len(found):
        count, new = _setting(found[at : at + 6], setting)
        if not count:
            count, new = _exchanged(found, at, user, database, oids)
        if count:
            pieces += [text[last : found[at].start], new]
            last = found[at + count - 1].end
            at += count
        else:
            at += 1
    return "".join([*pieces, text[last:]])


def listed(text: str) -> Mapping[int, str]:
    """Which parameters take an array, counted from 0: those of ``ANY ($1)`` and ``ALL ($1)``; their type or ''.

    >>> listed("SELECT $1 WHERE oid = ANY($2::oid[]) AND relkind = ANY ($3)")
    {1: 'oid', 2: ''}
    """
    found = list(words(text))
    texts = [word.text for word in found]
    return {
        int(word.text[1:]) - 1: texts[at + 3] if texts[at + 1 : at + 3] == [":", ":"] and at + 3 < len(texts) else ""
        for at, word in enumerate(found)
        if word.kind == "parameter" and at > 1 and texts[at - 1] == "(" and texts[at - 2] in ("any", "all")
    }


def cast_to(text: str) -> Mapping[int, Type]:
    """The types that parameters are cast to, counted from 0; nothing is said of arrays.

    >>> cast_to("SELECT $1::pg_catalog.int4, CAST($2 AS double precision), $3, $4::int[], $5::regclass")
    {0: <Type.INTEGER: 'integer'>, 1: <Type.REAL: 'real'>}
    """
    every = list(words(text))
    schema = {at for at, pair in enumerate(pairwise(every)) if [word.text for word in pair] == ["pg_catalog", "."]}
    pieces = [word for at, word in enumerate(every) if not {at, at - 1} & schema]
    found, kinds = [word.text for word in pieces], dict[int, Type]()
    for at, word in enumerate(pieces):
        behind = 3 if found[at + 1 : at + 3] == [":", ":"] else 2 if found[at + 1 : at + 2] == ["as"] else 0
        if word.kind != "parameter" or not behind:
            continue
        first, second = [*found[at + behind : at + behind + 2], "", ""][:2]
        kind = Type.INTEGER if first == "oid" else cast_type(f"{first} {second}") or cast_type(first)
        if kind is not None and second != "[":
            kinds.setdefault(int(word.text[1:]) - 1, kind)
    return kinds


def _exchanged(found: Sequence[Word], at: int, user: str, database: str, oids: Mapping[str, int]) -> tuple[int, str]:
    """How many words from one on are exchanged, and for what; 0 where that one stays."""
    word, texts = found[at], [own.text for own in found[at : at + 8]]
    before = found[at - 1].text if at else ""
    if word.kind == "string" and (count := _cast_to_reg(texts)):
        return count, _entry(word.text, texts[count - 1], oids)
    if word.kind == "string" and texts[1:3] == [":", ":"] and "[" in texts[3:7] and word.text.startswith("'{"):
        return texts.index("]") + 1 if "]" in texts else 1, _listed(word.text)
    if word.text.startswith("'{") and before == "(" and found[at - 2].text in ("any", "all"):
        return 1, _listed(word.text)
    if word.kind == "parameter" and (count := _cast_to_reg(texts)) and texts[count - 1] == "regclass":
        return count, f"regclass_of(CAST({word.text} AS VARCHAR))"
    if word.text in PROCEDURES and texts[1:4] == ["!", "=", "0"]:
        return 4, f"{word.text} <> '0'"
    if word.kind == "word" and word.text == "operator" and texts[1:2] == ["("]:
        return _operator(texts)
    if word.kind == "word" and word.text == "collate":
        return (4 if texts[2:3] == ["."] else 2), ""
    if word.text in SCHEMAS and word.kind in ("word", "quoted") and texts[1:2] == ["."] and before != ".":
        function = texts[3:4] == ["("] or before == ":"
        return 2, "" if function else f"{SCHEMAS[word.text]}."
    if word.kind == "word" and word.text in RENAMED and texts[1:2] == ["("]:
        return 1, RENAMED[word.text]
    call = texts[1:3] == ["(", ")"]
    alone = before != "." or (call and at > 1 and found[at - 2].text == "pg_catalog")
    if word.kind == "word" and alone and before != "as":
        if word.text in NAMED and (texts[1:2] != ["("] or call):
            return 3 if call else 1, _constant(user)
        if word.text in ("current_catalog", "current_database"):
            return 3 if call else 1, _constant(database)
        if word.text == "current_schema":
            return 3 if call else 1, "'public'"
    return 0, ""


def _setting(found: Sequence[Word], setting: Callable[[str], str]) -> tuple[int, str]:
    """``current_setting('name')`` with the value behind the name; NULL where there is none and the call allows that."""
    texts = [word.text for word in found]
    if len(texts) < 4 or texts[:2] != ["current_setting", "("] or found[0].kind != "word" or found[2].kind != "string":
        return 0, ""
    if texts[3:4] != [")"] and texts[3:6] != [",", "true", ")"]:
        return 0, ""
    count = 4 if texts[3] == ")" else 6
    try:
        value = _constant(setting(texts[2][1:-1]))
    except PgRefusal:
        if count == 4:
            raise
        value = "NULL"
    return count, f"current_setting({texts[2]}, TRUE, {value})"


def _cast_to_reg(texts: Sequence[str]) -> int:
    """How many words ``'name'::regclass`` has, its type perhaps behind the schema; 0 where it is something else."""
    if texts[1:3] != [":", ":"]:
        return 0
    own = texts[3:6] if texts[4:5] == ["."] else texts[3:4]
    return 3 + len(own) if own and own[-1] in REGS else 0


def _entry(text: str, kind: str, oids: Mapping[str, int]) -> str:
    """The number of what a constant names; of a function its name, as the catalogue has it; NULL of nothing."""
    name = text[1:-1].replace('"', "").removeprefix("pg_catalog.").removeprefix("public.")
    if kind.startswith("regproc"):
        return _constant(name)
    number = name if name.isdecimal() else str(oids.get(name, "NULL"))
    return f"CAST({number} AS UINTEGER)"


def _operator(texts: Sequence[str]) -> tuple[int, str]:
    """``OPERATOR(pg_catalog.~)`` as the operator alone."""
    if ")" not in texts:
        return 0, ""
    end = texts.index(")")
    return end + 1, "".join(text for text in texts[2:end] if text not in (*SCHEMAS, "."))


def _listed(text: str) -> str:
    """An array's constant as a list: ``'{a,b}'``."""
    return f"[{', '.join(_constant(own) for own in _elements(text[2:-2]))}]"


def _elements(text: str) -> Iterator[str]:
    return (own.strip().strip('"').replace("''", "'") for own in text.split(",") if own.strip())


def _constant(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
