"""Which release makes a table, what it costs, and what it makes of exact cells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.releases.payment import Relation
from dpsql.mechanisms.releases.table import METHODS, TablePlan, plan_table, proves
from dpsql.mechanisms.releases.workload import Wanted, default_workload, read_workload
from dpsql.privacy.kinds import Concentrated, Pure
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import Noiseless
from tests.unit.mechanisms.releases.test_marginals import Metered

PURE = Price(Fraction(1), Fraction(0))
BOTH = Price(Fraction(1), Fraction(1, 10**6))
KEYS = ["k0", "k1", "k2"]
DOMAINS = (("a", "b", None), (1, 2), (date(2024, 1, 1), date(2024, 1, 2)))
RAW = RawTable(
    {
        "k0": ["a", "a", "b", None, "unlisted"],
        "k1": [1, 2, 2, 1, 1],
        "k2": [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 2), date(2024, 1, 1), date(2024, 1, 1)],
        "m0": [5, 3, 4, 1, 99],
    }
)
OF_RAW = Wanted(("a", "b", "c"), DOMAINS, default_workload([3, 2, 2], [False, True, True]))


def asked(sizes: Sequence[int], workload: str = "", **more: Any) -> Wanted:
    """Columns of whole numbers, ``a``, ``b``, ..."""
    names = tuple("abcdefghijklmnopqrstuvwxyzABCDEF"[: len(sizes)])
    own = read_workload(workload, names) if workload else default_workload(sizes, [True] * len(sizes))
    return Wanted(names, tuple(map(range, sizes)), own, **more)


def planned(sizes: Sequence[int], price: Price = PURE, method: str | None = None, rows: int = 1) -> TablePlan:
    return plan_table(asked(sizes), price, "add_remove", rows, method)


@pytest.mark.parametrize("method", ["cells", "marginals", None])
def test_without_noise_a_table_has_its_listed_rows(method: str | None) -> None:
    released = plan_table(OF_RAW, PURE, "add_remove", 1, method).release(RAW, KEYS, Noiseless())[0].columns
    rows = dict(zip(zip(*(released[key] for key in KEYS), strict=True), released["rows"], strict=True))
    assert sum(rows.values()) == 13
    assert rows["a", 1, date(2024, 1, 1)] == 5
    assert rows[None, 1, date(2024, 1, 1)] == 1


def test_one_column_is_a_tree_or_cells() -> None:
    assert {size: planned([size]).method for size in (93, 4000)} == {93: "cells", 4000: "tree"}
    raw = RawTable({"k0": [7, 9], "m0": [2, 3]})
    for method in ("cells", "tree"):
        released = planned([10], method=method).release(raw, ["k0"], Noiseless())[0].columns
        assert (released["k0"], released["rows"]) == ([7, 9], [2, 3])


def test_few_columns_are_cells_and_many_are_pairs() -> None:
    assert planned([10, 12]).method == "cells"
    assert planned([10] * 5).method == "marginals"
    assert planned([100] * 14).method == "marginals"


def test_gaussian_noise_is_taken_where_it_is_less() -> None:
    few, many = planned([10, 12], BOTH), planned([10] * 30, BOTH)
    assert few.loss == Pure(Fraction(1))
    assert isinstance(many.loss, Concentrated)
    assert (many.loss.epsilon, many.loss.delta) == (BOTH.epsilon, BOTH.delta)
    assert many.payment.rho == many.loss.rho
    assert planned([10, 12], Price(None, Fraction(0), Fraction(1, 9))).loss == Concentrated(Fraction(1, 9))


@pytest.mark.parametrize(
    ("method", "of"),
    [
        ("cells", OF_RAW),
        ("marginals", OF_RAW),
        ("mwem", OF_RAW),
        ("intervals", asked([12])),
    ],
)
@pytest.mark.parametrize("rows", [1, 3])
def test_all_draws_together_cost_what_is_charged(method: str, of: Wanted, rows: int) -> None:
    """Of `intervals` at most: a search that finds its cut early leaves probes unasked."""
    plan, meter = plan_table(of, PURE, "add_remove", rows, method), Metered(rows, rows**2)
    raw = RAW if of is OF_RAW else RawTable({key: [1, 2, 3] for key in KEYS[: len(of.sizes)]} | {"m0": [5, 0, 7]})
    plan.release(raw, KEYS[: len(of.sizes)], meter)
    assert isinstance(plan.loss, Pure)
    assert plan.loss.epsilon == 1
    assert meter.epsilon == 1 or (method == "intervals" and 0 < meter.epsilon < 1)


def test_small_databases_are_released_under_replace_one_alone() -> None:
    for sizes, workload in (([12], ""), ([3, 2], "marginals(1)")):
        of = asked(sizes, workload, rows_public=True, rows=5, rows_about=20)
        plan = plan_table(of, PURE, "replace_one", 1, "smalldb")
        keys = KEYS[: len(sizes)]
        raw = RawTable({"m0": [16, 4]} | {key: [0, 1] for key in keys})
        released, made = plan.release(raw, keys, Noiseless())
        assert released.columns["rows"] == [16, 4]
        assert (not made.proofs) == (len(sizes) > 1)
        with pytest.raises(UnsupportedQuery, match="proved under replace_one"):
            plan_table(of, PURE, "add_remove", 1, "smalldb")
    empty = plan.release(RawTable({"m0": []} | {key: [] for key in keys}), keys, Noiseless())[0]
    assert empty.columns["rows"] == []


def test_half_planes_are_answered_from_synthetic_points() -> None:
    of = Wanted(("x", "y"), (range(-5, 6), range(-5, 6)), read_workload("halfspaces(x, y)", ["x", "y"]))
    x, y = np.meshgrid(np.arange(-5, 6), np.arange(-5, 6))
    weights = (x + 2 * y) ** 2 % 7
    raw = RawTable({"k0": x.ravel().tolist(), "k1": y.ravel().tolist(), "m0": weights.ravel().tolist()})
    plan = plan_table(of, PURE, "add_remove", 1, "halfspaces")
    released = plan.release(raw, KEYS[:2], Noiseless())[0].columns
    found = np.array([released["k0"], released["k1"]]), np.array(released["rows"])
    for a, b in ((1, 0), (-1, 2), (3, -4), (0, -1)):
        exact = weights[a * x + b * y > 0].sum()
        assert found[1][np.array([a, b]) @ found[0] > 0].sum() == pytest.approx(exact, abs=7)  # a cut sector's rows


def test_alpha_takes_what_is_proved_and_the_least_price_of_it() -> None:
    def of(alpha: float) -> Wanted:
        return asked([50], rows_about=10_000, alpha=alpha)

    plan = plan_table(of(0.05), PURE, "add_remove", 1, None)
    assert plan.largest() is not None
    assert (plan.largest() or 1) <= 0.05
    with pytest.raises(UnsupportedQuery, match=r"is the least proved"):
        plan_table(of(0.001), PURE, "add_remove", 1, None)
    with pytest.raises(UnsupportedQuery, match="proves no largest error"):
        plan_table(asked([5, 5], alpha=0.5), PURE, "add_remove", 1, "marginals")
    assert proves(of(0.05), PURE, "add_remove", 1, None)
    assert not proves(of(0.001), PURE, "add_remove", 1, None)


@pytest.mark.parametrize("sizes", [[40], [4, 3], [3, 2, 2]])
def test_every_method_foretells_an_error_and_what_it_takes(sizes: list[int]) -> None:
    plan = planned(sizes)
    assert {name for name, _ in plan.others} == set(METHODS) - {plan.method}
    assert all(why for _, why in plan.others)
    assert plan.memory > 0
    assert plan.alone > 0


def test_what_does_not_fit_is_refused_with_what_does() -> None:
    cases: tuple[tuple[list[int], str | None, str], ...] = (
        ([2000, 2000], "cells", r"4,000,000 cells .* Take marginals"),
        ([3, 4], "tree", "one ordered column, and there are 2"),
        ([3], "marginals", "and there is one column. Take cells or tree"),
        ([2, 16**5 + 1], None, "width_bucket"),
        ([3, 4], "halfspaces", "another one is asked"),
        ([3000, 3000], "mwem", "9,000,000 cells"),
        ([300, 300], "mwem", "questions over 90,000 cells"),
        ([3, 4], "intervals", r"of 2 columns its workload is rectangles\(a, b\)"),
        ([3] * 4, "intervals", "one to 3 ordered columns"),
        ([3], "magic", "there is no such method"),
    )
    for sizes, method, words in cases:
        with pytest.raises(UnsupportedQuery, match=words):
            planned(sizes, method=method)
    relation: Relation = "replace_one"
    for rows, words in ((None, "databases; it goes through"), (400, "400 rows over 90 cells")):
        of = asked([30, 3] if rows else [900, 90], "marginals(2)", rows_public=True, rows=rows)
        with pytest.raises(UnsupportedQuery, match=words):
            plan_table(of, PURE, relation, 1, "smalldb")
    with pytest.raises(UnsupportedQuery, match="how many rows a small database has"):
        plan_table(asked([3], rows=5), PURE, "add_remove", 1, "cells")
