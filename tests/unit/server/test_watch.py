"""What is looked at again and again: a look that fails is not the last, and one that hangs holds nobody up."""

from __future__ import annotations

import time
from threading import Event

import pytest

from dpsql.server.watch import Watch

pytestmark = pytest.mark.chance(0, "nothing is drawn")


def test_it_looks_until_the_end(events: list[dict[str, object]]) -> None:
    looks, third = list[int](), Event()

    def look() -> None:
        looks.append(1)
        if len(looks) == 1:
            raise RuntimeError("a bug")
        if len(looks) == 3:
            third.set()

    watch = Watch("test", look, 0.001)
    watch.begin()
    assert third.wait(60)
    watch.end()
    count = len(looks)
    time.sleep(0.05)
    assert len(looks) == count
    watch.end()
    assert [(event["event"], event["of"]) for event in events] == [("bug", "test")]


def test_a_look_that_hangs_is_left_behind(events: list[dict[str, object]]) -> None:
    begun, goes_on = Event(), Event()

    def look() -> None:
        begun.set()
        goes_on.wait(60)

    watch = Watch("test", look, 0.001, patience=0.01)
    watch.begin()
    assert begun.wait(60)
    watch.end()
    goes_on.set()
    assert [event["event"] for event in events] == ["left behind"]


def test_what_never_began_ends() -> None:
    Watch("test", lambda: None, 1).end()
