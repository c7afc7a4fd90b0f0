"""What the libraries of a door take by themselves: gRPC and the SDK of MCP, with a constant for an answer.

`doors.py` starts `serve` in a process of its own. Nothing of dpsql runs in it but the shape of the answers.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

import grpc
import pyarrow as pa
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult

from dpsql.server.flight.arrow import stream
from dpsql.server.flight.messages import SERVICE, flight_info
from dpsql.server.flight.wire import field
from dpsql.server.mcp import SPENDS, Epsilon, Sql, result
from dpsql.server.tools import Told

THREADS = 8  # Of gRPC's server; one client needs no more.
ROWS = ["F", "M"]
"""As many rows as `doors.py` asks for."""


class Constant(grpc.GenericRpcHandler):  # type: ignore[misc]
    """Flight's three calls of a statement."""

    def __init__(self) -> None:
        table = pa.table({"sex": ROWS, "n": [1] * len(ROWS)}, metadata={"dpsql_cost": "nothing: released before"})
        self._schema, self._messages = table.schema.serialize().to_pybytes(), list(stream(table))

    def service(self, details: Any) -> Any:
        """The handler of a call."""
        match details.method.removeprefix(SERVICE):
            case "Handshake":
                return grpc.stream_stream_rpc_method_handler(self._handshake)
            case "GetFlightInfo":
                return grpc.unary_unary_rpc_method_handler(lambda request, _: flight_info(self._schema, request, b"t"))
            case "DoGet":
                return grpc.unary_stream_rpc_method_handler(lambda *_: iter(self._messages))
        return None

    @staticmethod
    def _handshake(_: Iterator[bytes], context: Any) -> Iterator[bytes]:
        context.send_initial_metadata((("authorization", "Bearer b"),))
        yield field(2, "b")


def serve() -> None:
    """Opens both doors, prints where they are, and stays."""
    flight = grpc.server(ThreadPoolExecutor(THREADS), handlers=[Constant()])
    print(f"flight: grpc://127.0.0.1:{flight.add_insecure_port('127.0.0.1:0')}", flush=True)
    flight.start()
    server = MCPServer[Any]("constant", log_level="ERROR")
    names, rows = ["sex", "n", "n_low", "n_high"], [[sex, 1, -2, 4] for sex in ROWS]
    told = Told(columns=names, rows=rows, confidence=0.95, cost="nothing", left="1 of 2", notes=[])

    @server.tool(annotations=SPENDS)
    async def query(sql: Sql, epsilon: Epsilon = None) -> Annotated[CallToolResult, Told]:
        """A constant."""
        return result(told)

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    print(f"mcp: http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_config=None, access_log=False, http="h11", ws="none")
    uvicorn.Server(config).run([listener])
