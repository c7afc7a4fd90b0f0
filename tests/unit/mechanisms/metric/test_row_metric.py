"""The policy's metrics as mathematics: every kind, every value in its place, one clear error for what is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.engine.base import PublicColumn, PublicTable
from dpsql.errors import PolicyError
from dpsql.mechanisms.metric.row_metric import RowMetric, build_metrics
from dpsql.plan.types import Type, Value
from dpsql.policy import load_policy
from dpsql.proxy import refresh
from tests.unit.mechanisms.metric.homes import asked, homes, policy

COLUMNS: dict[str, list[Value]] = {"name": ["Alm", "Bach", "Cern"], "x": [0.0, 3.0, 30.0], "y": [0.0, 4.0, 40.0]}
AGE = "{kind: chain, epsilon: 0.5}"
SEX = "{kind: discrete, epsilon: 2}"
TOWN = "{kind: euclidean, of: [towns.x, towns.y], epsilon: 0.1}"


def built(folder: Path, *changes: tuple[str, str], columns: Mapping[str, list[Value]] = COLUMNS) -> RowMetric:
    """The metric of the street's policy after some changes of its text."""
    text = policy()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "homes.yaml"
    file.write_text(text)

    def rows(table: str, names: Sequence[str]) -> Mapping[str, Sequence[Value]]:
        assert table == "towns"
        return {name: columns[name] for name in names}

    names = tuple(columns["name"])
    name = PublicColumn("name", Type.TEXT, None, None, names, nullable=False, multiplicity=1)
    public = {"towns": PublicTable("towns", len(names), {"name": name})}
    return build_metrics(load_policy(file), public, rows)["home"]


def distances(metric: RowMetric, name: str) -> list[list[str]]:
    """All distances between the values of one attribute."""
    (own,) = (dimension for dimension in metric.dimensions if dimension.name == name)
    every = range(len(own.values))
    return [[str(own.metric.distance(u, v)) for v in every] for u in every]


@pytest.mark.parametrize(
    ("described", "expected"),
    [
        ("{kind: discrete, epsilon: 0.5}", "0 1/2 1/2"),
        ("{kind: chain, epsilon: 0.5}", "0 1/2 1"),
        ("{kind: chain, gaps: [0.5, 2]}", "0 1/2 5/2"),
        ("{kind: star, parts: [[X, 0.5], [F, 1], [M, 2]]}", "0 3 3/2"),
        ("{kind: tree, edges: [[F, inner, 1], [inner, M, 2], [inner, X, 0.5]]}", "0 3 3/2"),
        ("{kind: tree, edges: [[X, M, 1], [X, F, 2]]}", "0 3 2"),
        ("{kind: graph, edges: [[F, M, 1], [M, X, 1], [F, X, 9]]}", "0 1 2"),
        ("{kind: matrix, distances: [[0, 1, 2], [1, 0, 2], [2, 2, 0]]}", "0 1 2"),
        ("{kind: threshold, epsilon: 0.5, within: 1}", "0 1/2 1"),
        ("{kind: threshold, epsilon: 0.5, within: 2}", "0 1/2 1/2"),
        ("{kind: smooth, epsilon: 0.5, within: 1}", "0 1/2 1"),
    ],
)
def test_every_kind_has_its_distances(tmp_path: Path, described: str, expected: str) -> None:
    first, *_ = distances(built(tmp_path, (SEX, described)), "sex")
    assert " ".join(first) == expected


def test_numbers_and_days_are_where_they_are_on_their_scale(tmp_path: Path) -> None:
    metric = built(tmp_path, ("{type: integer, bounds: [0, 5]}", "{type: integer, values: [9, 0, 4]}"))
    assert list(metric.dimensions[0].values) == [0, 4, 9]
    assert distances(metric, "age")[0] == ["0", "2", "9/2"]
    days = built(
        tmp_path,
        ("age:  {type: integer, bounds: [0, 5]}", "age:  {type: date, bounds: [2024-02-28, 2024-03-01]}"),
        (AGE, "{kind: smooth, epsilon: 1, within: 2}"),
    )
    assert distances(days, "age")[0] == ["0", "1", "1"]


def test_places_are_apart_as_the_crow_flies(tmp_path: Path) -> None:
    assert distances(built(tmp_path), "town")[0] == ["0", "1/2", "5"]


def test_null_is_a_value_where_the_policy_says_so(tmp_path: Path) -> None:
    apart = built(tmp_path, (AGE, "{kind: chain, epsilon: 0.5, missing: 3}")).dimensions[0]
    assert apart.values[-1] is None
    assert apart.otherwise is None
    assert [apart.metric.distance(0, far) for far in (6, 5)] == [3, Fraction(5, 2)]
    assert built(tmp_path).dimensions[0].otherwise == 0
    assert built(tmp_path, (AGE, "{kind: chain, epsilon: 0.5, outside: 4}")).dimensions[0].otherwise == 4
    nullable = ("sex:  {type: text, values: [F, M, X]}", "sex:  {type: text, values: [F, M, X], nullable: true}")
    assert distances(built(tmp_path, nullable), "sex")[0] == ["0", "2", "2", "2"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ((SEX, "{kind: matrix, distances: [[0, 1, 3], [1, 0, 1], [3, 1, 0]]}"),
         "sex: F and X are 3 apart, but only 2 by way of M"),
        ((SEX, "{kind: matrix, distances: [[0, 1, 1], [2, 0, 1], [1, 1, 0]]}"), "F is 1 from M, but 2 the other way"),
        ((SEX, "{kind: matrix, distances: [[1, 1, 1], [1, 0, 1], [1, 1, 0]]}"), "F is 1 from itself; write 0"),
        ((SEX, "{kind: matrix, distances: [[0, 0, 1], [0, 0, 1], [1, 1, 0]]}"), "F and M are 0 apart; write a"),
        ((SEX, "{kind: matrix, distances: [[0, 1], [1, 0]]}"), "the table has 2 rows for 3 values"),
        ((SEX, "{kind: star, parts: [[F, 1], [M, 1]]}"), "X has no part; write one for every value"),
        ((SEX, "{kind: star, parts: [[F, 1], [Q, 1]]}"), "Q is no value of the column; write one of its values"),
        ((SEX, "{kind: graph, edges: [[F, M, 1]]}"), "there is no way from F to X"),
        ((SEX, "{kind: tree, edges: [[F, M, 1], [M, X, 1], [F, X, 1]]}"), "a tree of 3 nodes has 2 edges, not 3"),
        ((SEX, "{kind: chain, gaps: [1]}"), "3 values have 2 gaps between them, not 1"),
        ((AGE, "{kind: threshold, epsilon: 1, within: 0.5}"), "0 and 1 are 1 apart, further than theta = 1/2"),
        ((TOWN, "{kind: chain, epsilon: 1}"), "a public table lists words in no order; list values: [...]"),
        ((TOWN, "{kind: discrete, epsilon: 1, outside: Rome}"), "Rome is no value of the column"),
        (("bounds: [0, 5]", "bounds: [0, 5000000]"), "its domain is too large for a metric; declare at most 1,000,000"),
    ],
)  # fmt: skip
def test_what_is_no_metric_is_refused_with_values_that_show_it(
    tmp_path: Path, change: tuple[str, str], expected: str
) -> None:
    with pytest.raises(PolicyError) as refused:
        built(tmp_path, change)
    message = str(refused.value)
    assert expected in message
    assert message.startswith(f"{tmp_path / 'homes.yaml'}:") and ": metrics.home.attributes." in message


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (COLUMNS | {"x": [0.0, None, 30.0]}, "Bach has no coordinates in towns; write them there"),
        (COLUMNS | {"x": [0.0, 0.0, 30.0], "y": [0.0, 0.0, 40.0]}, "Alm and Bach are at the same point"),
        ({"name": [], "x": [], "y": []}, "the public table lists no value for it; fill the table"),
    ],
)
def test_places_without_a_place_of_their_own_are_refused(
    tmp_path: Path, columns: Mapping[str, list[Value]], expected: str
) -> None:
    with pytest.raises(PolicyError) as refused:
        built(tmp_path, columns=columns)
    assert expected in str(refused.value)


def test_what_multiples_mean_in_plain_epsilon(tmp_path: Path) -> None:
    metric = built(tmp_path)
    assert metric.epsilon_of({"age": Fraction(2), "sex": Fraction(1, 2)}) == 2 * Fraction(5, 2) + 1
    l2 = built(tmp_path, ("combine: sum", "combine: l2"), ("{age: 4, sex: 4, town: 4}", "4"))
    assert l2.epsilon_of({"": Fraction(1)}) == l2.product.diameter() >= 5


MATRIX = "{kind: matrix, distances: [[0, 0.1, 5], [0.1, 0, 5], [5, 5, 0]]}"


def test_what_public_tables_list_is_part_of_what_a_multiple_means_where_its_order_is(tmp_path: Path) -> None:
    moved: dict[str, list[Value]] = {"name": ["Aach", "Alm", "Bach"], "x": [0.0, 3.0, 30.0], "y": [0.0, 4.0, 40.0]}
    for described, by_place in ((MATRIX, True), ("{kind: discrete, epsilon: 1}", False), (TOWN, False)):
        one, other = (built(tmp_path, (TOWN, described), columns=columns).listed for columns in (COLUMNS, moved))
        assert (one != other, bool(one)) == (by_place, by_place)


@pytest.mark.chance(0, "asserts nothing of the draws")
@pytest.mark.parametrize("through", ["the proxy", "the file"])
def test_a_public_table_that_moves_a_matrix_ends_what_was_spent_of_it(tmp_path: Path, through: str) -> None:
    """Of Alm, Bach and Cern the first two are near; of Aach, Alm and Bach the last two are far apart."""
    budget = ("  ledger: homes.ledger.db", f"  ledger: homes.ledger.db\n  mark: {tmp_path / 'marks'}")
    cache = ("database: homes.duckdb", f"database: homes.duckdb, cache: {tmp_path / 'cache'}")
    text = policy()
    for old, new in (budget, cache, (TOWN, MATRIX)):
        text = text.replace(old, new)
    file = homes(tmp_path, text)
    asking = "SELECT COUNT(*) FILTER (WHERE town = 'Alm') AS n FROM people"
    with dpsql.open(file) as proxy:
        asked(proxy.session(analyst="ana"), asking)
        with duckdb.connect(str(tmp_path / "homes.duckdb")) as connection:
            connection.execute("DELETE FROM towns WHERE name = 'Cern'")
            connection.execute("INSERT INTO towns VALUES ('Aach', 0, 0, 'hills', 9)")
        with pytest.raises(PolicyError, match=r"metrics\.home goes by the places of values that a public table lists"):
            proxy.refresh() if through == "the proxy" else refresh(file)
