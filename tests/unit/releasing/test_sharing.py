"""Tables of several readers: the owner's commands, who pays what and when, and what nobody else can see."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest

import dpsql.testing
from dpsql.errors import BudgetExceeded, EngineFailed, OperationalError, ProgrammingError, UnsupportedQuery
from dpsql.proxy import Proxy
from dpsql.server.tools import Tools
from dpsql.session import Session
from dpsql.worker.client import WorkerFailed
from tests.unit.releasing.test_creating import build, rows, spent

AGES = "CREATE SYNTHETIC TABLE ages WITH (epsilon = 0.5) AS SELECT age, sex, seen FROM people"


def test_readers_pay_once_and_read_for_ever(proxy: Proxy) -> None:
    made = proxy.releases.create(AGES, ["ana", "bob"])
    assert made.rows[0][:3] == ("ages", "cells", 400)
    ana, bob, eve = (proxy.session(analyst=name) for name in ("ana", "bob", "eve"))
    for session in (ana, bob):
        assert session.query("SELECT COUNT(*) FROM ages").cost.epsilon == 0
        assert spent(session) == 0.5
    assert "ages" not in str(eve.tables())
    assert float(proxy.ledger.budget(None).spent.epsilon) == 0.5
    with pytest.raises(UnsupportedQuery, match="no such table"):
        eve.query("SELECT COUNT(*) FROM ages")
    with pytest.raises(ProgrammingError, match="not of your making"):
        bob.query("DROP TABLE ages")
    assert proxy.releases.listed().rows == [("ages", "3", "the owner", "epsilon 0.5", 400, "ana, bob", "")]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM ages JOIN more USING (age)",
        "SELECT COUNT(*) FROM (SELECT age FROM ages UNION ALL SELECT age FROM more) AS all_of_them",
        "SELECT COUNT(*) FROM ages WHERE age IN (SELECT age FROM more)",
    ],
)
def test_the_first_reading_of_two_tables_is_paid_for_as_one_or_not_at_all(proxy: Proxy, sql: str) -> None:
    for name in ("ages", "more"):
        made = AGES.replace("TABLE ages", f"TABLE {name}").replace("0.5", "0.6")
        proxy.releases.create(made, ["ana"])
        proxy.releases.grant(name, "eve")
    eve, told = proxy.session(analyst="eve"), list[float]()  # who has 1 in all
    assert eve.explain(sql).repeats_left == 0
    for ask in (lambda: eve.price(sql), lambda: eve.query(sql, agree=lambda cost: told.append(cost.epsilon))):
        with pytest.raises(BudgetExceeded):
            ask()
    with pytest.raises(BudgetExceeded):
        eve.query(sql)
    assert not told
    assert spent(eve) == 0
    assert eve.query("SELECT COUNT(*) FROM ages").cost.epsilon == 0.6


def test_the_price_of_two_first_readings_is_told_as_the_ledger_has_it(tmp_path: Path) -> None:
    policy = build(tmp_path)
    text = policy.read_text().replace("composition: basic", "composition: zcdp")
    policy.write_text(text.replace('"*": {epsilon: 1}', '"*": {epsilon: 5, delta: 1.0e-6}'))
    with dpsql.testing.open(policy, sampler=dpsql.testing.Noiseless()) as proxy:
        for name in ("ages", "more"):
            made = AGES.replace("TABLE ages", f"TABLE {name}").replace("epsilon = 0.5", "rho = 0.1")
            proxy.releases.create(made, ["ana"])
            proxy.releases.grant(name, "eve")
        eve, sql = proxy.session(analyst="eve"), "SELECT COUNT(*) FROM ages JOIN more USING (age)"
        assert eve.explain(sql).cost.rho == eve.price(sql).rho == pytest.approx(0.2)
        assert eve.query(sql).cost.rho == pytest.approx(0.2)


def test_who_is_granted_later_pays_at_the_first_reading(proxy: Proxy) -> None:
    proxy.releases.create(AGES, ["ana"])
    assert proxy.releases.grant("AGES", "eve") == "eve may read ages, and pays epsilon 0.5 at the first reading."
    eve = proxy.session(analyst="eve")
    assert spent(eve) == 0
    granted = "granted: its first reading costs epsilon 0.5"
    assert ("ages", "released", None, None, None, granted) in eve.tables().rows
    assert {row[:3] for row in eve.describe("ages").rows} == {
        ("age", "integer", "open"), ("sex", "text", "open"), ("seen", "date", "open")
    }  # fmt: skip
    quote = eve.explain("SELECT COUNT(*) FROM ages")
    assert (quote.cost.epsilon, quote.notes) == (0.5, ("The first reading of ages costs epsilon 0.5.",))
    with pytest.raises(UnsupportedQuery):
        eve.query("SELECT COUNT(*) FROM ages WHERE weight > 3")
    with pytest.raises(ProgrammingError, match="ask it once alone"):
        eve.query_all(["SELECT COUNT(*) FROM people", "SELECT COUNT(*) FROM ages"], epsilon=0.1)
    assert spent(eve) == 0
    sql = "SELECT sex, COUNT(*), AVG(age) FROM ages WHERE age + 1 > 40 GROUP BY sex ORDER BY sex"
    first, second = eve.query(sql), eve.query(sql)
    assert (first.cost.epsilon, second.cost.epsilon, spent(eve)) == (0.5, 0, 0.5)
    assert first.rows == second.rows == rows(proxy.session(analyst="ana"), sql)
    assert float(proxy.ledger.budget(None).spent.epsilon) == 0.5


def test_a_first_reading_is_a_charge_as_any_other(proxy: Proxy, caplog: pytest.LogCaptureFixture) -> None:
    proxy.releases.create(AGES.replace("0.5", "0.9"), ["ana"])
    proxy.releases.grant("ages", "eve")
    eve, sql = proxy.session(analyst="eve"), "SELECT COUNT(*) FROM ages"
    proxy._backend.charging.closed = "the limits are below what was spent"
    with pytest.raises(OperationalError, match="Nothing was charged"):
        eve.query(sql)
    assert spent(eve) == 0
    proxy._backend.charging.closed = None
    (notice,) = eve.query(sql).notices
    assert notice in caplog.text
    proxy._backend.charging.closed = "the limits are below what was spent"
    assert eve.query(sql).cost.epsilon == 0


JOINED = "SELECT COUNT(*) FROM ages a JOIN towns t ON a.age = t.size"


def test_what_cannot_be_read_beside_a_table_refuses_its_first_reading_uncharged(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.releases.create(AGES, ["ana"])
    proxy.releases.grant("ages", "eve")
    eve = proxy.session(analyst="eve")
    monkeypatch.setattr("dpsql.releasing.reading.MOST_BESIDE", 0)
    with pytest.raises(OperationalError, match=r"towns has 1 rows; beside a synthetic table SQL reads 0\."):
        eve.query(JOINED)
    assert spent(eve) == 0
    monkeypatch.undo()
    assert eve.query(JOINED).cost.epsilon == 0.5


def test_a_table_that_came_out_too_large_says_so_at_once_and_nobody_pays_to_read_it(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, eve = (proxy.session(analyst=name) for name in ("ana", "eve"))
    monkeypatch.setattr("dpsql.releasing.stored.MOST_READ", 399)  # rows_about, a guess, let it be made
    assert "ages has 400 rows; SQL reads 399." in " ".join(ana.query(AGES).notices)
    with pytest.raises(OperationalError, match="release export"):
        ana.query("SELECT COUNT(*) FROM ages")
    with pytest.raises(ProgrammingError, match="eve would pay for what no query can read"):
        proxy.releases.grant("ages", "eve")
    assert "ages" not in str(eve.tables())


class Failing:
    """A worker without data that fails with the so-many-th statement that it is given."""

    def __init__(self, own: Any, at: int) -> None:
        self._own, self._at = own, at

    def run(self, *asked: Any, **more: Any) -> Any:
        self._at -= 1
        if not self._at:
            raise WorkerFailed("it was killed", answered=True)
        return self._own.run(*asked, **more)


def test_a_first_reading_is_rehearsed_and_a_failure_after_its_charge_says_that_it_stays(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.releases.create(AGES, ["ana"])
    proxy.releases.grant("ages", "eve")
    eve, workers = proxy.session(analyst="eve"), proxy.backend.post_process._workers
    monkeypatch.setattr(proxy.backend.post_process, "_workers", Failing(workers, 1))
    with pytest.raises(UnsupportedQuery, match="Nothing was spent"):
        eve.query(JOINED)
    assert spent(eve) == 0
    monkeypatch.setattr(proxy.backend.post_process, "_workers", Failing(workers, 2))
    with pytest.raises(EngineFailed, match="The cost stays charged"):
        eve.query(JOINED)
    assert spent(eve) == 0.5
    assert eve.query(JOINED).cost.epsilon == 0


def test_an_agent_asks_its_human_before_the_first_reading_and_not_before_the_next(proxy: Proxy) -> None:
    proxy.releases.create(AGES, ["ana"])
    proxy.releases.grant("ages", "eve")
    eve, sql = proxy.session(analyst="eve"), "SELECT COUNT(*) FROM ages"
    tools = Tools(eve, lambda: 0.1, lambda: eve.budget().epsilon_left)
    assert eve.price(sql).epsilon == eve.explain(sql).cost.epsilon == 0.5
    assert eve.price(f"{sql} LIMIT 0").epsilon == 0
    asked = tools.asked(sql, None)
    assert (asked.told, str(asked.question).partition(";")[0]) == (None, "This statement costs epsilon 0.5")
    assert spent(eve) == 0
    assert tools.query(sql, None, asked.cost).cost == "epsilon 0.5"
    assert eve.price(sql).epsilon == 0
    assert tools.question(sql, None).question is None
    assert eve.price("SELECT COUNT(*) FROM towns").epsilon == 0


def test_the_owner_is_told_who_cannot_pay(proxy: Proxy) -> None:
    eve = proxy.session(analyst="eve")
    eve.query("SELECT COUNT(*) FROM people", epsilon=0.75)
    with pytest.raises(BudgetExceeded, match=r"analysts without a budget of their own have 0.25 of 1"):
        proxy.releases.create(AGES, ["ana", "eve"])
    assert spent(proxy.session(analyst="ana")) == 0
    proxy.releases.create(AGES, ["ana"])
    assert "As things stand that would be refused" in proxy.releases.grant("ages", "eve")
    with pytest.raises(BudgetExceeded, match=r"This query costs epsilon 0.5; .* have 0.25 of 1"):
        eve.query("SELECT COUNT(*) FROM ages")
    assert eve.explain("SELECT COUNT(*) FROM ages").repeats_left == 0
    assert proxy.session(analyst="ana").explain("SELECT COUNT(*) FROM ages").repeats_left is None
    assert spent(eve) == 0.75


def test_what_the_owner_writes_wrong_is_refused_with_what_to_write(proxy: Proxy) -> None:
    own = proxy.releases
    proxy.session(analyst="ana").release("ages", "SELECT age FROM people", epsilon=0.25)
    proxy.session(analyst="eve").release("ages", "SELECT age FROM people", epsilon=0.25)
    for call, words in (
        (lambda: own.create(AGES, []), "readers are nobody"),
        (lambda: own.create(AGES, ["*"]), "Name each once"),
        (lambda: own.create("SELECT COUNT(*) FROM people", ["bob"]), "to make a release"),
        (lambda: own.create(AGES, ["bob", "ana"]), "ana: There is a table 'ages'"),
        (lambda: own.grant("ages", "bob"), "Several releases are called ages. Write an id: 3 of ana, 5 of eve"),
        (lambda: own.grant("none", "bob"), "no release 'none'. There are: ages"),
        (lambda: own.export("3", Path("ages.txt")), "ends in 'txt'"),
    ):
        with pytest.raises(ProgrammingError, match=words):
            call()
    own.grant("3", "bob")
    assert len(rows(proxy.session(analyst="bob"), "SELECT age FROM ages")) == 400
    assert own.drop("3") == "ages is dropped for all of its readers; what it cost stays charged."
    assert "ages" not in str(proxy.session(analyst="bob").tables())


def test_a_file_that_cannot_be_written_whole_is_not_there(
    proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy.releases.create(AGES, ["ana"])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "out").mkdir()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        proxy.releases.export("ages", tmp_path / "out" / "ages.csv")
    assert not [*(tmp_path / "out").iterdir()]


def test_files_keep_types_and_values(proxy: Proxy, tmp_path: Path) -> None:
    proxy.releases.create(AGES, ["ana"])
    parquet, csv = tmp_path / "ages.parquet", tmp_path / "ages.csv"
    assert proxy.releases.export("ages", parquet) == f"Wrote 400 rows of ages to {parquet}."
    proxy.releases.export("ages", csv)
    with pytest.raises(ProgrammingError, match="There is a file"):
        proxy.releases.export("ages", csv)
    found = duckdb.execute(f"SELECT * FROM '{parquet}'")
    assert [str(column[1]) for column in found.description or ()] == ["BIGINT", "VARCHAR", "DATE"]
    wanted = sorted(rows(proxy.session(analyst="ana"), "SELECT * FROM ages"), key=repr)
    assert sorted(found.fetchall(), key=repr) == wanted
    assert sorted(duckdb.execute(f"SELECT * FROM read_csv('{csv}')").fetchall(), key=repr) == wanted
    assert sorted(polars.read_parquet(parquet).rows(), key=repr) == wanted
    assert pandas.read_parquet(parquet)["age"].sum() == sum(row[0] for row in wanted)


def test_a_lost_process_leaves_a_name_that_the_same_statement_fills(proxy: Proxy, monkeypatch: Any) -> None:
    session, bob = proxy.session(analyst="ana"), proxy.session(analyst="bob")
    kept = session._backend.ledger.keep
    _die_at(monkeypatch, session, "keep")
    with pytest.raises(KeyboardInterrupt):
        session.query(AGES)
    with pytest.raises(KeyboardInterrupt):
        proxy.releases.create(AGES.replace("ages", "theirs"), ["bob"])
    monkeypatch.setattr(session._backend.ledger, "keep", kept)
    assert spent(session) == 0.5
    with pytest.raises(ProgrammingError, match="Write the same statement again, which costs nothing more: CREATE"):
        session.query("SELECT COUNT(*) FROM ages")
    with pytest.raises(ProgrammingError, match="was lost before it was kept"):
        session.query("CREATE SYNTHETIC TABLE ages WITH (epsilon = 0.5) AS SELECT age FROM people")
    assert session.query(AGES).cost.epsilon == 0
    assert proxy.releases.create(AGES.replace("ages", "theirs"), ["bob"]).cost.epsilon == 0
    assert (spent(session), spent(bob)) == (0.5, 0.5)
    assert rows(session, "SELECT COUNT(*) FROM ages") == rows(bob, "SELECT COUNT(*) FROM theirs") == [(400,)]


def _die_at(monkeypatch: Any, session: Session, what: str) -> None:
    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session._backend.ledger, what, die)
