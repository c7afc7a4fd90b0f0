"""What is done while something fails, and what is done afterwards: charges of a ledger, and queries of a whole proxy.

A scene says each answer that leaves, as one line. Whoever hears it has seen it: it must be paid for.
"""

from __future__ import annotations

import shutil
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from dpsql.errors import Error
from dpsql.ledger.ledger import Ledger
from dpsql.ledger.tables import LedgerTables
from tests.unit.ledger.accounts import TENTH, ask, opened

__all__ = ["PRICE", "PRIVATE", "SCENES", "Say", "Scene", "told"]

Say = Callable[[dict[str, Any]], None]
Buy = Callable[[str], dict[str, Any]]
"""A question to what came of it: ``asked``, its ``rows``, and whether they were ``free``."""

PRICE = 0.1
"""Epsilon of each question."""
PRIVATE = "Wilhelmina|7700[0-9]{4}"
"""What no analyst may ever read, as a regular expression: names and numbers of people, which stand in the source."""

POLICY = """
version: 1
name: clinic
neighbours: add_remove
engine: {kind: duckdb, database: ../source/clinic.duckdb, cache: cache}
budget:
  ledger: data/ledger.db
  mark: marks
  composition: basic
  total: {epsilon: 2}
  analysts: {ana: {epsilon: 2}}
  per_query: {epsilon: 0.1}
tables:
  patients:
    unit: patient_id
    rows_per_unit: 1
    columns:
      age: {type: integer, bounds: [0, 110]}
      name: {type: text}
"""

SOURCE = """
CREATE TABLE patients AS
SELECT 77000000 + range AS patient_id, 40 + range % 9 AS age, 'Wilhelmina ' || range AS name FROM range(500)
"""


class Scene(ABC):
    """Something that is done below a folder, which is put back before each time.

    Args:
        folder: Holds the ``place`` where all happens, and beside it what does not change.
    """

    charged = 0
    """Charges that were made before."""
    synced = False
    """Whether what was seen is found again after a cut of power, too."""
    asks = ("SELECT COUNT(*) AS n FROM patients", "SELECT SUM(age) AS n FROM patients WHERE name <> 'x'")

    def __init__(self, folder: Path) -> None:
        self.place, self.before, self.source = folder / "place", folder / "before", folder / "source"

    def build(self) -> None:
        """Makes what stands before."""
        (self.place / "data").mkdir(parents=True)
        self.prepare()
        self.place.rename(self.before)

    def put_back(self) -> None:
        """Everything as it was before."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.before, self.place)

    def act(self, say: Say) -> None:
        """What is done while something fails: it buys all that it asks."""
        with self.open() as (_, buy):
            for asked in self.asks:
                say(buy(asked))

    def afterwards(self, say: Say) -> None:
        """Opens it again, and asks the same: says what was charged before and after."""
        with self.open() as (ledger, buy):
            say(_account(ledger))
            for asked in self.asks:
                say(buy(asked))
            say(_account(ledger))

    @abstractmethod
    def prepare(self) -> None:
        """Makes what stands at the place before."""

    @abstractmethod
    def open(self) -> AbstractContextManager[tuple[Ledger, Buy]]:
        """The ledger, and how to buy."""


class LedgerAlone(Scene):
    """A ledger that is there is opened, charged and given answers, as `Session.query` does it."""

    charged = 1

    def prepare(self) -> None:
        """One charge was made before."""
        with self.open() as (_, buy):
            buy("SELECT 1")

    @contextmanager
    def open(self) -> Iterator[tuple[Ledger, Buy]]:
        """The ledger by itself."""
        with opened(self.place / "data" / "ledger.db") as ledger:

            def buy(asked: str) -> dict[str, Any]:
                found = ledger.find(asked)
                if found is None:
                    charge = ask(ledger, fingerprint=asked)
                    ledger.store(charge, asked, str(charge).encode())
                    return {"asked": asked, "rows": str(charge), "free": False}
                return {"asked": asked, "rows": found[0].decode(), "free": True}

            yield ledger, buy


class NewLedger(LedgerAlone):
    """The same where there is no ledger yet."""

    charged = 0

    def prepare(self) -> None:
        """Nothing was there."""


class Tables(LedgerAlone):
    """The same with synthetic tables, as `Creation.made` does it: what is owed is made again free, by another draw."""

    synced = True

    @contextmanager
    def open(self) -> Iterator[tuple[Ledger, Buy]]:
        """The ledger by itself."""
        with opened(self.place / "data" / "ledger.db") as ledger:
            tables = LedgerTables(ledger)

            def buy(asked: str) -> dict[str, Any]:
                found, held = ledger.find(asked), tables.of("ana").get(asked)
                if found is not None:
                    return {"asked": asked, "rows": found[0].decode(), "free": True}
                if free := held is not None and ledger.owes(asked):
                    charge = held.charge
                else:
                    charge = tables.make("ana", TENTH, statement=asked, fingerprint=asked, table=asked)
                ledger.keep(charge, asked, token_hex(8).encode())
                kept = ledger.find(asked)
                return {"asked": asked, "rows": "" if kept is None else kept[0].decode(), "free": free}

            yield ledger, buy


class Queries(Scene):
    """A proxy over tables that were built is opened, and asked.

    What it needs is loaded here: a process that charges a ledger alone is small, and forks fast.
    """

    def prepare(self) -> None:
        """The first opening built the tables."""
        import duckdb

        self.source.mkdir()
        with duckdb.connect(str(self.source / "clinic.duckdb")) as connection:
            connection.execute(SOURCE)
        (self.place / "clinic.yaml").write_text(POLICY)
        self.first()

    def first(self) -> None:
        """Opens it for the first time."""
        import dpsql

        dpsql.open(self.place / "clinic.yaml").close()

    @contextmanager
    def open(self) -> Iterator[tuple[Ledger, Buy]]:
        """A proxy and a session."""
        import dpsql

        with dpsql.open(self.place / "clinic.yaml") as proxy:
            session = proxy.session(analyst="ana")

            def buy(asked: str) -> dict[str, Any]:
                answer = session.query(asked)
                return {"asked": asked, "rows": repr([*answer.rows, *answer.notices]), "free": answer.replayed}

            yield proxy.ledger, buy


class FirstOpening(Queries):
    """The same where nothing was built: the first opening makes the ledger and the tables."""

    def act(self, say: Say) -> None:
        """It is opened, and nothing is bought."""
        with self.open():
            say({"opened": True})

    def first(self) -> None:
        """Not yet."""


class Refresh(Queries):
    """Tables are built anew; nothing is bought meanwhile."""

    def act(self, say: Say) -> None:
        """The owner's refresh."""
        from dpsql.proxy import refresh

        say({"version": refresh(self.place / "clinic.yaml")})


SCENES = {scene.__name__: scene for scene in (LedgerAlone, NewLedger, Tables, Queries, FirstOpening, Refresh)}
"""By their names."""


def _account(ledger: Ledger) -> dict[str, Any]:
    charges = [entry for entry in ledger.log() if entry.kind in ("charge", "synthetic")]
    return {"charges": len(charges), "spent": ledger.budget(None).spent.epsilon}


def told(play: Callable[[Say], None], say: Say) -> None:
    """Does it; an error of dpsql's is said, any other is a bug."""
    try:
        play(say)
    except Error as refusal:
        say({"refused": type(refusal).__name__, "why": str(refusal)})
    except Exception:  # noqa: BLE001 - whatever it is, it is told
        say({"bug": traceback.format_exc()})
