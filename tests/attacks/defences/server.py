"""What keeps strangers out, and analysts apart."""

from __future__ import annotations

from tests.attacks.defences.defence import Defence

__all__ = ["SERVER"]

CORE = "dpsql/server/core.py"
GATE = "dpsql/server/gate.py"
PAGE = "dpsql/server/page/door.py"
SCRAM = "dpsql/server/postgres/scram.py"
WIRE = "dpsql/server/postgres/wire.py"
OF_PAGE = ("tests/attacks/test_page.py", "tests/unit/server/page")
OF_POSTGRES = ("tests/unit/server/postgres/test_parts.py", "tests/unit/server/postgres/test_protocol.py")
OF_TLS = ("tests/unit/server/postgres/test_tls.py",)
OF_SERVER = ("tests/unit/server/test_core.py", "tests/attacks/test_doors.py")

SERVER = (
    Defence(
        "wrong tokens lock",
        "dpsql/server/lockout.py",
        "        if left > 0:\n",
        "        if False:\n",
        OF_SERVER,
    ),
    Defence(
        "the owner's token opens no door of analysts",
        CORE,
        '        if user.name == OWNER:\n            raise NotAdmitted("The owner',
        '        if False:\n            raise NotAdmitted("The owner',
        OF_SERVER,
    ),
    Defence(
        "an analyst's token does not open the owner's page",
        CORE,
        "        if user.name != OWNER:\n",
        "        if False:\n",
        (*OF_SERVER, *OF_PAGE),
    ),
    Defence(
        "a user who was removed asks nothing more",
        CORE,
        "        if not self.stands:\n",
        "        if False:\n",
        OF_SERVER,
    ),
    Defence(
        "nobody else may read the verifiers of tokens",
        "dpsql/server/users.py",
        "                if state.st_mode & 0o077:\n",
        "                if False:\n",
        OF_SERVER,
    ),
    Defence(
        "a stranger's salt does not tell that there is no such user",
        "dpsql/server/users.py",
        '        salt = hmac.digest(self._pepper, name.encode(errors="replace"), "sha256")[:SALT]\n',
        "        salt = secrets.token_bytes(SALT)\n",
        (*OF_SERVER, *OF_POSTGRES),
    ),
    Defence(
        "statements have a largest size",
        GATE,
        "        if size > limits.statement_bytes:\n",
        "        if False:\n",
        OF_SERVER,
    ),
    Defence(
        "analysts have a number of statements a minute",
        GATE,
        "            if (over := len(asked) + together - most) > 0:\n",
        "            if False:\n",
        OF_SERVER,
    ),
    Defence(
        "an analyst has a number of connections",
        GATE,
        "            if self._inside[analyst] >= limits.own_connections:\n",
        "            if False:\n",
        OF_SERVER,
    ),
    Defence(
        "a form of another site is refused",
        PAGE,
        '        if request.method == "POST" and _foreign(request):\n',
        "        if False:\n",
        OF_PAGE,
    ),
    Defence(
        "a page of this machine is not shown under a foreign name",
        PAGE,
        "        if self._local and _host(request) not in LOCAL",
        "        if False",
        OF_PAGE,
    ),
    Defence(
        "a form carries the visit's own word",
        PAGE,
        ' and hmac.compare_digest(given.get("form", "").encode(), visit.form.encode())\n',
        "\n",
        OF_PAGE,
    ),
    Defence(
        "a proof of SCRAM belongs to this exchange",
        SCRAM,
        '        if fields[1] != f"r={self.nonce}" or',
        "        if",
        OF_POSTGRES,
    ),
    Defence(
        "bytes in the clear are not taken for encrypted ones",
        WIRE,
        "        if self._reader._buffer:",
        "        if False:",
        (*OF_TLS, "tests/attacks/test_doors.py"),
    ),
    Defence(
        "who begins with TLS at once is not hung up on",
        WIRE,
        "        cast(asyncio.Transport, self._writer.transport).pause_reading()\n",
        "",
        OF_TLS,
    ),
    Defence(
        "a server that stops takes no more statements",
        "dpsql/server/running.py",
        "        server.stop_taking()",
        "        pass",
        ("tests/unit/server/postgres/test_stopping.py", *OF_SERVER),
    ),
    Defence(
        "a message has a largest size before it is read",
        WIRE,
        "        if size > self._most:\n",
        "        if False:\n",
        (*OF_POSTGRES, "tests/attacks/test_doors.py"),
    ),
    Defence(
        "a startup message has a largest size",
        WIRE,
        "        if not 8 <= size <= STARTUP:\n",
        "        if not 8 <= size:\n",
        (*OF_POSTGRES, "tests/attacks/test_doors.py"),
    ),
    Defence(
        "an agent pays what its human heard",
        "dpsql/server/tools.py",
        "        if now not in (cost, PrivacyLoss()):",
        "        if False:",
        ("tests/unit/server/test_mcp.py",),
    ),
)
