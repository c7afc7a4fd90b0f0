"""What is worked out once for a statement, and when it is worked out anew."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsql.testing
from dpsql.backend import Backend
from dpsql.errors import BudgetExceeded, UnsupportedQuery
from dpsql.session import Session
from dpsql.shelf import Shelf, exactly
from dpsql.sql.parse import parse
from dpsql.testing import TestProxy
from dpsql.testing_samplers import Noiseless
from tests.attacks.doors import KINDS, ways
from tests.unit.server.clinic import COUNT, POLICY, Clinic, open_clinic, write_clinic

pytestmark = pytest.mark.chance(0, "no noise is drawn")
OLDER = "SELECT COUNT(*) AS n FROM people WHERE age > ?"


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    with open_clinic(tmp_path) as found:
        yield found


@pytest.fixture
def session(clinic: Clinic) -> Session:
    return clinic.proxy.session(analyst="ana")


def made(of: Clinic | TestProxy) -> tuple[int, int]:
    """How many plans and prices were worked out."""
    backend: Backend = (of.proxy if isinstance(of, Clinic) else of)._backend
    return backend.planned.made, backend.asked.made


# ------------------------------------------------------------------------------------------------------------ the shelf


def test_no_more_is_kept_than_the_most() -> None:
    kept = Shelf[str](most=2)
    for name in ("a", "b", "a", "c", "a"):
        assert kept.once((name,), name.upper) == name.upper()
    assert (len(kept), kept.made) == (2, 3)
    kept.once(("b",), lambda: "anew")
    assert kept.once(("b",), lambda: "never") == "anew"  # it had made room for c


def test_no_more_is_kept_than_the_most_weight_and_nothing_that_is_heavier_by_itself() -> None:
    kept = Shelf[int](most_weight=10)
    for key in ("aaaa", "bbbb"):
        kept.once((key,), lambda: 1)
    kept.once(("c",), lambda: 9, lambda groups: groups)
    assert len(kept) == 1
    kept.once(("d",), lambda: 10, lambda groups: groups)
    assert (len(kept), kept.made) == (1, 4)
    assert kept.once(("c",), lambda: 0) == 9


def test_what_raises_is_not_kept_nor_what_has_no_key() -> None:
    kept = Shelf[int]()
    with pytest.raises(ZeroDivisionError):
        kept.once(("a",), lambda: 1 // 0)
    assert [kept.once(key, lambda: 1) for key in (("a",), None, None)] == [1, 1, 1]
    assert (len(kept), kept.made) == (1, 3)


class Kind(enum.IntEnum):
    """A whole number that says more."""

    ONE = 1


class Time(datetime):
    """A time that is written as another."""

    def __repr__(self) -> str:
        return "datetime.datetime(2024, 1, 1, 0, 0)"


SAME = ((), (None,), (1,), (True,), (1.0,), (Decimal(1),), (Decimal("1.0"),), (Fraction(1),), ("1",), ([1],), ((1,),))


def test_values_that_are_equal_but_not_the_same_have_keys_of_their_own() -> None:
    keys = [exactly(values) for values in (*SAME, (0.0,), (-0.0,), {"a": 1}, {"b": 1}, None)]
    assert None not in keys
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("value", [Kind.ONE, Time(2025, 1, 1), np.int64(1), np.float64(1), {1}, object()])
def test_a_value_of_a_type_of_which_nothing_is_known_has_no_key(value: Any) -> None:
    assert [exactly(own) for own in (value, [value], ([value],), {"a": value})] == [None] * 4


def test_a_number_that_python_does_not_write_out_has_no_key() -> None:
    assert exactly([10**5000]) is None


# ----------------------------------------------------------------------------------------------------------- statements


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_statement_is_planned_once_at_each_door(kind: Any, clinic: Clinic) -> None:
    sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    with ways(kind, clinic) as through:
        answers = [through["ana"](sql) for _ in range(3)]
        assert made(clinic) == (1, 1)
        assert answers == [answers[0]] * 3
        through["bob"](sql)  # how fast it is tells bob nothing of what ana asks
        assert made(clinic) == (2, 2)


def test_a_session_plans_once_for_outline_price_quote_and_answer(clinic: Clinic, session: Session) -> None:
    session.outline(COUNT, ())
    assert session.price(COUNT).epsilon == 0.5
    assert session.explain(COUNT).cost.epsilon == 0.5
    assert [session.query(COUNT).cost.epsilon for _ in range(2)] == [0.5, 0]
    assert session.price(COUNT).epsilon == 0  # a price is of the ledger as it is now
    assert made(clinic) == (1, 1)


def test_other_values_types_and_options_are_planned_for_themselves(clinic: Clinic, session: Session) -> None:
    counts = [session.query(OLDER, [age], epsilon=0.01).rows[0][0] for age in (10, 20, 10)]
    assert counts[0] == counts[2] != counts[1]
    assert made(clinic) == (2, 2)
    session.query(OLDER, [10], epsilon=0.02)
    session.query(OLDER, [10], epsilon=0.01, confidence=0.9)
    assert made(clinic) == (2, 4)
    text = "SELECT COUNT(*) FROM people WHERE smokes = ?"
    session.query(text, [True], epsilon=0.01)
    with pytest.raises(UnsupportedQuery):
        session.query(text, [1], epsilon=0.01)


def test_a_list_that_the_caller_changes_afterwards_is_another_statement(session: Session) -> None:
    ages: list[Any] = [10]
    first = session.query(OLDER, ages, epsilon=0.01)
    ages[0] = 80
    assert session.query(OLDER, ages, epsilon=0.01).rows != first.rows
    assert session.query(OLDER, [10], epsilon=0.01).rows == first.rows


def test_set_changes_the_price_of_what_was_planned_before(clinic: Clinic, session: Session) -> None:
    assert session.price(COUNT).epsilon == 0.5
    session.query("SET epsilon = 1")
    assert session.price(COUNT).epsilon == 1
    other = clinic.proxy.session(analyst="ana")
    assert other.price(COUNT).epsilon == 0.5


def test_what_another_thread_sets_while_a_statement_is_made_ready_is_not_for_it(
    clinic: Clinic, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    # MCP over HTTP: all agents of an analyst have one session.
    planned = Session._planned

    def late(self: Session, *given: Any) -> Any:
        session.query("SET epsilon = 7")
        return planned(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(Session, "_planned", late)
        assert session.price(COUNT).epsilon == 0.5
    assert session.price(COUNT).epsilon == 7
    assert clinic.proxy.session(analyst="ana").price(COUNT).epsilon == 0.5


def test_a_new_price_of_the_policy_holds_for_what_was_planned_before(clinic: Clinic, session: Session) -> None:
    assert session.price(COUNT).epsilon == 0.5
    policy = clinic.proxy.policy
    budget = policy.budget.model_copy(
        update={"per_query": policy.budget.per_query.model_copy(update={"epsilon": Decimal(1)})}
    )
    clinic.proxy.adopt(policy.model_copy(update={"budget": budget}))
    assert clinic.proxy.session(analyst="ana").price(COUNT).epsilon == 1


def test_nothing_that_was_planned_outlives_a_refresh(tmp_path: Path) -> None:
    with dpsql.testing.open(write_clinic(tmp_path), Noiseless()) as proxy:
        first = proxy.session(analyst="ana").query(COUNT)
        assert made(proxy) == (1, 1)
        proxy.refresh()
        assert made(proxy) == (0, 0)
        again = proxy.session(analyst="ana").query(COUNT)
        assert (again.replayed, again.cost) == (False, first.cost)
        assert made(proxy) == (1, 1)


def test_what_was_planned_for_a_backend_is_no_other_backends(clinic: Clinic, session: Session) -> None:
    session.query(COUNT)
    backend = clinic.proxy._backend
    other = replace(backend, catalog=replace(backend.catalog, neighbours="replace_one"))
    assert (len(backend.planned), len(other.outlines), len(other.planned), len(other.asked)) == (1, 0, 0, 0)


def test_a_table_of_ones_own_is_planned_as_it_is_now(clinic: Clinic, session: Session) -> None:
    sql, make = "SELECT * FROM mine", "CREATE SYNTHETIC TABLE mine WITH (epsilon = 1) AS SELECT {} FROM people"
    for columns in (("sex",), ("sex", "smokes")):
        session.query(make.format(", ".join(columns)))
        assert session.query(sql).columns == columns
        session.query("DROP TABLE mine")
        with pytest.raises(UnsupportedQuery):
            session.query(sql)
    before = clinic.proxy._backend.asked.made
    session.query(COUNT)
    assert clinic.proxy._backend.asked.made == before + 1


def test_what_was_planned_is_charged_and_refused_as_the_account_stands(tmp_path: Path) -> None:
    poor = POLICY.replace("ana: {epsilon: 40,", "ana: {epsilon: 0.7,")
    with open_clinic(tmp_path, poor) as clinic:
        session = clinic.proxy.session(analyst="ana")
        small = f"{COUNT} WHERE age > 3"
        session.price(small)
        session.query(COUNT)
        for _ in range(2):
            with pytest.raises(BudgetExceeded):
                session.query(small)
        assert session.query(COUNT).replayed


def test_a_stored_answer_waits_for_nobody_who_asks_the_same(clinic: Clinic, session: Session) -> None:
    first, backend = session.query(COUNT), clinic.proxy._backend
    (only,) = session._ready(COUNT, parse(COUNT), (), {}).priced  # type: ignore[arg-type]  # it is a SELECT
    with (
        backend.charging.turns.of([only.fingerprint("ana", backend.catalog.version)]),
        ThreadPoolExecutor(1) as pool,
    ):
        assert pool.submit(session.query, COUNT).result(60).rows == first.rows
