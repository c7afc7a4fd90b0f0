"""Statements and values crafted to crash, to stall, or to get an answer that is not what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql.testing
from dpsql.errors import ProgrammingError, UnsupportedQuery
from dpsql.session import Session
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.attacks.neighbours import policy_text, units, write_database
from tests.effort import few_calls

Clinic = Callable[..., Session]


def written(folder: Path, neighbours: str) -> Path:
    """The policy of the awkward clinic, beside its data."""
    swapped = neighbours == "replace_one"  # that policy promises one row of every patient
    people = [name for name, rows in units(1).items() if len(rows["patients"]) == 1 or not swapped]
    write_database(folder / "clinic.duckdb", 1, people)
    (folder / "clinic.yaml").write_text(policy_text(neighbours, "basic"))
    return folder / "clinic.yaml"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    opened = []

    def clinic(neighbours: str = "add_remove", sampler: object = None) -> Session:
        policy = written(tmp_path_factory.mktemp("clinic"), neighbours)
        proxy = dpsql.testing.open(policy, sampler or Noiseless())  # type: ignore[arg-type]  # a sampler
        opened.append(proxy)
        return proxy.session(analyst="ana")

    yield clinic
    for proxy in opened:
        proxy.close()


@pytest.fixture(scope="module")
def session(clinic: Clinic) -> Session:
    return clinic()


@pytest.mark.parametrize("condition", ["y = 'abc'", "y = '100'", "length(y) > 2", "y > 'x'"])
def test_a_key_stays_a_key_through_union_all(session: Session, condition: str) -> None:
    both = "SELECT visit_id AS y FROM visits UNION ALL SELECT visit_id FROM visits"
    with pytest.raises(UnsupportedQuery):
        session.query(f"SELECT COUNT(*) FROM ({both}) AS q WHERE {condition}")
    assert session.budget().spent.epsilon == 0


def test_a_key_and_a_plain_column_are_not_one_column_of_union_all(session: Session) -> None:
    with pytest.raises(UnsupportedQuery, match="a key stands"):
        session.query("SELECT COUNT(*) FROM (SELECT visit_id AS y FROM visits UNION ALL SELECT ward FROM visits) AS q")


@pytest.mark.parametrize(
    "value", [10**400, Decimal("1e500"), Decimal("0e999999999"), Decimal("1e-99999999"), Decimal("sNaN"), float("inf")]
)
def test_numbers_that_no_engine_holds_are_refused_as_parameters(session: Session, value: object) -> None:
    with pytest.raises(ProgrammingError):
        session.explain("SELECT COUNT(*) FROM visits WHERE cost > ?", [value])  # type: ignore[list-item]  # some are none


def test_numpys_floats_are_floats(session: Session) -> None:
    plain = session.explain("SELECT COUNT(*) FROM visits WHERE cost > ?", [3.5], epsilon=0.5)
    assert (
        session.explain("SELECT COUNT(*) FROM visits WHERE cost > ?", [np.float64(3.5)], epsilon=np.float64(0.5))
        == plain
    )


def test_a_signalling_nan_is_no_price(session: Session) -> None:
    with pytest.raises(ProgrammingError, match="finite"):
        session.explain("SELECT COUNT(*) FROM visits", epsilon=Decimal("sNaN"))


def test_a_price_too_small_to_share_is_refused(session: Session) -> None:
    counts = ", ".join(f"COUNT(CASE WHEN cost > {i} THEN 1 END)" for i in range(60))
    keys = ", ".join(f"floor(cost / {width})" for width in (50, 60, 70, 90))
    with pytest.raises(ProgrammingError, match="too small"):
        session.explain(f"SELECT {counts} FROM visits GROUP BY CUBE (ward, {keys})", epsilon=1e-9)


def test_names_that_double_at_every_step_are_refused_at_once(session: Session) -> None:
    steps = ["c0 AS (SELECT patient_id FROM visits)"]
    steps += [f"c{i} AS (SELECT * FROM c{i - 1} UNION ALL SELECT * FROM c{i - 1})" for i in range(1, 25)]
    with few_calls(1_000_000), pytest.raises(UnsupportedQuery, match="more than 50"):
        session.explain(f"WITH {', '.join(steps)} SELECT COUNT(*) FROM c24")


PERSON = "v0.patient_id"
MANY = "visits v0 " + " ".join(f"JOIN visits v{i} ON v{i}.patient_id = v0.patient_id" for i in range(1, 12))
SEVERAL = "visits v0 " + " ".join(f"JOIN visits v{i} ON v{i}.patient_id = v0.patient_id" for i in range(1, 7))


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM {MANY}",
        # one row a person comes out, and yet millions of one person's would have to meet
        f"SELECT COUNT(*) FROM (SELECT v0.patient_id, COUNT(*) AS n FROM {MANY} GROUP BY v0.patient_id) AS t",
        f"SELECT COUNT(*) FROM (SELECT DISTINCT v0.patient_id, v1.ward FROM {MANY}) AS t",
        f"SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT v0.patient_id FROM {MANY})",
        f"SELECT COUNT(*) FROM patients p LEFT JOIN (SELECT {PERSON} FROM {MANY}) m ON m.patient_id = p.patient_id",
        f"SELECT COUNT(*) FROM (SELECT {PERSON}, v0.score FROM {SEVERAL}) a WHERE EXISTS (SELECT 1 FROM "
        f"(SELECT {PERSON}, v0.score FROM {SEVERAL}) b WHERE b.patient_id = a.patient_id AND b.score > a.score + 9)",
    ],
)
def test_joins_that_multiply_a_persons_rows_without_end_are_refused(session: Session, sql: str) -> None:
    # Whether they end in time would tell, at no cost, whether a person with so many visits is there.
    with pytest.raises(UnsupportedQuery, match="beyond a million"):
        session.explain(sql)


def test_totals_of_rows_that_a_cap_cuts_are_not_spread_over_their_parts(session: Session) -> None:
    options: dict[str, Any] = {"epsilon": 1000, "max_groups_per_unit": 1}
    together = session.query("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)", **options).rows
    alone = session.query("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", **options).rows
    assert together[:-1] == alone


def test_an_exact_public_total_stays_exact(clinic: Clinic) -> None:
    session = clinic("replace_one", FixedSampler(3))
    asked = "SELECT city, COUNT(*) AS n FROM patients GROUP BY ROLLUP (city)"  # all rows have one: NULL is listed
    (exact,) = session.query("SELECT COUNT(*) FROM patients").rows
    assert {session.query(asked, epsilon=epsilon).rows[-1][1] for epsilon in range(2, 14)} == {exact[0]}


@pytest.mark.parametrize("confidence", [1e-17, Decimal("0.99999999999999999999")])
def test_a_confidence_that_floats_round_to_0_or_1_is_refused_before_the_charge(
    session: Session, confidence: object
) -> None:
    spent = session.budget().spent
    with pytest.raises(ProgrammingError, match="confidence"):
        session.query("SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n) FROM visits", epsilon=1, confidence=confidence)
    assert session.budget().spent == spent


def test_two_measurements_never_cost_more_than_the_ceiling_on_delta(session: Session) -> None:
    asked = "SELECT SUM(cost), SUM(score) FROM visits"
    cost = session.explain(asked, epsilon=1, delta=3e-18, mechanism="gaussian").cost
    assert 0 < cost.delta <= 3e-18


def test_bounds_of_rows_and_of_totals_are_not_silently_one_of_them(session: Session) -> None:
    bounds = "contribution_bounds_per_row => (0, 10), contribution_bounds_per_group => (0, 300)"
    with pytest.raises(UnsupportedQuery, match="not both"):
        session.explain(f"SELECT SUM(cost, {bounds}) FROM visits")


def test_zero_has_no_sign_that_would_tell_whose_row_came_first(session: Session) -> None:
    # Equal values are one group, and one row of DISTINCT: 0.0 or -0.0, as the engine meets them.
    zeros = "CASE WHEN sex = 'F' THEN -(weight * 0) ELSE weight * 0 END"
    options: dict[str, Any] = {"epsilon": 100, "delta": 1e-3}
    ((zero, _),) = session.query(
        f"SELECT {zeros} AS z, COUNT(*) FROM patients WHERE age > 0 GROUP BY 1", **options
    ).rows
    assert str(zero) == "0.0"
    distinct = f"SELECT DISTINCT {zeros} AS z FROM patients WHERE weight > 0"
    ((below,),) = session.query(f"SELECT COUNT(*) FROM ({distinct}) AS d WHERE atan2(z, -1) < 0", **options).rows
    assert below == 0


@pytest.mark.parametrize("never", ["patients p ON v.patient_id = p.patient_id AND p.age > 110", "beds ON beds > 1000"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM (SELECT v.patient_id, SUM(v.score) AS s FROM {} GROUP BY v.patient_id) AS q WHERE s > 9",
        "SELECT v.diagnosis, SUM(v.cost) FROM {} GROUP BY v.diagnosis",
    ],
)
def test_a_left_join_in_which_nobody_has_a_partner_changes_no_total(session: Session, sql: str, never: str) -> None:
    # DuckDB, which knows the least and the largest values of a table, takes such rows for none when it bounds sums.
    options: dict[str, Any] = {"epsilon": 10, "delta": 1e-3, "mechanism": "laplace"}
    if "diagnosis" in sql:
        options.pop("mechanism")
    alone = session.query(sql.format("visits v"), **options).rows
    assert session.query(sql.format(f"visits v LEFT JOIN {never}"), **options).rows == alone


def test_a_left_join_of_public_tables_in_which_no_row_has_a_partner_changes_no_total(session: Session) -> None:
    asked = "SELECT ward, SUM(1000 * beds - 9000) FROM {} GROUP BY ward"
    alone = session.query(asked.format("beds")).rows
    assert session.query(asked.format("beds LEFT JOIN cities ON km > 9999")).rows == alone
