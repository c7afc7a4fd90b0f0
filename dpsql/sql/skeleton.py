"""The bones of a query: its keywords and symbols, with a handle (``h17``) for every name, constant and type.

The SQL reader sees the skeleton alone. So nothing that an analyst wrote but keywords reaches it: it cannot take a
string for SQL, a column for a date part, a name for a keyword or a function for one it knows. Handles also carry
the positions back. Where a word is a keyword is decided here, by DuckDB's own list.

    SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) city, COUNT(DISTINCT id, epsilon => 1) FROM visits
    SELECT h0 ( h1 ( h2 ) ) , h3 , h4 ( h5 , h6 ( h7 ) ) FROM h8
"""

from __future__ import annotations

from dpsql.sql.atoms import WRITTEN_PARENTHESIS, Atom, Role, Skeleton
from dpsql.sql.clauses import JOIN_PREFIXES
from dpsql.sql.elements import place_asked
from dpsql.sql.keywords import COLUMN_ONLY, FUNCTION_ONLY, NEEDS_AS, RESERVED
from dpsql.sql.places import Places
from dpsql.sql.refused import AFTER_STAR, FIRST_ROW, FRAMES, LEFT_OUT, REFUSED_FUNCTIONS, REFUSED_WORDS, refused_word
from dpsql.sql.rewording.predicates import SIGNS
from dpsql.sql.stars import chosen
from dpsql.sql.syntax import Literal
from dpsql.sql.tokens import Token, TokenKind
from dpsql.sql.writer import OpenParenthesis

__all__ = ["build_skeleton"]

# Words that the reader sees as they are. All others become handles, or are refused.
_KEPT = frozenset(
    """
    all and as asc between by case cast cross desc distinct else end escape exists from full group having ilike in inner
    is join left like limit natural not offset on or order outer qualify right select symmetric then try_cast union
    using when where with
    """.split()
)
# Words that need something complete before them.
_AFTER_VALUE = frozenset(
    """
    and as asc between cross desc else end escape from full group having ilike in inner is join left like limit natural
    offset on or order outer qualify right then union using where
    """.split()
)
_BY = frozenset({("group", "by"), ("order", "by")})  # Behind these ALL means all columns.
_SPECIAL_FUNCTIONS = frozenset("coalesce grouping grouping_id nullif position row substring trim".split())
"""Keywords that are called as functions."""


def build_skeleton(tokens: tuple[Token, ...]) -> Skeleton:
    """The skeleton of one query.

    Raises:
        UnsupportedQuery: For every word, and every use of a word, that the dialect does not have.
    """
    return _Builder(tokens).build()


class _Builder(Places):
    """Goes through the tokens once, from left to right."""

    def build(self) -> Skeleton:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if self._is_next_key():
                self.operand = False
            if token.kind is TokenKind.WORD:
                self._word(token)
            elif token.kind is TokenKind.SYMBOL:
                self._symbol(token)
            else:
                self._atom(token)
        if self.frames:
            raise self._refusal("the end of the statement", "a parenthesis or a CASE is still open.", "Close it.")
        self._refuse_incomplete("the end of the statement")
        return self._finish()

    # Words

    def _word(self, token: Token) -> None:
        word, following = token.word, self._peek()
        if self._peek(-1).symbol == "." or following.symbol == ".":
            self._column_word(token)
        elif word in ("true", "false", "null") and not self._after_is():
            self._value(Literal({"true": True, "false": False, "null": None}[word], position=token.position))
        elif self._dated(token):
            return
        elif word == "interval":
            self._interval(token)
        elif self._is_of_pivot(word):
            self._emit(word.upper(), operand=False)
        elif word == "array" and following.symbol == "[":
            self.at += 1  # PostgreSQL's word before a list
        elif word == "extract" and following.symbol == "(" and self._peek(3).word == "from":
            self._extract(token)
        elif word in ("to_date", "to_timestamp") and self._is_template():
            self._template(token)
        elif word in ("left", "right") and following.symbol == "(":
            self._function(token)
        elif self._is_other_frame(word):
            raise self._refusal(word.upper(), *(LEFT_OUT if word == "exclude" else FRAMES))
        elif self._is_soft_keyword(word):
            ends = word in ("first", "last", "preceding", "following", "row") or following.word == "between"
            self._emit(word.upper(), operand=ends)
        elif word == "unknown" and self._after_is():
            self._emit("NULL", operand=True)
        elif word in _KEPT or (word in ("true", "false", "null") and self._after_is()):
            self._keyword(token)
        elif word in REFUSED_WORDS and self._peek(-1).word == "as" and following.symbol != "(":
            self._column_word(token)
        elif word in REFUSED_WORDS:
            meant = not self.operand and (following.symbol not in ("", "(") or following.word in RESERVED)
            raise self._refusal(*refused_word(word, as_name=meant))
        elif word in RESERVED:
            hint = f'If it is a name, quote it: "{word}".'
            raise self._refusal(token.text.upper(), "dpsql does not read this keyword.", hint)
        elif word == "safe_cast" and following.symbol == "(":
            self._emit("TRY_CAST", operand=False)
        elif word == "values" and self._peek(-1).symbol == "(" and following.symbol == "(":
            self._emit("VALUES", operand=False)
        elif following.symbol == "(" and self._names_columns():
            self._handle(Atom(Role.NAME, token.position, text=token.text), operand=False)
        elif following.symbol == "(":
            self._function(token)
        else:
            self._refuse_before_text(token)
            self._column_word(token)

    def _column_word(self, token: Token) -> None:
        """A word where a name is meant."""
        if self._peek(-1).symbol == "." and self._peek().symbol == "(":
            raise self._refusal("function behind a point", "functions have no owner.", "Write function(value).")
        if token.word in RESERVED | FUNCTION_ONLY and self._peek(-1).symbol != ".":
            hint = f'If it is a name, quote it: "{token.word}".'
            raise self._refusal(token.text.upper(), "this is a keyword, not a name.", hint)
        needs_as = token.word in NEEDS_AS and self._peek(-1).word != "as"
        self._handle(Atom(Role.NAME, token.position, text=token.text, needs_as=needs_as))

    def _keyword(self, token: Token) -> None:
        word, before, following = token.word, self._peek(-1), self._peek()
        if word in _AFTER_VALUE and not self.operand and not self._may_begin(word):
            raise self._refusal(word.upper(), "nothing complete stands before it.", "Write what is missing before it.")
        if word == "from" and before.symbol == "(":
            raise self._refusal("FROM-first query", "dpsql reads SELECT first.", "Write SELECT .. FROM ..")
        call = self.frames[-1].call if self.frames else None
        if word == "from" and call and call.text.lower() in ("substring", "trim") and before.word != "distinct":
            hint = "Write substring(text, 1, 2) or trim(text)."
            raise self._refusal("FROM", "dpsql reads the form with commas.", hint)
        self._clause(word)
        match word:
            case "select":
                self._select(token)
                return
            case "with" if self.pieces and before.symbol != "(":
                self._refuse_with(following)
            case "all":
                self._check_all(before, call)
            case "by" if before.word not in ("group", "order", "partition"):
                self._refuse_by(before, following)
            case "distinct" if before.word not in ("is", "not"):
                self._distinct()
                return
            case "in" if following.kind is TokenKind.PARAMETER:
                own = following.text
                raise self._refusal(f"IN {own}", f"one {own} is one value.", f"Write = ANY ({own}), or IN (?, ?, ?).")
            case "in" if following.symbol != "(":
                raise self._refusal("IN", "it takes a list or a sub-query.", "Write IN (1, 2) or IN (SELECT ..).")
            case "using" if following.word == "sample":
                raise self._refusal("USING SAMPLE", *REFUSED_WORDS["tablesample"][1:])
            case "using" if following.symbol != "(":
                raise self._refusal("USING", "only a join's USING (column) is read.", "Write USING (column).")
            case "join" if before.word not in JOIN_PREFIXES:
                self._emit("INNER JOIN", operand=False)  # so that a join never looks like a comma
                return
            case "as" if self.frames and self.frames[-1].opener == "cast":
                self.operators += 1
                self._emit("AS", operand=False)
                self._type()
                return
            case "asc" | "desc" if before.word in ("asc", "desc"):
                raise self._refusal(word.upper(), "the direction is given twice.", "Write ASC or DESC.")
            case "case":
                self._refuse_after_value()
                self._open(OpenParenthesis("case"))
            case "end":
                if not self.frames or self.frames[-1].opener != "case":
                    raise self._refusal("END", "there is no CASE to end here.", "Write CASE WHEN .. THEN .. END.")
                self.frames.pop()
        ends = word in ("end", "null", "true", "false", "asc", "desc") or (word == "all" and before.word == "by")
        self._emit(word.upper(), operand=ends)

    def _check_all(self, before: Token, call: Atom | None) -> None:
        """Refuse ALL but behind UNION, GROUP BY and ORDER BY."""
        if before.word == "union" or ((self._peek(-2).word, before.word) in _BY and not call):
            return
        if before.word == "by":
            clause = f"{self._peek(-2).word.upper()} BY"
            raise self._refusal(f"{clause} ALL", "the keys must be named.", f"Write {clause} and the columns.")
        if before.word == "limit":
            raise self._refusal("LIMIT ALL", "it limits nothing.", "Leave it out.")
        compared = "dpsql compares with <> ALL of a list, or by < and > with written numbers."
        raise self._refusal("ALL", compared, "Write NOT IN (..).")

    def _refuse_by(self, before: Token, following: Token) -> None:
        """Refuse BY that no clause stands before."""
        if before.word in ("union", "all") and following.word == "name":
            hint = "Write the columns of all sides in one order."
            raise self._refusal("UNION BY NAME", "columns are put together by their places.", hint)
        raise self._refusal("BY", "it stands after GROUP and ORDER only.", "Write GROUP BY or ORDER BY.")

    def _clause(self, word: str) -> None:
        frame = self.frames[-1] if self.frames else self.outermost
        if not self._is_no_clause(word, frame):
            frame.clauses.add(word, self._here())

    def _distinct(self) -> None:
        before, following = self._peek(-1), self._peek()
        frame = self.frames[-1] if self.frames else None
        if following.word == "on":
            hint = (
                "Of an answer write SELECT .. QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY n DESC) = 1, "
                f"of people GROUP BY. {FIRST_ROW}"
            )
            raise self._refusal("DISTINCT ON", "it keeps rows by their position.", hint)
        if before.symbol == "(" and frame and frame.call and frame.opener == "call":
            frame.call.distinct = True
            self.at += 1
            self.operand = False
            return
        raise self._refusal("DISTINCT", "it stands after SELECT, or first in a function.", "Write SELECT DISTINCT.")

    def _select(self, token: Token) -> None:
        """SELECT, its options and its DISTINCT, as a marker in front of the select list."""
        atom = Atom(Role.SELECT, token.position)
        self._emit("SELECT", operand=False, take=0)
        self._handle(atom, operand=False)
        if (self._peek(0).word, self._peek().word) == ("with", "anonymization"):
            hint = "Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5), and AVG(x) for ANON_AVG(x)."
            raise self._refusal("WITH ANONYMIZATION", "GoogleSQL has given these words up.", hint)
        if tuple(self._peek(ahead).word for ahead in range(3)) == ("with", "differential_privacy", "options"):
            self.at += 3
            if self._peek(0).symbol != "(" or self._peek().symbol == ")":
                raise self._refusal("OPTIONS", "the options are missing.", "Write OPTIONS (epsilon = 0.5).")
            self._open(OpenParenthesis("options", atom))
            self._emit("(", operand=False)
            self._named_argument()
        else:
            self._select_list(atom, "( )")

    def _select_list(self, atom: Atom, closing: str) -> None:
        """Close a SELECT's marker: ALL says nothing, DISTINCT is noted, a comma parts it from the list."""
        self._emit(closing, operand=False, take=0)
        if self._peek(0).word == "all":
            self.at += 1
        elif self._peek(0).word == "distinct" and self._peek().word != "on":
            atom.distinct = True
            self.at += 1
        first = self._peek(0)
        if first.word == "top" and self._peek().kind is TokenKind.NUMBER:
            raise self._refusal("TOP", "dpsql reads LIMIT.", f"Write LIMIT {self._peek().text[:20]} at the end.")
        if first.word == "from" or first.text in ("", ",", ")", ";"):
            raise self._refusal("SELECT", "the select list is empty.", "Write what to select, like COUNT(*).")
        self._emit(",", operand=False, take=0)

    def _function(self, token: Token) -> None:
        if token.word == "options":
            hint = "Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM ..."
            raise self._refusal("OPTIONS", "options stand at the front of the statement.", hint)
        if token.word in REFUSED_FUNCTIONS:
            raise self._refusal(*REFUSED_FUNCTIONS[token.word])
        if token.word in COLUMN_ONLY - _SPECIAL_FUNCTIONS:
            hint = f'If it is a column, quote it: "{token.word}"; to change a type, write CAST(value AS type).'
            raise self._refusal(token.text.upper(), "this keyword is no function.", hint)
        atom = Atom(Role.FUNCTION, token.position, text=token.text)
        self._handle(atom, operand=False)
        self._open(OpenParenthesis("call", atom))
        self._emit("(", operand=False)
        if self._peek(0).word == "all" and self._peek().symbol not in (",", ")"):
            self.at += 1  # the default, said aloud
        self._named_argument()

    # Symbols

    def _symbol(self, token: Token) -> None:
        match token.text:
            case "(":
                self._refuse_after_value()
                openers = {
                    "cast": "cast",
                    "try_cast": "cast",
                    "safe_cast": "cast",
                    "as": "cte",
                    "filter": "filter",
                    "group": "within",
                    "over": "over",
                    "pivot": "pivot",
                }
                self._open(OpenParenthesis(openers.get(self._peek(-1).word, "group")))
                self._emit(WRITTEN_PARENTHESIS, operand=False)
            case ")":
                self._close()
            case "[":
                self._open_list(token)
            case "]":
                self._close_list()
            case ",":
                self._refuse_incomplete(",")
                self._end_named()
                (self.frames[-1] if self.frames else self.outermost).clauses.comma(token.position)
                self._emit(",", operand=False)
            case "*" if not self.operand:
                self._star()
            case "+" if not self.operand:
                raise self._refusal("+", "there is no value before it.", "Leave a leading plus sign out.")
            case ";":
                raise self._refusal("second statement", "one statement at a time.", "Send them one after the other.")
            case "=>":
                raise self._refusal("=>", "it follows the name of an argument only.", "Write f(x, name => value).")
            case "%" if not self.operand:
                raise self._refusal("%", "a parameter is written ? here.", "Write x = ?, or x = $name with a mapping.")
            case symbol if not self.operand and symbol != "-":
                raise self._refusal(symbol, "there is no value before it.", "Write a value before and after it.")
            case "::" if self.pieces[-1][0] in ("NULL", "TRUE", "FALSE"):
                hint = "Put parentheses around the condition."
                raise self._refusal("::", "IS NULL, IS TRUE and IS FALSE end a condition.", hint)
            case "::":
                self.operators += 1
                self._emit("::", operand=False)
                self._type()
            case ".":
                self._emit(".", operand=False)
            case symbol:
                self.operators += symbol not in SIGNS
                self._emit({"==": "=", "!=": "<>", **SIGNS}.get(symbol, symbol), operand=False)
        self._named_argument()

    def _star(self) -> None:
        atom = Atom(Role.STAR, self._here(), text="*")
        self._handle(atom)
        if self.at < len(self.tokens):
            atom.choice = chosen(self.tokens, self.at)
            self.at += atom.choice.size
        if self._peek(0).word in AFTER_STAR:
            raise self._refusal(f"* {self._peek(0).word.upper()}", "the columns must be named.", "Name the columns.")

    def _named_argument(self) -> None:
        """``name => value`` in a call, ``name = value`` in OPTIONS: written for the reader as ``name ( value )``."""
        frame = self.frames[-1] if self.frames else None
        if frame is None or frame.opener not in ("call", "options") or self._peek(-1).symbol not in ("(", ","):
            return
        sign = "=>" if frame.opener == "call" else "="
        name = self._peek(0)
        if name.word and name.word not in RESERVED and self._peek().symbol == sign:
            frame.named = True
            self._handle(Atom(Role.NAMED, name.position, text=name.text), operand=False, take=2)
            self._emit("(", operand=False, take=0)
        elif frame.opener == "options":
            raise self._refusal("OPTIONS", "this is not an option.", "Write OPTIONS (epsilon = 0.5, delta = 1e-8).")

    def _end_named(self) -> None:
        if self.frames and self.frames[-1].named:
            self.frames[-1].named = False
            self._emit(")", operand=True, take=0)

    def _open_list(self, token: Token) -> None:
        """``[1, 2]``, written for the reader as a call; behind a value ``[2]`` is one of its elements."""
        if self.operand:
            place, size = place_asked(self.tokens, self.at)
            self._emit("[", operand=False, take=0)
            self._value(Literal(place, position=token.position), take=0)
            self._emit("]", operand=True, take=size)
            return
        if not self.frames or self.frames[-1].opener != "call":
            hint = "Write UNNEST([1, 2]) AS t(x) in FROM, or IN (1, 2)."
            raise self._refusal("list", "it stands in a function that takes one.", hint)
        atom = Atom(Role.FUNCTION, token.position, text="list_value")
        self._handle(atom, operand=False, take=0)
        self._open(OpenParenthesis("list", atom))
        self._emit("(", operand=False)

    def _close_list(self) -> None:
        if not self.frames or self.frames[-1].opener != "list":
            raise self._refusal("]", "nothing is open for it to close.", "Take it out.")
        if not self.operand:
            raise self._refusal("]", "something is missing before it.", "Write the values, with commas between.")
        self.frames.pop()
        self._emit(")", operand=True)

    def _close(self) -> None:
        if self._peek(-1).symbol != "(":
            self._refuse_incomplete(")")
        if not self.frames or self.frames[-1].opener in ("case", "list"):
            raise self._refusal(")", "nothing is open for it to close.", "Take it out, or end the CASE before it.")
        self._end_named()
        frame = self.frames.pop()
        if frame.opener == "options" and frame.call:
            self.at += 1
            self._select_list(frame.call, ")")
        else:
            if frame.opener == "group":
                (self.frames[-1] if self.frames else self.outermost).clauses.close(frame.clauses)
            self._emit(")", operand=frame.opener != "cte")
