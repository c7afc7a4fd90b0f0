"""What may stand next in a line of `dpsql shell`: tables, columns, functions, options, commands.

All of it is public.

Tests: tests/unit/cli/test_shell.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from dpsql.mechanisms import MECHANISMS
from dpsql.plan.aggregates import CALLS
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.options import NAMES
from dpsql.session import Session

__all__ = ["KEYWORDS", "Words"]

KEYWORDS = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT USING ON AS AND OR NOT IN BETWEEN LIKE IS NULL CASE WHEN "
    "THEN ELSE END DISTINCT WITH DIFFERENTIAL_PRIVACY OPTIONS DESC EXPLAIN SHOW TABLES BUDGET DESCRIBE SET CREATE "
    "SYNTHETIC TABLE DROP"
).split()
"""Words of statements, in the order in which they are offered."""

_PLAIN = re.compile(r"[A-Za-z_]\w*")
_LAST = re.compile(r"(?:(\w+)\.)?(\w*)$")
_TABLE = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?", re.IGNORECASE)
_WANTS_TABLE = re.compile(r"\b(?:FROM|JOIN|DESCRIBE|TABLE)\s+\w*$|^\.tables\s+\w*$", re.IGNORECASE)
_WANTS_MECHANISM = re.compile(r"\bmechanism\s*=\s*'\w*$", re.IGNORECASE)
_WANTS_OPTION = re.compile(r"\bOPTIONS\s*\((?:[^()]*,)?\s*\w*$|^\s*SET\s+\w*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one session.

    Attributes:
        tables: Each table that it may ask about, with its columns.
        commands: The shell's own commands.
    """

    tables: Mapping[str, tuple[str, ...]]
    commands: tuple[str, ...] = ()

    @classmethod
    def of(cls, session: Session, commands: Sequence[str] = ()) -> Self:
        """Those of the session's tables, as SHOW TABLES and DESCRIBE tell them; nothing is read or charged."""
        names = session.tables()["table"]
        return cls({name: tuple(session.describe(name)["column"]) for name in names}, tuple(commands))

    def next(self, text: str) -> list[str]:
        """The words that may stand in the place of the last one of a text, which they begin with in either case.

        >>> words = Words({"visits": ("cost", "day")}, (".budget",))
        >>> words.next("SELECT v.c"), words.next("SELECT co FROM vi"), words.next(".b")
        ([], ['visits'], ['.budget'])
        >>> words.next("FROM visits AS v SELECT v.c"), words.next("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (eps")
        (['cost'], ['epsilon'])
        """
        if text.startswith(".") and " " not in text:
            return [command for command in self.commands if command.startswith(text.lower())]
        found = _LAST.search(text)
        table, begun = (found[1], found[2].lower()) if found else (None, "")
        offered = dict.fromkeys(self._offered(text, table))
        return [word for word in offered if word.lower().startswith(begun) and word.lower() != begun]

    def _offered(self, text: str, table: str | None) -> Iterator[str]:
        named = {alias.lower(): own for own, alias in _TABLE.findall(text) if alias and alias.upper() not in KEYWORDS}
        lower = {own.lower(): own for own in self.tables}
        if table is not None:
            own = lower.get(named.get(table.lower(), table).lower())
            yield from map(_quoted, self.tables[own] if own is not None else ())
        elif _WANTS_MECHANISM.search(text):
            yield from (mechanism.name for mechanism in MECHANISMS)
        elif _WANTS_OPTION.search(text):
            yield from (*NAMES, *(["intervals"] if text.lstrip().upper().startswith("SET") else []))
        elif _WANTS_TABLE.search(text):
            yield from map(_quoted, self.tables)
        else:
            here = [lower[own.lower()] for own, _ in _TABLE.findall(text) if own.lower() in lower]
            yield from (_quoted(column) for own in here or self.tables for column in self.tables[own])
            yield from (_quoted(own) for own in self.tables)
            yield from KEYWORDS
            yield from (f"{name.upper()}(" for name in CALLS)
            yield from (f"{f.name.upper()}(" for f in FUNCTIONS if _PLAIN.fullmatch(f.name))


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else '"' + name.replace('"', '""') + '"'
