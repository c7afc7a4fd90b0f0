"""What a word is where it stands: a keyword, a clause, or a name, by the tokens beside it."""

from __future__ import annotations

from itertools import count, takewhile
from typing import NoReturn

from dpsql.sql.atoms import Atom, Role
from dpsql.sql.clauses import JOIN_PREFIXES
from dpsql.sql.constants import Constants
from dpsql.sql.tokens import Token, TokenKind, name_of
from dpsql.sql.writer import OpenParenthesis

__all__ = ["Places"]

_OF_ROWS = frozenset({"unnest", "range", "generate_series"})  # The latter two are refused by name.
_NEGATABLE = frozenset("between ilike in like".split())
_NAMES = (TokenKind.WORD, TokenKind.QUOTED)


class Places(Constants):
    """Looks at the tokens around the present one."""

    def _name(self, token: Token) -> None:
        """A name in quotes; one of a query's, with its columns, is one as without them."""
        if name_of(token) and self._peek().symbol == "(" and self._names_columns():
            self._handle(Atom(Role.NAME, token.position, text=name_of(token), quoted=True), operand=False)
        else:
            super()._name(token)

    def _names_columns(self) -> bool:
        """Whether a query's name with its columns is written: ``(SELECT ..) AS t (a, b)``, ``WITH t (a) AS``."""
        if self._peek(-1).word == "with" or self._peek(-1).symbol == ",":
            last = self._matching(1, 1)
            return self._peek(last + 1).word == "as" and self._peek(last + 2).symbol == "("
        ahead = -2 if self._peek(-1).word == "as" else -1
        if self._peek(ahead).symbol != ")":
            return False
        opening = self._matching(ahead, -1)
        return self._peek(opening + 1).word in ("select", "with", "values") or self._peek(opening - 1).word in _OF_ROWS

    def _matching(self, ahead: int, step: int) -> int:
        """Where the parenthesis that matches the one there stands, or the end of the statement on that side."""
        depth = 0
        while self._peek(ahead).text:
            depth += {"(": step, ")": -step}.get(self._peek(ahead).symbol, 0)
            if depth == 0:
                break
            ahead += step
        return ahead

    def _after_is(self) -> bool:
        before = self._peek(-1).word
        return before == "is" or (before == "not" and self._peek(-2).word == "is")

    def _is_soft_keyword(self, word: str) -> bool:
        """Whether a word that may also be a name is a keyword here, by what stands beside it."""
        before, following = self._peek(-1), self._peek()
        match word:
            case "nulls":
                return following.word in ("first", "last")
            case "first" | "last":
                return before.word == "nulls"
            case "filter":
                return before.symbol == ")" and following.symbol == "("
            case "within":
                return before.symbol == ")" and following.word == "group"
            case "grouping":
                return following.word == "sets"
            case "sets":
                return before.word == "grouping"
            case "rollup" | "cube":
                return following.symbol == "("
            case "over":
                return before.symbol == ")" and following.symbol == "("
        return bool(self.frames) and self.frames[-1].opener == "over" and self._is_window_word(word)

    def _is_of_pivot(self, word: str) -> bool:
        """Whether it is a keyword of ``t PIVOT (AVG(x) FOR key IN (..))``."""
        within = bool(self.frames) and self.frames[-1].opener == "pivot"
        return self.operand and ((word == "pivot" and self._peek().symbol == "(") or (word == "for" and within))

    def _is_next_key(self) -> bool:
        """Whether a name is the second key of ``PIVOT (.. FOR a IN (..) "b" IN (..))``, or a later one."""
        within = bool(self.frames) and self.frames[-1].opener == "pivot" and self._peek(0).kind in _NAMES
        return within and self.operand and self._peek(-1).symbol == ")" and self._peek().word == "in"

    def _is_window_word(self, word: str) -> bool:
        """Whether a word inside ``OVER (..)`` is one of its own keywords."""
        before, following = self._peek(-1), self._peek()
        match word:
            case "partition":
                return before.symbol == "(" and following.word == "by"
            case "rows" | "range":
                counted = following.kind is TokenKind.NUMBER and self._peek(2).word in ("preceding", "following")
                return counted or following.word in ("between", "unbounded", "current", "interval")
            case "unbounded":
                return following.word in ("preceding", "following")
            case "preceding" | "following":
                return before.word == "unbounded" or before.kind is TokenKind.NUMBER
            case "current":
                return following.word == "row"
            case "row":
                return before.word == "current"
        return False

    def _is_other_frame(self, word: str) -> bool:
        """Whether a word inside ``OVER (..)`` begins a frame of GROUPS or of RANGE by a distance, or its EXCLUDE."""
        if not self.frames or self.frames[-1].opener != "over":
            return False
        if word == "exclude":
            return self._peek().word in ("current", "group", "ties", "no")
        ahead = self._peek(2) if self._peek().word == "between" else self._peek()
        if word == "groups":
            return ahead.kind is TokenKind.NUMBER or ahead.word in ("unbounded", "current")
        frame = takewhile(lambda own: own.text not in ("", ")"), map(self._peek, count(1)))
        return word == "range" and self._is_window_word(word) and any(own.word == "interval" for own in frame)

    def _refuse_with(self, following: Token) -> NoReturn:
        """WITH stands within a query: what is meant says the token behind it."""
        hint = "Write WITH name AS (..) SELECT."
        if following.symbol == "(":
            hint = "Options of a synthetic table stand before AS: CREATE SYNTHETIC TABLE name WITH (epsilon = 1) AS .."
        elif following.word == "differential_privacy":
            hint = "Its OPTIONS are missing. Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) .."
        raise self._refusal("WITH", "it stands at the beginning of a query only.", hint)

    def _is_no_clause(self, word: str, frame: OpenParenthesis) -> bool:
        """Whether the word belongs to IS DISTINCT FROM, FILTER, WITHIN GROUP, OVER or a call's ORDER BY."""
        before = self._peek(-1)
        match word:
            case "from":
                return before.word == "distinct"
            case "where":
                return before.symbol == "(" and frame.opener == "filter"
            case "group":
                return before.word == "within" or frame.opener == "pivot"
            case "order":
                return frame.opener in ("call", "within", "over")
        return False

    def _may_begin(self, word: str) -> bool:
        """Whether a word that needs a value before it stands where it needs none: after its own first half, say."""
        before = self._peek(-1)
        match word:
            case "where" | "order" | "from":
                return before.symbol == "(" or before.word == "distinct"
            case "join" | "outer":
                return before.word in JOIN_PREFIXES
            case "inner" | "left" | "right" | "full":
                return before.word == "natural"
            case "group":
                return before.word == "within"
        return word in _NEGATABLE and before.word == "not"
