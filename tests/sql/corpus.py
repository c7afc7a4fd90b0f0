"""Pairs of text: a statement, and below it what it is expected to mean or to be told.

A file is a list of blocks with a blank line between them. Lines above the statement say how it is asked, lines below
it what is expected; ``python -m tests.sql.regenerate`` writes the latter, and a person reads the difference.

    -- policy: shop                       which policy; hospital where nothing is said
    -- with: epsilon=2                    keyword options, as a Python call has them
    -- parameters: [40, "2024-05-01"]     values of ``?``, as JSON
    -- reference: SELECT ..               what DuckDB is asked instead, where it does not take the statement itself
    -- notyet: reason                      it is answered, but not yet as DuckDB answers it
    -- Any other comment says why the statement is here.
    SELECT COUNT(*) FROM orders WHERE items > ? AND day >= ?
    -- unit: orders.customer_id
    -- ...

A statement that a text file cannot hold (or nobody could read there) is written ``-- json: "SELECT\\u0000 1"``.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

__all__ = ["Block", "blocks", "write"]

HERE = Path(__file__).parent
_ASKED = re.compile(r"-- (policy|with|parameters|json|reference|notyet): (.*)")
_EXPECTED = re.compile(r"-- (unit|rows per unit|[ka]\d+|selection|together|sets|columns|engine|values|refused):")


@dataclass(frozen=True, slots=True)
class Block:
    """One statement with what is expected of it.

    Attributes:
        lines: Everything above the expectations, as it stands in the file.
        sql: The statement.
        policy: Name of its policy.
        options: Keyword options.
        parameters: Values of ``?``.
        reference: The statement for DuckDB; None for the same.
        notyet: Why its answer is not DuckDB's yet.
        expected: The lines below.
        place: File and line, for failing tests.
    """

    lines: tuple[str, ...]
    sql: str
    policy: str = "hospital"
    options: dict[str, Any] = field(default_factory=dict)
    parameters: tuple[Any, ...] = ()
    reference: str | None = None
    notyet: str | None = None
    expected: tuple[str, ...] = ()
    place: str = ""

    def expecting(self, lines: tuple[str, ...]) -> Block:
        """The same statement with other expectations."""
        return replace(self, expected=lines)

    def __str__(self) -> str:
        return self.place


def blocks(name: str) -> list[Block]:
    """The blocks of one file of this folder."""
    return [_read(lines, f"{name}:{at}") for at, lines in _parts((HERE / name).read_text(encoding="utf-8"))]


def write(name: str, content: list[Block]) -> None:
    """Writes the blocks of one file of this folder."""
    texts = ["\n".join((*block.lines, *block.expected)) for block in content]
    (HERE / name).write_text("\n\n".join(texts) + "\n", encoding="utf-8")


def _parts(text: str) -> Iterator[tuple[int, list[str]]]:
    """The blocks' lines, each with the number of its first line."""
    lines: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line:
            lines.append(line)
        elif lines:
            yield number - len(lines), lines
            lines = []


def _read(lines: list[str], place: str) -> Block:
    end = len(lines)
    while end and _EXPECTED.match(lines[end - 1]):
        end -= 1
    given, start = {}, 0
    while start < end and lines[start].startswith("--"):
        if match := _ASKED.fullmatch(lines[start]):
            given[match[1]] = match[2]
        start += 1
    written = "\n".join(lines[start:end])
    return Block(
        lines=tuple(lines[:end]),
        sql=json.loads(given["json"]) if "json" in given else written,
        policy=given.get("policy", "hospital"),
        options=_call(given.get("with", "")),
        parameters=tuple(json.loads(given.get("parameters", "[]"))),
        reference=given.get("reference"),
        notyet=given.get("notyet"),
        expected=tuple(lines[end:]),
        place=place,
    )


def _call(arguments: str) -> dict[str, Any]:
    """The keyword arguments of a Python call, all of them literals."""
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call) and not call.args
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
