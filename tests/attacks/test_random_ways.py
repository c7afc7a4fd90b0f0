"""Random statements over random tables of many rows a unit: every way to their exact numbers finds the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest

from dpsql.answers.computed.postprocess import PostProcess
from dpsql.engine import stored_days, totals
from dpsql.engine.database import BySize
from dpsql.engine.dialect import Dialect
from dpsql.engine.printer import Printer
from dpsql.owner.building import by_rank, by_size, views
from dpsql.owner.shape import TableShape
from dpsql.plan.catalog import DAYS, RANK, StoredRanks, StoredSizes
from dpsql.plan.needs import MeasureKind
from dpsql.plan.nodes import Expression
from dpsql.plan.types import Grid
from tests.attacks.random_replay import assert_none_convicts
from tests.attacks.random_ways import compared

pytestmark = pytest.mark.chance(0, "no noise is drawn")

SEEDS = (14, 51, 8, 47)  # Each kind of what is stored is read in one of them.
MANY = 100
STORED = ("t$days$d", "t$totals$sizes", "t$cells$sizes", "t$cells", "t$counts", "t$open$o", "t$ranks")


def test_no_way_finds_other_numbers_and_what_is_stored_is_read(after: PostProcess) -> None:
    seen = Counter[str]()
    assert [problem for seed in SEEDS for problem in compared(seed, after, seen)] == []
    assert all(seen[table] for table in STORED), seen


@pytest.mark.slow
def test_none_does_in_many_new_worlds(after: PostProcess, seed: int) -> None:
    assert_none_convicts("world", compared, after, range(seed, seed + MANY), "tests.attacks.random_ways")


def _convicted(after: PostProcess) -> bool:
    """Whether a world convicts; most mistakes are of what the later ones read."""
    return any(True for seed in reversed(SEEDS) for _ in compared(seed, after))


def test_a_sum_that_is_read_where_values_are_counted_is_convicted(after: PostProcess) -> None:
    known = totals.stored_column

    def sums_alone(printer: Printer, function: str, own: tuple[Expression, Grid | None] | None) -> str | None:
        found = known(printer, function, own)
        return None if found is None else found.replace("$count", "$sum")

    with patch.object(totals, "stored_column", sums_alone):
        assert _convicted(after)


def test_rows_without_a_day_that_are_stored_with_the_first_one_are_convicted(after: PostProcess) -> None:
    known = by_size.days_by_size

    def none_missing(table: TableShape, sizes: StoredSizes, words: Dialect) -> BySize:
        found = known(table, sizes, words)
        return replace(found, sql=found.sql.replace(f", {found.keys[0][1] - 1})", ", 0)"))

    with patch.object(views, "days_by_size", none_missing):
        assert _convicted(after)


def test_a_rank_that_is_not_stored_is_convicted(after: PostProcess) -> None:
    known = by_rank.sums_by_rank

    def without_the_first(table: TableShape, ranks: StoredRanks, words: Dialect) -> str:
        return known(table, ranks, words).replace(" GROUP BY", f" WHERE {words.quoted(RANK)} > 1 GROUP BY")

    with patch.object(views, "sums_by_rank", without_the_first):
        assert _convicted(after)


def test_units_of_a_day_that_are_read_for_its_rows_are_convicted(after: PostProcess) -> None:
    with patch.dict(stored_days.STORED, {MeasureKind.ROWS: DAYS[1]}):
        assert _convicted(after)
