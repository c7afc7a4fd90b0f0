"""Writing a skeleton: the place in the tokens, what is open, and whether a value has just ended."""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.errors import UnsupportedQuery
from dpsql.sql.atoms import Atom, Role, Skeleton
from dpsql.sql.clauses import Clauses
from dpsql.sql.syntax import Expr
from dpsql.sql.tokens import Token, TokenKind

__all__ = ["DEEPEST_NESTING", "OpenParenthesis", "Writer"]

DEEPEST_NESTING = 30
"""Levels of open parentheses. It is a choice: deeper than people write, and the reader is plain recursion."""


@dataclass(slots=True)
class OpenParenthesis:
    """An open parenthesis or CASE, and what it was opened for."""

    opener: str  # call, options, cast, case, cte, filter, within, over, pivot, list, group; statement for the outermost
    call: Atom | None = None
    named: bool = False  # whether a named argument is being written
    clauses: Clauses = field(default_factory=Clauses)  # of the query in it, as far as written


@dataclass(slots=True)
class Writer:
    """The pieces written so far, and the state that decides what may follow."""

    tokens: tuple[Token, ...]
    at: int = 0
    pieces: list[tuple[str, tuple[int, int]]] = field(default_factory=list)
    atoms: dict[str, Atom] = field(default_factory=dict)
    frames: list[OpenParenthesis] = field(default_factory=list)
    outermost: OpenParenthesis = field(default_factory=lambda: OpenParenthesis("statement"))
    operand: bool = False  # whether what was written last ends a value
    operators: int = 0
    style: str = ""  # the form of the parameters: "?", "$1" or "$name"

    def _peek(self, ahead: int = 1) -> Token:
        """The token so many places on; an empty symbol outside the statement."""
        place = self.at + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else Token(TokenKind.SYMBOL, "", (0, 0))

    def _here(self) -> tuple[int, int]:
        return self.tokens[min(self.at, len(self.tokens) - 1)].position

    def _emit(self, piece: str, *, operand: bool, take: int = 1) -> None:
        """Write a piece, positioned at the current token, and go ``take`` tokens on."""
        place = min(self.at, len(self.tokens) - 1)
        self.pieces.append((piece, self.tokens[place].position))
        self.operand = operand
        self.at += take

    def _handle(self, atom: Atom, *, operand: bool = True, take: int = 1) -> None:
        if atom.role is Role.NAME:
            atom.implicit = self.operand
        elif atom.role is not Role.TYPE:
            self._refuse_after_value()
        handle = f"h{len(self.atoms)}"
        self.atoms[handle] = atom
        text = atom.role is Role.VALUE and self._peek(-1).word == "escape"  # the reader takes a text alone there
        self._emit(f"'{handle}'" if text else handle, operand=operand, take=take)

    def _value(self, value: Expr, take: int = 1) -> None:
        self._handle(Atom(Role.VALUE, self._here(), value=value), take=take)

    def _open(self, frame: OpenParenthesis) -> None:
        self.frames.append(frame)
        if len(self.frames) > DEEPEST_NESTING:
            raise self._refusal("nesting", f"it is deeper than {DEEPEST_NESTING} levels.", "Write it flatter.")

    def _refusal(self, construct: str, message: str, hint: str) -> UnsupportedQuery:
        return UnsupportedQuery(message, construct=construct, position=self._here(), hint=hint)

    def _refuse_after_value(self) -> None:
        if self.operand:
            raise self._refusal(
                "value after value", "nothing says how they belong together.", "Write an operator or a comma between."
            )

    def _refuse_incomplete(self, construct: str) -> None:
        """Refuse a comma, a closing parenthesis or the end after something that is not complete."""
        if not self.operand and self._peek(-1).symbol == "%":
            hint = "Write a % b. LIMIT takes a number of rows, and no share of them: LIMIT 10."
            raise self._refusal(construct, "a number is missing behind %.", hint)
        if not self.operand and self._peek(-1).symbol != ")":
            raise self._refusal(construct, "something is missing before it.", "Write it, or take the last word out.")

    def _finish(self) -> Skeleton:
        starts, offset = [], 0
        for piece, position in self.pieces:
            starts.append((offset, position))
            offset += len(piece) + 1
        return Skeleton(" ".join(piece for piece, _ in self.pieces), self.atoms, self.operators, tuple(starts))
