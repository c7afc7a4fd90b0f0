"""What every conversion rests on: slots, handles, positions, refusals, and the size of a tree."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from dpsql.errors import UnsupportedQuery
from dpsql.sql.atoms import Atom, Role
from dpsql.sql.syntax import Node, Position, Queryable
from dpsql.sql.tokens import fold
from dpsql.sql.walk import children

__all__ = ["DEEPEST_TREE", "Reader", "measure", "too_deep", "words"]

DEEPEST_TREE = 100  # Levels of a statement's tree. It is a choice: every later pass may be plain recursion.
MOST_NODES = 4_000
"""Nodes of a statement's tree. It is a choice between what can be asked and the time of later passes."""


def too_deep(position: Position) -> UnsupportedQuery:
    hint = "Write it flatter: x IN (..) for many OR, fewer operators in a row."
    return UnsupportedQuery("the expression is nested too deeply.", construct="nesting", position=position, hint=hint)


def measure(tree: Node) -> None:
    """Refuse a tree that is too deep or too large, without recursion and without walking more than the limit."""
    nodes, stack = 0, [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        nodes += 1
        if depth > DEEPEST_TREE or nodes > MOST_NODES:
            raise too_deep(node.position)
        stack.extend((child, depth + 1) for child in children(node))


class Reader:
    """The handles of one tree, and what of it has been read.

    Attributes:
        database: What may stand before a table.
        atoms: What each handle stands for.
        unread: The handles that no node has claimed so far.
        operators: How many signs and casts have been read.
        named: The queries that WITH names where the reader is, by name.
    """

    def __init__(self, atoms: dict[str, Atom], database: str) -> None:
        self.database = database
        self.atoms = atoms
        self.unread = dict(atoms)
        self.operators = 0
        self.named: dict[str, Queryable] = {}

    def refuse_what_was_lost(self) -> None:
        """Refuse a statement of which the reader dropped a name or a constant: ``USING (t.v)`` lost its ``t``."""
        for atom in self.unread.values():
            raise UnsupportedQuery(
                "dpsql cannot place this part of the statement.",
                construct="syntax",
                position=atom.position,
                hint="Take it out, or put parentheses around what belongs together.",
            )

    def _slots(self, node: exp.Expr, *expected: str) -> None:
        """Refuse a node that carries an argument which its conversion would drop."""
        for slot, value in node.args.items():
            if slot not in expected and value is not None and value is not False and value != []:
                extra = slot.strip("_").replace("_", " ").upper()
                self._refuse(node, f"{words(node)} with {extra}", "dpsql does not support this form.", "Leave it out.")

    def _refuse(self, node: exp.Expr | None, construct: str, message: str, hint: str) -> NoReturn:
        raise UnsupportedQuery(message, construct=construct, position=self._place(node), hint=hint)

    def _place(self, node: exp.Expr | None) -> Position:
        """The first position that any handle under a node carries."""
        if node is None:
            return None
        texts = (str(part.args.get("this")) for part in node.walk() if isinstance(part, exp.Identifier | exp.Anonymous))
        return min((self.atoms[text].position for text in texts if text in self.atoms), default=None)

    def _atom(
        self, handle: object, roles: tuple[Role, ...], wanted: str, node: exp.Expr, *, alias: bool = False
    ) -> Atom:
        """What a handle stands for, if it is what belongs in its place."""
        text = handle.this if isinstance(handle, exp.Identifier) else handle
        if isinstance(handle, exp.Identifier):
            self._slots(handle, "this")
        atom = self.atoms.get(text) if isinstance(text, str) else None
        if atom is None or atom.role not in roles:
            position = atom.position if atom else self._place(node)
            found = f"a {atom.role.value}" if atom else "something else"
            raise UnsupportedQuery(
                f"here stands {found}, where {wanted} is expected.",
                construct="syntax",
                position=position,
                hint="Check commas, quotes and keywords before it.",
            )
        if atom.implicit and not alias:
            hint = "Write an operator or a comma before it."
            raise UnsupportedQuery(
                "nothing says how it belongs to what stands before it.",
                construct="name after value",
                position=atom.position,
                hint=hint,
            )
        self.unread.pop(str(text), None)
        return atom

    def _name(self, handle: object, node: exp.Expr) -> str:
        return fold(self._atom(handle, (Role.NAME,), "a name", node).text)

    def _alias(self, handle: object, node: exp.Expr) -> Atom:
        """The name of a table, or of its columns."""
        return self._atom(handle, (Role.NAME,), "an alias", node, alias=True)

    def _column_alias(self, handle: object, node: exp.Expr) -> Atom:
        """The name of what a SELECT lists."""
        atom = self._alias(handle, node)
        if atom.needs_as:
            raise UnsupportedQuery(
                "as an alias this keyword needs AS before it.",
                construct=atom.text.upper() if atom.text.isascii() else "alias",
                position=atom.position,
                hint=f'Write AS "{fold(atom.text)}", or take it out.',
            )
        return atom


def words(node: exp.Expr | None) -> str:
    """What a node is called in SQL, from its class: ``GroupConcat`` becomes ``GROUP CONCAT``."""
    name = type(node).__name__
    return "".join(f" {letter}" if letter.isupper() else letter for letter in name).strip().upper()
