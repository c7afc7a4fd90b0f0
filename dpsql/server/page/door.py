"""The owner's page over HTTP: the owner's token to enter, the owner's word by a button, and a word on its health.

A cookie of the kernel's 256 bits stands for the token afterwards: until the owner leaves, is silent for the policy's
``idle``, or has another token. It goes nowhere but to this page (SameSite, HttpOnly, and Secure under TLS). What
changes something also carries a token of the page itself, so that no other site's form can speak for the owner.

Tests: tests/unit/server/page.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from dpsql.answers.shown.markup import Html, element, joined
from dpsql.errors import Error
from dpsql.server.core import Server
from dpsql.server.doors import Door
from dpsql.server.events import tell
from dpsql.server.http import HttpDoor, address_of, body_of, let_in
from dpsql.server.listening import Listen, Tls
from dpsql.server.page.facts import gather
from dpsql.server.page.sections import page, whole
from dpsql.server.page.style import STYLE
from dpsql.server.refusals import UsersUnusable
from dpsql.server.users import User

__all__ = ["Page", "open_door"]

COOKIE = "dpsql_owner"
FORM = 4096  # Bytes of a form's body: three short fields. It is a choice.
SECRET = 32  # Random bytes of a cookie, and of a form's token.
MOST = 20  # Sessions at a time; the oldest ends. It is a choice: there is one owner.
LOCAL = ("127.0.0.1", "localhost", "::1")
"""The names of this machine, for itself."""
SAFE = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with no-referrer a browser would not say in Origin that a form is this page's
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of every answer: nothing is loaded but the page's own style, nobody frames it, and nobody keeps it."""


def open_door(server: Server) -> Door:
    """The door, not yet open."""

    def app(listen: Listen, tls: Tls | None) -> Starlette:
        local = listen.path is None and not listen.network
        return Page(server, secure=tls is not None, local=local).app()

    return HttpDoor(app, server, "page", "/")


@dataclass(slots=True)
class _Visit:
    """The owner at a browser.

    Attributes:
        user: Whose token it was.
        form: What forms carry.
        seen: When something was asked last, in seconds that only grow.
    """

    user: User
    form: str
    seen: float


class Page:
    """The owner's page of one server.

    Args:
        server: Whose.
        secure: Whether cookies go over TLS alone.
        local: Whether it is reached from this machine alone, by one of the names in `LOCAL`.
        clock: Seconds that only grow; tests give their own.
    """

    def __init__(
        self, server: Server, *, secure: bool, local: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._server, self._secure, self._local, self._clock = server, secure, local, clock
        self._visits: dict[bytes, _Visit] = {}

    def app(self) -> Starlette:
        """What answers."""
        routes = [
            Route("/", self.show),
            Route("/enter", self.enter, methods=["GET", "POST"]),
            Route("/approve", self.approve, methods=["POST"]),
            Route("/leave", self.leave, methods=["POST"]),
            Route("/healthz", self.health),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(BaseHTTPMiddleware, dispatch=self._meant_here)],
            exception_handlers={UsersUnusable: _unusable},
        )

    async def _meant_here(self, request: Request, answer: RequestResponseEndpoint) -> Response:
        """Refuses what another site makes the owner's browser do: even a wrong token sent in their name locks them out.

        A page that is for this machine alone is not shown under a foreign name, which another site's owner may let
        lead here (DNS rebinding); a form comes from the page itself, where the browser says from which site it is.
        """
        if self._local and _host(request) not in LOCAL and request.url.path != "/healthz":
            return PlainTextResponse("This page is at 127.0.0.1 and localhost alone.\n", 421, SAFE)
        if request.method == "POST" and _foreign(request):
            return PlainTextResponse("This form is not of this page.\n", 403, SAFE)
        return await answer(request)

    async def health(self, _: Request) -> Response:
        """Whether the server takes statements, for whoever watches over it; it tells nothing else."""
        if self._server.stopping:
            return PlainTextResponse("stopping\n", 503, SAFE)
        ledger = self._server.proxy.ledger
        if ledger.unanswered or (ledger.failed and not await asyncio.to_thread(ledger.stands)):
            return PlainTextResponse("the ledger cannot be used\n", 503, SAFE)
        if not self._server.ready:
            return PlainTextResponse("not ready\n", 503, SAFE)
        return PlainTextResponse("ok\n", 200, SAFE)

    async def show(self, request: Request) -> Response:
        """The page, for the owner alone."""
        visit = self._visit(request)
        if visit is None:
            return RedirectResponse("/enter", 303, SAFE)
        return await self._shown(visit)

    async def enter(self, request: Request) -> Response:
        """A form for the owner's token; with the right one, the page."""
        if request.method != "POST":
            return HTMLResponse(_entrance(""), 200, SAFE)
        given = await self._fields(request)
        address, loop = address_of(request), asyncio.get_running_loop()
        try:
            user = await loop.run_in_executor(None, self._server.owner, (given or {}).get("token", "").strip(), address)
        except Error as refusal:
            return HTMLResponse(_entrance(str(refusal)), 403, SAFE)
        cookie = secrets.token_urlsafe(SECRET)
        while len(self._visits) >= MOST:
            del self._visits[min(self._visits, key=lambda key: self._visits[key].seen)]
        self._visits[_key(cookie)] = _Visit(user, secrets.token_urlsafe(SECRET), self._clock())
        answer = RedirectResponse("/", 303, SAFE)
        answer.set_cookie(COOKIE, cookie, path="/", secure=self._secure, httponly=True, samesite="strict")
        return answer

    async def approve(self, request: Request) -> Response:
        """The owner's word on one statement."""
        visit, given = await self._meant(request)
        if visit is None:
            return PlainTextResponse("This form is not of your page as it is now. Open the page again.\n", 403, SAFE)
        proxy, own = self._server.proxy, given.get("id", "")
        try:
            waits = await asyncio.to_thread(lambda: proxy.waiting.approve(own, proxy.ledger.version()))
        except Error as refusal:
            return await self._shown(visit, str(refusal), 409)
        tell("approved", door="page", analyst=waits.analyst, address=address_of(request), id=waits.id)
        return RedirectResponse("/", 303, SAFE)

    async def leave(self, request: Request) -> Response:
        """Ends the visit."""
        visit, _ = await self._meant(request)
        if visit is not None:
            del self._visits[_key(request.cookies[COOKIE])]
        return RedirectResponse("/enter", 303, SAFE)

    async def _shown(self, visit: _Visit, said: str = "", status: int = 200) -> Response:
        proxy = self._server.proxy

        def made() -> str:
            proxy.served.write()
            facts = gather(proxy.policy, proxy.ledger, proxy.owners)
            aside = element("p", said, class_="bad", role="alert") if said else Html("")
            way_out = _form("/leave", visit.form, element("button", "Leave"))
            return page(facts, button=lambda own: _approve(own, visit.form), aside=joined([aside, way_out]))

        try:
            return HTMLResponse(await asyncio.to_thread(made), status, SAFE)
        except Error as refusal:
            return PlainTextResponse(f"{refusal}\n", 503, SAFE)

    def _visit(self, request: Request) -> _Visit | None:
        """The owner's visit that a request belongs to."""
        key = _key(request.cookies.get(COOKIE, ""))
        visit, now = self._visits.get(key), self._clock()
        if visit is None:
            return None
        idle = now - visit.seen > self._server.limits.idle_seconds
        if idle or not self._server.stands(visit.user):
            del self._visits[key]
            return None
        visit.seen = now
        let_in(request.scope)
        return visit

    async def _meant(self, request: Request) -> tuple[_Visit | None, dict[str, str]]:
        """The visit, where a form is of the page itself, and the form's fields."""
        visit, given = self._visit(request), await self._fields(request) or {}
        meant = visit is not None and hmac.compare_digest(given.get("form", "").encode(), visit.form.encode())
        return (visit if meant else None), given

    @staticmethod
    async def _fields(request: Request) -> dict[str, str] | None:
        """The fields of a form; None where it is none."""
        body = await body_of(request, FORM)
        if body is None or not request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            return None
        try:
            read = parse_qs(body.decode("ascii"), max_num_fields=4, strict_parsing=True)
        except ValueError:
            return None
        return {name: values[0] for name, values in read.items()}


async def _unusable(_: Request, refusal: Exception) -> Response:
    """Nobody knows whether the owner's token still is the owner's."""
    return PlainTextResponse(f"{refusal}\n", 503, SAFE)


def _host(request: Request) -> str | None:
    """The name under which a request came, without its port."""
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:
        return None


def _foreign(request: Request) -> bool:
    """Whether the browser says that another site sends this: by Sec-Fetch-Site, or where it has none by Origin."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site is not None:
        return site not in ("same-origin", "none")
    return origin is not None and origin.partition("://")[2].lower() != request.headers.get("host", "").lower()


def _key(cookie: str) -> bytes:
    """What is kept of a cookie: looking it up tells nothing of it by its time."""
    return sha256(cookie.encode(errors="replace")).digest()


def _entrance(said: str) -> str:
    label = element("label", "The owner's token", for_="token")
    hint = element("p", "dpsql user add POLICY --owner prints one.", class_="quiet")
    field = element(
        "input", id="token", name="token", type="password", autocomplete="current-password", required="required"
    )
    wrong = element("p", said, class_="bad", role="alert") if said else Html("")
    inner = joined([label, field, element("p", element("button", "Enter"))])
    form = element("form", inner, method="post", action="/enter")
    body = element("main", element("h1", "The owner's page"), element("section", wrong, form, hint))
    return whole("The owner's page", body)


def _form(action: str, token: str, *inner: Html) -> Html:
    hidden = element("input", type="hidden", name="form", value=token)
    return element("form", hidden, *inner, method="post", action=action)


def _approve(own: str, token: str) -> Html:
    hidden = element("input", type="hidden", name="id", value=own)
    button = element("button", "Approve", element("span", f" {own}", class_="unseen"))
    return _form("/approve", token, hidden, button)
