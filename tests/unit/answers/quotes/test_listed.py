"""What quotes and answers say of listed groups that may be empty, and of rows that are in none of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from dpsql.mechanisms.base import Offer
from dpsql.mechanisms.foretold import looked_at, of_use
from dpsql.privacy.tables import ReleasedTable
from dpsql.session import Session
from tests.unit.mechanisms.asking import asking
from tests.unit.mechanisms.shop import policy, sessions

MADE = (  # the years 3 to 9 have no order; some orders have no region
    "CREATE TABLE orders AS SELECT i AS number, i % 3 AS year, i % 1000 AS amount, "
    "CASE WHEN i % 9 > 0 THEN if(i % 2 = 0, 'A', 'B') END AS region FROM range(30000) AS t(i)"
)
ORDERS = """
  orders:
    unit: number
    rows_per_unit: 1
    rows_about: 30000
    columns:
      year: {type: integer, bounds: [0, 9]}
      region: {type: text, values: [A, B]}
      amount: {type: integer, bounds: [0, 1000], centre: 500}
"""
FIRST = "such groups may come first in this order"
READ = "windows, totals and aggregates over the answer read such groups, too"
MEANS = "SELECT year, AVG(amount) AS x FROM orders GROUP BY year"
LAGGED = "SELECT year, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY year) AS more FROM orders GROUP BY year"
AGAIN = "WITH a AS (SELECT year, COUNT(*) AS n FROM orders GROUP BY year) SELECT AVG(n) AS m FROM a"
SHARES = "SELECT region, 100.0 * COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM orders GROUP BY region"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("listed"), MADE, policy(ORDERS))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (MEANS, ""),
        (f"{MEANS} ORDER BY x DESC LIMIT 2", FIRST),
        (f"SELECT * FROM ({MEANS}) AS a ORDER BY x LIMIT 2", FIRST),
        ("SELECT year, COUNT(*) AS n FROM orders GROUP BY year ORDER BY n LIMIT 2", FIRST),
        (LAGGED, READ),
        (AGAIN, READ),
    ],
)
def test_empty_groups_are_told_where_they_matter(session: Session, asked: str, why: str) -> None:
    (quoted,) = [note for note in session.explain(asked).notes if note.startswith("Of an empty group ")]
    (told,) = [note for note in session.query(asked).notes if note.startswith("Of 7 of 10 groups ")]
    assert all(why in note and "HAVING COUNT(*) > " in note for note in (quoted, told))


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT year, COUNT(*) AS n FROM orders GROUP BY year",
        "SELECT year, COUNT(*) AS n FROM orders GROUP BY year ORDER BY n DESC LIMIT 3",
        "SELECT year, AVG(amount) AS x FROM orders GROUP BY year HAVING COUNT(*) > 100 ORDER BY x DESC LIMIT 2",
        "SELECT * FROM (SELECT year, COUNT(*) AS n, AVG(amount) AS x FROM orders GROUP BY year) AS a WHERE n > 100",
        "SELECT region, AVG(amount) AS x FROM orders GROUP BY region ORDER BY x DESC LIMIT 1",
        "SELECT AVG(amount) AS x FROM orders",
        "SELECT region, MODE(region) AS most FROM orders GROUP BY region",  # nobody knows how far a mode is off
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (interval = 'none') region, MEDIAN(amount) AS x FROM orders "
        "GROUP BY region",
    ],
)
def test_nothing_is_told_where_they_do_not(session: Session, asked: str) -> None:
    notes = (*session.explain(asked).notes, *session.query(asked).notes)
    assert not [note for note in notes if " empty one" in note and "included" not in note]


def test_the_count_that_is_named_leaves_empty_groups_out(session: Session) -> None:
    (told,) = [note for note in session.query(MEANS).notes if "HAVING" in note]
    having = told[told.index("HAVING ") :].partition(" leaves")[0]
    assert [row[0] for row in session.query(f"{MEANS} {having} ORDER BY x DESC LIMIT 5").rows] != []
    assert {row[0] for row in session.query(f"{MEANS} {having}").rows} == {0, 1, 2}


def test_a_stored_answer_says_the_same(session: Session) -> None:
    first, again = session.query(LAGGED, epsilon=2), session.query(LAGGED, epsilon=2)
    assert again.replayed
    assert [note for note in again.notes if "HAVING" in note] == [note for note in first.notes if "HAVING" in note]


@pytest.mark.parametrize("asked", [SHARES, "SELECT region, COUNT(*) FROM orders GROUP BY ROLLUP(region)"])
def test_totals_say_that_they_leave_out_rows_without_a_key(session: Session, asked: str) -> None:
    assert any("rows whose region is NULL are in none." in note for note in session.explain(asked).notes)
    told = "Totals and windows leave out rows whose region is NULL, which are in no group."
    assert told in session.query(asked).notes
    rest = asked.replace("FROM orders", "FROM orders WHERE region IS NOT NULL")
    assert "ROLLUP" in asked or told not in session.query(rest).notes


def test_of_how_few_rows_a_sum_says_nothing_is_told_where_conditions_leave_nobody_knows_how_many(
    session: Session,
) -> None:
    """At epsilon 0.01 one row moves it by 1000, so that it is off by 300,000: as much as 600 rows of 500 each."""
    added = "SELECT SUM(amount) AS s FROM orders"
    found = [
        [
            note
            for note in session.explain(asked, epsilon=epsilon, mechanism="laplace").notes
            if "conditions leave" in note
        ]
        for asked, epsilon in (
            (f"{added} WHERE region = 'A'", 0.01),
            (f"{added} WHERE region = 'A'", 10),
            (added, 0.01),
        )
    ]
    assert [len(notes) for notes in found] == [1, 0, 0]
    assert "Of fewer than about 599 rows it would say next to nothing: 15,000 are a guess of what" in found[0][0]


@dataclass(frozen=True)
class Reaching:
    """A release of numbers whose intervals are known."""

    ends: Sequence[tuple[float, float]]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[tuple[float, float]]:
        return self.ends


def test_a_sum_says_something_where_its_interval_leaves_0_out_however_far_it_reaches_up() -> None:
    """One that allows for what is clipped reaches far up, and the total of an empty group is noise alone."""
    release = cast(Offer, Reaching([(10.0, 900.0), (-45.0, 850.0), (-110.0, -30.0)]))
    assert of_use(asking("sum"), release, ReleasedTable({"value": [50, -5, -70]})) == [True, False, True]


def test_a_quantile_says_something_where_one_end_of_its_interval_is_inside_its_bounds() -> None:
    """Where values are skewed most of them lie near one bound, and the other end reaches far."""
    release = cast(Offer, Reaching([(0.0, 100.0), (4.0, 100.0), (0.0, 99.5)]))
    released = ReleasedTable({"value": [50, 9, 50]})
    assert of_use(asking("quantile_cont"), release, released) == [False, True, False]
    assert of_use(asking("avg"), release, released) == [False, False, False]


@dataclass(frozen=True)
class Counting(Reaching):
    """One that notes when it is asked."""

    asked: list[int]

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[tuple[float, float]]:
        self.asked.append(len(released.values))
        return self.ends[:: len(self.ends) // len(released.values)]


def test_intervals_are_worked_out_once_for_all_notes_of_a_release_and_anew_for_another() -> None:
    first, second = (Counting([(at, at + size) for at in range(400)], []) for size in (1, 2))
    released = ReleasedTable({"value": [*range(400)]})
    for own in (first, second):
        found = [looked_at(cast(Offer, own), released) for _ in range(3)]
        assert found[0] == found[1] == found[2] == list(zip(range(0, 400, 4), own.ends[::4], strict=True))
        assert own.asked == [100]
    assert released == ReleasedTable({"value": [*range(400)]})


OPEN_GROUPS = """
  rows:
    unit: person
    rows_per_unit: 1
    rows_about: 900
    columns:
      town: {type: text}
      income: {type: integer, bounds: [0, 10000000]}
"""


def test_of_open_groups_it_is_told_how_many_say_nothing(tmp_path: Path) -> None:
    towns = "['A', 'B', 'C'][1 + i % 3] AS town"
    made = f"CREATE TABLE rows AS SELECT i AS person, {towns}, i AS income FROM range(900) AS t(i)"
    for session in sessions(tmp_path, made, policy(OPEN_GROUPS, delta=True)):
        asked = "SELECT town, AVG(income) AS x FROM rows GROUP BY town"
        told = [note for note in session.query(asked, epsilon=0.3, delta=1e-6).notes if "empty one" in note]
        assert told == ["Of 3 of 3 groups AVG(income) says no more than of an empty one."]
        dear = session.query(asked, epsilon=100, delta=1e-6)
        assert not [note for note in dear.notes if "empty one" in note]
