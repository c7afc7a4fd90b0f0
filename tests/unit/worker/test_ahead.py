"""What comes next is fetched meanwhile: in order, with its errors, and nothing goes on behind who stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dpsql.worker.ahead import both, fetched, fetched_ahead, shared

MOST_SECONDS = 30.0  # Until a thread that was to run has surely run. It is a choice.


def test_tables_come_in_order() -> None:
    assert list(fetched_ahead(iter([3, 1, 2]))) == [3, 1, 2]
    assert list(fetched_ahead(iter([]))) == []


@pytest.mark.parametrize("processors", [1, 2, 3])
def test_another_thread_fetches_where_a_processor_is_left(processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    mine = threading.get_ident()
    assert [own == mine for own in fetched(threading.get_ident() for _ in range(3))] == [processors < 3] * 3


def test_the_next_table_is_fetched_while_one_is_worked_on() -> None:
    fetched = threading.Event()

    def source() -> Iterator[Any]:
        yield "first"
        fetched.set()
        yield "second"

    tables = fetched_ahead(source())
    assert next(tables) == "first"
    assert fetched.wait(MOST_SECONDS)
    assert list(tables) == ["second"]


def test_an_error_comes_where_its_table_would() -> None:
    def source() -> Iterator[Any]:
        yield 1
        raise ValueError("no more")

    tables = fetched_ahead(source())
    assert next(tables) == 1
    with pytest.raises(ValueError, match="no more"):
        next(tables)


def test_who_stops_early_waits_for_what_is_on_its_way() -> None:
    begun, done = threading.Event(), threading.Event()

    def source() -> Iterator[Any]:
        yield 1
        begun.set()
        time.sleep(0.05)
        done.set()
        yield 2

    def failing() -> None:
        for _ in fetched_ahead(source()):
            assert begun.wait(MOST_SECONDS)
            raise ValueError("disorder")

    before = threading.active_count()
    with pytest.raises(ValueError, match="disorder"):
        failing()
    assert done.is_set()
    assert threading.active_count() == before


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_either_is_raised_when_both_are_done(failing: int) -> None:
    done = list[int]()

    def call(number: int) -> None:
        time.sleep(0.02 * (number != failing))
        if number == failing:
            raise ValueError(f"{number} failed")
        done.append(number)

    with pytest.raises(ValueError, match=f"{failing} failed"):
        both(lambda: call(0), lambda: call(1))
    assert done == [1 - failing]


def test_two_calls_are_at_work_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=MOST_SECONDS)
    both(meeting.wait, meeting.wait)


def test_two_take_all_that_comes_at_once() -> None:
    taken, beside, meeting = list[int](), list[int](), threading.Barrier(2, timeout=MOST_SECONDS)

    def taking(own: list[int]) -> Callable[[int], bool]:
        def take(item: int) -> bool:
            own.append(item)
            if item < 2:  # the first two are taken by two threads, or nobody comes further
                meeting.wait()
            return True

        return take

    assert shared(range(100), taking(taken), taking(beside))
    assert sorted(taken + beside) == list(range(100))
    assert taken
    assert beside
    assert shared([], taking(taken), taking(beside))


def test_nobody_takes_more_when_one_says_no() -> None:
    came = list[int]()

    def source() -> Iterator[int]:
        for item in range(100):
            came.append(item)
            yield item

    assert not shared(source(), lambda item: item < 1, lambda item: item < 1)
    assert len(came) <= 4


@pytest.mark.parametrize("fails", ["source", "taker"])
def test_what_either_or_the_source_raises_is_raised(fails: str) -> None:
    def source() -> Iterator[int]:
        yield 0
        if fails == "source":
            raise ValueError("no more")
        yield from range(100)

    def take(item: int) -> bool:
        if fails == "taker":
            raise ValueError("no more")
        return True

    with pytest.raises(ValueError, match="no more"):
        shared(source(), take, take)
