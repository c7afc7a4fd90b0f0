"""SQL's cursors: asked and charged when they are declared, fetched forward, ended with the transaction."""

from __future__ import annotations

import pytest

from dpsql.server.postgres import conversation, cursors
from dpsql.sql.tokens import LONGEST_TEXT
from tests.unit.server.postgres.conftest import Open
from tests.unit.server.postgres.raw import Raw, Reply, bind, describe, execute, message, parse

pytestmark = pytest.mark.chance(0, "keys and tokens are drawn; nothing of noise is asserted")
AGES = "SELECT age, COUNT(*) AS n FROM people WHERE age < 25 GROUP BY age"


def ages(raw: Raw, sql: str) -> list[int]:
    return [int(row[0] or b"") for row in raw.ask(sql).rows]


def test_a_cursor_is_charged_when_it_is_declared_and_gives_its_rows_forward(door: Open, ana: Raw) -> None:
    ana.ask("BEGIN")
    spent = door.spent()
    declared = ana.ask(f'DECLARE "My cursor" NO SCROLL CURSOR WITHOUT HOLD FOR {AGES}')
    assert (declared.tags, declared.notices[0][:5]) == (["DECLARE CURSOR"], "Cost:")
    assert door.spent() - spent in (0.5, 0)
    spent = door.spent()
    assert ages(ana, 'FETCH FORWARD 3 FROM "My cursor"') == [0, 1, 2]
    assert ages(ana, 'FETCH NEXT IN "My cursor"') == [3]
    assert ages(ana, 'FETCH "My cursor"') == [4]
    assert ana.ask('MOVE 2 FROM "My cursor"').tags == ["MOVE 2"]
    reply = ana.ask('FETCH ALL FROM "My cursor"')
    assert (reply.columns, reply.tags, len(reply.rows)) == ([("age", 20), ("n", 20)], ["FETCH 18"], 18)
    assert ana.ask('FETCH FORWARD ALL FROM "My cursor"').tags == ["FETCH 0"]
    assert ana.ask('CLOSE "My cursor"').tags == ["CLOSE CURSOR"]
    assert ana.ask('FETCH "My cursor"').code == "34000"
    assert door.spent() == spent


def test_it_is_a_portal_that_can_be_described_and_fetched_in_binary(ana: Raw) -> None:
    ana.ask("BEGIN")
    sql = "DECLARE c CURSOR FOR SELECT COUNT(*) AS n FROM people WHERE sex = $1"
    told = ana.tell(parse(sql), describe("S"), bind([b"F"]), describe(), execute())
    assert (told.parameters, told.kinds.replace("N", "")) == ([25], "1tn2nCZ")
    assert ana.tell(describe("P", "c")).columns == [("n", 20)]
    fetched = ana.tell(parse("FETCH 5 FROM c"), describe("S"), bind(out=1), execute())
    assert (fetched.columns, fetched.rows) == ([("n", 20)], [[b"\0" * 7 + b"\x32"]])
    assert ana.tell(message(b"C", b"Pc\0")).kinds == "3Z"
    assert ana.ask("CLOSE c").code == "34000"


def test_a_fetch_that_was_prepared_gives_no_other_columns_than_were_told(ana: Raw) -> None:
    ana.ask("BEGIN; DECLARE c CURSOR FOR SELECT 1 AS one")
    ana.tell(parse("FETCH ALL FROM c", name="f"), describe("S", "f"))
    ana.ask(f"CLOSE c; DECLARE c CURSOR FOR {AGES}")
    assert ana.tell(bind(name="f"), execute()).code == "0A000"
    ana.ask("CLOSE c; DECLARE c CURSOR FOR SELECT 1 AS one")
    assert ana.tell(bind(name="f"), execute()).rows == [[b"1"]]


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK AND CHAIN", "CLOSE ALL", "DISCARD ALL"])
def test_it_ends_with_its_transaction(ana: Raw, end: str) -> None:
    ana.ask(f"BEGIN; DECLARE c CURSOR FOR {AGES}; DECLARE d CURSOR FOR SELECT 1")
    assert ana.ask("FETCH c; SELECT 1; FETCH d").tags == ["FETCH 1", "SELECT 1", "FETCH 1"]
    assert not ana.ask(end).errors
    assert [ana.ask(f"FETCH {name}").code for name in "cd"] == ["34000"] * 2


def test_a_refusal_is_sent_though_the_client_waits_with_flush_and_not_with_sync(ana: Raw) -> None:
    ana.send(parse("SELECT nope FROM people"), describe("S"), message(b"H"))
    assert [ana.receive()[0] for _ in range(2)] == ["1", "E"]
    assert ana.tell().kinds == "Z"


def test_portals_outlive_other_statements_of_their_transaction_and_nothing_else(ana: Raw) -> None:
    named = message(b"B", b"p\0\0" + bytes(6))
    ana.ask("BEGIN")
    assert ana.tell(parse(AGES), named).kinds == "12Z"
    ana.ask("SELECT 1")
    assert ana.tell(message(b"E", b"p\0\0\0\0\2")).kinds.replace("N", "") == "DDsZ"
    assert ana.tell(parse(AGES), named).code == "42P03"
    ana.ask("COMMIT")
    assert ana.tell(message(b"E", b"p\0\0\0\0\2")).code == "34000"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        (f"DECLARE c SCROLL CURSOR FOR {AGES}", "0A000"), (f"DECLARE c CURSOR WITH HOLD FOR {AGES}", "0A000"),
        (f"DECLARE c BINARY CURSOR FOR {AGES}", "0A000"), ("DECLARE c CURSOR FOR DELETE FROM people", "0A000"),
        ("DECLARE c CURSOR", "0A000"), ("DECLARE open CURSOR FOR SELECT 1", "42P03"), ("FETCH", "42601"),
        ("FETCH PRIOR FROM open", "0A000"), ("FETCH -1 FROM open", "0A000"), ("FETCH 0 FROM open", "0A000"),
        ("MOVE ABSOLUTE 3 FROM open", "0A000"), ("FETCH BACKWARD ALL FROM open", "0A000"), ("CLOSE", "42601"),
        ("CLOSE nothing", "34000"), ("FETCH nothing", "34000"), ("MOVE 1 FROM nothing", "34000"),
        ("DECLARE c CURSOR FOR SELECT person FROM people", "0A000"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_and_costs_nothing(door: Open, ana: Raw, sql: str, code: str) -> None:
    ana.ask("BEGIN; DECLARE open CURSOR FOR SELECT 1")
    before = door.spent()
    assert ana.ask(sql).code == code
    assert ana.tell(parse(sql), bind(), execute()).code == code
    assert ana.ask("FETCH open").rows == [[b"1"]]
    assert door.spent() == before


def test_it_is_refused_outside_of_a_transaction_and_beyond_the_most(
    door: Open, ana: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = door.spent()
    sql = "DECLARE d CURSOR FOR SELECT COUNT(*) AS never FROM people"
    assert ana.ask(sql).code == "25P01"
    monkeypatch.setattr(cursors, "MOST_KEPT", 1)
    assert ana.ask(f"BEGIN; DECLARE c CURSOR FOR SELECT 1; {sql}").code == "53400"
    assert door.spent() == spent


@pytest.mark.parametrize("named", [True, False])
def test_what_is_kept_beside_one_another_is_bounded_before_it_is_charged(
    door: Open, ana: Raw, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    monkeypatch.setattr(conversation, "MOST_HELD", 3000)
    ana.ask("BEGIN")

    def begun(name: str, below: int) -> Reply:
        sql = f"SELECT age, COUNT(*) AS n FROM people WHERE age < {below} GROUP BY age"
        if not named:
            return ana.ask(f"DECLARE {name} CURSOR FOR {sql}")
        bound = message(b"B", f"{name}\0\0".encode() + b"\0" * 6)
        return ana.tell(parse(sql), bound, message(b"E", f"{name}\0".encode() + b"\0\0\0\1"))

    assert begun("c0", 40).errors == []
    spent = door.spent()
    assert begun("next", 50).code == "53400"
    assert door.spent() == spent
    assert ana.ask("SELECT 1; FETCH 1 FROM c0; CLOSE c0").errors == []
    assert begun("next", 50).errors == []


def test_prepared_statements_and_values_that_are_kept_are_bounded(ana: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "MOST_HELD", 3000)
    ana.ask("BEGIN")
    long = f"SELECT {'1 + ' * 900}1"
    assert ana.tell(parse(long, name="a")).errors == []
    assert ana.tell(parse("SELECT 1", name="b")).code == "53400"
    assert ana.tell(parse("SELECT 1"), bind(), execute()).rows == [[b"1"]]
    ana.ask("DEALLOCATE ALL")
    ana.tell(parse("SELECT $1", [25], name="t"))
    value = b"x" * 3000
    valued = b"\0t\0" + b"\0\0\0\1" + len(value).to_bytes(4, "big") + value + b"\0\0"
    assert [ana.tell(message(b"B", name + valued)).kinds for name in (b"p", b"q")] == ["2Z", "EZ"]


def test_a_text_that_is_longer_than_any_query_is_not_read(ana: Raw) -> None:
    long = f"SELECT 1{' ' * LONGEST_TEXT}"
    for reply in (ana.ask(long), ana.tell(parse(long))):
        assert (reply.code, reply.kinds) == ("54000", "EZ")
    assert ana.ask("SELECT 1").rows == [[b"1"]]
