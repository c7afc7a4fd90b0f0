"""Where the bounded tables of one build stand: a schema that many builds share, and what their names begin with.

A version's directory holds a file that says so. Tables of builds that no version names any more are dropped by the
next build of the same ledger; each table's comment says whose it is.

Tests: tests/doors/test_postgres_engine.py.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from dpsql.engine.dialect import Dialect
from dpsql.engine.postgres.dialect import postgres

__all__ = ["Bounded", "kept_by", "new", "read"]

FILE = "postgres.json"


@dataclass(frozen=True, slots=True)
class Bounded:
    """The tables of one build.

    Attributes:
        schema: Where they stand.
        build: Eight random digits, with which their names begin.
    """

    schema: str
    build: str

    @property
    def dialect(self) -> Dialect:
        """The words that name them."""
        return postgres(self.schema, f"{self.build}:")

    def write(self, place: Path) -> None:
        """Says so in a version's directory."""
        (place / FILE).write_text(json.dumps(asdict(self)))


def new(schema: str) -> Bounded:
    """The tables of a build that begins."""
    return Bounded(schema, secrets.token_hex(4))


def read(place: Path) -> Bounded:
    """Those of a version's directory."""
    return Bounded(**json.loads((place / FILE).read_text()))


def kept_by(cache: Path) -> set[str]:
    """The builds that versions in a ledger's directory name."""
    return {json.loads(file.read_text())["build"] for file in cache.glob(f"v*/{FILE}")}
