"""The order of a query's clauses, which the SQL reader takes in any."""

from __future__ import annotations

import math

from dpsql.errors import UnsupportedQuery

__all__ = ["CLAUSE_ORDER", "JOIN_PREFIXES", "Clauses"]

CLAUSE_ORDER = "Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT .."

JOIN_PREFIXES = frozenset("inner left right full outer cross natural".split())

_JOIN_WORDS = JOIN_PREFIXES | {"join", "on", "using"}
_RANKS = {
    "select": 0,
    "from": 1,
    "where": 2,
    "group": 3,
    "having": 4,
    "qualify": 5,
    "order": 6,
    "limit": 7,
    "offset": 7,
}
"""The order of clauses in SQL; LIMIT and OFFSET may stand in either order."""


class Clauses:
    """The clauses of one query, as far as they are written.

    >>> clauses = Clauses()
    >>> for word in ("select", "from", "join", "on", "where"):
    ...     clauses.add(word, None)
    """

    def __init__(self) -> None:
        self._words: list[str] = []

    def add(self, word: str, position: tuple[int, int] | None) -> None:
        """Note one more keyword; those that begin no clause are let through.

        Raises:
            UnsupportedQuery: If the clause stands in the wrong place or twice, or a join's word outside FROM.
        """
        last = self._words[-1] if self._words else ""
        if word == "select":
            self._words = [word]
        elif word == "union":
            if last in ("order", "limit", "offset"):
                hint = "Put parentheses around the query before it."
                raise _refusal(f"UNION after {last.upper()}", "it joins whole queries.", position, hint)
            self._words = [word]
        elif word in _JOIN_WORDS:
            if last in ("", "query"):
                hint = "Write FROM a JOIN b ON .."
                raise _refusal(f"{word.upper()} in parentheses", "joins are written without them.", position, hint)
            if last != "from":
                hint = "Write FROM .. JOIN .. ON .. before WHERE."
                raise _refusal(word.upper(), "it stands in FROM only.", position, hint)
        elif word in _RANKS:
            behind = _RANKS["order"] if last in ("union", "query") else _RANKS.get(last, math.inf)
            if word in self._words or behind > _RANKS[word]:
                raise _refusal(word.upper(), "it stands in the wrong place, or twice.", position, CLAUSE_ORDER)
            self._words.append(word)

    def close(self, inside: Clauses) -> None:
        """Note the end of parentheses: a query of its own in them may be ordered and cut from behind."""
        if inside._words and not self._words:
            self._words = ["query"]

    def comma(self, position: tuple[int, int] | None) -> None:
        """Note a comma, which parts the members of a list.

        Raises:
            UnsupportedQuery: If it stands in a clause of one condition or one number.
        """
        last = self._words[-1] if self._words else ""
        if last in ("where", "having", "qualify"):
            hint = "Write AND between conditions, and tables in FROM."
            raise _refusal(f", after {last.upper()}", "there is one condition only.", position, hint)
        if last in ("limit", "offset"):
            raise _refusal(f", after {last.upper()}", "there is one number only.", position, "Write LIMIT 10 OFFSET 5.")


def _refusal(construct: str, message: str, position: tuple[int, int] | None, hint: str) -> UnsupportedQuery:
    return UnsupportedQuery(message, construct=construct, position=position, hint=hint)
