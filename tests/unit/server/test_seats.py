"""Seats at work, of which nobody has more than half."""

from __future__ import annotations

import asyncio
from threading import Event, Thread

import pytest

from dpsql.server.core import Server
from dpsql.server.refusals import Stopping
from dpsql.server.seats import Seats
from tests.unit.server.clinic import Clinic

pytestmark = pytest.mark.chance(0, "no noise is drawn")


def test_one_analyst_has_half_of_the_seats_and_all_have_no_more_than_there_are() -> None:
    seats = Seats(4)
    asked = {name: [seats.asked(name) for _ in range(3)] for name in ("ana", "bob", "eve")}
    inside = {name: [seat.done() for seat in own] for name, own in asked.items()}
    assert inside == {"ana": [True, True, False], "bob": [True, True, False], "eve": [False] * 3}
    seats.leave("bob")
    assert asked["bob"][2].done()  # who asked first comes first
    assert not asked["eve"][0].done()
    seats.leave("ana")
    seats.leave("ana")
    assert asked["ana"][2].done()
    assert asked["eve"][0].done()
    assert not asked["eve"][1].done()


def test_a_place_that_nobody_waits_for_any_more_goes_to_the_next() -> None:
    seats = Seats(2)
    first, second, third = (seats.asked("ana") for _ in range(3))
    seats.given_up("ana", second)  # it was not granted yet
    seats.leave("ana")
    assert (first.done(), second.cancelled(), third.done()) == (True, True, True)
    fourth = seats.asked("ana")
    seats.given_up("ana", third)  # it was
    assert fourth.done()


def test_a_lone_place_is_anybodys() -> None:
    seats = Seats(1)
    assert seats.asked("ana").done()
    assert not seats.asked("bob").done()


def test_threads_and_loops_share_the_seats(clinic: Clinic) -> None:
    server, goes_on, begun = Server(clinic.proxy, clinic.server.users), Event(), Event()
    server._seats = Seats(2)

    def long() -> None:
        begun.set()
        goes_on.wait(60)

    thread = Thread(target=server.done, args=("ana", long, lambda: True))
    thread.start()
    assert begun.wait(60)

    async def waits() -> str:
        work = asyncio.ensure_future(server.work("ana", lambda: "done"))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(work), 0.05)
        assert await server.work("bob", lambda: "of another") == "of another"
        gives_up = asyncio.ensure_future(server.work("ana", lambda: pytest.fail("it was cancelled before it began")))
        await asyncio.sleep(0)
        gives_up.cancel()
        goes_on.set()
        return await work

    assert asyncio.run(waits()) == "done"
    thread.join()
    assert server.done("ana", lambda: "free again", lambda: True) == "free again"
    server.close()


def test_what_nobody_waits_for_is_not_begun_and_nothing_is_by_a_server_that_stops(clinic: Clinic) -> None:
    server = Server(clinic.proxy, clinic.server.users)
    with pytest.raises(Stopping):
        server.done("ana", lambda: pytest.fail("nobody waits for it"), lambda: False)
    server.close()
    with pytest.raises(Stopping):
        server.done("ana", lambda: pytest.fail("the server stops"), lambda: True)


def test_a_statement_that_is_cancelled_while_it_runs_keeps_its_seat_to_its_end(clinic: Clinic) -> None:
    server, goes_on, begun = Server(clinic.proxy, clinic.server.users), Event(), Event()
    server._seats = Seats(2)  # one of them for ana

    def long() -> None:
        begun.set()
        goes_on.wait(60)

    async def cancels() -> None:
        gives_up = asyncio.ensure_future(server.work("ana", long))
        assert await asyncio.to_thread(begun.wait, 60)
        gives_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gives_up
        seat = server._seats.asked("ana")
        assert not seat.done()
        goes_on.set()
        await asyncio.wait_for(asyncio.wrap_future(seat), 60)

    asyncio.run(cancels())
    server.close()
