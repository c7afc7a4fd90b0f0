"""What a star stands for: all columns of FROM or of one table there, in order, without those that it leaves out.

Tests: tests/sql/accepted.sql, tests/sql/refused.sql.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsql.errors import UnsupportedQuery
from dpsql.plan.expressions import nearest
from dpsql.plan.scope import ScopeEntry, same_name, whole_name
from dpsql.sql import syntax
from dpsql.sql.tokens import fold

__all__ = ["columns_of_star", "refuse_twice"]


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
    for entry in read:
        for name in entry.columns:
            if not any(same_name(whole_name(name), own) for own in star.without):
                yield entry, name


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
