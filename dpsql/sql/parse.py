"""One statement of the dpsql dialect as our own syntax tree, or a refusal that says where and what to write.

    text -> tokens (our lexer) -> skeleton (names and constants become handles) -> the SQL reader's tree -> syntax

The reader, sqlglot, decides only how the pieces nest. Its tree is converted node by node: an unknown node, or a
known one with an argument that is not expected, is refused. Its generator is never run, its errors are not shown.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from dpsql.errors import UnsupportedQuery
from dpsql.given import sql_given
from dpsql.sql import literals
from dpsql.sql.keywords import RESERVED
from dpsql.sql.normal import normal
from dpsql.sql.pieces import QUERIES
from dpsql.sql.refused import REFUSED_STATEMENTS
from dpsql.sql.rewording.any_of import in_lists
from dpsql.sql.rewording.columns_call import columns_written_out
from dpsql.sql.rewording.distinct_on import first_of_each
from dpsql.sql.rewording.fetch_first import with_limits
from dpsql.sql.rewording.from_first import select_first
from dpsql.sql.rewording.materialized import without_materialized
from dpsql.sql.rewording.named_windows import windows_in_place
from dpsql.sql.rewording.pivot_first import pivot_behind_rows
from dpsql.sql.rewording.predicates import plain_conditions
from dpsql.sql.rewording.standard_calls import with_commas
from dpsql.sql.rewording.unpivot import rows_of_columns
from dpsql.sql.rewording.values_first import values_behind_select
from dpsql.sql.skeleton import build_skeleton
from dpsql.sql.stars import replacements_behind
from dpsql.sql.syntax import (
    CreateSynthetic,
    Describe,
    DropTable,
    Explain,
    Literal,
    QueryStatement,
    SetOption,
    ShowBudget,
    ShowTables,
    Statement,
    TableName,
)
from dpsql.sql.tokens import Token, TokenKind, fold, name_of, schemaless, tokenize
from dpsql.sql.tree import convert

__all__ = ["normal", "parse"]

CREATE = (
    "CREATE SYNTHETIC TABLE",
    "it is not written as one.",
    "Write CREATE SYNTHETIC TABLE name WITH (epsilon = 1) AS SELECT column, column FROM ..",
)
_NOTHING = Token(TokenKind.SYMBOL, "", (1, 1))


def parse(text: str, database: str = "") -> Statement:
    """The statement that ``text`` holds; a semicolon may end it.

    Args:
        text: What was written.
        database: What may stand before a table, or before its schema; nothing where no name may.

    Raises:
        ProgrammingError: It is no text.
        UnsupportedQuery: For everything that is not one statement of the dialect, with its position, its construct
            in SQL words, and what to write instead.

    >>> parse("SHOW BUDGET;")
    ShowBudget(position=(1, 1))
    """
    return _parsed(sql_given(text), database)


@lru_cache(maxsize=256)  # statements: those of a dashboard or a report come again and again
def _parsed(text: str, database: str) -> Statement:
    tokens = tokenize(text)
    while tokens and tokens[-1].symbol == ";":
        tokens = tokens[:-1]
    if not tokens:
        raise UnsupportedQuery("it is empty.", construct="statement", hint="Write SELECT .. FROM ..")
    match tokens[0].word:
        case "explain":
            return _explain(tokens, database)
        case "show":
            return _show(tokens)
        case "describe" | "desc":
            return _describe(tokens, database)
        case "set":
            return _set(tokens)
        case "reset":
            return _reset(tokens)
        case "create" if _at(tokens, 1).word == "synthetic":
            return _create(tokens, database)
        case "drop" if _at(tokens, 1).word == "table":
            return _drop(tokens)
    if tokens[0].symbol == "(" or tokens[0].word in QUERIES:
        return _query(tokens, database)
    raise _unknown_statement(tokens[0])


def _query(tokens: tuple[Token, ...], database: str) -> QueryStatement:
    plain = windows_in_place(with_commas(plain_conditions(without_materialized(tokens))))
    queries = select_first(pivot_behind_rows(rows_of_columns(with_limits(in_lists(values_behind_select(plain))))))
    read = columns_written_out(replacements_behind(first_of_each(queries)))
    return QueryStatement(convert(build_skeleton(read), database), position=tokens[0].position)


def _explain(tokens: tuple[Token, ...], database: str) -> Explain:
    first = _at(tokens, 1)
    if first.word == "create" and _at(tokens, 2).word == "synthetic":
        return Explain(_create(tokens[1:], database), position=tokens[0].position)
    if first.word not in QUERIES and first.symbol != "(":
        if first.word == "analyze":
            raise _refusal(first, "EXPLAIN ANALYZE", "it would run the query.", "Write EXPLAIN SELECT ..")
        raise _refusal(first, "EXPLAIN", "it explains a SELECT, or CREATE SYNTHETIC TABLE.", "Write EXPLAIN SELECT ..")
    return Explain(_query(tokens[1:], database), position=tokens[0].position)


def _show(tokens: tuple[Token, ...]) -> ShowBudget | ShowTables:
    match [token.word for token in tokens]:
        case ["show", "budget"]:
            return ShowBudget(position=tokens[0].position)
        case ["show", "tables"]:
            return ShowTables(position=tokens[0].position)
    hint = "Write SHOW BUDGET, SHOW TABLES, DESCRIBE table, or DESCRIBE table.column."
    raise _refusal(tokens[0], "SHOW", "dpsql shows the budget and the tables.", hint)


def _describe(tokens: tuple[Token, ...], database: str) -> Describe:
    parts = tokens[1::2]
    points = tokens[2::2]
    if (
        len(tokens) % 2  # as many points as names, so the last name is missing
        or len(parts) > 3
        or not all(_is_name(part) for part in parts)
        or any(point.symbol != "." for point in points)
    ):
        raise _refusal(
            tokens[0],
            "DESCRIBE",
            "it describes one table, or lists the values of one column.",
            "Write DESCRIBE table, or DESCRIBE table.column.",
        )
    names = schemaless(tuple(fold(name_of(part)) for part in parts), database)
    return Describe(TableName(names, None, position=parts[0].position), position=tokens[0].position)


def _set(tokens: tuple[Token, ...]) -> SetOption:
    name, sign, value = _at(tokens, 1), _at(tokens, 2), tokens[3:]
    if not name.word or not value or not (sign.symbol == "=" or sign.word == "to"):
        raise _refusal(tokens[0], "SET", "it sets one option of the session.", "Write SET epsilon = 0.5.")
    if len(value) == 1 and value[0].word == "default":
        return SetOption(name.word, Literal(None, position=value[0].position), position=tokens[0].position)
    return SetOption(name.word, _setting(value), position=tokens[0].position)


def _create(tokens: tuple[Token, ...], database: str) -> CreateSynthetic:
    """``CREATE SYNTHETIC TABLE name [WITH (option = constant, ..)] AS SELECT ..``."""
    options: list[tuple[str, Literal]] = []
    at = 4
    name = _at(tokens, 3)
    if _at(tokens, 2).word == "table" and name.word in RESERVED and _at(tokens, 4).word in ("with", "as"):
        hint = f'Quote it: "{name.word}". Or choose another name.'
        raise _refusal(name, name.text.upper(), "this is a keyword, not a name.", hint)
    if _at(tokens, 2).word != "table" or not _is_name(name):
        raise _refusal(tokens[0], *CREATE)
    if _at(tokens, at).word == "with" and _at(tokens, at + 1).symbol == "(":
        at += 2
        while True:
            end = next((i for i in range(at, len(tokens)) if tokens[i].symbol in (",", ")")), len(tokens))
            option, sign, value = _at(tokens, at), _at(tokens, at + 1), tokens[at + 2 : end]
            if not option.word or sign.symbol != "=" or not value or end == len(tokens):
                raise _refusal(option if option is not _NOTHING else tokens[0], *CREATE)
            options.append((option.word, _setting(value)))
            at = end + 1
            if tokens[end].symbol == ")":
                break
    body = tokens[at + 1 :]
    if _at(tokens, at).word != "as" or _at(body, 0).word not in ("select", "with", "from", "pivot"):
        raise _refusal(tokens[0], *CREATE)
    if twice := next((name for name, _ in options if [own for own, _ in options].count(name) > 1), None):
        raise _refusal(tokens[0], "WITH", f"{twice} is given twice.", "Give it once.")
    return CreateSynthetic(fold(name_of(name)), tuple(options), _query(body, database), position=tokens[0].position)


def _drop(tokens: tuple[Token, ...]) -> DropTable:
    if len(tokens) != 3 or not _is_name(tokens[2]):
        raise _refusal(tokens[0], "DROP TABLE", "it drops one synthetic table.", "Write DROP TABLE name.")
    return DropTable(fold(name_of(tokens[2])), position=tokens[0].position)


def _reset(tokens: tuple[Token, ...]) -> SetOption:
    name = _at(tokens, 1)
    if len(tokens) != 2 or not name.word:
        raise _refusal(tokens[0], "RESET", "it resets one option of the session.", "Write RESET epsilon.")
    return SetOption(name.word, Literal(None, position=name.position), position=tokens[0].position)


def _setting(tokens: tuple[Token, ...]) -> Literal:
    """The constant of a SET; a bare word stands for itself, as in DuckDB."""
    first = tokens[0]
    if len(tokens) == 2 and first.symbol == "-" and tokens[1].kind is TokenKind.NUMBER:
        number = literals.read_number(tokens[1].text, first.position).value
        # copy_negate is exact; a minus sign would round a Decimal to its context's digits
        negative = number.copy_negate() if isinstance(number, Decimal) else -int(str(number))
        return Literal(negative, position=first.position)
    if len(tokens) == 1:
        if first.kind is TokenKind.NUMBER:
            return literals.read_number(first.text, first.position)
        if first.kind is TokenKind.STRING:
            return literals.read_string(first.text, first.position)
        if first.word in ("true", "false", "null"):
            return Literal({"true": True, "false": False, "null": None}[first.word], position=first.position)
        if first.word and (first.word not in RESERVED or first.word == "on"):
            return Literal(first.text, position=first.position)
    raise _refusal(first, "SET", "the value is not one constant.", "Write SET epsilon = 0.5.")


def _is_name(token: Token) -> bool:
    return (token.kind is TokenKind.QUOTED and name_of(token) != "") or (
        token.word != "" and token.word not in RESERVED
    )


def _at(tokens: tuple[Token, ...], place: int) -> Token:
    return tokens[place] if place < len(tokens) else _NOTHING


def _unknown_statement(token: Token) -> UnsupportedQuery:
    if token.word in REFUSED_STATEMENTS:
        return _refusal(token, *REFUSED_STATEMENTS[token.word])
    construct = token.word.upper() if token.word.isascii() and token.word else "statement"
    hint = "Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET."
    return _refusal(token, construct, "dpsql reads only, one SELECT at a time.", hint)


def _refusal(token: Token, construct: str, message: str, hint: str) -> UnsupportedQuery:
    return UnsupportedQuery(message, construct=construct, position=token.position, hint=hint)
