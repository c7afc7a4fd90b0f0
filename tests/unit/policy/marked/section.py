"""Its keys in a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from dpsql.policy.engine import EngineSection


class MarkedSection(EngineSection):
    """Somewhere else."""

    kind: Literal["marked"] = Field(examples=["marked"])
    remote: str = Field(examples=["there"])

    @classmethod
    def example(cls) -> dict[str, Any]:
        """A policy's section."""
        return {"kind": "marked", "remote": "there"}

    def source(self, absolute: Callable[[Path], str]) -> dict[str, str]:
        """Where it is."""
        return {"remote": self.remote}

    def without_data(self, file: Path | None) -> tuple[str, str] | None:
        """It reads no files."""
        return None if file is None else ("is a file", "remove source")


SECTION = MarkedSection
