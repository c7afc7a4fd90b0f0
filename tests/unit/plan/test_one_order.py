"""Which keys and aggregates of a plan come first is the same however a statement is written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dpsql.plan.plans import Plan
from dpsql.prepare import Prepared
from dpsql.session import Session
from tests.sql.corpus import Block
from tests.sql.databases import open_proxy
from tests.sql.described import planned


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with open_proxy("hospital", tmp_path_factory.mktemp("order")) as proxy:
        yield proxy.session(analyst="ana")


def plan(session: Session, sql: str) -> Plan:
    found = planned(session, Block((), sql))
    assert isinstance(found, Prepared)
    return found.plan


def test_a_statement_the_other_way_round_is_one_plan_but_for_what_it_shows(session: Session) -> None:
    one = plan(session, "SELECT sex, consent, COUNT(*), SUM(age), AVG(age * 2) FROM patients GROUP BY sex, consent")
    other = plan(session, "SELECT AVG(2 * age), SUM(age), COUNT(*), consent, sex FROM patients GROUP BY consent, sex")
    again = plan(session, "SELECT AVG(age * 2), SUM(age), COUNT(*), consent, sex FROM patients GROUP BY consent, sex")
    assert one.keys == other.keys == again.keys
    assert one.aggregates == again.aggregates
    assert [key.expression for key in one.written] == [key.expression for key in other.written[::-1]]
    assert {bool(one.rows_by), bool(other.rows_by)} == {False, True}
    assert {bool(one.told_by), bool(again.told_by)} == {False, True}


def test_what_reads_keys_and_aggregates_reads_the_same_ones(session: Session) -> None:
    written = "SELECT SUM(age) / COUNT(*), sex FROM patients GROUP BY sex HAVING COUNT(*) > 5 ORDER BY SUM(age)"
    own = plan(session, written)
    (total, count) = (next(a.name for a in own.aggregates if a.function == f) for f in ("sum", "count_rows"))
    assert own.having is not None
    assert f"name='{count}'" in repr(own.having)
    assert f"name='{total}'" in repr(own.order_by)
    assert repr(own.outputs[0].expression).index(f"name='{total}'") < repr(own.outputs[0].expression).index(
        f"name='{count}'"
    )


def test_keys_of_grouping_sets_stay_as_they_are(session: Session) -> None:
    for keys in (["sex", "consent"], ["consent", "sex"]):
        names = ", ".join(keys)
        own = plan(session, f"SELECT {names}, SUM(age), COUNT(*) FROM patients GROUP BY ROLLUP ({names})")
        assert [key.expression.shown for key in own.keys if hasattr(key.expression, "shown")] == keys
        assert not own.rows_by
        assert own.told_by
