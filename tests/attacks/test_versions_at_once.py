"""Processes that build table versions at once: what the ledger names is there, and nobody is turned away."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import duckdb
import pytest

import dpsql
from dpsql import proxy, testing
from dpsql.engine.base import Engine
from dpsql.owner.building.versions import open_engine
from dpsql.owner.in_use import InUse
from dpsql.policy import Policy, load_policy
from dpsql.testing import Noiseless

POLICY = """
version: 1
name: clinic
neighbours: add_remove
engine: {kind: duckdb, database: clinic.duckdb, cache: cache}
budget:
  ledger: clinic.ledger.db
  mark: marks
  composition: basic
  total: {epsilon: 10}
  analysts: {ana: {epsilon: 10}}
  per_query: {epsilon: 1}
tables:
  patients:
    unit: patient_id
    rows_per_unit: 1
    columns: {age: {type: integer, bounds: [0, 110]}}
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE patients AS SELECT range AS patient_id, 40 AS age FROM range(100)")
    (tmp_path / "clinic.yaml").write_text(POLICY)
    return tmp_path / "clinic.yaml"


def test_a_refresh_during_a_refresh_records_no_version_that_was_not_built(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second begins when the first has built its version and not yet put it on record."""
    built: list[int] = []
    second = Thread(target=lambda: proxy.refresh(policy))

    def build(policy: Policy, *, version: int, **_: object) -> None:
        built.append(version)
        if len(built) == 1:
            second.start()
            second.join(0.3)  # it waits for its turn, so this ends by the clock

    monkeypatch.setattr(proxy, "build", build)
    proxy.refresh(policy)
    second.join()
    with proxy.open_ledger(load_policy(policy)) as ledger:
        assert built == [1, 2]
        assert ledger.version() == 2


def test_first_openings_wait_for_each_other(policy: Path) -> None:
    steps: list[str] = []
    with ThreadPoolExecutor(3) as pool:
        proxies = list(pool.map(lambda _: dpsql.open(policy, progress=lambda step, _: steps.append(step)), range(3)))
    for opened in proxies:
        assert opened.ledger.version() == 1
        opened.close()
    assert steps.count("building patients") == 1


def test_an_opening_that_two_refreshes_overtake_opens_the_newest_version(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version that the ledger named when it was asked is gone when its tables are looked for."""
    dpsql.open(policy).close()
    asked: list[int] = []

    def overtaken(its: Policy, cache: Path, version: int) -> tuple[Engine, InUse]:
        asked.append(version)
        if version == 1:
            proxy.refresh(policy)
            proxy.refresh(policy)
        return open_engine(its, cache, version)

    monkeypatch.setattr(proxy, "open_engine", overtaken)
    with dpsql.open(policy) as opened:
        assert opened.ledger.version() == 3
    assert asked == [1, 3]


@pytest.mark.slow
@pytest.mark.chance(0, "noise is drawn, and nothing of it is asserted")
def test_a_process_that_is_open_goes_on_with_its_version_while_others_refresh(policy: Path) -> None:
    """Its worker processes end and others start: the version that they open is not removed before it is closed."""
    with dpsql.open(policy) as opened:
        session, engine = opened.session(analyst="ana"), opened.backend.engine
        for above in range(3):
            proxy.refresh(policy)
            engine.close()
            assert not session.query("SELECT COUNT(*) FROM patients WHERE age > ?", [above], epsilon=1).replayed
        assert sorted(place.name for place in opened._cache.glob("v*")) == ["v1", "v3", "v4"]
        before = opened.renew()
        assert before is not None
        before.close()
        assert opened.renew() is None
        assert (session.version, opened.session(analyst="ana").version) == (1, 4)
        proxy.refresh(policy)
        assert sorted(place.name for place in opened._cache.glob("v*")) == ["v4", "v5"]


def test_a_session_from_before_a_refresh_keeps_its_version_as_long_as_somebody_has_it(policy: Path) -> None:
    with testing.open(policy, Noiseless()) as opened:
        session = opened.session(analyst="ana")
        for _ in range(3):
            opened.refresh()
        assert session.query("SELECT COUNT(*) FROM patients").rows == [(100,)]
        assert sorted(place.name for place in opened._cache.glob("v*")) == ["v1", "v3", "v4"]
        session._backend.engine.close()
        del session
        gc.collect()
        opened.refresh()
        assert sorted(place.name for place in opened._cache.glob("v*")) == ["v4", "v5"]


def test_a_session_keeps_what_it_needs_alive(policy: Path) -> None:
    answer = testing.open(policy, Noiseless()).session(analyst="ana").query("SELECT COUNT(*) FROM patients", epsilon=1)
    assert answer.rows == [(100,)]


def test_a_proxy_for_tests_leaves_nothing_behind(policy: Path) -> None:
    opened = testing.open(policy, Noiseless())
    place = opened._cache
    assert place.exists()
    opened.close()
    assert not place.exists()
