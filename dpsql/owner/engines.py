"""The engines that a policy may name: how the bounded tables of each are built, and how it is opened over them.

Tests: tests/unit/engine/test_duckdb.py, tests/unit/owner/test_builder.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpsql.engine.base import Engine, PublicTable
from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.owner.jobs import Progress, in_owner_process
from dpsql.owner.shape import Shape

if TYPE_CHECKING:
    from dpsql.policy.model import EngineSection

__all__ = ["ENGINES", "FILE", "EngineKind"]

FILE = "bounded.duckdb"


@dataclass(frozen=True, slots=True)
class EngineKind:
    """One kind of engine, on the owner's side.

    Attributes:
        build: Makes the bounded tables of one version: of this shape, with this secret key of the row choice, into this
            empty private directory, from these earlier records of classes. Gives the facts of the public tables
            (``public``, as `facts.public_table` reads them) and the digests of the sources (``contents``).
        open: The engine over what lies in a version's directory: that version, with these public tables.
    """

    build: Callable[[Shape, bytes, Path, list[str] | None, Progress | None], dict[str, Any]]
    open: Callable[[Path, int, Mapping[str, PublicTable], EngineSection], Engine]


def _build_file(
    shape: Shape, key: bytes, into: Path, records: list[str] | None, progress: Progress | None
) -> dict[str, Any]:
    request = {"job": "build", "shape": shape.message(), "key": key.hex(), "into": str(into), "records": records}
    made: dict[str, Any] = in_owner_process(request, progress)
    return made


def _open_file(place: Path, version: int, public: Mapping[str, PublicTable], section: EngineSection) -> Engine:
    return DuckDBEngine(
        place / FILE,
        version=version,
        public=public,
        deadline=section.deadline_seconds,
        memory=section.memory_bytes,
    )


ENGINES: Mapping[str, EngineKind] = {"duckdb": EngineKind(_build_file, _open_file)}
"""One line for each, by its name in ``engine.kind``."""
