"""A long build tells how far it is."""

from __future__ import annotations

import threading
from pathlib import Path

from dpsql.engine.duckdb.database import building
from dpsql.owner.under_way import under_way

SOON = 60.0  # Seconds within which a thread that looks every millisecond has surely looked.


def test_what_is_done_is_told_whenever_it_is_more() -> None:
    shares, told, all_told = iter([0.0, 0.25, 0.25, 0.5, 0.0, 7.0]), list[float](), threading.Event()

    def tell(share: float) -> None:
        told.append(share)
        if share == 1:
            all_told.set()

    with under_way(lambda: next(shares, 0.0), tell, tick=0.001):
        assert all_told.wait(SOON)
    assert told == [0.25, 0.5, 1.0]


def test_duckdb_tells_how_far_it_is(tmp_path: Path) -> None:
    known, enough = list[float](), threading.Event()
    with building({}, "key", tmp_path) as database:

        def look() -> float:
            known.append(database.done())
            if known[-1] > 0:
                enough.set()
            return known[-1]

        with under_way(look, lambda _: None, tick=0.001):
            while not enough.is_set():  # a fast machine may be done before anybody looks
                database.rows("SELECT max(sha256(CAST(i AS VARCHAR))) FROM range(200000) AS numbers(i)")
    assert any(0 < share <= 1 for share in known)
    assert all(0 <= share <= 1 for share in known)
