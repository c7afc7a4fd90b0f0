"""In how many groups one privacy unit can be: a public number, from the shape of the rows and the listed values.

A value is *determined* if in every bounded database all rows of one unit have one value of it, NULL being a value.
Where rows have lost their unit, those are meant that the unit's arrival adds: they are made of the unit's own rows.

A left join shows a unit's rows with their partners, or with NULLs: two variants, where only some of the unit's rows may
find one. So each value is given the set of the *switches* on which alone it depends within one unit, a switch being
such a join: it takes at most 2^n values for n switches, one if the set is empty.

Theorem. One unit's rows are in at most 2^n x (product of the listed values of the keys without switches) groups that
the answer lists, n being the number of switches of all other keys together, and each key with switches counting no more
than its listed values.

Proof. By induction over the relation, each row of a unit has a vector of bits, one for each switch (whether it found a
partner there), and a value with a set of switches is a function of the unit and of those bits:

* *Table*: the unit names itself. All other columns do only if the view keeps one row a unit: neither a key nor a
  promise about the data makes it so.
* *Conditions, IN and EXISTS* take rows away. *Expressions* are functions of their columns.
* *Totals of one unit* by further keys: a row is a function of the keys, and so of all their switches together.
* *UNION ALL*: two sides know nothing of each other. A constant that all have stays one.
* *Private joins* tie rows of one unit. Inner: both sides keep their values. Left: whether a left row finds a partner is
  decided by what ON reads of it, since the right rows are all of the same unit: if that has switches alone they are the
  join's, else the join is a switch of its own. The left side keeps its values; those of the right have their own
  switches and the join's.
* *Public joins*: where a left row meets one public row at most, by equality of values as they really occur, that row is
  a function of the equal columns, and in a left join of whatever else ON reads of the left row, as above.  QED

Under ``replace_one`` the bound holds for each of the two units by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dpsql.plan.known.relations import aliases_of, is_public, most_met, names_unit
from dpsql.plan.nodes import (
    Column,
    Constant,
    Expression,
    Filter,
    Join,
    PerUnit,
    Project,
    Relation,
    Scan,
    Semi,
    UnionAll,
    Windowed,
    Written,
)
from dpsql.plan.plans import Key
from dpsql.plan.values.expressions import columns_of

__all__ = ["Switches", "most_groups", "most_values", "switches_of"]

Switches = frozenset[frozenset[str]]
"""The left joins on which a value depends within one unit, each by the aliases of its right side."""

NONE: Switches = frozenset()


def most_groups(relation: Relation, keys: Sequence[Key]) -> int | None:
    """Most listed groups that one unit's rows can be in, at least 1; None where nothing known limits them.

    Args:
        relation: The rows.
        keys: What they are grouped by. Groups outside a domain (NULLs that are not declared) are not listed.
    """
    sizes = (None if key.domain is None else max(1, len(key.domain)) for key in keys)
    return most_values(relation, list(zip((key.expression for key in keys), sizes, strict=True)))


def most_values(relation: Relation, sizes: Sequence[tuple[Expression, int | None]]) -> int | None:
    """Most different values of several expressions together that one unit's rows can have, at least 1.

    Args:
        relation: The rows.
        sizes: Expressions over one row, each with the number of values that count, or None where it is not known.

    Returns:
        None where nothing known limits them.
    """
    reader, switches, by_value, apart = _Reader(), NONE, 1, 1
    for expression, size in sizes:
        own = reader.of(relation, expression)
        if own is not None:
            switches |= own
            by_value *= min(1 << len(own), size or 1 << len(own))
        elif size is None:
            return None
        else:
            apart *= size
    return apart * min(1 << len(switches), by_value)


def switches_of(relation: Relation, expression: Expression) -> Switches | None:
    """The switches on which alone a value depends within one unit: none where it is determined.

    Returns:
        None where rows of one unit may differ in it for other reasons.
    """
    return _Reader().of(relation, expression)


def _together(parts: Iterable[Switches | None]) -> Switches | None:
    found = NONE
    for part in parts:
        if part is None:
            return None
        found |= part
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """Works out the switches of each column once: a chain of joins asks for the first ones again and again."""

    known: dict[tuple[int, str, str], Switches | None] = field(default_factory=dict)

    def of(self, relation: Relation, expression: Expression) -> Switches | None:
        """Of an expression over a relation."""
        return _together([self._column(relation, column) for column in columns_of(expression)])

    def _column(self, relation: Relation, column: Column) -> Switches | None:
        place = (id(relation), column.alias, column.name)
        if place not in self.known:
            self.known[place] = self._found(relation, column)
        return self.known[place]

    def _found(self, relation: Relation, column: Column) -> Switches | None:
        match relation:
            case Scan():
                return NONE if column.unit or relation.table.rows_per_unit == 1 else None
            case Written():
                return None
            case Filter() | Semi():
                return self._column(relation.input, column)
            case Project():
                own = dict(relation.columns)[column.name]
                return None if isinstance(own, Windowed) else self.of(relation.input, own)
            case PerUnit():
                keys = dict(relation.keys)
                read = [keys[column.name]] if column.name in keys else keys.values()
                return _together([self.of(relation.input, key) for key in read])
            case UnionAll():
                place = relation.names.index(column.name)
                values = [expressions[place] for _, expressions in relation.parts]
                same = isinstance(values[0], Constant) and all(value == values[0] for value in values)
                return NONE if same or all(map(names_unit, values)) else None
            case Join():
                if is_public(relation.left):
                    return None
                kept = column.alias in aliases_of(relation.left)
                return self._column(relation.left, column) if kept else self._partner(relation, column)

    def _partner(self, join: Join, column: Column) -> Switches | None:
        """Of a column of the right side, whose row depends on the left one."""
        ours = aliases_of(join.left)
        tied = [c for pair in join.equal for c in pair if c.alias in ours]
        read = [c for condition in join.on for c in columns_of(condition) if c.alias in ours]
        if is_public(join.right):
            met = most_met(join.right, join.equal) == 1
            value = _together([self._column(join.left, c) for c in tied]) if met else None
        else:
            value = self._column(join.right, column)
        if value is None or not join.outer:
            return value
        matched = _together([self._column(join.left, c) for c in [*tied, *read]])
        return value | (frozenset({frozenset(aliases_of(join.right))}) if matched is None else matched)
