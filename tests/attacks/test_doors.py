"""What an analyst may try, tried through each door of a server: one list of attacks for all of them.

The doors add ways to say who asks, and to say it again and again; none may open what a session does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from tests.attacks.doors import KINDS, Turned, Way, Ways, ways
from tests.unit.server.clinic import COUNT, Clinic, open_clinic

pytestmark = pytest.mark.chance(0, "no noise is drawn")


@dataclass(frozen=True)
class Attacked:
    """A clinic, and the ways into it through one door."""

    clinic: Clinic
    ways: Ways

    def spent(self) -> tuple[float, float]:
        """Ana's and bob's epsilon."""
        sessions = [self.clinic.proxy.session(analyst=name) for name in ("ana", "bob")]
        first, second = (session.budget().spent.epsilon for session in sessions)
        return first, second


DOORS = [  # a connection for each call takes its time
    pytest.param(kind, id=kind.name, marks=[pytest.mark.slow] if kind.name == "mcp" else []) for kind in KINDS
]


@pytest.fixture(scope="module", params=DOORS)
def attacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with open_clinic(tmp_path_factory.mktemp("clinic")) as clinic, ways(request.param, clinic) as through:
        yield Attacked(clinic, through)


REFUSED = (
    # rows, units and what names them
    "SELECT * FROM people", "SELECT person FROM people", "SELECT age FROM people LIMIT 1",
    "SELECT MAX(person) FROM people", "SELECT person, COUNT(*) FROM people GROUP BY person",
    "SELECT DISTINCT weight FROM people",
    "SELECT COUNT(*) FROM people WHERE person = 7", "SELECT LISTAGG(sex) FROM people",
    "SELECT COUNT(*) FROM people a JOIN people b ON a.age = b.age",
    "SELECT COUNT(*) FROM people AS p WHERE age = (SELECT MAX(q.age) FROM people AS q WHERE q.person = p.person)",
    # values that break off where one row is met
    "SELECT SUM(1 / (person - 7)) FROM people", "SELECT COUNT(*) FROM people WHERE CAST(sex AS INTEGER) = 1",
    # the machine and the database behind
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')", "SELECT COUNT(*) FROM '/etc/passwd'",
    "SELECT COUNT(*) FROM duckdb_settings()", "COPY people TO '/tmp/stolen'", "ATTACH '/tmp/x.db'", "INSTALL httpfs",
    "INSERT INTO people VALUES (1)", "UPDATE people SET age = 1", "DROP TABLE people", "CREATE TABLE x AS SELECT 1",
    # noise that is turned off or paid by nobody
    f"{COUNT} OPTIONS (epsilon = -1)",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0) COUNT(*) FROM people",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (seed = 7) COUNT(*) FROM people",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e300) COUNT(*) FROM people",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (analyst = 'bob') COUNT(*) FROM people",
    "SELECT \x00", "SELECT " + "(" * 3000, "",
)  # fmt: skip


def test_what_a_session_refuses_every_door_refuses_uncharged(attacked: Attacked) -> None:
    before, ana = attacked.spent(), attacked.ways["ana"]
    given = list[str]()
    for sql in REFUSED:
        with suppress(Turned):
            if ana(sql):
                given.append(sql)
    assert given == []
    assert attacked.spent() == before
    assert ana("SHOW TABLES")


def test_of_two_statements_each_is_one_by_itself(attacked: Attacked) -> None:
    """PostgreSQL's protocol answers the first of several; other doors take one at a time."""
    (before, bob), ana, first = attacked.spent(), attacked.ways["ana"], "SELECT COUNT(*) FROM people WHERE age > 60"
    with pytest.raises(Turned):
        ana(f"{first}; SELECT * FROM people")
    assert attacked.spent() in ((before, bob), (before + 0.5, bob))
    ana(first)
    assert attacked.spent() == (before + 0.5, bob)


NAMING = (
    "SET analyst = 'bob'", "SET ROLE bob", "SET SESSION AUTHORIZATION bob", "SET user = 'bob'", "SET ledger = 'x'",
    "SET session_authorization = 'bob'", "SET search_path = bob", "SHOW BUDGET FOR bob", "SET analyst TO bob",
)  # fmt: skip


def test_no_statement_names_another_analyst(attacked: Attacked) -> None:
    ana, bob = attacked.ways["ana"], attacked.ways["bob"]
    ana_spent, bob_spent = attacked.spent()
    told = bob("SHOW BUDGET")
    for sql in NAMING:
        with suppress(Turned):
            ana(sql)
        with suppress(Turned):
            ana(sql.replace("bob", "ana") + ";")
    ana("SELECT COUNT(*) FROM people WHERE age > 80")
    assert attacked.spent() == (ana_spent + 0.5, bob_spent)
    assert bob("SHOW BUDGET") == told


SHOWN = (
    "SHOW BUDGET", "SHOW TABLES", "DESCRIBE people", f"EXPLAIN {COUNT}", "SELECT COUNT(*) FROM mine", "DROP TABLE mine",
    "DESCRIBE mine", "CREATE SYNTHETIC TABLE mine WITH (epsilon = 99) AS SELECT sex FROM people",
)  # fmt: skip


def seen(way: Way) -> list[object]:
    """All that an analyst is told without paying; refusals by their text."""
    found = list[object]()
    for sql in SHOWN:
        try:
            found.append(way(sql))
        except Turned as refusal:
            found.append(str(refusal))
    return found


def test_what_another_asks_makes_and_spends_is_not_seen(attacked: Attacked) -> None:
    ana, bob = attacked.ways["ana"], attacked.ways["bob"]
    before, (spent, _) = seen(bob), attacked.spent()
    ana(COUNT)
    ana("CREATE SYNTHETIC TABLE mine WITH (epsilon = 0.5) AS SELECT sex FROM people")
    assert seen(bob) == before
    assert attacked.spent()[0] == spent + 1
    ana("DROP TABLE mine")
    assert seen(bob) == before


def test_another_is_not_answered_from_what_was_stored_for_one(attacked: Attacked) -> None:
    ana, bob = attacked.ways["ana"], attacked.ways["bob"]
    sql = "SELECT COUNT(*) FROM people WHERE weight > 51"
    ana(sql)
    before = attacked.spent()
    bob(sql)
    assert attacked.spent() == (before[0], before[1] + 0.5)


SPELLED = (
    "{}", "{};", "  {} ", "/* again */ {}", "{} -- again", "SELECT * FROM ({}) AS t LIMIT 1000",
    "SELECT * FROM ({}) AS t",
)  # fmt: skip


def test_asking_again_in_any_spelling_averages_nothing(attacked: Attacked) -> None:
    before, ana = attacked.spent(), attacked.ways["ana"]
    sql = "SELECT COUNT(*) AS n FROM people WHERE age < 33"
    answers = [ana(spelled.format(own)) for spelled in SPELLED for own in (sql, sql.lower())]
    assert len({tuple(rows) for rows in answers}) == 1
    assert attacked.spent() == (before[0] + 0.5, before[1])


def test_a_budget_ends_at_every_door_and_what_was_paid_stays(attacked: Attacked) -> None:
    bob, paid = attacked.ways["bob"], list[str]()
    with pytest.raises(Turned, match="left"):
        for number in range(9):
            sql = f"SELECT COUNT(*) FROM people WHERE age > {number}"
            bob(sql)
            paid.append(sql)
    ana_spent, bob_spent = attacked.spent()
    assert bob_spent <= 1
    for sql in ("SELECT COUNT(*) FROM people WHERE age > 77", "SELECT SUM(age) FROM people"):
        with pytest.raises(Turned):
            bob(sql)
    for sql in paid:
        assert bob(sql)
    assert attacked.spent() == (ana_spent, bob_spent)
    attacked.ways["ana"]("SELECT COUNT(*) FROM people WHERE age > 77")
    assert attacked.spent() == (ana_spent + 0.5, bob_spent)
