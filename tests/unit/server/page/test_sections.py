"""The owner's page: what it tells, what it never holds, and that its texts are text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import pytest

import dpsql.testing
from dpsql.answers.shown.markup import EMPTY, element
from dpsql.errors import ApprovalNeeded
from dpsql.server.page.chart import chart
from dpsql.server.page.facts import PageFacts, ends, gather
from dpsql.server.page.sections import page
from tests.unit.server.clinic import write_clinic

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: basic
  total: {epsilon: 10}
  analysts: {ana: {epsilon: 2}, bob: {epsilon: 5}, "*": {epsilon: 1}}
  per_query: {epsilon: 0.5}
server: {owner_approves_above: 1.5}
tables:
  people:
    unit: person
    rows_per_unit: 1
    rows_about: 4321
    columns: {name: {type: text, values: [F, M, "<script>alert(1)</script>"]}, age: {type: integer, bounds: [0, 99]}}
"""
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.testing.TestProxy]:
    folder = tmp_path_factory.mktemp("page")
    people = "SELECT i AS person, 'F' AS name, i % 90 AS age FROM range(4321) t(i)"
    with dpsql.testing.open(write_clinic(folder, POLICY, people), dpsql.testing.Noiseless()) as opened:
        ana, bob = opened.session(analyst="ana"), opened.session(analyst="bob")
        ana.query(COUNT, epsilon=1.25)
        for _ in range(3):
            ana.query(f"SELECT * FROM ({COUNT}) LIMIT 9", epsilon=1.25)
        bob.query("SELECT COUNT(*) FROM people WHERE name = '<script>alert(1)</script>'")
        bob.query("CREATE SYNTHETIC TABLE ages WITH (epsilon = 1) AS SELECT age FROM people")
        with pytest.raises(ApprovalNeeded):
            bob.query("SELECT AVG(age) FROM people WHERE age > ?", [5], epsilon=2)
        yield opened


@pytest.fixture
def facts(proxy: dpsql.testing.TestProxy) -> PageFacts:
    proxy.served.write()
    return gather(proxy.policy, proxy.ledger, proxy.owners)


class Checked(HTMLParser):
    """Every element is closed, ids are one of a kind, and nothing is loaded or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.ids, self.seen = list[str](), list[str](), set[str]()
        self.feed(text)
        assert self.open == []
        assert len(self.ids) == len(set(self.ids))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick", "style"}
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in EMPTY
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_sound_and_loads_nothing(facts: PageFacts) -> None:
    text = page(facts)
    assert {"html", "main", "table", "svg", "caption"} <= Checked(text).seen
    assert not Checked(text).seen & {"script", "form", "button", "iframe", "img", "link"}
    assert "http" not in text.replace("http-equiv", "")
    assert '<html lang="en">' in text
    assert "width=device-width" in text


def test_every_text_is_escaped(facts: PageFacts) -> None:
    text = page(facts)
    assert "<script" not in text
    assert "&#x27;&lt;script&gt;alert(1)&lt;/script&gt;&#x27;" in text
    assert element("p", "a\x1b[31m\u202eb", title='"') == '<p title="&quot;">ab</p>'


def test_no_answer_stands_on_it(facts: PageFacts) -> None:
    assert "4321" not in page(facts)  # what COUNT(*) told, without noise


def test_accounts_charges_mechanisms_replays_releases_and_what_waits(facts: PageFacts) -> None:
    lines = {line.name: line for line in facts.accounts}
    assert list(lines) == ["all together", "ana", "bob", "everybody else"]
    assert (lines["ana"].share, lines["ana"].spent) == (Fraction(5, 8), "epsilon 1.25")
    assert [(one.analyst, one.cost, one.mechanisms, one.served) for one in facts.asked] == [
        ("bob", "epsilon 1", facts.asked[0].mechanisms, 0),
        ("bob", "epsilon 0.5", "laplace", 0),
        ("ana", "epsilon 1.25", "laplace", 3),
    ]
    assert facts.asked[0].mechanisms in ("cells", "tree", "marginals")
    assert facts.served == {"ana": 3}
    assert [(one.name, one.maker, one.readers) for one in facts.releases] == [("ages", "bob", "bob")]
    assert [(alert.name, alert.share) for alert in facts.alerts] == [("ana", Fraction(1, 2))]
    ((waits, state),) = facts.waiting
    assert (waits.analyst, state) == ("bob", "waits")
    text = page(facts)
    for told in (
        "with $1 = 5",
        "epsilon = 2",
        "3 ×",
        "50% spent",
        "version 1: first opening",
        "Nobody is suspended",
    ):
        assert told in text


def test_a_button_stands_beside_what_waits_alone(facts: PageFacts) -> None:
    ((waits, _),) = facts.waiting
    text = page(facts, button=lambda own: element("button", own))
    assert re.findall(r"<button>(\w+)</button>", text) == [waits.id]


@pytest.mark.parametrize(
    ("past", "share", "told"),
    [
        ([], 0, "nothing spent in 30 days"),
        ([(1, 0.1)], 0.1, "about 2026-07-09"),
        ([(20, 0.2), (10, 0.5)], 0.5, "about 2026-07-20"),
        ([(60, 0.4), (10, 0.5)], 0.5, "about 2026-11-27"),
        ([(60, 0.5)], 0.5, "nothing spent in 30 days"),
        ([(0.2, 0.5)], 0.5, "too early to say"),
        ([(30, 0.0001)], 0.0001, "not within ten years"),
        ([(5, 1.0)], 1, "used up"),
    ],
)
def test_the_end_at_this_pace(past: list[tuple[float, float]], share: float, told: str) -> None:
    points = [(NOW - timedelta(days=days), Fraction(str(used))) for days, used in past]
    assert ends(points, Fraction(str(share)), NOW) == told


def test_a_picture_of_nothing_is_a_sentence() -> None:
    assert chart([], NOW) == '<p class="quiet">Nothing was charged yet.</p>'


def test_the_picture_has_a_step_for_each_account_and_says_its_shares() -> None:
    past = [(NOW - timedelta(days=2), Fraction(1, 4)), (NOW - timedelta(days=1), Fraction(1, 2))]
    drawn = chart([("ana", past), ("bob", past[:1])], NOW)
    assert len(re.findall(r'class="step c\d"', drawn)) == 2
    assert "Used now: ana: 50%; bob: 25%." in drawn
    assert 'd="M44.0 232H44.0V177.0H376.0V122.0H708.0"' in drawn


def test_nothing_yet_is_said_in_every_section(tmp_path: Path) -> None:
    from dpsql.ledger.beside import Beside
    from dpsql.ledger.ledger import Ledger
    from dpsql.policy import load_policy
    from dpsql.proxy import limits_of, pinned_of

    (tmp_path / "clinic.yaml").write_text(POLICY)
    policy = load_policy(tmp_path / "clinic.yaml")
    ledger = Ledger.open(None, pinned=pinned_of(policy), limits=limits_of(policy))
    text = page(gather(policy, ledger, Beside(None)))
    Checked(text)
    for told in (
        "No statement was charged yet.",
        "Nothing waits.",
        "No answer came from the store yet.",
        "There are none.",
    ):
        assert told in text
