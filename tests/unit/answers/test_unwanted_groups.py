"""Units whose rows are in groups that nobody asks for are still as many: clamps are chosen by all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.privacy.tables import RawTable
from dpsql.session import Session
from tests.unit.mechanisms.shop import policy, sessions

pytestmark = pytest.mark.chance(0, "no noise is drawn")

MADE = (  # of each unit five rows in A of a status that is not listed, and a hundred open ones in B
    "CREATE TABLE orders AS SELECT i % 400 AS customer, CASE WHEN i < 2000 THEN 'A' ELSE 'B' END AS region, "
    "CASE WHEN i < 2000 THEN 'draft' ELSE 'open' END AS status, 900 AS amount, i % 7 AS day FROM range(42000) AS t(i)"
)
ORDERS = """
  orders:
    unit: customer
    rows_per_unit: 500
    columns:
      region: {type: text, values: [A, B]}
      status: {type: text, values: [open, closed]}
      amount: {type: integer, bounds: [0, 1000]}
      day: {type: integer, bounds: [0, 6]}
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    yield from sessions(tmp_path_factory.mktemp("unwanted"), MADE, policy(ORDERS))


@pytest.mark.parametrize("where", ["", " WHERE day >= 0"], ids=["stored", "rows"])
@pytest.mark.parametrize("keys", ["status", "region, status", "status, region"])
def test_what_units_have_elsewhere_leaves_a_clamp_where_it_is(session: Session, keys: str, where: str) -> None:
    asked = f"SELECT {keys}, COUNT(*), SUM(amount) FROM orders{where} GROUP BY {keys}"
    answer = session.query(asked, epsilon=20, mechanism="clamped")
    found = [row[-2:] for row in answer.rows if "open" in row and row[-2] > 0]
    assert found == [(pytest.approx(40_000, rel=0.13), pytest.approx(36_000_000, rel=0.13))]  # an eighth is rounded off


def test_the_rest_is_one_more_group_behind_all() -> None:
    raw = RawTable({"k": ["b", "x", "a", "b"], "n": [1, 2, 3, 4]})
    every = raw.by_group(["k"], [("a",), ("b",)], ["n"], rest=True)
    assert (every.size, list(every.column("group")), list(every.column("n"))) == (2, [1, 2, 0, 1], [1, 2, 3, 4])
    wanted = raw.by_group(["k"], [("a",), ("b",)], ["n"])
    assert (wanted.size, list(wanted.column("group")), list(wanted.column("n"))) == (2, [1, 0, 1], [1, 3, 4])
