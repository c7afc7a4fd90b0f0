"""The owner's page as HTML, section by section."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction

from dpsql.answers.shown.markup import Html, element, joined, table
from dpsql.server.page.chart import Line, chart
from dpsql.server.page.facts import TOTAL, AccountLine, PageFacts, time_of
from dpsql.server.page.style import STYLE

__all__ = ["page", "whole"]

LINES = 7
"""Accounts in the picture besides the total, those that are used most: as many colours can be told apart."""
LONG = 300  # Characters of a statement that are shown at once; the rest is unfolded. It is a choice.
LARGE = (Fraction(95, 100), Fraction(80, 100))
"""Shares of an account from which its bar is red, and yellow: where alerts are told."""

NONE = Html("")
Button = Callable[[str], Html]
"""What lets the owner approve the statement of an id."""


def page(facts: PageFacts, *, button: Button | None = None, aside: Html = NONE) -> str:
    """The whole page, as one file that needs no other.

    Args:
        facts: What it shows.
        button: Beside each statement that waits; None where the page is a file.
        aside: Beside its head, such as a way out.
    """
    body = [
        _section("What is left", _accounts(facts)),
        _section("Used over time", chart(_lines(facts), facts.made)),
        _section("Waiting for the owner", _waiting(facts, button)),
        _section("Alerts", _alerts(facts)),
        _section("Suspended analysts", _suspended(facts)),
        _section("What was asked", _asked(facts)),
        _section("Served for nothing", _served(facts)),
        _section("Synthetic tables", _releases(facts)),
        _section("Versions of the tables", _versions(facts)),
    ]
    head = element(
        "header",
        element("h1", facts.name),
        element("p", facts.promise, class_="quiet"),
        aside,
    )
    made = f"Made on {facts.made:%Y-%m-%d at %H:%M} UTC from the ledger. It holds no answer and no row."
    return whole(f"{facts.name}: the owner's page", joined([head, element("main", *body), _foot(made)]))


def whole(title: str, body: Html) -> str:
    """A document around a body."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        element("style", Html(STYLE)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', body), lang='en')}\n"


def _foot(text: str) -> Html:
    return element("footer", element("p", text))


def _section(title: str, *body: Html) -> Html:
    own = title.lower().replace(" ", "-")
    return element("section", element("h2", title, id=own), *body, aria_labelledby=own)


def _quiet(text: str) -> Html:
    return element("p", text, class_="quiet")


def _accounts(facts: PageFacts) -> Html:
    rows = [
        (account.name, _bar(account), account.spent, account.limit, account.left, account.ends)
        for account in facts.accounts
    ]
    names = ("account", "used", "spent", "limit", "left for one query", "used up at this pace")
    return table("Each account: what is spent, what is left, and when it ends", names, rows)


def _bar(account: AccountLine) -> Html:
    share, (bad, warn) = account.share, LARGE
    kind = "bad" if share >= bad else "warn" if share >= warn else "good"
    filled = element("rect", width=f"{float(share):.4f}", height="1")
    drawn = element("svg", filled, viewBox="0 0 1 1", preserveAspectRatio="none", aria_hidden="true")
    return joined([element("span", f"{float(share):.0%}", class_=kind), element("span", drawn, class_=f"bar {kind}")])


def _lines(facts: PageFacts) -> list[Line]:
    """The total, and the accounts that are used most."""
    if not facts.history:
        return []
    past = [(time_of(moment.at), moment) for moment in facts.history]
    last = facts.history[-1].accounts
    most = sorted(last, key=lambda name: (-last[name], name))[:LINES]
    total: Line = (TOTAL, [(at, moment.total) for at, moment in past])
    own: list[Line] = [
        ("everybody else" if name == "*" else name, [(at, moment.accounts[name]) for at, moment in past])
        for name in most
    ]
    return [total, *own]


def _waiting(facts: PageFacts, button: Button | None) -> Html:
    open_, done = [], []
    for waits, state in facts.waiting:
        text = waits.statement + (f" -- {waits.options}" if waits.options else "")
        act = button(waits.id) if button is not None and state == "waits" else Html("")
        row = (waits.id, state, _when(waits.asked), waits.analyst, waits.price, _statement(text))
        if state in ("waits", "approved"):
            open_.append((*row, act) if button is not None else row)
        else:
            done.append(row)
    names = ("id", "state", "asked", "analyst", "price", "statement and options")
    shown = list[Html]()
    if open_:
        heads = (*names, "yours to say") if button is not None else names
        shown.append(table("Statements that wait, and those approved that did not run yet", heads, open_))
    else:
        shown.append(_quiet("Nothing waits."))
    if done:
        past = table("Statements that ran, or can no longer run under their approval", names, done)
        shown.append(element("details", element("summary", f"{len(done)} before"), past))
    return joined(shown)


def _alerts(facts: PageFacts) -> Html:
    if not facts.alerts:
        return _quiet("No account is past half of its limit.")
    rows = [(_day(one.at), one.name, f"{float(one.share):.0%} spent") for one in facts.alerts]
    return table("When accounts came past 50, 80 and 95% of their limits", ("when", "account", "alert"), rows)


def _suspended(facts: PageFacts) -> Html:
    if not facts.suspended:
        return _quiet("Nobody is suspended.")
    names = element("p", ", ".join(facts.suspended), class_="bad")
    how = "Three of their statements ran past the deadline or failed. To lift it: "
    command = element("code", "dpsql budget POLICY --analyst NAME --reset --reason TEXT")
    return joined([names, element("p", how, command, class_="quiet")])


def _asked(facts: PageFacts) -> Html:
    if not facts.asked:
        return _quiet("No statement was charged yet.")
    rows = [
        (
            *(_day(one.at), one.analyst, _statement(one.statement), one.mechanisms or "not on record", one.cost),
            f"{one.served:,} ×" if one.served else "",
        )
        for one in facts.asked
    ]
    names = ("when", "analyst", "statement", "mechanism", "price", "served again")
    more = [_quiet(f"{facts.more:,} older ones: dpsql log POLICY.")] if facts.more else []
    return joined([table("Charges, newest first", names, rows), *more])


def _served(facts: PageFacts) -> Html:
    if not facts.served:
        return _quiet("No answer came from the store yet.")
    rows = [(name, f"{times:,}") for name, times in sorted(facts.served.items())]
    return table("Answers that came from the store", ("analyst", "answers from the store"), rows)


def _releases(facts: PageFacts) -> Html:
    shown = list[Html]()
    if facts.releases:
        rows = [(one.name, one.maker, one.cost, one.readers, _statement(one.statement)) for one in facts.releases]
        shown.append(table("Synthetic tables", ("table", "made by", "price", "read by", "statement"), rows))
    else:
        shown.append(_quiet("There are none."))
    if facts.published:
        rows_ = [(_day(at), what, price) for at, what, price in facts.published]
        shown.append(table("Facts that were released to all", ("when", "facts for all", "price"), rows_))
    return joined(shown)


def _versions(facts: PageFacts) -> Html:
    rows = [(_day(at), what) for at, what in facts.versions]
    return table("Versions of the tables, newest first", ("built", "version"), rows)


def _statement(text: str) -> Html:
    """A statement; a long one is unfolded."""
    if len(text) <= LONG:
        return element("code", text)
    first = element("summary", element("code", f"{text[:LONG]} ..."))
    return element("details", first, element("code", text))


def _day(at: str) -> str:
    return at[:16].replace("T", " ")


def _when(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
