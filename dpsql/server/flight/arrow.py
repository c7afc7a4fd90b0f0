"""Answers as Arrow's messages, and the values of parameters out of them."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from functools import lru_cache

import pyarrow as pa

from dpsql.answers.answer import Answer
from dpsql.answers.computed.far import MORE_THAN_64_BITS
from dpsql.answers.shown.arrow import arrow_table
from dpsql.errors import DataError, ProgrammingError
from dpsql.plan.outline import Outline
from dpsql.plan.types import Type, Value
from dpsql.server.flight.messages import flight_data

__all__ = ["answer_table", "parameter_schema", "parameters_of", "refuse_folded", "schema_of", "stream", "stream_of"]

BATCH = 2**20
"""Bytes of a record batch, about. It is a choice: gRPC's clients take 4 MiB of a message unless told otherwise."""
SCHEMAS = 256
"""Schemas kept of outlines, which are public. It is a choice: each is some kilobytes, and 0.1 ms to make."""
CONTINUES = b"\xff\xff\xff\xff"  # Before a message of an Arrow stream.
ENDS = CONTINUES + b"\x00\x00\x00\x00"  # After all of them.
ALIGNED = 8  # Bytes of which an Arrow message's size is a multiple.
HEADER = 2  # The slot of a flatbuffers Message for its header.
COMPRESSION = 3  # The slot of a RecordBatch for how its buffers are compressed.
SCHEMA, RECORD_BATCH = 1, 3  # The numbers of Messages whose header is a Schema, and a RecordBatch.


@lru_cache(SCHEMAS)
def schema_of(outline: Outline) -> pa.Schema:
    """The columns of an answer that is not there yet."""
    return arrow_table(outline.columns, outline.types, []).schema


def parameter_schema(outline: Outline) -> pa.Schema:
    """What its ``?`` take: text where nothing tells; a list of it for ``= ANY(?)``."""
    kinds = [Type.TEXT if kind in (None, Type.NULL) else kind for kind in outline.parameters]
    names = [f"parameter_{i}" for i in range(1, len(kinds) + 1)]
    one = arrow_table(names, [kind or Type.TEXT for kind in kinds], []).schema
    fields = [pa.field(own.name, pa.list_(own.type)) if i in outline.lists else own for i, own in enumerate(one)]
    return pa.schema(fields)


def answer_table(answer: Answer, told: dict[str, str]) -> pa.Table:
    """An answer's rows, with what is told of it as metadata of the schema, beside those of `Answer.to_arrow`.

    Raises:
        DataError: A whole number has more than 64 bits: columns' types were told before, and are kept to.
    """
    table = answer.to_arrow()
    if table.schema.types != arrow_table(answer.columns, answer.types, []).schema.types:
        raise DataError(MORE_THAN_64_BITS)
    more = {f"dpsql_{name}": text for name, text in told.items()}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **more})


def stream(table: pa.Table) -> Iterator[bytes]:
    """A table as FlightData: its schema, then its rows; what is told of it goes with the last of them, as JSON."""
    yield _data(table.schema.serialize())
    told = {name.decode(): text.decode() for name, text in (table.schema.metadata or {}).items()}
    rows = max(1, table.num_rows * BATCH // max(1, table.nbytes))
    batches = table.to_batches(max_chunksize=rows)
    if not batches:  # its columns, also those that Arrow makes of no list: unions
        own = [column.combine_chunks() for column in table.columns]
        batches = [pa.RecordBatch.from_arrays(own, schema=table.schema)]
    for number, batch in enumerate(batches, 1):
        yield _data(batch.serialize(), json.dumps(told).encode() if told and number == len(batches) else None)


def stream_of(header: bytes, body: bytes) -> bytes:
    """One message of a stream of FlightData, as an Arrow stream has it."""
    size = -len(header) % ALIGNED
    return CONTINUES + struct.pack("<i", len(header) + size) + header + b"\x00" * size + body


def parameters_of(arrow: bytes) -> tuple[Value, ...]:
    """The one row of values in an Arrow stream of parameters.

    Args:
        arrow: The messages, without an end.

    Raises:
        ProgrammingError: It is none, or has not one row.
    """
    try:
        with pa.ipc.open_stream(arrow + ENDS) as reader:
            batches = list(reader)
        if sum(batch.num_rows for batch in batches) != 1:
            raise ProgrammingError(
                "A statement takes one row of parameters: each row would be a statement with a price of its own. Ask "
                "once for each, or write one statement with GROUP BY or IN."
            )
        (batch,) = (batch for batch in batches if batch.num_rows)
        batch.validate(full=True)
        return tuple(column[0].as_py() for column in batch.columns)
    except (pa.ArrowException, ValueError, OverflowError, OSError, KeyError, NotImplementedError):
        raise ProgrammingError("The parameters are no Arrow record batch. Nothing was charged.") from None


def refuse_folded(header: bytes) -> None:
    """Returns if a message is as long as it says: what is compressed, or a dictionary, may unfold to any size.

    Raises:
        ProgrammingError: It is not, or is no message.
    """
    try:
        message = struct.unpack_from("<I", header)[0]
        kind = _slot(header, message, HEADER - 1)
        if kind is not None and header[kind] == SCHEMA:
            return
        if kind is None or header[kind] != RECORD_BATCH:
            raise ProgrammingError("Parameters may not be encoded by a dictionary. Nothing was charged.")
        place = _slot(header, message, HEADER)
        if place is not None and _slot(header, place + struct.unpack_from("<I", header, place)[0], COMPRESSION):
            raise ProgrammingError("Parameters may not be compressed. Nothing was charged.")
    except (struct.error, IndexError):
        raise ProgrammingError("The parameters are no Arrow message. Nothing was charged.") from None


def _slot(header: bytes, table: int, slot: int) -> int | None:
    """Where a field of a flatbuffers table lies, or None where it is absent."""
    own = table - struct.unpack_from("<i", header, table)[0]
    if own < 0:
        raise IndexError
    place = 4 + 2 * slot
    if place >= struct.unpack_from("<H", header, own)[0]:
        return None
    offset = struct.unpack_from("<H", header, own + place)[0]
    return table + offset if offset else None


def _data(message: pa.Buffer, metadata: bytes | None = None) -> bytes:
    own = pa.ipc.read_message(message)
    return flight_data(own.metadata.to_pybytes(), own.body.to_pybytes() if own.body else b"", metadata)
