"""Defences, each with the text that takes it out of the code, and the tests of which one must then go red.

``python bench/defences.py`` takes out one at a time, in a copy of the tree. None of this is reachable from the package.
"""

from __future__ import annotations

from tests.attacks.defences.defence import Defence
from tests.attacks.defences.engine import ENGINE
from tests.attacks.defences.ledger import LEDGER
from tests.attacks.defences.released import RELEASED
from tests.attacks.defences.server import SERVER
from tests.attacks.defences.tables import TABLES

__all__ = ["DEFENCES", "Defence"]

DEFENCES = (*RELEASED, *TABLES, *ENGINE, *LEDGER, *SERVER)
