"""An agent asks over the protocol, by the SDK's own client: what it gets, what is refused, when its human is asked."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server.mcpserver import MCPServer

import dpsql.testing
from dpsql.errors import ProgrammingError
from dpsql.policy import load_policy
from dpsql.proxy import Proxy
from dpsql.server.mcp import mcp_server
from dpsql.server.tools import Tools, rounded
from dpsql.testing_samplers import Noiseless
from tests.unit.server.clinic import COUNT, POLICY, write_clinic

pytestmark = pytest.mark.chance(0, "the protocol draws keys; nothing of noise is asserted")
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
"""The protocol's newest revision, and the one before it, in which servers call clients back."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    write_clinic(folder)
    return folder


@pytest.fixture(scope="module")
def proxy(home: Path) -> Iterator[Proxy]:
    with dpsql.testing.open(home / "clinic.yaml", Noiseless()) as opened:
        yield opened


@pytest.fixture
def tools(proxy: Proxy) -> Tools:
    session = proxy.session(analyst="ana")
    return Tools(session, lambda: float(proxy.policy.server.approve_above), lambda: session.budget().epsilon_left)


class Human:
    """Agrees or not, and remembers what it was asked."""

    def __init__(self, agrees: bool) -> None:
        self.agrees, self.asked = agrees, list[str]()

    async def answer(self, context: Any, params: Any) -> mcp_types.ElicitResult:
        self.asked.append(params.message)
        return mcp_types.ElicitResult(action="accept", content={"ask": self.agrees})


def talk(
    server: MCPServer[Any], what: Callable[[Client], Awaitable[Any]], mode: str = "auto", human: Human | None = None
) -> Any:
    async def conversation() -> Any:
        async with Client(server, mode=mode, elicitation_callback=None if human is None else human.answer) as client:
            return await what(client)

    return asyncio.run(conversation())


def called(tools: Tools, tool: str, human: Human | None = None, mode: str = "auto", **arguments: Any) -> Any:
    return talk(mcp_server(tools, "clinic"), lambda client: client.call_tool(tool, arguments), mode, human)


def told(result: Any) -> Any:
    assert not result.is_error, result.content
    return result.structured_content


def refusal(result: Any) -> str:
    assert result.is_error, result.structured_content
    return str(result.content[0].text)


def test_seven_tools_of_which_two_spend(tools: Tools) -> None:
    listed = talk(mcp_server(tools, "clinic"), lambda client: client.list_tools()).tools
    assert {tool.name: tool.annotations.read_only_hint for tool in listed} == {
        "list_tables": True, "describe_table": True, "quote": True, "quote_all": True, "query": False,
        "query_all": False, "budget": True,
    }  # fmt: skip
    assert all(tool.description and tool.output_schema for tool in listed)
    (query,) = (tool for tool in listed if tool.name == "query")
    assert set(query.input_schema["properties"]) == {"sql", "epsilon", "offset"}


def test_a_list_has_an_end_for_each_element(tools: Tools) -> None:
    sql = "SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM people"
    answer = told(called(tools, "query", Human(agrees=True), sql=sql, epsilon=0.1))
    assert answer["columns"] == ["q", "q_low", "q_high"]
    assert [len(cell) for cell in answer["rows"][0]] == [2, 2, 2]


def test_tables_columns_and_budget_are_told_for_nothing(tools: Tools) -> None:
    tables = told(called(tools, "list_tables"))
    assert dict(zip(tables["columns"], tables["rows"][0], strict=True))["rows_about"] == 100
    columns = told(called(tools, "describe_table", table="people"))
    assert ["age", "integer", "[0, 99]", False, "1"] in columns["rows"]
    assert told(called(tools, "describe_table", table="people.sex"))["rows"] == [["F"], ["M"]]
    assert "its values are not listed: [0, 99]" in refusal(called(tools, "describe_table", table="people.age"))
    assert "there is no such table" in refusal(called(tools, "describe_table", table="pepole"))
    assert told(called(tools, "budget"))["limit"] == "epsilon 40, delta 1e-07 (queries: delta 2.5e-08)"


def test_a_quote_tells_cost_and_half_width_or_the_price_of_a_wanted_one(tools: Tools) -> None:
    quote = told(called(tools, "quote", sql=COUNT))
    assert (quote["epsilon"], quote["columns"][0]["mechanism"], quote["asks_human"]) == (0.5, "laplace", True)
    cheap = told(called(tools, "quote", sql=COUNT, epsilon=0.1))
    assert (cheap["epsilon"], cheap["asks_human"]) == (0.1, False)
    assert cheap["times"] > quote["times"] > 0
    wanted = told(called(tools, "quote", sql=COUNT, half_width={"n": 30}))
    assert wanted["columns"][0]["expected_half_width"] <= 30
    assert wanted["columns"][0]["expected_error"].startswith("± ")
    assert wanted["epsilon"] < 0.2
    assert "half_width takes one of: n" in refusal(called(tools, "quote", sql=COUNT, half_width={"m": 30}))


@pytest.mark.parametrize(
    "sql", [f"{COUNT} WHERE age > 7", f"SELECT ({COUNT} WHERE age > 8) - ({COUNT} WHERE age > 9) AS n"]
)
def test_a_quote_of_a_stored_answer_says_that_it_is_free(tools: Tools, sql: str) -> None:
    before = told(called(tools, "quote", sql=sql, epsilon=0.1))
    assert before["epsilon"] > 0 and before["times"]
    answer = told(called(tools, "query", Human(agrees=True), sql=sql, epsilon=0.1))
    after = told(called(tools, "quote", sql=sql, epsilon=0.1))
    assert (after["cost"], after["epsilon"], after["times"], after["asks_human"]) == ("nothing", 0, None, False)
    assert after["notes"][0] == "This was released before: asked again it costs nothing."
    assert told(called(tools, "query", sql=sql, epsilon=0.1))["rows"] == answer["rows"]
    assert told(called(tools, "quote", sql=sql, epsilon=0.11))["epsilon"] > 0


def test_an_answer_has_its_intervals_cost_and_what_is_left(tools: Tools) -> None:
    sql = "SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM people GROUP BY sex"
    answer = told(called(tools, "query", sql=sql, epsilon=0.2))
    assert answer["columns"] == ["sex", "n", "n_low", "n_high", "mean", "mean_low", "mean_high"]
    (sex, n, low, high, *mean), _ = answer["rows"]
    assert (sex, n) == ("F", 50)
    assert low < 50 < high
    assert mean[1] <= mean[0] <= mean[2]
    assert answer["cost"] == "epsilon 0.2"
    assert answer["left"].startswith("epsilon 39.")
    assert "NOT PRIVATE: test sampler" in answer["notes"]
    again = told(called(tools, "query", sql=sql, epsilon=0.2))
    assert again["cost"] == "nothing, this was released before"
    assert again["rows"] == answer["rows"]


def test_text_is_the_fields_without_blanks(tools: Tools) -> None:
    result = called(tools, "query", sql=COUNT, epsilon=0.1)
    assert json.loads(result.content[0].text) == told(result)
    assert ": " not in result.content[0].text.partition('"notes"')[0]


def test_a_long_answer_is_told_in_pages_for_one_price(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dpsql.server.tools, "ROWS", 40)
    sql = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    first = told(called(tools, "query", sql=sql, epsilon=0.1))
    more = "These are rows 1 to 40 of 100. The same with offset = 40 tells the next, for nothing."
    assert (len(first["rows"]), first["notes"][0], first["cost"]) == (40, more, "epsilon 0.1")
    last = told(called(tools, "query", sql=sql, epsilon=0.1, offset=80))
    assert [row[0] for row in last["rows"]] == list(range(80, 100))
    assert (last["notes"][0], last["cost"]) == ("These are rows 81 to 100 of 100.", "nothing, this was released before")
    beyond = told(called(tools, "query", sql=sql, epsilon=0.1, offset=100))
    assert (beyond["rows"], beyond["notes"][0]) == ([], "There are 100 rows.")


@given(st.floats(), st.floats(), st.floats())
def test_ends_are_rounded_outwards(value: float, low: float, high: float) -> None:
    _, below, above = rounded(value, low, high)
    assert not (below > low or above < high)


def test_dates_travel_as_text(tools: Tools) -> None:
    answer = told(called(tools, "query", sql="SELECT born, COUNT(*) AS n FROM people GROUP BY born", epsilon=0.1))
    assert [row[0] for row in answer["rows"]] == ["1990-01-01", "1990-01-02"]


def test_a_refusal_says_what_to_write_and_costs_nothing(tools: Tools) -> None:
    left = told(called(tools, "budget"))
    assert "Ask for aggregates" in refusal(called(tools, "query", sql="SELECT * FROM people"))
    assert "epsilon" in refusal(called(tools, "query", sql=COUNT, epsilon=-1))
    assert told(called(tools, "budget")) == left


@MODES
def test_the_human_is_asked_above_the_limit_and_what_was_released_is_free(tools: Tools, mode: str) -> None:
    sql = f"SELECT COUNT(*) AS n FROM people WHERE age > {len(mode)}"
    assert "this client cannot ask one" in refusal(called(tools, "query", mode=mode, sql=sql))
    no, yes = Human(False), Human(True)
    left = told(called(tools, "budget"))["left"]
    assert "the human did not agree" in refusal(called(tools, "query", no, mode, sql=sql))
    assert told(called(tools, "budget"))["left"] == left
    assert told(called(tools, "query", yes, mode, sql=sql))["cost"] == "epsilon 0.5"
    assert [human.asked for human in (no, yes)] == 2 * [
        [f"This statement costs epsilon 0.5; {left} is left. Shall it be asked?\n{sql}"]
    ]
    assert told(called(tools, "query", mode=mode, sql=sql))["cost"] == "nothing, this was released before"


def test_a_loss_that_no_epsilon_bounds_is_asked_about_and_so_is_a_synthetic_table(tools: Tools) -> None:
    human = Human(False)
    called(tools, "query", human, sql="SET rho = 0.001")
    for sql in ("SELECT SUM(age) AS s FROM people", "CREATE SYNTHETIC TABLE ages AS SELECT age FROM people"):
        assert "the human did not agree" in refusal(called(tools, "query", human, sql=sql))
    assert len(human.asked) == 2


@MODES
@pytest.mark.parametrize("sql", [COUNT, "CREATE SYNTHETIC TABLE dear AS SELECT age FROM people"])
def test_the_human_is_not_asked_about_what_the_budget_does_not_grant(tools: Tools, mode: str, sql: str) -> None:
    human = Human(agrees=True)
    before = tools.session.budget().spent.epsilon
    assert "left" in refusal(called(tools, "query", human, mode, sql=sql, epsilon=100_000))
    assert (human.asked, tools.session.budget().spent.epsilon) == ([], before)


@MODES
@pytest.mark.parametrize(
    ("epsilon", "said"),
    [
        (-1, "epsilon: Input should be greater than 0. Nothing was charged."),
        ("x", "epsilon: Input should be a valid number, unable to parse string as a number. Nothing was charged."),
    ],
)
def test_a_wrong_argument_is_named_in_one_sentence(tools: Tools, mode: str, epsilon: Any, said: str) -> None:
    assert refusal(called(tools, "query", mode=mode, sql=COUNT, epsilon=epsilon)) == said


@MODES
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query", {"sql": COUNT, "epsilon": True}),
        ("query", {"sql": COUNT, "epsilon": 0.01, "offset": True}),
        ("query_all", {"statements": [COUNT], "epsilon": False}),
        ("quote", {"sql": COUNT, "epsilon": True}),
        ("quote", {"sql": COUNT, "half_width": {"n": True}}),
        ("quote_all", {"statements": [COUNT], "half_width": {"n": True}}),
        ("describe_table", {"table": "people", "offset": False}),
    ],
)
def test_true_and_false_are_no_numbers(tools: Tools, mode: str, tool: str, arguments: dict[str, Any]) -> None:
    """JSON tells them apart, and a price of ``true`` would be charged as 1."""
    before = tools.session.budget().spent.epsilon
    why = refusal(called(tools, tool, Human(agrees=True), mode, **arguments))
    assert why.partition(": ")[2] == "Write a number, not true or false. Nothing was charged."
    assert tools.session.budget().spent.epsilon == before


@MODES
@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("query", {"sql": COUNT, "eps": 0.01}, "'eps': there is no such argument; query takes epsilon, offset, sql."),
        ("query", {"sql": COUNT, "epsilon": 0.01, "half_width": {"n": 3}}, "'half_width': there is no such argument"),
        ("query", {"sql": COUNT, "epsilon": 0.01, "own": {"question": None}}, "'own': there is no such argument"),
        ("query_all", {"statements": [COUNT], "Epsilon": 0.01}, "query_all takes epsilon, statements."),
        ("budget", {"analyst": "bob"}, "budget takes none."),
    ],
)
def test_an_argument_that_a_tool_does_not_take_is_refused_uncharged(
    tools: Tools, mode: str, tool: str, arguments: dict[str, Any], said: str
) -> None:
    """A price that is misspelt would be paid at the policy's."""
    before = tools.session.budget().spent.epsilon
    why = refusal(called(tools, tool, Human(agrees=True), mode, **arguments))
    assert said in why and why.endswith("Nothing was charged.")
    assert tools.session.budget().spent.epsilon == before


@MODES
def test_what_the_human_agreed_to_is_what_is_charged_whatever_is_set_meanwhile(tools: Tools, mode: str) -> None:
    sql = f"SELECT SUM(age) AS s FROM people WHERE age > {len(mode)}"
    before = tools.session.budget().spent.epsilon

    heard = list[str]()

    async def answer(context: Any, params: Any) -> mcp_types.ElicitResult:
        heard.append(params.message.partition(";")[0])
        tools.session.query("SET epsilon = 3")
        return mcp_types.ElicitResult(action="accept", content={"ask": len(heard) == 1})

    async def ask() -> Any:
        async with Client(mcp_server(tools, "clinic"), mode=mode, elicitation_callback=answer) as client:
            return await client.call_tool("query", {"sql": sql})

    assert "Nothing was charged" in refusal(asyncio.run(ask()))
    assert heard[0] == "This statement costs epsilon 0.5"
    assert tools.session.budget().spent.epsilon == before


def test_a_price_that_changes_after_it_was_asked_for_is_not_charged(tools: Tools) -> None:
    found = tools.question("SELECT COUNT(*) AS n FROM people WHERE age < 7", 0.1)
    with pytest.raises(ProgrammingError, match=r"changed meanwhile: epsilon 0\.15"):
        tools.query("SELECT COUNT(*) AS n FROM people WHERE age < 7", 0.15, found.cost)


@MODES
def test_the_human_is_asked_once_about_several_statements(tools: Tools, mode: str) -> None:
    statements = [f"SELECT COUNT(*){more} AS n FROM people WHERE age > {len(mode) + 50}" for more in ("", " + 1")]
    statements.append(f"SELECT sex, COUNT(*) AS n FROM people WHERE age > {len(mode)} GROUP BY sex")
    before = tools.session.budget().spent.epsilon
    refusing, agreeing = Human(agrees=False), Human(agrees=True)
    assert "a human is asked" in refusal(called(tools, "query_all", mode=mode, statements=statements))
    assert "did not agree" in refusal(called(tools, "query_all", refusing, mode, statements=statements))
    assert tools.session.budget().spent.epsilon == before
    quote = told(called(tools, "quote_all", mode=mode, statements=statements))
    assert (quote["asks_human"], quote["epsilon"], quote["one_by_one"]) == (True, 1, "epsilon 1")
    answers = told(called(tools, "query_all", agreeing, mode, statements=statements))["answers"]
    assert [answer["cost"] for answer in answers] == ["epsilon 0.5", "nothing, this was released before", "epsilon 0.5"]
    (asked,) = agreeing.asked
    assert asked.startswith("These statements cost epsilon 1 together; ") and asked.endswith("\n".join(statements))
    assert "Statement 2: " in refusal(called(tools, "quote_all", statements=[COUNT, "SELECT age FROM people"]))
    assert "Statement 1: only SELECTs" in refusal(called(tools, "query_all", statements=["SET epsilon = 9"]))
    again = told(called(tools, "query_all", mode=mode, statements=statements))["answers"]
    assert [answer["rows"] for answer in again] == [answer["rows"] for answer in answers]


def test_several_statements_whose_price_changes_after_it_was_asked_for_are_not_charged(tools: Tools) -> None:
    statements = ["SELECT COUNT(*) AS n FROM people WHERE age < 9", COUNT]
    found = tools.asked_all(statements, 2.0)
    assert found.question is not None
    with pytest.raises(ProgrammingError, match="changed meanwhile"):
        tools.query_all(statements, 3.0, found.cost)


def test_asking_without_end_gains_nothing(tools: Tools) -> None:
    """An agent that averages: one charge, one number."""

    async def many(client: Client) -> set[str]:
        return {str((await client.call_tool("query", {"sql": COUNT, "epsilon": 0.15})).structured_content["rows"])
                for _ in range(30)}  # fmt: skip

    before = tools.session.budget().remaining
    assert len(talk(mcp_server(tools, "clinic"), many)) == 1
    assert before - tools.session.budget().remaining == pytest.approx(0.15, abs=0.01)


def test_the_limit_is_a_tenth_where_the_policy_says_nothing(home: Path, tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY.replace("approve_above: 0.2, ", ""))
    assert float(load_policy(tmp_path / "clinic.yaml").server.approve_above) == 0.1


@pytest.mark.slow
def test_the_command_serves_over_standard_input_and_output(home: Path) -> None:
    asked = ["-m", "dpsql.cli", "mcp", str(home / "clinic.yaml"), "--analyst", "ana"]
    environment = os.environ | {"XDG_STATE_HOME": str(home / "state")}

    async def conversation() -> Any:
        parameters = StdioServerParameters(command=sys.executable, args=asked, env=environment)
        async with Client(stdio_client(parameters)) as client:
            return await client.call_tool("query", {"sql": COUNT, "epsilon": 0.1})

    assert told(asyncio.run(conversation()))["cost"] == "epsilon 0.1"


@MODES
def test_a_statement_that_no_human_is_asked_about_goes_to_a_thread_once(tools: Tools, mode: str) -> None:
    ways = list[None]()

    async def run(work: Callable[[], Any], /) -> Any:
        ways.append(None)
        return work()

    def ask(epsilon: float, human: Human | None = None) -> Any:
        arguments = {"sql": f"{COUNT} WHERE age > {10 + len(mode)}", "epsilon": epsilon}
        return talk(mcp_server(tools, "clinic", run), lambda c: c.call_tool("query", arguments), mode, human)

    first, again = told(ask(0.03)), told(ask(0.03))
    assert first["rows"] == again["rows"]
    assert len(ways) == 2
    told(ask(0.4, Human(agrees=True)))
    assert len(ways) > 3  # for its price before the human is asked, and for its answer afterwards
