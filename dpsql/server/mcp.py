"""The Model Context Protocol: an analyst's agent asks by tools, and its human is asked before a large charge.

The tools are those of `tools`; the official SDK (the extra ``mcp``) speaks the protocol. A refusal is an error of the
tool, with the text that says what to write instead.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Protocol, TypeVar

from anyio import to_thread
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from dpsql.answers.shown.costs import cost_text
from dpsql.errors import Error
from dpsql.privacy.loss import PrivacyLoss
from dpsql.server.tools import (
    BudgetTold,
    Considered,
    PublicTold,
    Quoted,
    QuotedTogether,
    Told,
    ToldTogether,
    Tools,
)

__all__ = ["mcp_server", "result"]

INSTRUCTIONS = """\
Differentially private answers about people, by SQL. Each new question spends a part of a fixed budget (epsilon) that is
never given back, and its numbers carry noise: the truth behind n lies between n_low and n_high. Do not ask for a number
again in other ways to average the noise away: that is charged, or gives the same number. The same statement again is
free, and so are other names, another order, HAVING and queries over its answer. See the tables first. Before you share
the budget out, ask quote, which is free, what a statement costs, how precise it is and how often the budget grants it;
several columns and groups in one statement cost less than several statements. quote_all prices several, and query_all
buys them together: what they ask alike is paid once. A refusal says what to write instead, and costs nothing. Once too
little is left, stop: only what was asked before is answered."""

Result = TypeVar("Result")
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
"""What spends nothing."""
SPENDS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
"""What may spend: a charge is never given back, and the same statement again costs nothing."""


def _no_truth(value: object) -> object:
    """An argument that is to be a number; TRUE and FALSE are none, though Python counts them as 1 and 0."""
    if isinstance(value, bool):
        raise PydanticCustomError("no_number", "Write a number, not true or false")
    return value


NUMBER = BeforeValidator(_no_truth)

Table = Annotated[str, Field(description="A table, or table.column.")]
Sql = Annotated[str, Field(description="One SELECT, or CREATE SYNTHETIC TABLE name AS SELECT ...")]
Sqls = Annotated[list[str], Field(description="SELECTs, each as text.")]
Epsilon = Annotated[
    float | None, NUMBER, Field(description="Its price; the policy's where absent. More buys less noise.", gt=0)
]
Offset = Annotated[int, NUMBER, Field(description="Rows to leave out at the start of a long result.", ge=0)]
HalfWidth = Annotated[
    dict[str, Annotated[float, NUMBER]] | None,
    Field(description="Output column to the 95% half width wanted: the quote is then for the price that gives it."),
]


class Approval(BaseModel):
    """What the human says."""

    ask: bool = Field(description="Spend it?")


class _Server(MCPServer[Any]):
    """Says in one sentence which argument of a tool is wrong."""

    async def call_tool(self, name: str, arguments: dict[str, Any], *rest: Any, **more: Any) -> Any:
        """Calls a tool.

        Raises:
            ToolError: Its arguments are wrong, one has a name that it does not take, or it refuses.
        """
        for takes in (set(tool.input_schema["properties"]) for tool in await self.list_tools() if tool.name == name):
            if unknown := next((given for given in arguments if given not in takes), None):
                # The library passes over what it does not know, and a price that is misspelt is then the policy's.
                known = f"{name} takes {', '.join(sorted(takes))}" if takes else f"{name} takes none"
                raise ToolError(f"{unknown[:40]!a}: there is no such argument; {known}. Nothing was charged.")
        try:
            return await super().call_tool(name, arguments, *rest, **more)
        except ToolError as refusal:
            if not isinstance(refusal.__cause__, ValidationError):
                raise
            wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in refusal.__cause__.errors())
            raise ToolError(f"{wrong}. Nothing was charged.") from None


class Runs(Protocol):
    """What does work that takes long, off the loop."""

    async def __call__(self, work: Callable[[], Result], /) -> Result: ...


def mcp_server(tools: Tools, name: str, run: Runs = to_thread.run_sync) -> MCPServer[Any]:
    """A server of these tools; `MCPServer.run` runs it over standard input and output.

    Args:
        tools: Of one session.
        name: The policy's.
        run: What does the tools' work; by default a thread.
    """
    server = _Server(f"dpsql: {name}", instructions=INSTRUCTIONS, log_level="ERROR")

    @server.tool(annotations=READS)
    async def list_tables() -> Annotated[CallToolResult, PublicTold]:
        """The tables one may ask about: whose rows they are, about how many, what they mean. Free."""
        return result(await _done(run, tools.list_tables))

    @server.tool(annotations=READS)
    async def describe_table(table: Table, offset: Offset = 0) -> Annotated[CallToolResult, PublicTold]:
        """The columns of a table: types, bounds or listed values, meanings. Of table.column all listed values. Free."""
        return result(await _done(run, lambda: tools.describe_table(table, offset)))

    @server.tool(annotations=READS)
    async def quote(
        sql: Sql, epsilon: Epsilon = None, half_width: HalfWidth = None
    ) -> Annotated[CallToolResult, Quoted]:
        """What a statement would cost, how precise its answer would be, how often the budget grants it. Free."""
        return result(await _done(run, lambda: tools.quote(sql, epsilon, half_width)))

    @server.tool(annotations=READS)
    async def quote_all(
        statements: Sqls, epsilon: Epsilon = None, half_width: HalfWidth = None
    ) -> Annotated[CallToolResult, QuotedTogether]:
        """What several statements would cost bought together, by query_all, and one by one. Free."""
        return result(await _done(run, lambda: tools.quote_all(statements, epsilon, half_width)))

    @server.tool(annotations=READS)
    async def budget() -> Annotated[CallToolResult, BudgetTold]:
        """What was spent, and what one query may still spend. Free."""
        return result(await _done(run, tools.budget))

    _add_spending(server, tools, run)
    return server


def _add_spending(server: MCPServer[Any], tools: Tools, run: Runs) -> None:
    """Adds the tools that spend, before which the human may be asked."""

    def asked_of(own: Considered[Any], ctx: Context) -> Approval | Elicit[Approval]:
        if own.question is None:
            return Approval(ask=True)
        if not _can_ask(ctx):
            raise _unasked(own, tools.approve_above())
        return Elicit(own.question, Approval)

    async def found(sql: str, epsilon: float | None = None, offset: int = 0) -> Considered[Told]:
        # One way to a thread and back, for most statements.
        return await _done(run, lambda: tools.asked(sql, epsilon, offset))

    async def approval(own: Annotated[Considered[Told], Resolve(found)], ctx: Context) -> Approval | Elicit[Approval]:
        return asked_of(own, ctx)

    async def found_all(statements: list[str], epsilon: float | None = None) -> Considered[ToldTogether]:
        return await _done(run, lambda: tools.asked_all(statements, epsilon))

    async def approval_all(
        own: Annotated[Considered[ToldTogether], Resolve(found_all)], ctx: Context
    ) -> Approval | Elicit[Approval]:
        return asked_of(own, ctx)

    @server.tool(annotations=SPENDS)
    async def query(
        sql: Sql,
        own: Annotated[Considered[Told], Resolve(found)],
        approved: Annotated[ElicitationResult[Approval], Resolve(approval)],
        epsilon: Epsilon = None,
        offset: Offset = 0,
    ) -> Annotated[CallToolResult, Told]:
        """The answer to one statement, with an interval for each number. Spends budget; the same again is free."""
        _require(approved)
        if own.told is not None:  # else at the price that the human heard
            return result(own.told)
        return result(await _done(run, lambda: tools.query(sql, epsilon, own.cost, offset)))

    @server.tool(annotations=SPENDS)
    async def query_all(
        statements: Sqls,
        own: Annotated[Considered[ToldTogether], Resolve(found_all)],
        approved: Annotated[ElicitationResult[Approval], Resolve(approval_all)],
        epsilon: Epsilon = None,
    ) -> Annotated[CallToolResult, ToldTogether]:
        """The answers to several statements, at the price of each: what they ask alike is paid once. Spends budget."""
        _require(approved)
        if own.told is not None:
            return result(own.told)
        return result(await _done(run, lambda: tools.query_all(statements, epsilon, own.cost)))


def result(told: BaseModel) -> CallToolResult:
    """What a tool tells, as its fields and as text without blanks: an agent pays for what it reads."""
    fields = told.model_dump(mode="json")
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=fields)


def _require(approved: ElicitationResult[Approval]) -> None:
    """Refuses what the human did not agree to."""
    if not (isinstance(approved, AcceptedElicitation) and approved.data.ask):
        raise ToolError("Nothing was charged: the human did not agree. Ask for less, or something else.")


def _unasked(own: Considered[Any], most: float) -> ToolError:
    """The refusal of what a human would be asked about, where the client can ask none."""
    return ToolError(
        f"Nothing was charged. It costs {cost_text(own.cost or PrivacyLoss())}. Above epsilon {most:g} "
        "(approve_above, in the policy's server section), and at prices that no epsilon bounds, a human is asked, and "
        "this client cannot ask one. Ask again with a smaller epsilon."
    )


def _can_ask(ctx: Context) -> bool:
    """Whether the client says that it can put a form before its human."""
    client = ctx.session.client_capabilities
    return client is not None and client.elicitation is not None


async def _done(run: Runs, work: Callable[[], Result]) -> Result:
    """What the work returns, off the loop; a refusal as the tool's error.

    Raises:
        ToolError: With the text of the refusal.
    """
    try:
        return await run(work)
    except Error as refusal:
        raise ToolError(str(refusal)) from None
