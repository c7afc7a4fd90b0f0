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
