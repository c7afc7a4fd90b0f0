"""Constants, parameters, quoted names and types: several tokens at times, one handle each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from dpsql.sql import literals
from dpsql.sql.atoms import Atom, Role
from dpsql.sql.keywords import COLUMN_ONLY, FUNCTION_ONLY, RESERVED
from dpsql.sql.refused import QUARTERS, REGEXP, SINCE_1970
from dpsql.sql.syntax import Literal, Parameter, Position
from dpsql.sql.tokens import Token, TokenKind, fold, name_of
from dpsql.sql.writer import OpenParenthesis, Writer

__all__ = ["Constants"]

_DATED: Mapping[str, Callable[[str, Position], Literal]] = {
    "date": literals.read_date,
    "timestamp": literals.read_timestamp,
    "datetime": literals.read_timestamp,
    "timestamptz": literals.read_moment,
}
"""Words before the text of a day or a moment, with what reads it."""
_PREFIXES = frozenset("b br e n r rb u x".split())  # Of strings that mean something else in other databases.
_TYPE_KEYWORDS = frozenset(
    """
    bigint bit boolean char character dec decimal float int integer interval numeric real smallint time timestamp
    varchar
    """.split()
)
_KEYWORDS_OF_EXTRACT = frozenset("year quarter month week day hour minute second decade century".split())
"""DuckDB's keywords among the parts of EXTRACT: it shows these in capitals."""
_TYPES_OF_TWO_WORDS = frozenset({("double", "precision"), ("character", "varying")})


class Constants(Writer):
    """Writes what stands for itself."""

    def _atom(self, token: Token) -> None:
        match token.kind:
            case TokenKind.NUMBER:
                self._value(literals.read_number(token.text.replace("_", ""), token.position))
            case TokenKind.STRING:
                self._value(literals.read_string(token.text, token.position))
            case TokenKind.PARAMETER | TokenKind.LIST:
                self._parameter(token)
            case _:
                self._name(token)

    def _parameter(self, token: Token) -> None:
        name = fold(token.text[1:])
        style = "?" if not name else "$1" if name.isdecimal() else "$name"
        if self.style not in ("", style):
            told = f"{self.style} and {style} stand in one statement."
            raise self._refusal("parameter", told, "Write only one of the two forms.")
        self.style = style
        match style:
            case "?":
                index = self._marks().index(token.position)
            case "$1":
                index = int(name) - 1
            case _:
                index = self._names().index(name)
        if index < 0:
            raise self._refusal("parameter", "parameters count from $1.", "Write $1 for the first.")
        named = name if style == "$name" else ""
        self._value(Parameter(index, token.kind is TokenKind.LIST, named, position=token.position))

    def _marks(self) -> list[tuple[int, int]]:
        """Where each ``?`` stands in the analyst's text: values come in that order, though clauses may have moved."""
        return sorted({token.position for token in self.tokens if token.text == "?"})

    def _names(self) -> list[str]:
        """Each ``$name`` once, in the order of the analyst's text."""
        named = sorted((token.position, fold(token.text[1:])) for token in self.tokens if token.text[:1] == "$")
        return list(dict.fromkeys(name for _, name in named))

    def _name(self, token: Token) -> None:
        if not name_of(token):
            raise self._refusal("name", "the name is empty.", "Write the name of a column or a table.")
        if self._peek().symbol == "(":
            raise self._refusal(
                "quoted name before a parenthesis", "function names are written without quotes.", "Take the quotes off."
            )
        self._handle(Atom(Role.NAME, token.position, text=name_of(token), quoted=True))

    def _dated(self, token: Token) -> bool:
        """Read a word and the text of a day or a moment as one constant; False where that is not what stands there."""
        word, ahead = token.word, 1
        if word == "timestamp" and [self._peek(place).word for place in (2, 3)] == ["time", "zone"]:
            word, ahead = {"with": "timestamptz", "without": word}.get(self._peek().word, ""), 4
        text = self._peek(ahead)
        if word not in _DATED or text.kind is not TokenKind.STRING:
            return False
        self._value(_DATED[word](str(literals.read_string(text.text).value), token.position), take=ahead + 1)
        return True

    def _refuse_before_text(self, token: Token) -> None:
        """Refuse a word that other databases have before a text: a prefix, or an operator for patterns."""
        following = self._peek()
        line, column = token.position
        glued = following.kind is TokenKind.STRING and following.position == (line, column + len(token.text))
        if glued and token.word in _PREFIXES:
            hint = "Write '...', in which a backslash stands for itself."
            raise self._refusal(f"{token.text}'...'", "dpsql reads strings without a prefix.", hint)
        if token.word == "time" and following.kind is TokenKind.STRING:
            hint = "Write hour(x) >= 12, or hour(x) * 60 + minute(x) >= 12 * 60 + 30."
            raise self._refusal("TIME", "times of day are no type here.", hint)
        if token.word in ("rlike", "regexp") and following.kind in (TokenKind.STRING, TokenKind.PARAMETER):
            raise self._refusal(token.text.upper(), *REGEXP)

    def _interval(self, token: Token) -> None:
        """``INTERVAL 3 DAY``, ``INTERVAL '3' DAY``, ``INTERVAL '3 days'``, ``INTERVAL (-3) DAY``."""
        inside = self._peek().symbol == "("
        minus = inside and self._peek(2).symbol == "-"
        at = 1 + inside + minus
        following, last = self._peek(at), at + inside
        unit = self._peek(last + 1).word
        unit = unit if unit.removesuffix("s") in literals.UNITS else ""
        constant = following.kind is TokenKind.NUMBER or (following.kind is TokenKind.STRING and not minus)
        if not constant or (inside and not (unit and self._peek(last).symbol == ")")):
            hint = f"Write a whole number of one unit, like INTERVAL '3' DAY. {QUARTERS} {SINCE_1970}"
            raise self._refusal("INTERVAL", "only a constant interval is read.", hint)
        text = str(literals.read_string(following.text).value) if following.kind is TokenKind.STRING else following.text
        value = literals.read_interval("-" * minus + text, unit or None, token.position)
        self._value(value, take=last + 1 + bool(unit))

    def _is_template(self) -> bool:
        """Whether ``('text', 'template')`` follows."""
        kinds = [(self._peek(ahead).kind, self._peek(ahead).symbol) for ahead in range(1, 6)]
        string = (TokenKind.STRING, "")
        return kinds == [(TokenKind.SYMBOL, "("), string, (TokenKind.SYMBOL, ","), string, (TokenKind.SYMBOL, ")")]

    def _template(self, token: Token) -> None:
        """``to_date('31.05.2024', 'DD.MM.YYYY')``: PostgreSQL's way to write a constant, which dashboards take."""
        text, template = (str(literals.read_string(self._peek(ahead).text).value) for ahead in (2, 4))
        moment = literals.read_template(text, template, token.position)
        if token.word == "to_date" and isinstance(moment.value, datetime):
            moment = Literal(moment.value.date(), position=token.position)
        self._value(moment, take=6)

    def _extract(self, token: Token) -> None:
        """``EXTRACT(year FROM x)`` is ``date_part('year', x)``, as DuckDB reads it."""
        part = self._peek(2)
        text = literals.read_string(part.text).value if part.kind is TokenKind.STRING else part.word
        if not text or text in RESERVED | FUNCTION_ONLY:
            raise self._refusal("EXTRACT", "the part of the date is missing.", "Write EXTRACT(year FROM column).")
        atom = Atom(Role.FUNCTION, token.position, text="date_part")
        self._handle(atom, operand=False)
        self._open(OpenParenthesis("call", atom))
        self._emit("(", operand=False)
        named = part.word.upper() if part.word in _KEYWORDS_OF_EXTRACT else fold(str(text))
        self._value(Literal(named, position=part.position), take=2)
        self._emit(",", operand=False, take=0)

    def _type(self) -> None:
        """The type after AS or ``::``, as one handle."""
        first = self._peek(0)
        if not first.word or first.word in RESERVED | (COLUMN_ONLY - _TYPE_KEYWORDS):
            raise self._refusal("type", "the name of a type is missing.", "Write a type like INTEGER or DATE.")
        words = [first.text]
        if (first.word, self._peek().word) in _TYPES_OF_TWO_WORDS:
            words.append(self._peek().text)
        taken, text = len(words), " ".join(words)
        if self._peek(taken).symbol == "(":
            sizes = []
            while self._peek(taken).symbol in ("(", ",") and self._peek(taken + 1).kind is TokenKind.NUMBER:
                sizes.append(self._peek(taken + 1).text)
                taken += 2
            if not sizes or self._peek(taken).symbol != ")":
                raise self._refusal("type", "its size is not a plain number.", "Write a type like DECIMAL(18, 3).")
            taken += 1
            text += f"({','.join(sizes)})"
        if first.word in ("time", "timestamp") and self._peek(taken).word in ("with", "without"):
            zone = [self._peek(taken + ahead).word for ahead in range(3)]
            if first.word == "time" or zone != ["without", "time", "zone"]:
                raise self._refusal("time zone", "dpsql keeps no time zones.", "Write TIMESTAMP.")
            taken += 3
        self._handle(Atom(Role.TYPE, first.position, text=text), take=taken)
