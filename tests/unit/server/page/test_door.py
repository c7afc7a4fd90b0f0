"""The owner's page over HTTP: who comes in, what a button does, and what other sites cannot make it do."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from starlette.applications import Starlette

from dpsql.errors import ApprovalNeeded
from dpsql.server import http as http_doors
from dpsql.server.doors import DOORS
from dpsql.server.http import STRANGERS, HttpDoor, let_in
from dpsql.server.listening import Listen, Tls
from dpsql.server.page.door import COOKIE, MOST, Page
from dpsql.server.refusals import CROWDED
from tests.unit.server.clinic import POLICY, Clinic, open_clinic
from tests.unit.server.opening import opened

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")]
HEAD = b"POST /enter HTTP/1.1\r\nHost: x"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    policy = POLICY.replace("approve_above: 0.2,", "approve_above: 0.2, owner_approves_above: 1,")
    with open_clinic(tmp_path_factory.mktemp("page"), policy) as opened:
        yield opened


@pytest.fixture
def page(clinic: Clinic) -> Page:
    clinic.server.lockout = type(clinic.server.lockout)()
    return Page(clinic.server, secure=False)


def ask(app: Starlette, *steps: Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]) -> list[httpx.Response]:
    """The answers to some requests of one browser."""

    async def asked() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://page") as browser:
            return [await step(browser) for step in steps]

    return asyncio.run(asked())


def get(path: str) -> Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]:
    return lambda browser: browser.get(path)


def post(path: str, **fields: str) -> Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]:
    return lambda browser: browser.post(path, data=fields)


def enter(clinic: Clinic) -> Callable[[httpx.AsyncClient], Awaitable[httpx.Response]]:
    return post("/enter", token=clinic.tokens[""])


def waiting(clinic: Clinic, age: int) -> str:
    with pytest.raises(ApprovalNeeded) as needed:
        clinic.proxy.session(analyst="ana").query("SELECT COUNT(*) FROM people WHERE age > ?", [age], epsilon=2)
    return needed.value.id


def test_the_page_is_for_the_owners_token_alone(clinic: Clinic, page: Page) -> None:
    outside, form, wrong, ana, inside, shown = ask(
        page.app(),
        get("/"), get("/enter"), post("/enter", token="nothing"), post("/enter", token=clinic.tokens["ana"]),
        enter(clinic), get("/"),
    )  # fmt: skip
    assert (outside.status_code, outside.headers["location"]) == (303, "/enter")
    assert 'type="password"' in form.text
    assert (wrong.status_code, ana.status_code) == (403, 403)
    assert clinic.tokens["ana"] not in ana.text
    cookie = inside.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert shown.status_code == 200
    assert "What is left" in shown.text
    assert clinic.tokens[""] not in shown.text + cookie


def test_the_page_is_not_shown_where_nobody_knows_whose_it_is(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as clinic:

        async def unknown(browser: httpx.AsyncClient) -> httpx.Response:
            (tmp_path / "clinic.users").chmod(0o644)
            return await browser.get("/")

        page = Page(clinic.server, secure=False)
        _, shown, refused = ask(page.app(), enter(clinic), unknown, enter(clinic))
    assert (shown.status_code, refused.status_code) == (503, 403)
    for answer in (shown, refused):
        assert "Nobody can be let in now" in answer.text and "clinic.users" not in answer.text
        assert answer.headers["cache-control"] == "no-store"


def test_every_answer_forbids_what_it_does_not_need(clinic: Clinic, page: Page) -> None:
    for answer in ask(page.app(), get("/"), get("/enter"), enter(clinic), get("/"), get("/healthz")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_button_is_the_owners_word(clinic: Clinic, page: Page) -> None:
    own = waiting(clinic, 30)
    app = page.app()

    async def press(browser: httpx.AsyncClient) -> httpx.Response:
        fields = dict(re.findall(r'name="(form|id)" value="([^"]+)"', (await browser.get("/")).text))
        return await browser.post("/approve", data=fields | {"id": own})

    _, pressed, again = ask(app, enter(clinic), press, press)
    assert (pressed.status_code, pressed.headers["location"]) == (303, "/")
    assert again.status_code == 409
    assert "approved already" in again.text
    session = clinic.proxy.session(analyst="ana")
    assert session.query("SELECT COUNT(*) FROM people WHERE age > ?", [30], epsilon=2).cost.epsilon == 2


@pytest.mark.parametrize("form", [None, "", "x" * 43])
def test_a_form_of_another_site_is_refused(clinic: Clinic, page: Page, form: str | None) -> None:
    own = waiting(clinic, 40)
    fields = {"id": own} if form is None else {"id": own, "form": form}
    _, forged = ask(page.app(), enter(clinic), post("/approve", **fields))
    assert forged.status_code == 403
    (outside,) = ask(page.app(), post("/approve", **fields))
    assert outside.status_code == 403
    assert [one.approved for one in clinic.proxy.waiting.all() if one.id == own] == [None]


def test_nothing_is_done_by_a_link_or_by_what_is_no_form(clinic: Clinic, page: Page) -> None:
    _, link, text, long = ask(
        page.app(),
        enter(clinic),
        get("/approve?id=x"),
        lambda browser: browser.post("/approve", content=b"id=1", headers={"content-type": "text/plain"}),
        post("/enter", token="x" * 10_000),
    )
    assert (link.status_code, text.status_code, long.status_code) == (405, 403, 403)


def test_a_visit_ends_when_the_owner_leaves_is_silent_or_has_another_token(clinic: Clinic) -> None:
    now = [0.0]
    page = Page(clinic.server, secure=True, clock=lambda: now[0])

    async def leave(browser: httpx.AsyncClient) -> httpx.Response:
        (form,) = set(re.findall(r'name="form" value="([^"]+)"', (await browser.get("/")).text))
        return await browser.post("/leave", data={"form": form})

    async def wait(browser: httpx.AsyncClient) -> httpx.Response:
        now[0] += clinic.server.limits.idle_seconds + 1
        return await browser.get("/")

    def https(*steps: Any) -> list[int]:
        async def asked() -> list[int]:
            transport = httpx.ASGITransport(app=page.app())
            async with httpx.AsyncClient(transport=transport, base_url="https://page") as browser:
                return [(await step(browser)).status_code for step in steps]

        return asyncio.run(asked())

    assert https(enter(clinic), get("/"), leave, get("/")) == [303, 200, 303, 303]
    assert https(enter(clinic), get("/"), wait) == [303, 200, 303]

    async def renew(browser: httpx.AsyncClient) -> httpx.Response:
        clinic.tokens[""] = clinic.server.users.add_owner()
        return await browser.get("/")

    assert https(enter(clinic), get("/"), renew) == [303, 200, 303]


def test_the_oldest_of_too_many_visits_ends(clinic: Clinic, page: Page) -> None:
    ask(page.app(), *[enter(clinic)] * (MOST + 2))
    assert len(page._visits) == MOST


def test_wrong_tokens_lock_the_address_out(clinic: Clinic, page: Page) -> None:
    guess = clinic.tokens[""][:-1] + "!"
    answers = ask(page.app(), *[post("/enter", token=guess)] * 5, enter(clinic))
    assert answers[-1].status_code == 403
    assert COOKIE not in answers[-1].headers.get("set-cookie", "")


def test_the_door_opens_with_tls_and_closes(clinic: Clinic, certificate: Tls) -> None:
    async def visited() -> tuple[str, int, str]:
        (kind,) = (kind for kind in DOORS if kind.name == "page")
        door = kind.open(clinic.server)
        where = await door.start(Listen("127.0.0.1", 0), certificate)
        trust = ssl.create_default_context(cafile=str(certificate.certificate))
        trust.check_hostname = False
        try:
            async with httpx.AsyncClient(verify=trust) as browser:
                answer = await browser.get(where + "healthz")
        finally:
            await door.stop()
        return where, answer.status_code, answer.text

    where, status, text = asyncio.run(visited())
    assert re.fullmatch(r"https://127\.0\.0\.1:\d+/", where)
    assert (status, text) == (200, "ok\n")


@pytest.mark.parametrize("begun", [b"", HEAD, HEAD + b"\r\nContent-Length: 9\r\n\r\nt"])
def test_a_client_that_is_slow_loses_its_place_and_a_quick_one_keeps_it(clinic: Clinic, begun: bytes) -> None:
    async def visited() -> tuple[bytes, list[int]]:
        door = HttpDoor(lambda _, tls: Page(clinic.server, secure=False).app(), clinic.server, "page", "/", slow=0.1)
        where = await door.start(Listen("127.0.0.1", 0), None)
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(where).port)
            async with httpx.AsyncClient() as browser:
                writer.write(begun)
                first = await browser.get(where + "healthz")
                try:
                    left = await reader.read()
                except ConnectionResetError:
                    left = b""
                writer.close()
                return left, [first.status_code, (await browser.get(where + "healthz")).status_code]
        finally:
            await door.stop()

    assert asyncio.run(visited()) == (b"", [200, 200])


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No stranger makes room for another, however slow this machine is."""
    monkeypatch.setattr(http_doors, "YOUNG", 600)


@pytest.mark.usefixtures("patient")
def test_of_a_crowd_of_strangers_some_are_told_to_come_again_and_others_are_answered(clinic: Clinic) -> None:
    most, more = clinic.server.limits.connections + STRANGERS, 30
    (kind,) = (kind for kind in DOORS if kind.name == "page")
    with opened(kind.open(clinic.server)) as where, ExitStack() as crowd:
        address = "127.0.0.1", httpx.URL(where).port
        strangers = [crowd.enter_context(socket.create_connection(address, 60)) for _ in range(most + more)]
        for stranger in strangers[most:]:
            answer = http.client.HTTPResponse(stranger)
            answer.begin()
            assert (answer.status, json.loads(answer.read())) == (503, {"error": CROWDED})
            assert stranger.recv(1) == b""
        strangers[0].sendall(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
        assert strangers[0].recv(12) == b"HTTP/1.1 200"
        for stranger in strangers[1:]:
            stranger.close()
        until = time.monotonic() + 60
        while (status := httpx.get(where + "healthz").status_code) == 503 and time.monotonic() < until:
            time.sleep(0.01)
        assert status == 200


@pytest.mark.parametrize("encrypted", [False, True])
def test_silent_strangers_make_room_for_others_and_who_was_let_in_stays(
    clinic: Clinic, certificate: Tls, monkeypatch: pytest.MonkeyPatch, encrypted: bool
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for _ in ("startup", "shutdown"):
                await send({"type": f"{(await receive())['type']}.complete"})
            return
        if scope["path"] == "/in":
            let_in(scope)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    monkeypatch.setattr(http_doors, "YOUNG", 0)
    most = clinic.server.limits.connections + STRANGERS
    door = HttpDoor(lambda *_: app, clinic.server, "page", "/")
    with opened(door, tls=certificate if encrypted else None) as where, ExitStack() as crowd:
        known = crowd.enter_context(httpx.Client(verify=False))
        address = "127.0.0.1", httpx.URL(where).port
        assert known.get(where + "in").status_code == 200
        (first,) = door_connections(door)
        strangers = [crowd.enter_context(socket.create_connection(address, 60)) for _ in range(most + 5)]
        assert [stranger.recv(1) for stranger in strangers[:5]] == [b""] * 5
        assert httpx.get(where + "other", verify=False).status_code == 200
        assert strangers[6].recv(1) == b""
        assert known.get(where + "in").status_code == 200
        assert first in door_connections(door)  # and not a new one


def door_connections(door: Any) -> set[object]:
    """Those over which something was said, or may be."""
    return set(door._server.server_state.connections)


@pytest.mark.usefixtures("patient")
def test_who_never_begins_with_tls_is_counted_and_hung_up_on_too(clinic: Clinic, certificate: Tls) -> None:
    most, more = clinic.server.limits.connections + STRANGERS, 30
    (kind,) = (kind for kind in DOORS if kind.name == "page")
    with opened(kind.open(clinic.server), tls=certificate) as where, ExitStack() as crowd:
        address = "127.0.0.1", httpx.URL(where).port
        strangers = [crowd.enter_context(socket.create_connection(address, 60)) for _ in range(most + more)]
        assert [stranger.recv(1) for stranger in strangers[most:]] == [b""] * more
        for stranger in strangers[:most]:
            stranger.setblocking(False)
            with pytest.raises(BlockingIOError):
                stranger.recv(1)


def test_an_answer_waits_for_no_acknowledgement_of_its_head(clinic: Clinic) -> None:
    """Without TCP_NODELAY a client that acknowledges late gets each answer some 40 ms later."""
    seen = list[int]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            for _ in ("startup", "shutdown"):
                await send({"type": f"{(await receive())['type']}.complete"})
            return
        for protocol in door._server.server_state.connections:
            seen.append(protocol.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    door: Any = HttpDoor(lambda *_: app, clinic.server, "page", "/")
    with opened(door) as where:
        assert httpx.get(where).status_code == 200
    assert seen
    assert all(seen)


def test_the_door_opens_at_a_path(clinic: Clinic, tmp_path: Path) -> None:
    async def visited() -> int:
        (kind,) = (kind for kind in DOORS if kind.name == "page")
        door = kind.open(clinic.server)
        await door.start(Listen(path=tmp_path / "page"), None)
        try:
            async with httpx.AsyncClient(transport=httpx.AsyncHTTPTransport(uds=str(tmp_path / "page"))) as browser:
                return (await browser.get("http://page/healthz")).status_code
        finally:
            await door.stop()

    assert asyncio.run(visited()) == 200


def test_whoever_watches_over_the_server_is_told_when_it_takes_no_statements(tmp_path: Path) -> None:
    with open_clinic(tmp_path) as own:
        app, engine = Page(own.server, secure=False).app(), own.proxy.backend.engine
        place = own.proxy._cache / "v1"
        engine.close()
        aside = place.rename(place.with_name("aside"))
        own.server._health.look()
        (down,) = ask(app, get("/healthz"))
        aside.rename(place)
        own.server._health.look()
        (up,) = ask(app, get("/healthz"))
        assert [(answer.status_code, answer.text) for answer in (down, up)] == [(503, "not ready\n"), (200, "ok\n")]
