"""An agent that asks without end, at the MCP door: what averaging and differencing gain, beside what is claimed.

    python bench/agent.py [--trials 200] [--asks 10000] [--once 4000]

Each agent has an account of epsilon 1 under ``zcdp``, where many small questions get most, and asks through the tools,
by the SDK's client, until the ledger refuses. Who is asked about is in the data in half of the trials, drawn by the
kernel; the agent guesses. No guess, whatever was asked, is right more often than (e^epsilon + delta) / (1 + e^epsilon)
of such trials: 73.1% at epsilon 1. Written beside each attack: how often its guess was right, with the upper end of the
exact 95% interval of that share (Clopper-Pearson). The one question for a whole budget is asked in many wordings, by
one account that can pay them all: each is a trial of its own. Its noise is geometric, whose best guess is right exactly
as often as is claimed.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import secrets
import statistics
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path

import duckdb
from mcp.client import Client
from page import ROOT, circumstances, table, write
from scipy.stats import beta

import dpsql.testing
from dpsql.privacy.account import Account
from dpsql.privacy.accounting import Limits, PrivacyFilter
from dpsql.privacy.kinds import Pure
from dpsql.proxy import Proxy
from dpsql.server.mcp import mcp_server
from dpsql.server.tools import Tools
from dpsql.session import Session
from dpsql.testing_samplers import ExactSampler

EPSILON = 1.0  # Of each agent's account.
DELTA = 1e-6  # Of each agent's account.
PEOPLE = 1000  # In the data, beside whoever is asked about. It is a choice; nothing hangs on it.
POLICY = """
version: 1
name: clinic
engine: {{kind: duckdb, database: {name}.duckdb}}
neighbours: add_remove
budget:
  ledger: {name}.ledger.db
  composition: zcdp
  total: {{epsilon: 100000, delta: 0.5}}
  analysts: {{{accounts}}}
  per_query: {{epsilon: 0.5}}
server: {{approve_above: 1000}}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 1000
    columns:
      age:  {{type: integer, bounds: [0, 999]}}
      town: {{type: text, values: [here, there]}}
"""
Ask = Callable[[str, float], Awaitable["float | None"]]
"""What one statement of one number at a price tells; None where it is refused."""
Attack = Callable[[Ask], Awaitable[bool]]
"""Whether the target is in the data, as the agent guesses it."""


def pieces(count: int) -> float:
    """The largest epsilon, rounded down, at which an account of epsilon 1 grants so many queries."""
    limits = PrivacyFilter.of(Limits(Fraction(EPSILON), Fraction(DELTA)), "zcdp")
    low, high = Fraction(0), Fraction(EPSILON)
    for _ in range(30):
        middle = (low + high) / 2
        often = limits.repeats_left(Account(), Pure(middle).account("zcdp")) or 0
        low, high = (middle, high) if often >= count else (low, middle)
    return math.floor(float(low) * 1e6) / 1e6


def asked_once(wording: int) -> Attack:
    """The best question: the target alone, for a whole budget; each wording is a statement of its own."""

    async def attack(ask: Ask) -> bool:
        answer = await ask(f"SELECT COUNT(*) AS n FROM people WHERE age = 999 AND age >= {-wording}", EPSILON)
        return answer is not None and answer > 0.5

    return attack


async def averaged(ask: Ask) -> bool:
    """The same in 24 wordings, each a statement of its own, averaged."""
    price, found = pieces(24), list[float]()
    for step in range(24):
        answer = await ask(f"SELECT COUNT(*) AS n FROM people WHERE age >= {999 - step} AND age > 998", price)
        found += [] if answer is None else [answer]
    return bool(found) and statistics.fmean(found) > 0.5


async def differenced(ask: Ask) -> bool:
    """All people, and all but the target, six times in other words; the differences averaged."""
    price, found = pieces(12), list[float]()
    for step in range(6):
        everybody = await ask(f"SELECT COUNT(*) AS n FROM people WHERE age >= {-step}", price)
        others = await ask(f"SELECT COUNT(*) AS n FROM people WHERE NOT (age > {998 - step} AND age = 999)", price)
        if everybody is not None and others is not None:
            found.append(everybody - others)
    return bool(found) and statistics.fmean(found) > 0.5


async def halved(ask: Ask) -> bool:
    """Groups that share the target and nobody else: intersections of halves, by town and sums of ages."""
    price, score = pieces(8), 0.0
    for step in range(4):
        count = await ask(f"SELECT COUNT(*) AS n FROM people WHERE town = 'there' AND age > {995 + step % 3}", price)
        total = await ask(f"SELECT SUM(age) AS s FROM people WHERE age BETWEEN {990 + step} AND 999", price)
        score += 0.0 if count is None else count - 0.5
        score += 0.0 if total is None else total / 999 - 0.5
    return score > 0


ATTACKS: dict[str, Attack] = {
    "one question in 24 wordings, averaged": averaged,
    "everybody less everybody else, six times": differenced,
    "halves that share the target, counts and sums": halved,
}


def opened(folder: Path, name: str, there: bool, accounts: Sequence[str]) -> Proxy:
    """A proxy with real noise over the data with or without the target."""
    each = ", ".join(f"{account}: {{epsilon: {EPSILON}, delta: {DELTA}}}" for account in accounts)
    each += f"{', ' if each else ''}rich: {{epsilon: 100000, delta: 0.5}}"
    (folder / f"{name}.yaml").write_text(POLICY.format(name=name, accounts=each))
    with duckdb.connect(str(folder / f"{name}.duckdb")) as database:
        database.execute(
            f"CREATE TABLE people AS SELECT i AS person, i % 990 AS age, 'here' AS town FROM range({PEOPLE}) t(i)"
        )
        if there:
            database.execute(f"INSERT INTO people VALUES ({PEOPLE}, 999, 'there')")
    return dpsql.testing.open(folder / f"{name}.yaml", ExactSampler())


def asking(client: Client) -> Ask:
    """One number by the tool ``query``."""

    async def ask(sql: str, epsilon: float) -> float | None:
        result = await client.call_tool("query", {"sql": sql, "epsilon": epsilon})
        return None if result.is_error else float(result.structured_content["rows"][0][0])

    return ask


def unasked(session: Session) -> Tools:
    """The tools of an agent whose human need not be asked."""
    return Tools(session, lambda: 1000.0, lambda: session.budget().epsilon_left)


async def tried(proxies: dict[bool, Proxy], analyst: str, attack: Attack) -> bool:
    """Whether one agent's guess is right, of data that the kernel chooses."""
    there = bool(secrets.randbits(1))
    tools = unasked(proxies[there].session(analyst=analyst))
    async with Client(mcp_server(tools, "clinic")) as client:
        return await attack(asking(client)) is there


def attacks(folder: Path, trials: int, once: int) -> Iterator[list[str]]:
    """A row for each attack.

    Args:
        folder: Where data and policies are made.
        trials: Agents of each attack of several questions.
        once: Wordings of the one question.
    """
    accounts = {name: [f"a{place}_{trial}" for trial in range(trials)] for place, name in enumerate(ATTACKS)}
    every = [account for own in accounts.values() for account in own]
    with (
        opened(folder, "without", False, every) as without,
        opened(folder, "with_target", True, every) as with_target,
    ):
        proxies = {False: without, True: with_target}
        right = sum([asyncio.run(tried(proxies, "rich", asked_once(number))) for number in range(once)])
        if once:
            yield told("the target alone, asked once", right, once)
        for name, attack in ATTACKS.items() if trials else ():
            yield told(name, sum([asyncio.run(tried(proxies, own, attack)) for own in accounts[name]]), trials)


def told(name: str, right: int, trials: int) -> list[str]:
    """A row: how often the guesses of an attack were right."""
    upper = beta.ppf(0.975, right + 1, trials - right) if right < trials else 1.0
    claim = (math.exp(EPSILON) + DELTA) / (1 + math.exp(EPSILON))
    return [name, f"{trials:,}", f"{right / trials:.1%}", f"{upper:.1%}", f"{claim:.1%}"]


async def without_end(proxy: Proxy, asks: int) -> list[list[str]]:
    """What is left of many questions: the same one again and again, and then as many different ones of one truth."""
    rows = []
    for analyst, other in (("same", False), ("other", True)):
        session = proxy.session(analyst=analyst)
        price = pieces(asks) if other else EPSILON
        found, refused = list[float](), 0
        async with Client(mcp_server(unasked(session), "clinic")) as client:
            ask = asking(client)
            for step in range(asks):
                text = f" WHERE age >= {-step}" if other else ""
                answer = await ask(f"SELECT COUNT(*) AS n FROM people{text}", price)
                refused += answer is None
                found += [] if answer is None else [answer]
        drawn, left = len(found) if other else len(set(found)), session.budget().remaining
        error, expected = abs(statistics.fmean(found) - PEOPLE), math.sqrt(2 / drawn) / price
        asked = f"{asks:,} times {'in other words' if other else 'the same'}"
        rows.append(
            [asked, *(f"{price:.2g}", f"{drawn:,}", f"{refused:,}", f"{error:.2f}", f"{expected:.2f}", f"{left:.2g}")]
        )
    return rows


def main() -> None:
    """Prints the tables, and writes them into docs/mcp.md."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--trials", type=int, default=200)
    reader.add_argument("--asks", type=int, default=10_000)
    reader.add_argument("--once", type=int, default=4_000)
    given = reader.parse_args()
    page = ROOT / "docs" / "mcp.md"
    with tempfile.TemporaryDirectory() as folder:
        with opened(Path(folder), "endless", False, ["same", "other"]) as proxy:
            rows = asyncio.run(without_end(proxy, given.asks)) if given.asks else []
        titles = (
            "asked",
            "epsilon each",
            "different answers",
            "refused",
            "the average erred by",
            "standard deviation",
            "epsilon left",
        )
        many = table(titles, rows)
        found = list(attacks(Path(folder), given.trials, given.once))
    titles = ("attack", "agents", "right", "at most (95%)", "claim")
    part = not (given.asks and given.trials and given.once)
    write("agent", [circumstances(), "", *many, "", *table(titles, found)], page=page, only_print=part)


if __name__ == "__main__":
    main()
