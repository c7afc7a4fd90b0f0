"""What DuckDB itself answers to the analyst's text, over the same bounded tables.

The text is edited as little as the semantics allow: dpsql's own words are cut out; a sum of nothing becomes 0 and a
mean of nothing its centre; HAVING also drops the groups that no domain declares and those below the threshold.
Nothing here uses the parser or the printer that it checks, but for the text of the keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from dpsql.sql import syntax
from dpsql.sql.normal import normal_expression, quoted

__all__ = ["Edited", "family", "key_texts", "run", "unit_text"]

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|[^\W\d]\w*|=>|\s+|.", re.DOTALL)
_CLAUSES = ("from", "where", "group", "having", "order", "limit", "offset")
_FAMILIES = {
    "integer": r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?",
    "real": r"DOUBLE|FLOAT|DECIMAL\(.*\)",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "null": r'"NULL"|INTEGER',
}


def family(type_name: str) -> str:
    """Our name for a type of DuckDB's."""
    return next((ours for ours, theirs in _FAMILIES.items() if re.fullmatch(theirs, type_name)), type_name)


@dataclass
class Edited:
    """A statement as a list of tokens that can be changed in place.

    >>> Edited.of("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) SUM(x, epsilon => 1) FROM t").plain().text
    'SELECT  SUM(x) FROM t'
    """

    tokens: list[str]
    places: list[tuple[int, int]]

    @classmethod
    def of(cls, sql: str) -> Edited:
        """The statement's own tokens, without a last semicolon, and without parentheses around all of it."""
        tokens = _TOKEN.findall(sql)
        offsets = [0]
        for token in tokens:
            offsets.append(offsets[-1] + len(token))
        places = []
        for offset in offsets[:-1]:
            line = sql.count("\n", 0, offset)
            places.append((line + 1, offset - (sql.rfind("\n", 0, offset) + 1) + 1))
        edited = cls(list(tokens), places)
        solid = edited._solid()
        if solid and tokens[solid[-1]] == ";":
            edited.tokens[solid[-1]] = ""
            solid.pop()
        if solid and tokens[solid[0]] == "(" and edited._closing(solid[0]) == solid[-1]:
            edited.tokens[solid[0]] = edited.tokens[solid[-1]] = ""
        return edited

    @property
    def text(self) -> str:
        """The statement as it is now."""
        return "".join(self.tokens)

    def plain(self) -> Edited:
        """Without dpsql's words: the OPTIONS clause and named arguments."""
        for at, token in enumerate(self.tokens):
            if token.lower() == "differential_privacy":
                start = max(i for i in self._solid() if i < at)
                opening = self.tokens.index("(", at)
                self._cut(start, self._closing(opening) + 1)
            elif token == "=>":
                depth, end = 0, at
                while depth > 0 or self.tokens[end] not in (",", ")"):
                    depth += {"(": 1, ")": -1}.get(self.tokens[end], 0)
                    end += 1
                start = max(i for i in range(at) if self.tokens[i] == ",")
                self._cut(start, end)
        return self

    def nothing_is(self, centres: Mapping[tuple[int, int], str]) -> Edited:
        """SUM of nothing is 0, AVG of nothing its centre.

        Args:
            centres: Position of the first of equal means to its centre.
        """
        known: dict[str, str] = {}
        outside = self._outside()
        for at in self._solid():
            name = self.tokens[at].lower()
            if at not in outside or name not in ("sum", "avg", "mean") or not self.text_after(at).startswith("("):
                continue
            closing = self._end(self._closing(self.tokens.index("(", at)))
            if self.text_after(closing).lower().startswith("over"):  # a window over groups: nothing is NULL there
                continue
            call = re.sub(r"\s", "", "".join(self.tokens[at : closing + 1]).lower())
            if self.places[at] in centres:
                known[call] = centres[self.places[at]]
            instead = "0" if name == "sum" else known[call]  # a mean that no plan knows is a bug of the reader
            self.tokens[at] = "COALESCE(" + self.tokens[at]
            self.tokens[closing] += f", {instead})"
        return self

    def grouped(self, keys: Sequence[str]) -> Edited:
        """With the keys for which GROUP BY ALL stands: a longer HAVING would add to them."""
        start = self._clauses().get("group", len(self.tokens))
        for at in self._solid():
            if at > start and self.tokens[at].lower() == "all":
                self.tokens[at] = ", ".join(keys)
        return self

    def having(self, conditions: Sequence[str]) -> Edited:
        """With more conditions on groups."""
        if conditions:
            clauses = self._clauses()
            end = next((clauses[word] for word in ("order", "limit", "offset") if word in clauses), len(self.tokens))
            more = " AND ".join(f"({condition})" for condition in conditions)
            if "having" in clauses:
                self.tokens[clauses["having"]] = f"HAVING {more} AND ("
                self.tokens.insert(end, ") ")
            else:
                self.tokens.insert(end, f" HAVING {more} ")
        return self

    def ordered(self, keys: Sequence[str]) -> Edited:
        """With the order that answers have where the statement names none."""
        clauses = self._clauses()
        if keys and "order" not in clauses:
            end = next((clauses[word] for word in ("limit", "offset") if word in clauses), len(self.tokens))
            self.tokens.insert(end, f" ORDER BY {', '.join(keys)} ")
        return self

    def text_after(self, at: int) -> str:
        """What follows a token, without space."""
        return "".join(self.tokens[at + 1 :]).lstrip()

    def _solid(self) -> list[int]:
        """Tokens that are neither space nor comment."""
        return [i for i, token in enumerate(self.tokens) if token.strip() and not token.startswith(("--", "/*"))]

    def _closing(self, opening: int) -> int:
        depth = 0
        for at in range(opening, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[at], 0)
            if depth == 0:
                return at
        raise AssertionError("a parenthesis is open")

    def _end(self, closing: int) -> int:
        """Where a call ends: after its FILTER, if it has one."""
        following = [i for i in self._solid() if i > closing][:2]
        if len(following) == 2 and self.tokens[following[0]].lower() == "filter":
            return self._closing(following[1])
        return closing

    def _outside(self) -> set[int]:
        """Tokens of the outermost query, not of a sub-query."""
        found, inner = set(), 0
        for at in self._solid():
            if at < inner:
                continue
            if self.tokens[at] == "(" and re.match(r"(select|with)\b", self.text_after(at), re.IGNORECASE):
                inner = self._closing(at)
            found.add(at)
        return found

    def _cut(self, start: int, end: int) -> None:
        self.tokens[start:end] = [""] * (end - start)

    def _clauses(self) -> dict[str, int]:
        """Where the clauses of the outermost query begin."""
        depth, found = 0, {}
        for at, token in enumerate(self.tokens):
            depth += token.count("(") - token.count(")") if not token.startswith(("'", '"', "--", "/*")) else 0
            if depth == 0 and token.lower() in _CLAUSES:
                found[token.lower()] = at
        return found


def key_texts(select: syntax.Select, columns: set[str]) -> list[str]:
    """The keys of GROUP BY as SQL: ordinals and aliases as what they stand for.

    Args:
        select: The statement.
        columns: Names of all columns in FROM: a column goes before an alias.
    """
    named = {item.alias.lower(): quoted(item.alias) for item in select.items if item.alias}
    plain = {name: text for name, text in named.items() if name not in columns}
    if isinstance(select.group_by, syntax.GroupAll):
        nodes = [item for item in select.items if not _aggregates(normal_expression(item.expression))]
        return [_short(item, plain) for item in nodes]
    assert isinstance(select.group_by, tuple)
    texts = []
    for node in select.group_by:
        match node:
            case syntax.Literal(value=int(ordinal)):
                texts.append(_short(select.items[ordinal - 1], plain))
            case syntax.Name(parts=(name,)) if name in plain:
                texts.append(plain[name])
            case _:
                same = next((item for item in select.items if item.expression == node), None)
                texts.append(normal_expression(node) if same is None else _short(same, plain))
    return list(dict.fromkeys(texts))


def _short(item: syntax.Item, plain: Mapping[str, str]) -> str:
    """A selected key by its alias where that is no column, else in full."""
    return plain.get((item.alias or "").lower(), normal_expression(item.expression))


def _aggregates(text: str) -> bool:
    return re.search(r"\b(count|sum|avg|mean)\(", text) is not None


def unit_text(relation: syntax.Relation, units: Mapping[str, str]) -> str:
    """The unit column of the first private table in FROM, as SQL.

    Args:
        relation: FROM.
        units: Private table to its unit column.
    """
    match relation:
        case syntax.TableName(name=(*_, name), alias=alias):
            return f'"{alias or name}"."{units[name]}"' if name in units else ""
        case syntax.JoinClause(left=left, right=right):
            return unit_text(left, units) or unit_text(right, units)
        case syntax.Derived(query=syntax.Select(source=source), alias=alias):
            name = "" if source is None else unit_text(source, units).rpartition(".")[2]
            return f'"{alias}".{name}' if name else ""
    return ""


def run(
    connection: duckdb.DuckDBPyConnection, sql: str, parameters: Sequence[Any]
) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    """Column names, our names of their types, and the rows that DuckDB answers with."""
    relation = connection.execute(sql, list(parameters))
    described = relation.description or []
    return flat([column[0] for column in described], [str(column[1]) for column in described], relation.fetchall())


def flat(
    names: Sequence[str], types: Sequence[str], rows: list[tuple[Any, ...]]
) -> tuple[list[str], list[str], list[tuple[Any, ...]]]:
    """The same with a column for each element of a list, as plans have them; all lists of a column are as long."""
    lists = [kind.endswith("[]") for kind in types]
    sizes = [len(rows[0][at]) if own and rows else 1 for at, own in enumerate(lists)]
    spread = [at for at, size in enumerate(sizes) for _ in range(size)]
    values = [tuple(v for own, cell in zip(lists, row, strict=True) for v in (cell if own else [cell])) for row in rows]
    return [names[at] for at in spread], [family(types[at].removesuffix("[]")) for at in spread], values
