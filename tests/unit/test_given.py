"""Every public function and method takes its arguments, or says in one sentence of dpsql's what they must be."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import Error, InterfaceError, InvariantBroken, LedgerError, ProgrammingError
from dpsql.ledger.waiting import Waiting
from dpsql.policy import load_policy
from dpsql.proxy import refresh
from dpsql.releasing.sharing import Sharing
from tests.sql.databases import build

SQL = "SELECT employed, COUNT(*) AS n FROM people GROUP BY employed"
CREATE = "CREATE SYNTHETIC TABLE {} WITH (epsilon = 1) AS SELECT age FROM people"
KMEANS: dict[str, Any] = {"k": 2, "bound": 9, "scale": (1, 9)}


class Bytes:
    """A path of bytes."""

    def __fspath__(self) -> bytes:
        return b"people.yaml"


OTHERS: tuple[Any, ...] = (
    None, 5, -1, 1.5, float("nan"), 10**400, "", "\n", "x\x00y", "\ud800", b"bytes", "x" * 10_000, [], [None], ["a", 5],
    {}, {"n": None}, {5: 5}, (1,), set(), object, Bytes(), True, Path("/nowhere/people.yaml"), Decimal("NaN"), 1j,
    date(2024, 1, 1), slice(0, 2), iter([1]), lambda *_: None,
)  # fmt: skip
"""Values of many kinds; none is what is asked for, and some are of its kind."""


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("census", tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def proxy(policy: Path) -> Iterator[dpsql.testing.TestProxy]:
    with dpsql.testing.open(policy, dpsql.testing.Noiseless()) as opened:
        opened.releases.create(CREATE.format("ages"), ["ana"])
        yield opened


def spent(proxy: dpsql.Proxy) -> list[object]:
    return [proxy.ledger.budget(name).spent for name in (None, "ana")]


def refused(asked: Callable[[], object]) -> bool:
    """Whether it is, by an error of dpsql's; what is answered fits."""
    try:
        asked()
    except Error as error:
        assert not isinstance(error, InvariantBroken)
        assert str(error)
        return True
    return False


PATHS: Mapping[str, Callable[[Any], object]] = {
    "open": dpsql.open,
    "refresh": refresh,
    "connect": partial(dpsql.connect, analyst="ana"),
    "testing.open": dpsql.testing.open,
    "load_policy": load_policy,
}


@pytest.mark.parametrize("name", PATHS)
def test_what_is_no_path_of_a_policy_is_refused(name: str) -> None:
    for value in OTHERS:
        assert refused(partial(PATHS[name], value)), value
    for value in (None, 5, Bytes()):
        with pytest.raises(ProgrammingError, match=r"The policy is of type .*\. Write the path of its file"):
            PATHS[name](value)


def of_proxy(proxy: Any, value: Any) -> dict[str, Callable[[], object]]:
    """What an owner can call, by method and argument."""
    releases, waiting = proxy.releases, proxy.waiting
    return {
        "Proxy.session(analyst)": lambda: proxy.session(analyst=value),
        "Proxy.adopt(policy)": lambda: proxy.adopt(value),
        "Sharing.create(sql)": lambda: releases.create(value, ["ana"]),
        "Sharing.create(readers)": lambda: releases.create(CREATE.format("more"), value),
        "Sharing.create(readers[0])": lambda: releases.create(CREATE.format("more"), [value]),
        "Sharing.quote(sql)": lambda: releases.quote(value, ["ana"]),
        "Sharing.quote(readers)": lambda: releases.quote(CREATE.format("more"), value),
        "Sharing.grant(name)": lambda: releases.grant(value, "bob"),
        "Sharing.drop(name)": lambda: releases.drop(value),
        "Sharing.export(name)": lambda: releases.export(value, "/nowhere/ages.csv"),
        "Sharing.export(file)": lambda: releases.export("ages", value),
        "Waiting.approve(id)": lambda: waiting.approve(value, 1),
    }


def of_session(session: Any, value: Any) -> dict[str, Callable[[], object]]:
    """What an analyst can call in Python, by method and argument; a price of 10^6 is never granted."""
    dear, rows = {"epsilon": 10**6}, "SELECT age FROM people"
    return {
        **{f"Session.{own.__name__}(sql)": partial(own, value) for own in (session.query, session.explain)},
        **{f"Session.{own.__name__}(sql)": partial(own, value) for own in (session.price, session.outline)},
        **{
            f"Session.{own.__name__}(parameters)": partial(own, SQL + " HAVING COUNT(*) > ?", value)
            for own in (session.explain, session.price)
        },
        **{
            f"Session.{own.__name__}(statements)": partial(own, value)
            for own in (session.query_all, session.price_all, session.quote)
        },
        "Session.quote(statements[0])": lambda: session.quote([value]),
        "Session.quote(half_width)": lambda: session.quote([SQL], half_width=value),
        "Session.explain(half_width)": lambda: session.explain(SQL, half_width=value),
        "Session.query(agree)": lambda: session.query(SQL, agree=value, **dear),
        "Session.query(progress)": lambda: session.query(CREATE.format("own"), progress=value, **dear),
        "Session.query_all(agree)": lambda: session.query_all([SQL], agree=value, **dear),
        "Session.release(name)": lambda: session.release(value, rows, **dear),
        "Session.release(sql)": lambda: session.release("own", value, **dear),
        "Session.kmeans(sql)": lambda: session.kmeans(value, **KMEANS),
        **{
            f"Session.kmeans({name})": partial(session.kmeans, rows, **{**KMEANS, name: value}, **dear)
            for name in (*KMEANS, "parts")
        },
        "Session.covariance(sql)": lambda: session.covariance(value),
        "Session.describe(table)": lambda: session.describe(value),
        "Session.option(name)": lambda: session.option(value),
    }


@pytest.mark.parametrize("value", OTHERS, ids=lambda own: type(own).__name__)
def test_whatever_an_owner_hands_in_is_taken_or_refused_and_nothing_is_spent(
    proxy: dpsql.testing.TestProxy, value: Any
) -> None:
    before = spent(proxy), proxy.releases.listed().rows
    for name, asked in of_proxy(proxy, value).items():
        if name != "Proxy.session(analyst)":  # which takes any name
            assert refused(asked) or name.startswith("Sharing.quote"), name
    assert (spent(proxy), proxy.releases.listed().rows) == before


@pytest.mark.parametrize("value", OTHERS, ids=lambda own: type(own).__name__)
def test_whatever_an_analyst_hands_in_is_taken_or_refused_and_nothing_is_spent(
    proxy: dpsql.testing.TestProxy, value: Any
) -> None:
    before = spent(proxy)
    for asked in of_session(proxy.session(analyst="ana"), value).values():
        refused(asked)
    assert spent(proxy) == before


def test_every_method_with_an_argument_is_among_these(proxy: dpsql.testing.TestProxy) -> None:
    named = {name.partition("(")[0] for name in of_proxy(proxy, None)}
    named |= {name.partition("(")[0] for name in of_session(proxy.session(analyst="ana"), None)}
    inner = {"Session.over", "Waiting.ask", "Waiting.take", "Waiting.give_back"}  # what dpsql itself calls
    apart = {"Proxy.refresh"}  # in a test of its own
    found = {
        f"{kind.__name__}.{name}"
        for kind in (dpsql.Proxy, dpsql.Session, Sharing, Waiting)
        for name, own in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and len(inspect.signature(own).parameters) > 1
    }
    assert found == named | inner | apart


@pytest.mark.parametrize("reader", ["", "*", "x\x00y", "a\nb", "\ud800", "x" * 300])
def test_a_name_that_no_analyst_can_have_reads_no_table(proxy: dpsql.testing.TestProxy, reader: str) -> None:
    before = spent(proxy)
    for asked in (
        lambda: proxy.releases.grant("ages", reader),
        lambda: proxy.releases.create(CREATE.format("more"), [reader]),
        lambda: proxy.releases.quote(CREATE.format("more"), ["ana", reader]),
    ):
        with pytest.raises(ProgrammingError):
            asked()
    assert spent(proxy) == before


def test_a_text_is_no_list_of_readers(proxy: dpsql.testing.TestProxy) -> None:
    with pytest.raises(ProgrammingError, match=r"The list of readers is of type str\. Write a list of analysts' names"):
        proxy.releases.create(CREATE.format("more"), "b")


def test_steps_are_told_to_a_function_or_nothing_is_charged(proxy: dpsql.testing.TestProxy) -> None:
    before, version = spent(proxy), proxy.backend.version
    progress: Any = 5
    for asked in (
        lambda: proxy.releases.create(CREATE.format("more"), ["ana"], progress),
        lambda: proxy.session(analyst="ana").release("own", "SELECT age FROM people", progress=progress, epsilon=0.1),
        lambda: proxy.refresh(progress),
    ):
        with pytest.raises(ProgrammingError, match=r"progress is of type int\. Write a function of a step's name"):
            asked()
    assert (spent(proxy), proxy.backend.version) == (before, version)
    assert proxy.session(analyst="ana").query(SQL, epsilon=0.01).columns == ("employed", "n")


def test_a_cursor_says_what_it_takes(tmp_path: Path) -> None:
    with (
        dpsql.connect(build("census", tmp_path), analyst="ana", epsilon=0.01) as connection,
        connection.cursor() as cursor,
    ):
        for value in OTHERS:
            assert refused(partial(cursor.execute, value)), value
            assert refused(partial(connection.execute, value)), value
        cursor.execute("SHOW TABLES")
        words: Any = "2"
        number: Any = 5
        for value in OTHERS:
            refused(partial(cursor.fetchmany, value))
        with pytest.raises(ProgrammingError, match=r"The number of rows is of type str\. Write a whole number"):
            cursor.fetchmany(words)
        with pytest.raises(ProgrammingError, match="The statement is of type int"):
            cursor.execute(number)


def test_a_picture_says_what_it_takes(proxy: dpsql.testing.TestProxy) -> None:
    pytest.importorskip("matplotlib")
    answer: Any = proxy.session(analyst="ana").query(SQL, epsilon=0.01)
    for value in (5, 1.5, b"x", object, {5: 5}, ["a"]):
        assert refused(partial(answer.plot, value)), value
        assert refused(partial(answer.plot, title=value)), value
        assert refused(partial(answer.plot, units=value)), value


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_holds_a_ledger_is_neither_copied_nor_pickled(
    proxy: dpsql.testing.TestProxy, tmp_path: Path, way: Callable[[object], object]
) -> None:
    with dpsql.connect(build("census", tmp_path), analyst="ana") as connection, connection.cursor() as cursor:
        session = [] if way is copy.copy else [proxy.session(analyst="ana")]  # it is copied for each statement
        for held in (proxy, proxy.releases, connection, cursor, *session):
            told = rf"A {type(held).__name__} can be neither copied nor pickled.*Open the policy again in each process"
            with pytest.raises(InterfaceError, match=told):
                way(held)


def test_a_child_process_is_told_to_open_the_policy_again(
    proxy: dpsql.testing.TestProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, own = proxy.session(analyst="ana"), os.getpid()
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: own + 1)
        with pytest.raises(LedgerError, match=r"was forked from the one that opened .* Open the policy again here"):
            session.query(SQL, epsilon=0.01)
    assert session.query(SQL, epsilon=0.01).columns == ("employed", "n")
