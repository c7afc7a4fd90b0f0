"""Answers leave on a grid of public times, whatever happened; where there is none, at once."""

from __future__ import annotations

import time

import pytest

from dpsql.times import Times


def test_what_took_longer_than_the_last_time_leaves_at_its_multiples() -> None:
    grid = Times((0.5, 2.0))
    assert [grid.leaves(took) for took in (0, 0.5, 0.51, 2.0, 2.1, 4.0, 5.9)] == [0.5, 0.5, 2.0, 2.0, 4.0, 4.0, 6.0]


def test_what_fails_leaves_when_an_answer_would() -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), Times((0.05,)).kept():
        raise ZeroDivisionError
    assert time.monotonic() - began >= 0.05


def test_without_a_grid_nothing_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waited"))
    with Times().kept():
        pass


def test_of_what_reads_nothing_refusals_alone_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    began = time.monotonic()
    with pytest.raises(ZeroDivisionError), Times((0.05,)).kept(refusals_alone=True):
        raise ZeroDivisionError
    assert time.monotonic() - began >= 0.05
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("it waited"))
    with Times((0.05,)).kept(refusals_alone=True):
        pass


def test_what_is_asked_within_a_question_waits_with_it_once() -> None:
    began, times = time.monotonic(), Times((0.1, 9.0))
    with times.kept(), times.kept(), times.kept(refusals_alone=True):
        pass
    assert 0.1 <= time.monotonic() - began < 9


def test_what_changes_changes_as_the_answer_leaves_in_order_and_whichever_fails() -> None:
    began, times, seen = time.monotonic(), Times((0.1,)), list[str]()

    def fails() -> None:
        seen.append("first")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), times.kept():
        times.at_leaving(fails)
        times.at_leaving(lambda: seen.append("second"))
        assert not seen
    assert seen == ["first", "second"]
    assert time.monotonic() - began >= 0.1


def test_without_a_question_or_a_grid_it_changes_at_once() -> None:
    seen = list[int]()
    Times((9.0,)).at_leaving(lambda: seen.append(1))
    with Times().kept():
        Times().at_leaving(lambda: seen.append(2))
        Times().step()
        Times().begin_anew()
        assert seen == [1, 2]


def test_a_refusal_changes_what_it_changes_when_it_leaves() -> None:
    times, seen = Times((0.05,)), list[int]()
    with pytest.raises(KeyboardInterrupt), times.kept():
        times.at_leaving(lambda: seen.append(1))
        raise KeyboardInterrupt
    assert seen == [1]


def test_a_step_is_a_time_of_the_grid_and_the_times_begin_anew_there() -> None:
    began, times, seen = time.monotonic(), Times((0.1, 9.0)), list[int]()
    with times.kept():
        times.at_leaving(lambda: seen.append(1))
        times.step()
        assert seen == [1]
        assert time.monotonic() - began >= 0.1
    assert 0.2 <= time.monotonic() - began < 9


def test_who_waited_in_turn_counts_from_there() -> None:
    began, times = time.monotonic(), Times((0.1, 9.0))
    with times.kept():
        time.sleep(0.15)
        times.begin_anew()
    assert 0.25 <= time.monotonic() - began < 9
