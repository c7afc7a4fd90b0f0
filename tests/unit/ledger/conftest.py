"""Where the ledgers of these tests lie."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dpsql.ledger.ledger import Ledger
from tests.unit.ledger.accounts import BASIC, limits


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the ledger lies; its marks lie in the folder beside."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "clinic.ledger.db"


@pytest.fixture
def memory() -> Iterator[Ledger]:
    with Ledger.open(None, pinned=BASIC, limits=limits()) as ledger:
        yield ledger
