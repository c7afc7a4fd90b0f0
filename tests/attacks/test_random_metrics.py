"""Random statements under random metrics, on tables that differ in one row: none convicts (see `random_metrics`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.mechanisms.metric.release.cells import CellQuery
from dpsql.mechanisms.metric.row_metric import RowMetric
from tests.attacks.random_metrics import audited, draw, questions, replayed
from tests.attacks.random_replay import assert_none_convicts
from tests.attacks.row_neighbours import ABSENT, charged, convicted, spread, told

SEEDS = range(24)
MANY, PART = 200, 25


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed > 1 else []) for seed in SEEDS])
def test_no_audit_convicts_on_a_random_street(after: PostProcess, seed: int) -> None:
    seen = Counter[str]()
    assert list(audited(seed, after, seen)) == []
    assert seen["answered"] >= 1  # what is refused is no loss, and proves nothing


@pytest.mark.slow
@pytest.mark.sweep(4)
@pytest.mark.parametrize("first", range(0, MANY, PART))
def test_no_audit_convicts_on_many_new_streets(after: PostProcess, seed: int, first: int) -> None:
    worlds = range(seed + first, seed + first + PART)
    assert_none_convicts("street", audited, after, worlds, "tests.attacks.random_metrics")


def test_streets_of_fixed_seeds_are_of_every_kind() -> None:
    drawn = [draw(seed) for seed in SEEDS]
    metrics = [street.policy.metrics["home"] for street in drawn]
    kinds = {attribute.kind for metric in metrics for attribute in metric.attributes.values()}
    assert kinds >= {"discrete", "chain", "star", "tree", "graph", "matrix", "threshold", "smooth", "euclidean"}
    assert {metric.combine for metric in metrics} == {"sum", "sup", "l2"}
    assert {(street.policy.neighbours, ABSENT in street.rows) for street in drawn} == {
        ("add_remove", True), ("replace_one", True), ("replace_one", False),
    }  # fmt: skip
    assert {0, 1, 12} <= {len(street.people) for street in drawn}


@pytest.mark.parametrize(
    "construct",
    ["WHERE", "1 = 2", "FILTER", "UNION ALL", "HAVING", "LIMIT", "ORDER BY", "ROLLUP", "JOIN", "MODE", "AVG", "CASE"],
)
def test_the_statements_of_fixed_seeds_have_every_construct(construct: str) -> None:
    assert any(construct in sql for seed in SEEDS for sql in questions(seed, draw(seed)))


@pytest.mark.slow
def test_rows_are_told_apart_by_all_that_was_paid(after: PostProcess) -> None:
    # An audit that never sees the worst case proves nothing.
    street = draw(2)
    metric, replay = replayed(street, questions(2, street), after)
    shares = [
        told(runs[one], runs[two]) / paid
        for runs in replay.values()
        for one in runs
        for two in runs
        if (paid := spread(metric, charged(runs[one]), street.places[one], street.places[two]))
    ]
    assert Fraction(99, 100) < max(shares) <= 1


def test_a_presence_that_is_thought_to_cost_twice_as_much_is_convicted(after: PostProcess) -> None:
    street = next(own for seed in SEEDS if ABSENT in (own := draw(seed)).rows)

    def doubled(metric: RowMetric) -> RowMetric:
        presence = metric.product.presence
        assert presence is not None
        return replace(metric, product=replace(metric.product, presence=2 * presence))

    metric, replay = replayed(street, ["SELECT COUNT(*) FROM people"], after, doubled)
    sentences = list(convicted(metric, replay, street.places))
    assert sentences
    assert all("are told apart" in sentence for sentence in sentences)


NOBODY = "SELECT age, COUNT(*) FROM people WHERE age > 9 GROUP BY age"


def test_an_answer_that_fails_where_a_row_is_there_is_convicted(after: PostProcess) -> None:
    # As it once was: no group is left, so that a row has no place among the numbers; without rows there was an answer.
    totals = CellQuery.totals

    def failing(self: CellQuery, cells: Sequence[np.ndarray], rows: np.ndarray) -> list[int]:
        if not self.size and len(rows):
            raise IndexError("index 0 is out of bounds for axis 0 with size 0")
        return totals(self, cells, rows)

    drawn = (draw(seed) for seed in range(99))
    street = next(own for own in drawn if "age" in own.columns and not own.people and ABSENT in own.rows)
    for broken in (True, False):
        with patch.object(CellQuery, "totals", failing if broken else totals), patch("dpsql.backend.refuse_no_rows"):
            metric, replay = replayed(street, [NOBODY], after)
        sentences = list(convicted(metric, replay, street.places))
        assert any("it fails: IndexError" in sentence for sentence in sentences) == broken
        assert any(f"| {ABSENT} are seen" in sentence for sentence in sentences) == broken
        assert broken or not sentences
