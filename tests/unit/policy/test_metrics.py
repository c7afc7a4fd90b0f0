"""The policy's metrics: what each kind is described by, and what is wrong as far as the file alone tells."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest

from dpsql.policy import Policy

Load = Callable[..., Policy]
Refusal = Callable[..., str]

HOME = (
    "metrics: {home: {table: people, combine: sum, presence: 1.0, attributes: {age: {kind: chain, epsilon: 0.05}, "
    "town: {kind: euclidean, of: [towns.x, towns.y], epsilon: 0.01}}, limit: {age: 4, town: 2, presence: 4}}}\n"
)


def home(*changes: tuple[str, str]) -> tuple[str, str]:
    text = HOME
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return "tables:\n", text + "tables:\n"


def of_age(description: str) -> tuple[str, str]:
    return home(("{kind: chain, epsilon: 0.05}", description))


def test_a_metric_is_read_with_its_limits(load: Load) -> None:
    metric = load(home()).metrics["home"]
    assert metric.limits == {"age": 4, "town": 2, "presence": 4}
    assert metric.attributes["town"].of == ("towns.x", "towns.y")
    assert metric.attributes["age"].epsilon == Decimal("0.05")


def test_a_sup_or_l2_has_one_limit(load: Load) -> None:
    changed = home(("combine: sum", "combine: l2"), ("{age: 4, town: 2, presence: 4}", "3"))
    assert load(changed).metrics["home"].limits == {"": 3}


@pytest.mark.parametrize(
    "description",
    [
        "{kind: discrete, epsilon: 0.5}",
        "{kind: chain, gaps: [0.5, 1]}",
        "{kind: star, parts: [[0, 0.5], [1, 0.25]]}",
        "{kind: tree, edges: [[0, 1, 0.5], [1, 2, 0.25]]}",
        "{kind: graph, edges: [[0, 1, 0.5], [1, 2, 0.25], [0, 2, 0.5]]}",
        "{kind: matrix, distances: [[0, 1], [1, 0]]}",
        "{kind: threshold, epsilon: 1, within: 5}",
        "{kind: smooth, epsilon: 1, within: 5, missing: 3}",
        "{kind: chain, epsilon: 0.05, outside: 0}",
    ],
)
def test_every_kind_is_read(load: Load, description: str) -> None:
    attribute = load(of_age(description)).metrics["home"].attributes["age"]
    assert f"kind: {attribute.kind}" in description


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (of_age("{kind: discrete}"), "age: discrete is not described by nothing; write epsilon: 0.5, and nothing more"),
        (
            of_age("{kind: chain, epsilon: 1, gaps: [1]}"),
            "chain is not described by epsilon, gaps; write epsilon: 0.5 or",
        ),
        (of_age("{kind: star, epsilon: 1}"), "write parts: [[F, 0.2], [M, 0.3]], and nothing more"),
        (of_age("{kind: star, parts: [[0, 0]]}"), "parts.0: 0 is not above 0"),
        (of_age("{kind: tree, edges: [[0, 1]]}"), "edges.0: this is not a list of 3; write [[first, second, 0.5]"),
        (of_age("{kind: tree, edges: 3}"), "edges: this is not a list"),
        (of_age("{kind: tree, edges: [[0, 1, x]]}"), "edges: this is not an exact number"),
        (of_age("{kind: magic}"), "magic is not one of 'discrete', 'chain'"),
        (of_age("{kind: chain, epsilon: 1, missing: 1, outside: 0}"), "age.missing: NULL is either a value of"),
        (of_age("{kind: chain, epsilon: 1, far: 1}"), "far: there is no such key here; write one of kind, epsilon"),
        (
            home(("presence: 1.0, ", "")),
            "metrics.home: under add_remove a metric needs the loss of a row's being there",
        ),
        (home(("table: people", "table: towns")), "metrics.home.table: towns is not a private table"),
        (home(("table: people", "table: nobody")), "metrics.home.table: nobody is not a private table"),
        (
            home(("{age: {kind", "{sage: {kind"), ("age: 4", "sage: 4")),
            "metrics.home.attributes.sage: people.sage is not a column of",
        ),
        (
            home((", presence: 4}", "}")),
            "metrics.home.limit: the limit of a sum is not of this form; write {age: 4, town: 4,",
        ),
        (home(("{age: 4, town: 2, presence: 4}", "3")), "metrics.home.limit: the limit of a sum is not of this form"),
        (home(("{age: 4, town: 2, presence: 4}", "-1")), "metrics.home.limit: -1 is not above 0"),
        (home(("combine: sum", "combine: sup")), "the limit of a sup is not of this form; write one number, such as 4"),
        (home(("combine: sum", "combine: product")), "product is not one of 'sum', 'sup' or 'l2'"),
        (home(("towns.x", "people.age")), "town.of.0: people is not a public table with a key"),
        (home(("towns.x", "town")), "'town' does not name a column"),
    ],
)
def test_a_broken_metric_is_refused_with_a_way_out(refusal: Refusal, change: tuple[str, str], expected: str) -> None:
    message = refusal(change)
    assert expected in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("{type: integer}", "a integer column without declared values has no metric"),
        ("{type: real, bounds: [0, 1]}", "a real column without declared values has no metric"),
        ("{type: integer, bounds: [0, 9], nullable: true}", "the column holds NULLs; write missing: 0.5 (its distance"),
    ],
)
def test_every_row_must_have_a_place(refusal: Refusal, column: str, expected: str) -> None:
    assert expected in refusal(home(), ("{type: integer, bounds: [0, 110]}", column))


def test_an_outside_value_must_be_one_of_the_column(refusal: Refusal) -> None:
    message = refusal(
        of_age("{kind: chain, epsilon: 1, outside: 9}"),
        ("{type: integer, bounds: [0, 110]}", "{type: integer, values: [1, 2]}"),
    )
    assert "age.outside: 9 is not a value of the column; write one of its values" in message


def test_without_public_rows_presence_is_needed_under_replace_one_too(load: Load, refusal: Refusal) -> None:
    swapped = ("neighbours: add_remove", "neighbours: replace_one")
    hidden = home(("presence: 1.0, ", ""), (", presence: 4}", "}"))
    assert "the number of rows of people is not public, so a metric needs" in refusal(hidden, swapped)
    one_each = ("rows_per_unit: 1\n", "rows_per_unit: 1\n    every_unit: true\n")
    assert load(hidden, swapped, one_each).metrics["home"].presence is None


def test_presence_is_no_name_of_a_column(refusal: Refusal) -> None:
    message = refusal(
        home(("age: {kind", "presence: {kind")), ("age: {type: integer, bounds: [0, 110]}", "presence: {type: boolean}")
    )
    assert "presence is the name of the loss of a row's being there; rename it" in message


def test_what_a_multiple_means_includes_the_order_of_values_that_it_goes_by(load: Load) -> None:
    def meant(values: str, described: str) -> str:
        policy = load(of_age(described), ("age: {type: integer, bounds: [0, 110]}", f"age: {{type: text, {values}}}"))
        return policy.metrics["home"].definition(policy.tables["people"].columns)

    for described in ("{kind: chain, epsilon: 1}", "{kind: matrix, distances: [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}"):
        assert meant("values: [a, b, c]", described) != meant("values: [a, c, b]", described)
    one, other = (meant(f"values: [{order}]", "{kind: discrete, epsilon: 1}") for order in ("a, b, c", "a, c, b"))
    assert one == other
