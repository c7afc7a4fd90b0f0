"""The section ``engine`` of a policy: what every engine needs; each engine's folder adds its own keys.

Tests: tests/unit/policy/test_model.py, tests/unit/engine/test_engines.py.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler, WithJsonSchema
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from dpsql.engines import ENGINES, offered
from dpsql.policy.section import Duration, FilePath, Section, amount, seconds, wrong

__all__ = ["AnyEngine", "EngineSection"]

_BYTES = {
    "MiB": Fraction(2**20),
    "GiB": Fraction(2**30),
    "TiB": Fraction(2**40),
}  # In bytes: the units of an amount of memory.
_LEAST_MEMORY = "1GiB"  # The engine's process takes about that much address space before it does anything.


def _memory(text: object) -> object:
    given, least = amount(text, _BYTES), amount(_LEAST_MEMORY, _BYTES)
    if given is None or least is None:
        raise wrong(f"{text} is not an amount of memory", "write a number and MiB or GiB, such as 2GiB")
    if given < least:
        raise wrong(f"{text} is too little for the engine to start", f"write at least {_LEAST_MEMORY}")
    return text


Memory = Annotated[str, BeforeValidator(_memory), WithJsonSchema({"type": "string", "pattern": "^[0-9]+ ?[MGT]iB$"})]


class EngineSection(Section):
    """Where exact numbers come from, and how much the engine may use."""

    kind: str
    """The engine."""
    memory: Memory = "2GiB"
    """The most memory that one query may take, such as 2GiB."""
    deadline: Duration = "30s"
    """The longest that one query may run, such as 30s."""
    cache: FilePath | None = None
    """The private directory for the bounded views; by default in the user's state directory."""

    @property
    def memory_bytes(self) -> int:
        """The most memory that one query may take, in bytes.

        >>> _section({"kind": "duckdb"}).memory_bytes == 2 * 2**30
        True
        """
        return int(amount(self.memory, _BYTES) or 0)

    @property
    def deadline_seconds(self) -> float:
        """The longest that one query may run, in seconds.

        >>> _section({"kind": "duckdb", "deadline": "1500ms"}).deadline_seconds
        1.5
        """
        return seconds(self.deadline)

    @classmethod
    @abstractmethod
    def example(cls) -> dict[str, Any]:
        """What to write for this engine, for messages."""

    @abstractmethod
    def source(self, absolute: Callable[[Path], str]) -> dict[str, str]:
        """What the owner's process must know to open the source. Another one means that the tables are built anew.

        Args:
            absolute: The absolute path of one in the policy, as text.
        """

    @abstractmethod
    def without_data(self, file: Path | None) -> tuple[str, str] | None:
        """What is wrong with where a table's rows are to come from, and what to write instead; None if nothing is.

        Args:
            file: The ``source`` of the table, or None.
        """


class _ByKind:
    """Reads the section by the folder of the engine that it names."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_section)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        sections = [_of(kind) for kind in ENGINES]
        return {
            "oneOf": [handler(section.__pydantic_core_schema__) for section in sections],
            "examples": [section.example() for section in sections],
        }


AnyEngine = Annotated[EngineSection, _ByKind()]
"""The section of one of the engines there are."""


def _of(kind: str) -> type[EngineSection]:
    section: type[EngineSection] = offered(kind, "section").SECTION
    return section


def _section(value: object) -> EngineSection:
    if isinstance(value, EngineSection):
        return value
    if not isinstance(value, dict):
        raise wrong("this is not a mapping", "write key: value lines below it, or {key: value}")
    kind, kinds = value.get("kind"), " or ".join(ENGINES)
    if "kind" not in value:
        raise wrong("this is missing", f"write kind: {kinds}", "kind")
    if not isinstance(kind, str) or kind not in ENGINES:
        raise wrong(f"{kind} is no engine of this version", f"write {kinds}", "kind")
    return _of(kind).model_validate(value)
