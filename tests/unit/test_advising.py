"""`dpsql advise`: measured once, charged to all, kept, used, and written into the policy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.advising import AdviceReport, advise, facts_of
from dpsql.errors import BudgetExceeded, LedgerError, OperationalError, PolicyError, ProgrammingError
from dpsql.owner.advice.recommend import _of_bounds, contradictions
from dpsql.plan.advised import LogHistogram, Signed
from dpsql.policy import load_policy
from dpsql.policy.column import ColumnPolicy
from dpsql.proxy import Proxy, refresh
from dpsql.testing_samplers import Noiseless

PEOPLE = 4000
POLICY = """\
# a shop's promise
version: 1
name: shop
engine: {kind: duckdb, cache: cache}
neighbours: add_remove
budget:
  ledger: data/shop.ledger.db
  mark: marks
  composition: basic
  total: {epsilon: 10, delta: 1.0e-6}
  analysts:
    ana: {epsilon: 2}   # she counts
    "*": {epsilon: 1}
  per_query: {epsilon: 0.5}
tables:
  orders:
    source: data/orders.parquet
    unit: person
    rows_per_unit: 64   # a ceiling to begin with
    rows_about: 8000
    columns:
      price: {type: decimal, bounds: auto, grid: 0.01}   # in euro
      kind:  {type: text}
"""


def write_orders(folder: Path, most: int = 3, times: int = 1) -> None:
    """Each person i has 1 to ``most`` orders, of 10 to 29.99 euro; most of them of kind tea."""
    folder.mkdir(exist_ok=True)
    duckdb.execute(
        f"COPY (SELECT p AS person, {times} * (1000 + (p * 37 + o * 11) % 2000) / 100.0::DECIMAL(9, 2) AS price, "
        f"CASE WHEN p % 4 = 0 THEN 'coffee' ELSE 'tea' END AS kind "
        f"FROM range({PEOPLE}) AS a(p), range({most}) AS b(o) WHERE o <= p % {most}) "
        f"TO '{folder / 'orders.parquet'}' (FORMAT parquet)"
    )


@pytest.fixture
def policy(tmp_path: Path) -> Iterator[Path]:
    write_orders(tmp_path / "data")
    path = tmp_path / "shop.yaml"
    path.write_text(POLICY)
    yield path


def advised(policy: Path, **options: object) -> AdviceReport:
    return advise(policy, **{"epsilon": Fraction(1, 2), "sampler": Noiseless(), **options})  # type: ignore[arg-type]


def spent(policy: Path, analyst: str) -> float:
    with dpsql.open(policy) as proxy:
        return proxy.session(analyst=analyst).budget().spent.epsilon


def catalog_of(proxy: Proxy) -> object:
    return proxy._backend.catalog


def test_before_the_first_advise_bounds_auto_are_refused_at_opening_naming_the_command(policy: Path) -> None:
    for opening in (dpsql.open, refresh):
        with pytest.raises(
            PolicyError, match=r"shop.yaml:\d+: .*price.bounds: auto has no bounds yet; run dpsql advise"
        ):
            opening(policy)


def test_a_quote_charges_nothing_and_names_what_stays_empty_and_a_price_that_serves(policy: Path) -> None:
    report = advised(policy, epsilon=Fraction(1, 100), quote=True)
    assert "epsilon 0.01" in report.quote
    assert "would stay empty: orders, orders.price." in report.quote
    serves = re.search(r"Epsilon ([\d.]+) would serve so many", report.quote)
    assert serves is not None
    assert "would stay empty" not in advised(policy, epsilon=Fraction(serves[1]), quote=True).quote
    assert facts_of(load_policy(policy)) is None


def test_a_quote_says_where_facts_are_stored_already(policy: Path) -> None:
    advised(policy)
    refresh(policy)
    assert advised(policy, quote=True).quote.startswith("The facts of these data were bought before")
    assert advised(policy, quote=True, epsilon=Fraction(1)).quote.endswith("of these data have cost before.")


@pytest.mark.parametrize("delta", [Fraction(-1), Fraction(1)])
def test_a_delta_that_is_no_chance_is_refused(policy: Path, delta: Fraction) -> None:
    with pytest.raises(ProgrammingError, match="from 0 to below 1"):
        advised(policy, delta=delta)


def test_without_a_named_price_one_that_finds_too_little_is_refused_uncharged(policy: Path) -> None:
    policy.write_text(POLICY.replace("8000", "80"))
    with pytest.raises(ProgrammingError, match=r"would stay empty.*Nothing was charged\. .*name a price: --epsilon"):
        advised(policy, epsilon=None)
    assert facts_of(load_policy(policy)) is None


def test_a_table_of_few_people_is_told_what_to_write_by_hand_and_what_no_account_can_pay(policy: Path) -> None:
    few = POLICY.replace("8000", "800").replace("rows_per_unit: 64", "rows_per_unit: 1000")
    few = few.replace("per_query: {epsilon: 0.5}", "per_query: {epsilon: 0.1}")
    policy.write_text(few.replace('"*": {epsilon: 1}', '"*": {epsilon: 0.1}'))
    told = advised(policy, quote=True, epsilon=None).quote
    assert "write bounds: [LOW, HIGH] for orders.price, and for orders a rows_per_unit that hardly anybody" in told
    assert re.search(r"Epsilon [\d.]+ would serve so many, more than the 0\.1 that an account has\.", told)
    policy.write_text(policy.read_text().replace("bounds: auto", "bounds: [0, 100]"))
    told = advised(policy, quote=True, epsilon=None).quote
    assert "LOW" not in told
    assert "The policy opens without facts." in told


def test_facts_are_charged_once_to_the_total_and_to_every_account(policy: Path) -> None:
    first, again = advised(policy), advised(policy)
    assert (first.charged, again.charged) == (True, False)
    assert first.lines == again.lines
    assert (spent(policy, "ana"), spent(policy, "eve")) == (0.5, 0.5)
    with dpsql.open(policy) as proxy:
        assert proxy.ledger.budget(None).spent.epsilon == 0.5


def test_a_named_price_is_taken_and_what_stays_empty_is_told_before_the_charge(policy: Path) -> None:
    policy.write_text(POLICY.replace("8000", "80"))
    told: list[str] = []

    def warned(text: str) -> None:
        told.append(text)
        assert facts_of(load_policy(policy)) is None

    assert advised(policy, warned=warned).charged
    assert len(told) == 1
    assert "would stay empty: orders, orders.price." in told[0]


def test_a_policy_that_does_not_fit_the_data_is_refused_before_the_charge(policy: Path) -> None:
    policy.write_text(POLICY.replace("price:", "prize:"))
    with pytest.raises(PolicyError, match=r"orders\.prize is in the policy but not in the data"):
        advised(policy)
    policy.write_text(POLICY)
    assert facts_of(load_policy(policy)) is None


def test_who_cannot_pay_is_named_and_nothing_is_charged(policy: Path) -> None:
    with pytest.raises(BudgetExceeded, match=r"analysts without a budget of their own have 1 of 1 left"):
        advised(policy, epsilon=Fraction(3, 2))
    assert facts_of(load_policy(policy)) is None


def test_facts_stand_in_for_guesses_and_bounds(policy: Path) -> None:
    report = advised(policy)
    assert report.lines[0] == (
        "orders: about 4,000 units, at least 6,200 rows. Above the noise are seen about 7,999; "
        "units with 4 rows and more may be hidden, with any number of rows."
    )
    with dpsql.open(policy) as proxy:
        orders = proxy._backend.catalog.tables["orders"]
        assert orders.advised is not None
        assert orders.advised.current
        assert orders.advised.units == PEOPLE
        assert orders.rows_about == orders.advised.rows == 8000  # the owner's, which the noise may hide; 7,999 are seen
        price = orders.columns["price"].facts
        assert (price.low, price.high) == (Fraction(0), Fraction(41))
        assert price.centre is not None
        assert 10 < price.centre < 30
        totals = orders.advised.columns["price"].totals.up
        exact = duckdb.execute(
            f"SELECT sum(price) AS t FROM '{policy.parent}/data/orders.parquet' GROUP BY person"
        ).fetchall()
        for j, count in enumerate(totals.counts):
            assert count == sum(totals.low(j) <= Fraction(total) < totals.high(j) for (total,) in exact)
        shown = proxy.session(analyst="ana").query("SHOW TABLES")
        assert [tuple(row) for row in shown.rows] == [("orders", "private", "person", 64, 8000, "advise")]


def test_write_keeps_comments_and_is_measured_under_what_it_wrote(policy: Path) -> None:
    report = advised(policy, write=True, narrow=True)
    text = policy.read_text()
    assert report.written
    assert "rows_per_unit: 4   # a ceiling to begin with" in text
    assert "bounds: [0, 41], grid: 0.01" in text
    assert "# in euro" in text
    assert "  advised: {epsilon: 0.5}\n" in text
    assert text.startswith("# a shop's promise\n")
    with dpsql.open(policy) as proxy:
        advised_table = proxy._backend.catalog.tables["orders"].advised
        assert advised_table is not None
        assert advised_table.current
    again = advised(policy, write=True, narrow=True)
    assert (again.lines[0], again.changes, again.written) == (report.lines[0], (), False)


def test_what_was_written_is_charged_to_a_new_ledger_too(policy: Path) -> None:
    advised(policy, write=True)
    (policy.parent / "fresh").mkdir()
    policy.write_text(policy.read_text().replace("data/shop.ledger.db", "fresh/shop.ledger.db"))
    assert (spent(policy, "ana"), spent(policy, "eve")) == (0.5, 0.5)
    assert facts_of(load_policy(policy)) is None


def test_new_data_need_new_facts_and_old_ones_are_hints_until_then(policy: Path) -> None:
    advised(policy)
    with dpsql.open(policy):
        pass
    write_orders(policy.parent / "data", most=5, times=4)
    with pytest.raises(OperationalError, match=r"data changed since version 1 was built\. Nothing was charged"):
        advised(policy)
    assert refresh(policy) == 2
    with dpsql.open(policy) as proxy:
        table = proxy._backend.catalog.tables["orders"]
        assert table.advised is not None
        assert not table.advised.current
        assert table.columns["price"].facts.high == 41
    assert advised(policy, epsilon=Fraction(1, 4)).charged
    assert refresh(policy) == 3
    with dpsql.open(policy) as proxy:
        table = proxy._backend.catalog.tables["orders"]
        assert table.advised is not None
        assert table.advised.current
        assert table.columns["price"].facts.high == 170
    assert spent(policy, "eve") == 0.75


def test_other_caps_or_bounds_leave_facts_as_hints_and_a_refresh_alone_keeps_them(policy: Path) -> None:
    advised(policy)
    refresh(policy)
    assert refresh(policy) == 2
    with dpsql.open(policy) as proxy:
        table = proxy._backend.catalog.tables["orders"]
        assert table.advised is not None
        assert table.advised.current
    policy.write_text(policy.read_text().replace("rows_per_unit: 64", "rows_per_unit: 2"))
    refresh(policy)
    with dpsql.open(policy) as proxy:
        table = proxy._backend.catalog.tables["orders"]
        assert table.advised is not None
        assert not table.advised.current
    assert not advised(policy).charged


def test_altered_facts_are_refused(policy: Path) -> None:
    advised(policy)
    sql = sqlite3.connect(policy.parent / "data" / "shop.ledger.db", isolation_level=None)
    sql.execute("UPDATE release SET answer = CAST(CAST(answer AS TEXT) || ' ' AS BLOB)").connection.close()
    with pytest.raises(LedgerError, match="a stored answer is not the one that was given"):
        dpsql.open(policy)


def test_frequent_values_of_open_columns_need_a_delta(policy: Path) -> None:
    policy.write_text(
        POLICY.replace("{epsilon: 2}", "{epsilon: 2, delta: 1e-6}").replace("{epsilon: 1}", "{epsilon: 1, delta: 1e-6}")
    )
    report = advised(policy, delta=Fraction(1, 10**7))
    assert "  kind: values that many units have most often: tea (3,000), coffee (1,000)." in report.lines


def test_a_charge_whose_process_was_lost_is_drawn_again_without_another(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Lost(Noiseless):
        def laplace(self, scale: Fraction, size: int) -> object:  # type: ignore[override]  # it never returns
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        advised(policy, sampler=Lost())
    with pytest.raises(OperationalError, match=r"charged at another price.*`dpsql log POLICY`"):
        advised(policy, epsilon=Fraction(1, 4))
    report = advised(policy)
    assert (report.charged, len(report.lines)) == (False, 5)
    assert spent(policy, "ana") == 0.5


def test_contradictions_are_told_to_the_owner(policy: Path) -> None:
    advised(policy)
    narrow = POLICY.replace("bounds: auto", "bounds: [0, 4]").replace("rows_per_unit: 64", "rows_per_unit: 1")
    policy.write_text(narrow)
    loaded = load_policy(policy)
    facts = facts_of(loaded)
    assert facts is not None
    said = [finding.what for finding in contradictions(loaded, facts)]
    assert said == [
        "by the facts rows_per_unit: 1 leaves out at least 37% of the rows. 4 would keep those that are seen.",
        "by the facts the bounds cut values of about 99% of the units. [0, 41] would keep what is seen.",
    ]
    policy.write_text(POLICY.replace("bounds: auto", "bounds: [0, 4000]"))
    loaded = load_policy(policy)
    assert [finding.severity for finding in contradictions(loaded, facts)] == ["note"]


def test_advised_bounds_beyond_which_the_facts_hold_more_are_not_advised_again() -> None:
    counts = (0, 500, 100, 0, 0, 50)
    apart = Signed(LogHistogram(Fraction(1), counts, reach=60, likely=45, near=10))
    column = ColumnPolicy.model_validate({"type": "integer", "bounds": [0, 7]})
    (told,) = _of_bounds("t", "x", column, apart, (0, 7), 650)
    assert told.severity == "warning"
    assert "about 8% of the units may have values beyond the bounds, or the noise" in told.what
    assert "[0, 63] would keep them" in told.what
    wide = ColumnPolicy.model_validate({"type": "integer", "bounds": [0, 63]})
    assert not list(_of_bounds("t", "x", wide, apart, (0, 7), 650))


RARE = POLICY.replace("      kind:", "      fine:  {type: integer, bounds: auto}\n      kind:")
"""Of a column that hardly anybody has a number in."""


def write_fines(folder: Path, *names: str) -> None:
    """Everybody's orders, of whom ten people have a fine of 5 to 6 euro; in columns of these names."""
    orders, fine = folder / "orders.parquet", "CASE WHEN person < 10 THEN 5 + person % 2 ELSE 0 END"
    duckdb.execute(f"CREATE OR REPLACE TEMP TABLE orders AS SELECT * FROM '{orders}'")
    duckdb.execute(
        f"COPY (SELECT *, {', '.join(f'{fine} AS {name}' for name in names or ['fine'])} FROM orders) "
        f"TO '{orders}' (FORMAT parquet)"
    )


def test_a_column_of_which_nothing_is_found_is_told_after_all_else_was_said_and_written(policy: Path) -> None:
    write_fines(policy.parent / "data")
    policy.write_text(RARE)
    report = advised(policy, write=True)
    assert (report.charged, report.written, report.unresolved) == (True, True, ("orders.fine",))
    assert [line for line in report.lines if line.startswith("  fine: no value but 0 stands above the noise; ")]
    (price,) = [change for change in report.changes if change.startswith("tables.orders.columns.price: {")]
    assert "bounds: [0, 41], centre: " in price
    assert "bounds: [0, 41], grid: 0.01" in policy.read_text()
    with pytest.raises(PolicyError, match=r"fine.bounds: auto found no value other than 0 .* larger --epsilon, or"):
        dpsql.open(policy)
    loaded = load_policy(policy)
    facts = facts_of(loaded)
    assert facts is not None
    said = [(finding.column, finding.severity) for finding in contradictions(loaded, facts)]
    assert said == [("fine", "error"), (None, "note")]


def test_once_its_bounds_are_written_by_hand_what_was_paid_for_is_counted_free(policy: Path) -> None:
    write_fines(policy.parent / "data")
    policy.write_text(RARE)
    advised(policy, write=True)
    policy.write_text(policy.read_text().replace("bounds: auto", "bounds: [0, 6]"))
    report = advised(policy)
    assert (report.charged, report.unresolved) == (False, ())
    assert spent(policy, "ana") == 0.5
    with dpsql.open(policy) as proxy:
        table = proxy._backend.catalog.tables["orders"]
        assert table.advised is not None
        assert table.advised.current
        assert {"price", "fine"} == set(table.advised.columns)


@pytest.mark.slow
def test_a_larger_price_that_is_named_buys_better_facts_of_the_same_data(policy: Path) -> None:
    write_fines(policy.parent / "data")
    policy.write_text(RARE)
    assert advised(policy, epsilon=Fraction(1, 8)).unresolved == ("orders.fine",)
    assert not advised(policy, epsilon=Fraction(1, 16)).charged
    assert not advised(policy, epsilon=None).charged
    generous = policy.read_text().replace("epsilon: 10,", "epsilon: 100,").replace("{epsilon: 2}", "{epsilon: 60}")
    policy.write_text(generous.replace('"*": {epsilon: 1}', '"*": {epsilon: 60}'))
    report = advised(policy, epsilon=Fraction(50), write=True)
    assert (report.charged, report.unresolved) == (True, ())
    assert report.quote.endswith("That is in addition to what facts of these data have cost before.")
    assert "fine:  {type: integer, bounds: [0, 7]" in policy.read_text()
    assert "  advised: {epsilon: 50.125}\n" in policy.read_text()
    assert spent(policy, "eve") == 50.125


def test_what_is_said_of_units_outside_counts_what_noise_may_hide_and_names_a_price(policy: Path) -> None:
    policy.write_text(POLICY.replace("bounds: auto", "bounds: [0, 100]"))
    lines = advised(policy, epsilon=Fraction(1)).lines
    assert re.search(r"at most [\d.]+% of the units have more, the noise is", lines[1])
    price = re.fullmatch(
        r"  price: the value furthest from 0 of at most ([\d.]+)% of the units is above 41; bounds: \[0, 41\]; .*",
        lines[2],
    )
    assert price is not None
    assert 1 < float(price[1]) < 3
    assert re.fullmatch(
        r"Each 'at least' and 'at most' holds 19 times of 20, .* At --epsilon 5 that would be about 1% of the units\.",
        lines[-1],
    )
