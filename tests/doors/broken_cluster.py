"""A door before a Spark Connect server that lets messages through, or answers them as a broken cluster would."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc

__all__ = ["Broken", "before"]

Fault = tuple[grpc.StatusCode, str]


@dataclass
class Broken(grpc.GenericRpcHandler):  # type: ignore[misc]  # grpc has no types
    """The door.

    Attributes:
        there: A channel to the server.
        answers: From a message, as bytes, to what is answered in its place; None lets it through.
        seen: How many messages came.
    """

    there: grpc.Channel
    answers: Callable[[str, bytes], Fault | None] = lambda method, message: None
    seen: list[str] = field(default_factory=list)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        """Whatever is asked goes by, as bytes."""
        method, metadata = handler_call_details.method, handler_call_details.invocation_metadata

        def told(message: bytes, context: grpc.ServicerContext) -> None:
            self.seen.append(method)
            fault = self.answers(method.rpartition("/")[2], message)
            if fault is not None:
                context.abort(*fault)

        def one(message: bytes, context: grpc.ServicerContext) -> Any:
            told(message, context)
            return _passed(lambda: self.there.unary_unary(method)(message, metadata=_own(metadata)), context)

        def several(message: bytes, context: grpc.ServicerContext) -> Iterator[Any]:
            told(message, context)
            try:
                yield from self.there.unary_stream(method)(message, metadata=_own(metadata))
            except grpc.RpcError as error:
                context.abort(error.code(), error.details())

        if method.endswith("/ExecutePlan"):
            return grpc.unary_stream_rpc_method_handler(several)
        return grpc.unary_unary_rpc_method_handler(one)


def _passed(ask: Callable[[], Any], context: grpc.ServicerContext) -> Any:
    try:
        return ask()
    except grpc.RpcError as error:
        context.abort(error.code(), error.details())


def _own(metadata: Any) -> list[tuple[str, str]]:
    """What a client may say anew."""
    return [(key, value) for key, value in metadata if not key.startswith((":", "grpc-", "user-agent"))]


@contextmanager
def before(port: int) -> Iterator[tuple[Broken, int]]:
    """The door before a server of this machine, and its port."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as there:
        door = Broken(there)
        server = grpc.server(ThreadPoolExecutor(8), handlers=(door,))
        own = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield door, own
        server.stop(None).wait()
