"""An engine is a folder and a line: what the folder must offer."""

from __future__ import annotations

import pytest

from dpsql.engine.duckdb import database, describe, engine, section, sources
from dpsql.engines import ENGINES, offered
from dpsql.owner.engines import Building, Describing, Opening, Sources
from dpsql.policy import EngineSection

OPENING: Opening = engine
SOURCES: Sources = sources
BUILDING: Building = database
DESCRIBING: Describing = describe
SECTION: type[EngineSection] = section.SECTION
"""That DuckDB's folder offers what is asked is mypy's to say."""


@pytest.mark.parametrize("kind", ENGINES)
def test_a_folder_offers_all_modules(kind: str) -> None:
    assert issubclass(offered(kind, "section").SECTION, EngineSection)
    modules = {"engine": Opening, "sources": Sources, "database": Building, "describe": Describing}
    for module, protocol in modules.items():
        assert {name for name in vars(protocol) if not name.startswith("_")} <= set(vars(offered(kind, module)))
