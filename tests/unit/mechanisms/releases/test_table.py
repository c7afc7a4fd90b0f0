"""Which release makes a table, what it costs, and what it makes of exact cells."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.releases.table import plan_table
from dpsql.privacy.kinds import Concentrated, Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.releases.test_marginals import Metered

PURE = Price(Fraction(1), Fraction(0))
BOTH = Price(Fraction(1), Fraction(1, 10**6))
DOMAINS = [("a", "b", None), (1, 2), (date(2024, 1, 1), date(2024, 1, 2))]
RAW = RawTable(
    {
        "k0": ["a", "a", "b", None, "unlisted"],
        "k1": [1, 2, 2, 1, 1],
        "k2": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 2), date(2024, 1, 1), date(2024, 1, 1)],
        "m0": [5, 3, 4, 1, 99],
    }
)


@pytest.mark.parametrize("method", ["cells", "marginals", None])
def test_without_noise_a_table_has_its_listed_rows(method: str | None) -> None:
    plan = plan_table([3, 2, 2], PURE, "add_remove", 1, method)
    released = plan.release(RAW, ["k0", "k1", "k2"], DOMAINS, Noiseless()).columns
    rows = dict(zip(zip(released["k0"], released["k1"], released["k2"], strict=True), released["rows"], strict=True))
    assert sum(rows.values()) == 13
    assert rows["a", 1, date(2024, 1, 1)] == 5
    assert rows[None, 1, date(2024, 1, 1)] == 1


def test_one_column_is_a_tree_or_cells() -> None:
    plans = {size: plan_table([size], PURE, "add_remove", 1, None) for size in (93, 4000)}
    assert {size: plan.method for size, plan in plans.items()} == {93: "cells", 4000: "tree"}
    raw = RawTable({"k0": [7, 9], "m0": [2, 3]})
    for method in ("cells", "tree"):
        plan = plan_table([10], PURE, "add_remove", 1, method)
        released = plan.release(raw, ["k0"], [range(10)], Noiseless()).columns
        assert (released["k0"], released["rows"]) == ([7, 9], [2, 3])


def test_few_columns_are_cells_and_many_are_pairs() -> None:
    assert plan_table([10, 12], PURE, "add_remove", 1, None).method == "cells"
    assert plan_table([10] * 5, PURE, "add_remove", 1, None).method == "marginals"
    assert plan_table([100] * 14, PURE, "add_remove", 1, None).method == "marginals"


def test_gaussian_noise_is_taken_where_it_is_less() -> None:
    few, many = plan_table([10, 12], BOTH, "add_remove", 1, None), plan_table([10] * 30, BOTH, "add_remove", 1, None)
    assert few.loss == Pure(Fraction(1))
    assert isinstance(many.loss, Concentrated)
    assert (many.loss.epsilon, many.loss.delta) == (BOTH.epsilon, BOTH.delta)
    assert many.payment.rho == many.loss.rho
    assert plan_table([10, 12], Price(None, Fraction(0), Fraction(1, 9)), "add_remove", 1, None).loss == Concentrated(
        Fraction(1, 9)
    )


@pytest.mark.parametrize("method", ["cells", "marginals"])
@pytest.mark.parametrize("rows", [1, 3])
def test_all_draws_together_cost_what_is_charged(method: str, rows: int) -> None:
    plan = plan_table([3, 2, 2], PURE, "add_remove", rows, method)
    meter = Metered(rows, rows**2)
    plan.release(RAW, ["k0", "k1", "k2"], DOMAINS, meter)
    assert isinstance(plan.loss, Pure)
    assert meter.epsilon == plan.loss.epsilon == 1


def test_what_does_not_fit_is_refused_with_what_does() -> None:
    for sizes, method, words in (
        ([2000, 2000], "cells", r"4,000,000 cells .* Take marginals"),
        ([3, 4], "tree", "one ordered column, and there are 2"),
        ([3], "marginals", "Take cells or tree"),
        ([2, 16**5 + 1], None, "width_bucket"),
        ([3], "smalldb", r"dpsql.mechanisms.releases.smalldb. SQL takes cells, tree, marginals"),
        ([3], "magic", "there is no such method"),
    ):
        with pytest.raises(UnsupportedQuery, match=words):
            plan_table(sizes, PURE, "add_remove", 1, method)
