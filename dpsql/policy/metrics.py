"""d_X privacy in the policy file: how far apart two rows of a table are, attribute by attribute, in privacy loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, SkipValidation, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from dpsql.policy.column import ColumnPolicy, Listed
from dpsql.policy.reading import Place
from dpsql.policy.section import ColumnName, Name, Number, Positive, Section, exact, wrong
from dpsql.policy.table import TablePolicy

__all__ = [
    "ATTRIBUTE_KINDS", "PRESENCE", "Attribute", "AttributeKind", "MetricPolicy", "broken_metrics", "declared_values",
    "universe_name",
]  # fmt: skip

AttributeKind = Literal["discrete", "chain", "star", "tree", "graph", "matrix", "threshold", "smooth", "euclidean"]
PRESENCE = "presence"  # The ledger's column for the loss of a row's being there at all.

ATTRIBUTE_KINDS: Mapping[AttributeKind, tuple[tuple[str, ...], ...]] = {
    "discrete": (("epsilon",),),
    "chain": (("epsilon",), ("gaps",)),
    "star": (("parts",),),
    "tree": (("edges",),),
    "graph": (("edges",),),
    "matrix": (("distances",),),
    "threshold": (("epsilon", "within"),),
    "smooth": (("epsilon", "within"),),
    "euclidean": (("epsilon", "of"),),
}
"""What each kind is described by: one of these sets of keys, and no other."""

_EXAMPLES = {
    "epsilon": "epsilon: 0.5",
    "gaps": "gaps: [0.5, 1]",
    "parts": "parts: [[F, 0.2], [M, 0.3]]",
    "edges": "edges: [[A, B, 0.5], [B, C, 0.2]]",
    "distances": "distances: [[0, 1], [1, 0]]",
    "within": "within: 5",
    "of": "of: [cities.x_km, cities.y_km]",
}
_SHAPE = sorted(_EXAMPLES)


def _ends_in_number(length: int, example: str) -> Any:
    """Reads a list of lists that name values first and end in a number above 0."""

    def read(value: object) -> tuple[tuple[Any, ...], ...]:
        if not isinstance(value, list | tuple) or not value:
            raise wrong("this is not a list", f"write {example}")
        entries = []
        for place, entry in enumerate(value):
            if not isinstance(entry, list | tuple) or len(entry) != length:
                raise wrong(f"this is not a list of {length}", f"write {example}", place)
            number = exact(entry[-1])
            if number <= 0:
                raise wrong(f"{number} is not above 0", "write a number above 0", place)
            entries.append((*entry[:-1], number))
        return tuple(entries)

    return read


def _listed_schema(length: int) -> dict[str, Any]:
    entry = {"type": ["string", "number", "boolean"]}
    last = {"type": "number", "exclusiveMinimum": 0}
    inner = {"type": "array", "minItems": length, "maxItems": length, "prefixItems": [*[entry] * (length - 1), last]}
    return {"type": "array", "minItems": 1, "items": inner}


Parts = Annotated[
    tuple[Any, ...],
    SkipValidation,
    BeforeValidator(_ends_in_number(2, "[[first, 0.2], [second, 0.3]]")),
    WithJsonSchema(_listed_schema(2)),
]
Edges = Annotated[
    tuple[Any, ...],
    SkipValidation,
    BeforeValidator(_ends_in_number(3, "[[first, second, 0.5], ...]")),
    WithJsonSchema(_listed_schema(3)),
]
Rows = Annotated[tuple[Annotated[tuple[Number, ...], Field(strict=False)], ...], Field(strict=False)]
Element = Annotated[Listed, SkipValidation, WithJsonSchema({"type": ["string", "number", "boolean"]})]


class Attribute(Section):
    """How far apart two values of one column are, in privacy loss."""

    kind: AttributeKind = Field(examples=["discrete"])
    """The shape of the metric: discrete, chain, star, tree, graph, matrix, threshold, smooth or euclidean."""
    epsilon: Positive | None = None
    """The loss per unit (chain: per step, per year, per day; euclidean: per unit of the coordinates), between any two
    values (discrete), or of values that are near (threshold, smooth)."""
    gaps: Annotated[tuple[Positive, ...], Field(strict=False, min_length=1)] | None = None
    """chain: the loss from each value to the next one, in the order of the values."""
    parts: Parts | None = None
    """star: [value, its part] each; two values are as far apart as their parts together."""
    edges: Edges | None = None
    """tree, graph: [value, value, loss] each; other values are as far apart as the shortest path between them."""
    distances: Rows | None = None
    """matrix: one row for each value, in the order of the values."""
    within: Positive | None = None
    """threshold, smooth: values at most so far apart, in the column's unit, are near."""
    of: Annotated[tuple[ColumnName, ...], Field(strict=False, min_length=1)] | None = None
    """euclidean: columns of a public table that hold the coordinates of each value of its key."""
    missing: Positive | None = None
    """NULL is a value of its own, at this distance from every other."""
    outside: Element | None = None
    """The value that NULL, and what is outside the column's domain, counts as; the first one if nothing is said."""

    def null_apart(self, column: ColumnPolicy) -> bool:
        """Whether NULL, and what is outside the column's domain, is a value of its own."""
        return self.missing is not None or (self.kind == "discrete" and column.nullable and self.outside is None)

    def by_place(self, column: ColumnPolicy) -> bool:
        """Whether the places of values in their list decide how far they are apart, and not the values alone."""
        on_a_scale = self.gaps is None and column.type in ("integer", "date")
        return self.kind == "matrix" or (self.kind in ("chain", "threshold", "smooth") and not on_a_scale)

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        ways = ATTRIBUTE_KINDS[self.kind]
        given = {key for key in _SHAPE if getattr(self, key) is not None}
        if given not in map(set, ways):
            texts = [", ".join(_EXAMPLES[key] for key in way) for way in ways]
            said = f"{self.kind} is not described by {', '.join(sorted(given)) or 'nothing'}"
            raise wrong(said, f"write {' or '.join(texts)}, and nothing more")
        if self.missing is not None and self.outside is not None:
            raise wrong("NULL is either a value of its own or counts as another", "write missing or outside", "missing")
        return self


def declared_values(column: ColumnPolicy) -> Sequence[Listed] | None:
    """Every value of a column in order, as far as the file alone tells; None where a public table lists them.

    Integers and dates are in their own order, other listed values in the order of the list.

    >>> declared_values(ColumnPolicy(type="integer", bounds=(3, 5)))
    range(3, 6)
    >>> declared_values(ColumnPolicy(type="text", values=["b", "a"]))
    ('b', 'a')
    """
    if column.values is not None:
        return sorted(column.values) if column.type in ("integer", "date") else column.values
    if column.type == "boolean":
        return (False, True)
    match column.bounds:
        case (datetime(), _) | None:
            return None
        case (date() as first, date() as last):
            return [first + timedelta(days=day) for day in range((last - first).days + 1)]
        case (int() as low, int() as high):
            return range(low, high + 1)
    return None


def _kind_of_limit(value: Any) -> str:
    return "<columns>" if isinstance(value, Mapping) else "<number>"


Multiples = Annotated[
    Annotated[Positive, Tag("<number>")] | Annotated[dict[Name, Positive], Tag("<columns>")],
    Discriminator(_kind_of_limit),
]


class MetricPolicy(Section):
    """d_X privacy of one table: the protected thing is one row, replaced."""

    table: Name
    """The table."""
    combine: Literal["sum", "sup", "l2"]
    """How the distances of the attributes combine."""
    presence: Positive | None = None
    """The loss of a row's being there at all; needed where the number of rows is not public."""
    attributes: Annotated[dict[Name, Attribute], Field(min_length=1)]
    """The metric of each column."""
    limit: Multiples
    """Multiples of the metric in total: one for each attribute and presence, or one number for sup and l2."""

    def definition(self, columns: Mapping[str, ColumnPolicy]) -> str:
        """What a multiple of it means: all but the limit, as JSON, and the values whose places decide distances.

        Values that a public table lists are known with a version of the tables: `Ledger.charge` compares those.
        """
        placed = {
            name: columns[name].values or columns[name].bounds
            for name, own in self.attributes.items()
            if own.by_place(columns[name])
        }
        return self.model_dump_json(exclude={"limit"}, exclude_none=True) + (repr(placed) if placed else "")

    @property
    def limits(self) -> Mapping[str, Number]:
        """The limit of each of the ledger's columns: an attribute, ``presence``, or ``""`` for sup and l2."""
        return self.limit if isinstance(self.limit, Mapping) else {"": self.limit}


def broken_metrics(
    metrics: Mapping[str, MetricPolicy], tables: Mapping[str, TablePolicy], neighbours: str
) -> Iterator[PydanticCustomError]:
    """What is wrong with the metrics as far as the file alone tells: each problem at its place in the policy."""
    for name, metric in metrics.items():
        at = ("metrics", name)
        table = tables.get(metric.table)
        if table is None or table.public:
            yield wrong(f"{metric.table} is not a private table", "name one under tables", *at, "table")
            continue
        yield from _broken_presence(metric, table, neighbours, at)
        yield from _broken_limit(metric, at)
        for column, attribute in metric.attributes.items():
            place = (*at, "attributes", column)
            if column not in table.columns:
                yield wrong(f"{metric.table}.{column} is not a column of that table", "name one of it", *place)
                continue
            yield from _broken_attribute(attribute, table.columns[column], tables, place)


def _broken_presence(
    metric: MetricPolicy, table: TablePolicy, neighbours: str, at: Place
) -> Iterator[PydanticCustomError]:
    if PRESENCE in metric.attributes:
        yield wrong(f"{PRESENCE} is the name of the loss of a row's being there", "rename it, in a view", *at)
    if metric.presence is None and neighbours == "add_remove":
        yield wrong(
            "under add_remove a metric needs the loss of a row's being there at all",
            "write presence: 1.0, or neighbours: replace_one",
            *at,
        )
    elif metric.presence is None and not table.every_unit:
        yield wrong(
            f"the number of rows of {metric.table} is not public, so a metric needs the loss of a row's being there",
            f"write presence: 1.0, or every_unit: true for {metric.table}",
            *at,
        )


def _broken_limit(metric: MetricPolicy, at: Place) -> Iterator[PydanticCustomError]:
    columns = [*metric.attributes, *([PRESENCE] if metric.presence is not None else [])]
    wanted = columns if metric.combine == "sum" else [""]
    if sorted(metric.limits) != sorted(wanted):
        example = ", ".join(f"{column}: 4" for column in columns)
        remedy = f"write {{{example}}}" if metric.combine == "sum" else "write one number, such as 4"
        yield wrong(f"the limit of a {metric.combine} is not of this form", remedy, *at, "limit")


def _broken_attribute(
    attribute: Attribute, column: ColumnPolicy, tables: Mapping[str, TablePolicy], at: Place
) -> Iterator[PydanticCustomError]:
    if not _listed(column):
        yield wrong(
            f"a {column.type} column without declared values has no metric",
            "declare its values, or bounds of an integer or a date",
            *at,
        )
    nameless = column.nullable and attribute.missing is None and attribute.outside is None
    if nameless and attribute.kind != "discrete":
        yield wrong(
            "the column holds NULLs", "write missing: 0.5 (its distance from every value) or outside: VALUE", *at
        )
    if attribute.outside is not None and not _may_hold(column, attribute.outside):
        yield wrong(f"{attribute.outside} is not a value of the column", "write one of its values", *at, "outside")
    if attribute.of is None:
        return
    for place, full in enumerate(attribute.of):
        source, _, name = full.partition(".")
        table = tables.get(source)
        if table is None or not table.public or table.key_column is None:
            remedy = f"declare it: {source}: {{public: true, key: name}}"
            yield wrong(f"{source} is not a public table with a key", remedy, *at, "of", place)
        elif table.columns and name not in table.columns:
            yield wrong(f"{source} has no column {name}", f"add it to the columns of {source}", *at, "of", place)
    if len({full.partition(".")[0] for full in attribute.of}) > 1:
        yield wrong("the coordinates are of several tables", "keep them in one public table", *at, "of")


def _listed(column: ColumnPolicy) -> bool:
    """Whether every value of the column is declared."""
    return column.values_from is not None or declared_values(column) is not None


def _may_hold(column: ColumnPolicy, value: Listed) -> bool:
    """Whether it may be a value of the column; what a public table lists is known when the policy is opened."""
    if column.values is not None:
        return any(value == known and type(value) is type(known) for known in column.values)
    if column.type == "boolean":
        return isinstance(value, bool)
    if column.bounds is None:
        return True
    low, high = column.bounds
    return type(value) is type(low) and low <= value <= high  # type: ignore[operator]  # of one type


def universe_name(table: str, metric: str) -> str:
    """The table of the bounded file that holds a table's rows as a metric sees them; no other name has a $."""
    return f"{table}$as${metric}"  # what else is stored of a table has names of ours behind its $
