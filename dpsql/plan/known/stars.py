"""What a star stands for: all columns of FROM or of one table there, in order, without those that it leaves out.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.plan.known.conditions import bare_identity
from dpsql.plan.known.scope import ScopeEntry, same_name, whole_name
from dpsql.plan.nodes import Expression
from dpsql.plan.values.expressions import Resolver, nearest
from dpsql.sql import syntax
from dpsql.sql.tokens import fold

__all__ = ["columns_of_star", "instead_of", "refuse_twice", "shown_by"]


def columns_of_star(star: syntax.AllColumns, entries: Sequence[ScopeEntry]) -> Iterator[tuple[ScopeEntry, str]]:
    """Each column with its table; the elements of a list have names of their own.

    Raises:
        UnsupportedQuery: It leaves out what is no column.
    """
    read = [entry for entry in entries if star.table is None or same_name(entry.alias, star.table)]
    known = dict.fromkeys(whole_name(name) for entry in read for name in entry.columns)
    for name in star.without:
        if not any(same_name(name, own) for own in known):
            raise UnsupportedQuery(
                f"there is no column {name}.", construct="* EXCLUDE", position=star.position,
                hint=nearest(name, [*known]) or f"There are {', '.join(known)}.",
            )  # fmt: skip
    shown = [own for own in known if not any(same_name(own, name) for name in star.without)]
    for place, (name, item) in enumerate(star.instead):
        others = [own for own in shown if not same_name(own, name)]
        if any(same_name(item.name, own) for own in (*others, *(other.name for _, other in star.instead[:place]))):
            raise UnsupportedQuery(
                "two columns would have this name.", construct=item.name, position=star.position,
                hint="Choose another name, or leave the other column out: * EXCLUDE (a).",
            )  # fmt: skip
        twice = any(same_name(name, other) for other, _ in star.instead[:place])
        if twice or not any(same_name(name, own) for own in shown):
            raise UnsupportedQuery(
                f"column {name} is chosen twice." if twice else f"there is no column {name} to show another way.",
                construct="* REPLACE" if same_name(name, item.name) else "* RENAME", position=star.position,
                hint=f"There are {', '.join(shown)}.",
            )  # fmt: skip
    for entry in read:
        for name in entry.columns:
            if not any(same_name(whole_name(name), own) for own in star.without):
                yield entry, name


def instead_of(star: syntax.AllColumns, name: str) -> syntax.Item | None:
    """The entry that a star shows in the place of a column: of its REPLACE, or of its RENAME; None for the column."""
    return next((item for own, item in star.instead if same_name(own, whole_name(name))), None)


def shown_by(
    star: syntax.AllColumns,
    entries: Sequence[ScopeEntry],
    resolver: Resolver,
    passed: Callable[[Expression], Expression],
) -> Iterator[tuple[str, Expression]]:
    """The names and values of all columns that a star shows.

    Args:
        star: In the select list of rows.
        entries: What stands in FROM.
        resolver: Resolves what is shown in the place of columns.
        passed: What a column as it is becomes.

    Raises:
        UnsupportedQuery: It leaves out or replaces what is no column, or computes with a unit.
    """
    for entry, own in columns_of_star(star, entries):
        new = instead_of(star, own)
        if new is None:
            yield own, passed(entry.columns[own])
        else:
            yield new.name, bare_identity(resolver.resolve(new.expression), new.position)


def refuse_twice(names: Sequence[str], position: syntax.Position) -> None:
    """Refuses a star beside QUALIFY where another column has the name of one of its own: it would stand for both.

    Raises:
        UnsupportedQuery: There is one.
    """
    seen = set[str]()
    for name in names:
        if fold(name) in seen:
            raise UnsupportedQuery(
                f"two columns are called {name}.", construct="QUALIFY", position=position,
                hint=f"Give one of them an alias, or write * EXCLUDE ({name}).",
            )  # fmt: skip
        seen.add(fold(name))
