"""Synthetic tables over real engines: no unit moves a histogram of theirs further than its payment says.

Every statement on everybody and without one unit, under both promises: the cells that are read, and every table of one
or two of their columns, which is what gets noise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from dpsql.audit.replay import BOTH, Promise, neighbours_of
from dpsql.audit.world import Neighbour
from dpsql.mechanisms.releases.marginals import table_of
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.table import coded
from dpsql.privacy.sampling import Integers
from dpsql.releasing import Creation
from dpsql.session import Session
from dpsql.sql.parse import parse
from dpsql.sql.syntax import CreateSynthetic
from tests.attacks.world import World

STATEMENTS = (
    "SELECT age, sex, city FROM patients",
    "SELECT sex, width_bucket(weight, 0, 100, 5) AS w FROM patients WHERE age < 70 OR age IS NULL",
    "SELECT ward, score, CAST(cost AS INTEGER) // 20 AS c FROM visits",
    "SELECT p.sex, v.ward, month(v.visited_on) AS m FROM visits v JOIN patients p USING (patient_id)",
    "SELECT p.city, v.ward FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id",
    "SELECT t.drug, t.dose FROM treatments t",
    "SELECT n FROM (SELECT patient_id, LEAST(COUNT(*), 4) AS n FROM visits GROUP BY patient_id) AS t",
)
CAPPED = "SELECT ward, score FROM visits"
REMOVED = ("in all groups", "the heaviest", "NULLs alone", "alone in its group")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with World(0, removed=REMOVED, last=[]) as found:
        yield found


def creation(database: Neighbour, promise: Promise, sql: str, given: str = "") -> Creation:
    """How a table would be made of one database."""
    statement = parse(f"CREATE SYNTHETIC TABLE t WITH (epsilon = 1{given}) AS {sql}")
    assert isinstance(statement, CreateSynthetic)
    return Session(database.backend(promise), "ana")._create(statement, (), {})


def histograms(made: Creation) -> list[Integers]:
    """The exact numbers of all cells, of each column and of each pair."""
    keys, domains = [key.name for _, key in made.columns], [key.domain or () for _, key in made.columns]
    exact = coded(made.run(made.reading), keys, domains)
    sizes = [len(domain) for domain in domains]
    chosen = [*combinations(range(len(sizes)), 1), *combinations(range(len(sizes)), 2), tuple(range(len(sizes)))]
    return [table_of(exact.codes, sizes, columns, exact.weights) for columns in chosen]


def moved(world: World, promise: Promise, sql: str, given: str = "") -> tuple[Payment, int, int]:
    """The payment, and how far neighbours move a histogram at most: in L1 and in squared L2."""
    found = {name: creation(database, promise, sql, given) for name, database in world._databases.items()}
    payments = {made.table.payment for made in found.values()}
    exact = {name: histograms(made) for name, made in found.items()}
    moves = [
        one - other
        for first, second in neighbours_of(list(found), promise)
        for one, other in zip(exact[first], exact[second], strict=True)
    ]
    (payment,) = payments  # it follows from public facts: all neighbours pay alike
    return payment, max(int(np.abs(move).sum()) for move in moves), max(int((move**2).sum()) for move in moves)


@pytest.mark.every(2)
@pytest.mark.parametrize("promise", BOTH, ids=str)
@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_unit_moves_a_table_further_than_is_paid_for(world: World, sql: str, promise: Promise) -> None:
    payment, l1, squares = moved(world, promise, sql)
    assert payment.neighbours == promise.neighbours
    assert 0 < l1 <= payment.l1
    assert squares <= payment.squares


@pytest.mark.parametrize("promise", BOTH, ids=str)
def test_a_cap_bounds_what_is_paid_for(world: World, promise: Promise) -> None:
    payment, l1, _ = moved(world, promise, CAPPED, ", max_rows_contributed = 2")
    assert payment.rows == 2
    assert l1 <= payment.l1


def test_a_payment_for_one_row_is_convicted(world: World) -> None:
    """The bug that the audit is for: several rows of a unit, paid for as one."""
    promise = next(promise for promise in BOTH if promise.neighbours == "add_remove")
    payment, l1, squares = moved(world, promise, CAPPED)
    as_if_one = replace(payment, rows=1)
    assert l1 > as_if_one.l1
    assert squares > as_if_one.squares
