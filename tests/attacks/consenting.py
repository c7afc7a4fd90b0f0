"""A small clinic whose patients are of three classes, and its neighbours: without one patient, or with one reclassed.

Everybody is at some bound: visits above the cap, costs above the bounds, one group or all of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

from dpsql.audit.charged import Charged
from dpsql.audit.noted import before_noise
from dpsql.audit.replay import RunPart
from dpsql.audit.watched import Watched
from dpsql.errors import Error
from dpsql.ledger.ledger import Ledger
from dpsql.policy import load_policy
from dpsql.privacy.kinds import Loss
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.testing_samplers import FixedSampler
from tests.connected import connected
from tests.settled import settled

__all__ = ["EPSILON", "PATIENTS", "QUESTIONS", "SHARES", "Clinic", "Seen", "write"]

SHARES = {"strict": Fraction(1, 4), "normal": Fraction(1), "open": Fraction(1, 3)}
EPSILON = Fraction(6, 10)
POLICY = """\
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb, deadline: 60s}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  composition: COMPOSITION
  total: {epsilon: 100000, delta: 0.9}
  analysts: {ana: {epsilon: 100000, delta: 0.9}}
  per_query: {epsilon: 0.6, delta: 1.0e-6}
privacy_classes: {table: patients, column: consent, share: {strict: 0.25, normal: 1, open: 0.333333333333}}
tables:
  patients:
    unit: patient
    key: patient
    rows_per_unit: 1
    rows_about: 20
    columns:
      age: {type: integer, bounds: [0, 110]}
      sex: {type: text, values: [F, M, X]}
      income: {type: real, centre: 1000, spread: 300}
  visits:
    unit: patient
    rows_per_unit: 4
    max_groups_per_unit: 2
    rows_about: 50
    columns:
      cost: {type: real, bounds: [-50, 200], centre: 50, spread: 30, grid: 0.01}
      ward: {type: text, values: [A, B, C], nullable: true}
      diagnosis: {type: text}
"""

Visit = tuple[float | None, str | None, str]
PATIENTS: Mapping[str, tuple[str | None, int, str, float | None, Sequence[Visit]]] = {
    "strict, heaviest": ("strict", 110, "F", 1e9, [(999.0, "A", "flu")] * 7),
    "normal, heaviest": ("normal", 110, "M", -1e9, [(999.0, "B", "flu")] * 7),
    "open, in all groups": ("open", 200, "X", 1e300, [(-999.0, "A", "x"), (200.0, "B", "y"), (9.0, None, "z")]),
    "of no class": (None, 100, "F", None, [(200.0, "C", "flu")] * 4),
    "of an unknown class": ("vip", -5, "M", float("inf"), [(None, "C", "cold"), (-50.0, "C", "cold")]),
    **{
        f"ordinary {i}": (("strict", "normal", "open")[i % 3], 20 + i, "FM"[i % 2], 900.0 + i, [(40.0 + i, "A", "flu")])
        for i in range(9)
    },
}
"""Name to class, age, sex, income and visits."""

PERSONAL = "mechanism = 'preprocessing'"
QUESTIONS: Mapping[str, str] = {
    "count": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) COUNT(*) FROM patients",
    "count of visits": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) COUNT(*), COUNT(cost) FROM visits",
    "sum of one each": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) SUM(age) FROM patients",
    "sum": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) SUM(cost) FROM visits",
    "units by ward": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) ward, COUNT(DISTINCT patient) FROM visits "
    "GROUP BY ward",
    "sum by ward": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) ward, SUM(cost), COUNT(*) FROM visits "
    "GROUP BY ward",
    "sum over a join": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}) sex, SUM(cost) FROM visits "
    "JOIN patients USING (patient) WHERE age > 10 GROUP BY CUBE (sex)",
    "sum without bounds": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}, sensitivity = 900) SUM(income) "
    "FROM patients",
    "extremes": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}, sensitivity = 30) MAX(cost), MIN(cost) "
    "FROM visits",
    "extreme by sex": f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({PERSONAL}, sensitivity = 900) sex, MAX(income) "
    "FROM patients GROUP BY sex",
    "chosen by error": "SELECT COUNT(*), SUM(cost) FROM visits",
    "for everybody alike": "SELECT COUNT(DISTINCT sex), AVG(age), MEDIAN(age) FROM patients",
    "in two prices": "SELECT SUM(cost, epsilon => 0.1), MAX(cost) FROM visits",
    "groups of an open domain": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 1e-3, mechanism = 'preprocessing') "
    "diagnosis, SUM(cost) FROM visits GROUP BY diagnosis",
}


@dataclass(frozen=True)
class Seen:
    """One question on one database.

    Attributes:
        parts: The releases, in order.
        charges: What the ledger charged.
        visible: All that an analyst could tell apart but released numbers: statements, laws, columns, costs, errors.
    """

    parts: tuple[RunPart, ...]
    charges: tuple[Loss, ...]
    visible: tuple[Any, ...]


class Clinic:
    """One state of the data behind a real engine.

    Args:
        gone: Patients who are not in it.
        reclassed: Patients of another class than theirs.
        composition: Of the ledger.
        moved: Brings the policy, and the DuckDB file beside it, to another engine.
    """

    def __init__(
        self,
        gone: Sequence[str] = (),
        reclassed: Mapping[str, str | None] | None = None,
        composition: str = "basic",
        moved: Callable[[Path], Path] | None = None,
    ) -> None:
        self._scratch = tempfile.TemporaryDirectory(prefix="consenting-")
        self.folder = Path(self._scratch.name)
        write(self.folder, gone, reclassed or {})
        (self.folder / "clinic.yaml").write_text(POLICY.replace("COMPOSITION", composition))
        file = self.folder / "clinic.yaml"
        policy = load_policy(moved(file) if moved else file)
        ledger = Ledger.open(None, pinned=pinned_of(policy), limits=limits_of(policy))
        self.proxy = Proxy(policy, ledger, self.folder / "cache", FixedSampler(0), private=False)

    def ask(self, sql: str, **options: Any) -> Seen:
        """What happened when it was asked."""
        session = Watched(settled(self.proxy._backend), "ana", sql)
        charged, answer, error = Charged(self.proxy.ledger), None, None
        try:
            answer = session.query(sql, **options)
        except Error as refused:
            error = type(refused).__name__, str(refused)
        charges = charged.losses()
        laws = [(draw.law, draw.parameter) for part in session.parts for draw in part.draws]
        seen = (
            None if answer is None else (answer.columns, answer.types, answer.cost, before_noise(answer.measurements))
        )
        visible = session.statements, laws, [part.release.notes for part in session.parts], charges, seen, error
        return Seen(tuple(session.parts), charges, visible)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.proxy.close()
        self._scratch.cleanup()


def write(folder: Path, gone: Sequence[str] = (), reclassed: Mapping[str, str | None] | None = None) -> None:
    """A state of the clinic's database."""
    with connected(folder / "clinic.duckdb") as connection:
        connection.begin()
        connection.execute(
            "CREATE OR REPLACE TABLE patients (patient INT, consent VARCHAR, age INT, sex VARCHAR, income DOUBLE)"
        )
        connection.execute("CREATE OR REPLACE TABLE visits (patient INT, cost DOUBLE, ward VARCHAR, diagnosis VARCHAR)")
        for number, (name, (consent, age, sex, income, visits)) in enumerate(PATIENTS.items()):
            if name in gone:
                continue
            own = (reclassed or {}).get(name, consent)
            connection.execute("INSERT INTO patients VALUES (?, ?, ?, ?, ?)", (number, own, age, sex, income))
            connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", [(number, *visit) for visit in visits])
        connection.commit()
