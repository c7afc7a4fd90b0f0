"""What others may try through the owner's page: analysts, strangers, and other sites in the owner's browser.

Cross-site request forgery, DNS rebinding (Jackson et al. 2007), script in what analysts write (their names and
statements are shown to the owner), paths that lead elsewhere, guessed forms.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Sequence

import httpx2 as httpx
import pytest

from dpsql.errors import ApprovalNeeded
from dpsql.server.lockout import Lockout
from dpsql.server.page.door import Page
from tests.unit.server.clinic import POLICY, Clinic, open_clinic

pytestmark = pytest.mark.chance(0, "tokens are drawn, of 256 bits; nothing of noise is asserted")
EVIL = "<script>alert(1)</script>"
NAME = f"eve{EVIL}\"'&"
HERE = "http://127.0.0.1:8101"


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    policy = POLICY.replace("approve_above: 0.2,", "approve_above: 0.2, owner_approves_above: 1,")
    policy = policy.replace("bob: {", "'*': {epsilon: 5, delta: 1.0e-7}, bob: {")
    with open_clinic(tmp_path_factory.mktemp("page"), policy) as opened:
        yield opened


@pytest.fixture
def page(clinic: Clinic) -> Page:
    clinic.server.lockout = Lockout()
    return Page(clinic.server, secure=False, local=True)


def sent(
    page: Page, requests: Sequence[httpx.Request], *, token: str | None = None, steals: bool = False
) -> list[httpx.Response]:
    """The answers to requests; with the owner's token the browser has entered before.

    Where the other site steals, its forms carry the token of the page's own forms, too.
    """

    async def asked() -> list[httpx.Response]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=page.app()), base_url=HERE) as browser:
            if token is not None:
                assert (await browser.post("/enter", data={"token": token})).status_code == 303
            found = []
            shown = (await browser.get("/")).text if steals else ""
            stolen = re.search(r'name="form" value="([^"]+)"', shown)
            for request in requests:
                if stolen is not None:
                    more = f"{request.read().decode()}&form={stolen[1]}"
                    request = httpx.Request("POST", request.url, content=more, headers=kept(request))
                request.headers.update({"cookie": "; ".join(f"{k}={v}" for k, v in browser.cookies.items())})
                found.append(await browser.send(request))
            return found

    return asyncio.run(asked())


def kept(request: httpx.Request) -> dict[str, str]:
    """The headers of a request, but for the length of its body."""
    return {name: value for name, value in request.headers.items() if name != "content-length"}


def form(path: str, fields: dict[str, str], host: str = "127.0.0.1:8101", **headers: str) -> httpx.Request:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Request("POST", f"{HERE}{path}", data=fields, headers={"host": host} | named)


def waiting(clinic: Clinic, number: int) -> str:
    with pytest.raises(ApprovalNeeded) as needed:
        clinic.proxy.session(analyst=NAME).query("SELECT COUNT(*) FROM people WHERE age > ?", [number], epsilon=2)
    return needed.value.id


def approved(clinic: Clinic, own: str) -> bool:
    return any(one.approved for one in clinic.proxy.waiting.all() if one.id == own)


def own_form(page: Page, token: str) -> dict[str, str]:
    """What the page itself writes into its forms."""
    (shown,) = sent(page, [httpx.Request("GET", f"{HERE}/")], token=token)
    return dict(re.findall(r'name="(form)" value="([^"]+)"', shown.text))


@pytest.mark.parametrize(
    ("host", "headers"),
    [("127.0.0.1:8101", {"origin": "http://evil.example"}), ("127.0.0.1:8101", {"origin": "null"}),
     ("127.0.0.1:8101", {"origin": "http://127.0.0.1:9999"}), ("127.0.0.1:8101", {"sec_fetch_site": "cross-site"}),
     ("evil.example:8101", {"origin": "http://evil.example:8101"}), ("evil.example", {}),
     ("127.0.0.1.evil.example", {}), ("[::1", {}), ("evil.example@127.0.0.1:81", {"origin": "http://127.0.0.1"})],
)  # fmt: skip
def test_another_site_neither_approves_nor_locks_the_owner_out(
    clinic: Clinic, page: Page, host: str, headers: dict[str, str]
) -> None:
    own, token = waiting(clinic, 30), clinic.tokens[""]
    wrong = [form("/enter", {"token": "guess"}, host, **headers)] * 9
    answers = sent(page, [form("/approve", {"id": own}, host, **headers), *wrong], token=token, steals=True)
    assert {answer.status_code for answer in answers} <= {403, 421}
    assert not approved(clinic, own)
    assert own_form(page, token), "the owner still gets in"


@pytest.mark.parametrize("headers", [{}, {"origin": HERE}, {"origin": "null", "sec_fetch_site": "same-origin"}])
def test_a_browser_says_in_several_ways_that_a_form_is_the_pages_own(
    clinic: Clinic, page: Page, headers: dict[str, str]
) -> None:
    own = waiting(clinic, 40 + len(headers))
    (answer,) = sent(page, [form("/approve", {"id": own}, **headers)], token=clinic.tokens[""], steals=True)
    assert (answer.status_code, approved(clinic, own)) == (303, True)


def test_a_page_under_a_foreign_name_shows_nothing(clinic: Clinic, page: Page) -> None:
    requests = [httpx.Request("GET", f"{HERE}{path}", headers={"host": "evil.example"}) for path in ("/", "/enter")]
    for answer in sent(page, requests, token=clinic.tokens[""]):
        assert (answer.status_code, answer.text) == (421, "This page is at 127.0.0.1 and localhost alone.\n")


def test_an_analysts_token_or_none_opens_nothing_and_approves_nothing(clinic: Clinic, page: Page) -> None:
    own, true = waiting(clinic, 31), own_form(page, clinic.tokens[""])
    for token in (clinic.tokens["ana"], "", clinic.tokens[""][:-1], clinic.tokens[""].upper(), "\0"):
        (entered,) = sent(page, [form("/enter", {"token": token})])
        assert (entered.status_code, "set-cookie" in entered.headers) == (403, False)
    clinic.server.lockout = Lockout()
    asked = [form("/approve", true | {"id": own}), form("/leave", true), httpx.Request("GET", f"{HERE}/")]
    for request in asked:
        request.headers["authorization"] = f"Bearer {clinic.tokens['ana']}"
    assert [answer.status_code for answer in sent(page, asked)] == [403, 303, 303]
    other = own_form(page, clinic.tokens[""])  # of another visit of the owner's: it is not this one's
    (answer,) = sent(page, [form("/approve", other | {"id": own})], token=clinic.tokens[""])
    assert answer.status_code == 403
    assert not approved(clinic, own)


def test_what_analysts_write_is_shown_as_text(clinic: Clinic, page: Page) -> None:
    session = clinic.proxy.session(analyst=NAME)
    session.query(f'SELECT COUNT(*) AS "{EVIL}" FROM people -- {EVIL}')
    waiting(clinic, 32)
    (shown,) = sent(page, [httpx.Request("GET", f"{HERE}/")], token=clinic.tokens[""])
    assert "<script" not in shown.text
    assert "&lt;script&gt;alert(1)" in shown.text
    assert "eve&lt;script" in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    ["/../clinic.yaml", "/%2e%2e/clinic.yaml", "/..%2fclinic.users", "//etc/passwd", "/enter/../../clinic.users",
     "/static/clinic.ledger.db", "/approve/x", "/\\..\\clinic.yaml", "/.git/config", "/docs", "/openapi.json"],
)  # fmt: skip
def test_no_path_leads_to_a_file(clinic: Clinic, page: Page, path: str) -> None:
    request = httpx.Request("GET", HERE)
    request.url = httpx.URL(HERE).copy_with(raw_path=path.encode())
    (answer,) = sent(page, [request], token=clinic.tokens[""])
    assert answer.status_code in (404, 405)
    assert "epsilon" not in answer.text


@pytest.mark.parametrize("id_", ["", "1' OR '1'='1", "../x", "*", "0" * 3000, "\0", "%"])
def test_a_made_up_id_approves_nothing(clinic: Clinic, page: Page, id_: str) -> None:
    own, token = waiting(clinic, 33), clinic.tokens[""]

    async def pressed() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=page.app()), base_url=HERE) as browser:
            await browser.post("/enter", data={"token": token})
            fields = dict(re.findall(r'name="(form)" value="([^"]+)"', (await browser.get("/")).text))
            return (await browser.post("/approve", data=fields | {"id": id_})).status_code

    assert asyncio.run(pressed()) in (403, 409)
    assert not approved(clinic, own)
