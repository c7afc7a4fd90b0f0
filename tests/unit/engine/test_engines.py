"""An engine is a folder and a line: what the folder must offer."""

from __future__ import annotations

import pytest

from dpsql.engine.duckdb import database, describe, engine, section, sources
from dpsql.engine.postgres import database as its_database
from dpsql.engine.postgres import describe as its_describe
from dpsql.engine.postgres import engine as its_engine
from dpsql.engine.postgres import section as its_section
from dpsql.engine.postgres import sources as its_sources
from dpsql.engine.spark import database as spark_database
from dpsql.engine.spark import describe as spark_describe
from dpsql.engine.spark import engine as spark_engine
from dpsql.engine.spark import section as spark_section
from dpsql.engine.spark import sources as spark_sources
from dpsql.engines import ENGINES, offered
from dpsql.owner.engines import Building, Describing, Opening, Sources
from dpsql.policy import EngineSection

OPENING: Opening = engine
SOURCES: Sources = sources
BUILDING: Building = database
DESCRIBING: Describing = describe
SECTION: type[EngineSection] = section.SECTION
"""That the folders offer what is asked is mypy's to say."""
POSTGRES: tuple[Opening, Sources, Building, Describing, type[EngineSection]] = (
    its_engine, its_sources, its_database, its_describe, its_section.SECTION,
)  # fmt: skip
SPARK: tuple[Opening, Sources, Building, Describing, type[EngineSection]] = (
    spark_engine, spark_sources, spark_database, spark_describe, spark_section.SECTION,
)  # fmt: skip


@pytest.mark.parametrize("kind", ENGINES)
def test_a_folder_offers_all_modules(kind: str) -> None:
    assert issubclass(offered(kind, "section").SECTION, EngineSection)
    modules = {"engine": Opening, "sources": Sources, "database": Building, "describe": Describing}
    for module, protocol in modules.items():
        assert {name for name in vars(protocol) if not name.startswith("_")} <= set(vars(offered(kind, module)))
