"""Replay audit of metrics: two databases that differ in one row are told apart by no more than was paid for it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpsql.mechanisms.metric import Lines, Pairs, Points
from dpsql.mechanisms.metric.distances.slopes import slope_of_pairs
from dpsql.mechanisms.metric.row_metric import RowMetric
from tests.attacks.row_neighbours import ABSENT, Run, Street, charged, convicted, spread, told
from tests.unit.mechanisms.metric.homes import Row, policy

TOWNS = [
    ("Alm", 0.0, 0.0, "hills", 100), ("Bach", 3.0, 4.0, "hills", 60), ("Cern", 30.0, 40.0, "plain", 10),
    ("Dorf", 33.0, 44.0, "plain", 12),
]  # fmt: skip

# What stands in the row (id, age, sex, town), and where the metric puts it.
ROWS: dict[str, tuple[Row, Row]] = {
    "somebody": ((20, 3, "F", "Bach"), (3, "F", "Bach")),
    "a year older": ((20, 4, "F", "Bach"), (4, "F", "Bach")),
    "another's row": ((1, 3, "F", "Bach"), (3, "F", "Bach")),
    "nobody's row": ((None, 3, "F", "Bach"), (3, "F", "Bach")),
    "of the next town": ((20, 3, "F", "Alm"), (3, "F", "Alm")),
    "of no town": ((20, 3, "F", None), (3, "F", "Alm")),
    "of a town that is none": ((20, 3, "F", "Rome"), (3, "F", "Alm")),
    "as far as can be": ((20, 99, "X", "Dorf"), (5, "X", "Dorf")),
    "nothing known": ((20, None, "?", "Cern"), (0, "F", "Cern")),
    ABSENT: ((), ()),
}
PLACES = {name: place for name, (_, place) in ROWS.items()}

STATEMENTS = [
    "SELECT COUNT(*) FROM people",
    "SELECT COUNT(*) FROM people WHERE age >= 4",
    "SELECT COUNT(*) FROM people WHERE age BETWEEN 1 AND 3 OR sex = 'X'",
    "SELECT COUNT(*) FROM people WHERE sex = 'F' AND town IN ('Alm', 'Bach') AND age > 2",
    "SELECT age, COUNT(*) FROM people GROUP BY age",
    "SELECT sex, town, COUNT(*), SUM(age) FROM people GROUP BY sex, town",
    "SELECT SUM(age), AVG(age), COUNT(*) FILTER (WHERE age < 2) FROM people",
    "SELECT AVG(t.height) FROM people p JOIN towns t ON p.town = t.name",
    "SELECT t.region, COUNT(*), AVG(age) FROM people p JOIN towns t ON p.town = t.name GROUP BY t.region",
    "SELECT SUM(t.height * age) FROM people p LEFT JOIN towns t ON p.town = t.name WHERE sex <> 'M'",
    "SELECT sex, town, COUNT(*) FROM people GROUP BY ROLLUP (sex, town)",
    "SELECT MODE(town) FROM people WHERE age > 1",
    "SELECT sex, MODE(age), COUNT(*) FROM people GROUP BY sex",
    "SELECT COUNT(*) FROM people WHERE town = 'Dorf' HAVING COUNT(*) > 1",
]


Replay = Mapping[str, Mapping[str, Run]]
"""Each statement's runs, by the row that is there."""


def three_metrics(neighbours: str) -> str:
    """The street's policy with a metric of each combination."""
    text = policy(neighbours, presence=True)
    head, _, home = text.partition("  home:\n")
    described = home.partition("    limit")[0]
    others = "".join(
        f"  {combine}:\n{described.replace('combine: sum', f'combine: {combine}')}    limit: 1000\n"
        for combine in ("sup", "l2")
    )
    return head + "  home:\n" + home.replace("{age: 4, sex: 4, town: 4, presence: 4}", LARGE) + others


LARGE = "{age: 1000, sex: 1000, town: 1000, presence: 1000}"


@pytest.fixture(scope="module", params=["add_remove", pytest.param("replace_one", marks=pytest.mark.slow)])
def street(request: pytest.FixtureRequest) -> Iterator[Street]:
    rows = {name: row for name, (row, _) in ROWS.items()}
    with Street(three_metrics(request.param), rows, TOWNS) as street:
        yield street


@pytest.fixture(scope="module")
def replay(street: Street) -> Replay:
    return asked(street, "home", STATEMENTS)


def asked(street: Street, name: str, statements: Sequence[str]) -> Replay:
    """The statements on every database of a street."""
    return {sql: street.ask(sql, mechanism="metric", metric=name, multiple=0.75) for sql in statements}


def problems(metric: RowMetric, replay: Replay) -> list[str]:
    """What convicts, of the rows above."""
    return list(convicted(metric, replay, PLACES))


def test_no_two_rows_are_told_apart_by_more_than_was_paid(street: Street, replay: Replay) -> None:
    assert problems(street.metrics["home"], replay) == []


@pytest.mark.parametrize("name", ["l2", pytest.param("sup", marks=pytest.mark.slow)])
def test_nor_under_a_metric_that_is_no_sum(street: Street, name: str) -> None:
    assert problems(street.metrics[name], asked(street, name, STATEMENTS[2::4])) == []


def test_every_statement_is_answered(replay: Replay) -> None:
    for sql, runs in replay.items():
        assert all(run.error is None for run in runs.values()), sql


def test_rows_in_one_place_have_one_answer(replay: Replay) -> None:
    same = [pair for pair in itertools.combinations(ROWS, 2) if PLACES[pair[0]] == PLACES[pair[1]]]
    assert len(same) >= 5
    for runs in replay.values():
        for one, two in same:
            assert runs[one].rows == runs[two].rows


def test_most_statements_tell_some_pair_apart_by_all_that_was_paid(street: Street, replay: Replay) -> None:
    # An audit that never sees the worst case proves nothing.
    tight = 0
    for runs in replay.values():
        shares = [
            told(runs[one], runs[two]) / paid
            for one, two in itertools.combinations(ROWS, 2)
            if (paid := spread(street.metrics["home"], charged(runs[one]), PLACES[one], PLACES[two]))
        ]
        tight += max(shares) > Fraction(99, 100)
    assert tight >= 7


def test_a_statement_costs_its_multiple_and_no_more_of_any_column(replay: Replay) -> None:
    for runs in replay.values():
        (run, *_) = runs.values()
        assert Fraction(3, 4) - Fraction(1, 10**11) < max(charged(run).values()) <= Fraction(3, 4)


class NearestOnly(Points):
    """The tempting shortcut: slopes to each place's nearest neighbour alone.

    It is too small wherever near places are equal to a question, and the difference lies between clusters.
    """

    __slots__ = ()

    def slope(self, lines: Lines) -> Fraction:
        """A number below the true slope."""
        every = range(self.size)
        nearest = [min((v for v in every if v != u), key=lambda v: self.distance(u, v)) for u in every]
        unit = Fraction(1, 10**6)
        steps = np.array([int(self.distance(u, v) / unit) for u, v in enumerate(nearest)])
        return slope_of_pairs(lines, Pairs(np.arange(self.size), np.array(nearest), steps, unit))


def nearest_only(metric: RowMetric) -> RowMetric:
    *others, town = metric.dimensions
    assert isinstance(town.metric, Points)
    broken = replace(town, metric=NearestOnly(town.metric.coordinates, town.metric.unit))
    product = replace(metric.product, attributes=(*metric.product.attributes[:-1], broken.metric))
    return replace(metric, dimensions=(*others, broken), product=product)


@pytest.mark.parametrize("broken", [True, False])
def test_a_graph_of_nearest_neighbours_is_problems(broken: bool) -> None:
    rows = {name: ROWS[name][0] for name in ("somebody", "as far as can be")}
    text = three_metrics("add_remove").replace("presence: 1\n", "presence: 1000\n")
    question = "SELECT COUNT(*) FROM people p JOIN towns t ON p.town = t.name WHERE t.region = 'hills'"
    with Street(text, rows, TOWNS, broken=nearest_only if broken else lambda metric: metric) as street:
        sentences = problems(street.metrics["home"], asked(street, "home", [question]))
    assert sentences == ([f"{question}: somebody | as far as can be are told apart"] if broken else [])


@pytest.mark.slow
def test_null_beside_a_single_value_is_told_apart_by_no_more_than_was_paid() -> None:
    # The one pair of values is that of the value and NULL: forgotten, the age alone would decide the noise.
    text = policy("add_remove", presence=True).replace("values: [F, M, X]}", "values: [F], nullable: true}")
    text = text.replace("{age: 4, sex: 4, town: 4, presence: 4}", LARGE).replace("presence: 1\n", "presence: 1000\n")
    rows: dict[str, Row] = {"known": (20, 3, "F", "Alm"), "unknown": (20, 3, None, "Alm"), ABSENT: ()}
    question = "SELECT SUM(age + CASE WHEN sex = 'F' THEN 9 ELSE 0 END), SUM(age * 2) FROM people"
    with Street(text, rows, TOWNS) as street:
        (runs,) = asked(street, "home", [question]).values()
        paid = spread(street.metrics["home"], charged(runs["known"]), (3, "F", "Alm"), (3, None, "Alm"))
        assert 0 < told(runs["known"], runs["unknown"]) <= paid
