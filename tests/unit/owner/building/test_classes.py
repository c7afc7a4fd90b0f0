"""Which class each unit is of: by its own rows, in the first version that held it; else the strictest."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dpsql.engine.duckdb import FILE
from dpsql.engine.log import OPERATOR
from dpsql.errors import OperationalError, PolicyError
from dpsql.ledger.ledger import Ledger
from dpsql.owner.building.builder import FACTS, build, version_directory
from dpsql.owner.checking.check import check
from dpsql.owner.in_use import LOCK
from dpsql.owner.shape import RECORD
from dpsql.policy import Policy
from dpsql.proxy import Proxy, limits_of, pinned_of
from dpsql.testing_samplers import Noiseless
from tests.connected import connected
from tests.unit.owner import clinic
from tests.unit.owner.clinic import KEY

CLASSES = {
    "table": "patients",
    "column": "consent",
    "share": {"normal": 1, "strict": Decimal("0.25"), "open": Decimal("0.5")},
}


def policy(folder: Path, **classes: Any) -> Policy:
    plain = clinic.policy(folder).model_dump(exclude_unset=True)
    return Policy.model_validate({**plain, "privacy_classes": CLASSES | classes})


def write(folder: Path, patients: Sequence[tuple[Any, Any]], visitors: Sequence[int] = ()) -> None:
    """A new state of the data: patients with what they consented to, and who has visits."""
    with connected(folder / "clinic.duckdb") as connection:
        connection.execute("CREATE OR REPLACE TABLE cities AS SELECT 'Bern' AS name")
        connection.execute("CREATE OR REPLACE TABLE patients (patient_id INT, consent VARCHAR, age INT, city VARCHAR)")
        connection.executemany("INSERT INTO patients VALUES (?, ?, 30, 'Bern')", [(0, None), *patients])
        connection.execute("CREATE OR REPLACE TABLE visits (patient_id INT, visit_id INT, cost DOUBLE)")
        connection.executemany("INSERT INTO visits VALUES (?, 1, 5)", [(0,), *((who,) for who in visitors)])


def classes(folder: Path, version: int = 1, **changes: Any) -> dict[int, str]:
    """Who is of which class in a new version; unit 0 is left out."""
    build(policy(folder, **changes), key=KEY, version=version, directory=folder / "cache")
    with connected(version_directory(folder / "cache", version) / FILE, read_only=True) as connection:
        found = connection.execute('SELECT "unit", "class" FROM bounded.main."$classes" WHERE "unit" > 0').fetchall()
    assert len(found) == len(dict(found))
    return dict(found)


def test_a_unit_is_of_the_class_that_its_row_names(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal"), (2, "strict"), (3, "open")], visitors=[1, 1, 2])
    assert classes(tmp_path) == {1: "normal", 2: "strict", 3: "open"}


def test_without_one_known_class_a_unit_is_of_the_strictest(tmp_path: Path) -> None:
    conflicting = [(4, "normal"), (4, "open"), (5, "normal"), (5, None), (6, "normal"), (6, "normal")]
    write(tmp_path, [(1, None), (2, "vip"), (3, "Normal"), *conflicting], visitors=[7])
    assert classes(tmp_path) == dict.fromkeys([1, 2, 3, 4, 5, 7], "strict") | {6: "normal"}


def test_a_unit_keeps_the_class_of_the_first_version_that_held_it(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal"), (2, "strict"), (3, "open")], visitors=[4])
    first = classes(tmp_path, 1)
    write(tmp_path, [(1, "strict"), (2, "normal"), (4, "normal"), (5, "open")])
    assert classes(tmp_path, 2) == {1: "normal", 2: "strict", 4: "strict", 5: "open"}
    write(tmp_path, [(5, "normal")])
    classes(tmp_path, 3)
    write(tmp_path, [(1, "open"), (3, "normal"), (5, "strict")])
    assert classes(tmp_path, 4) == {1: first[1], 3: first[3], 5: "open"}  # also after two versions without them


def test_a_lost_record_makes_everybody_strict_for_good(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, [(1, "normal"), (2, "open")])
    classes(tmp_path, 1)
    shutil.rmtree(tmp_path / "cache")
    OPERATOR.addHandler(caplog.handler)
    try:
        assert classes(tmp_path, 2) == {1: "strict", 2: "strict"}
    finally:
        OPERATOR.removeHandler(caplog.handler)
    assert "the record of classes is lost: every unit is of class 'strict' now" in caplog.text
    write(tmp_path, [(1, "normal"), (3, "normal")])  # is 3 new, or one of whom the lost record knew?
    assert classes(tmp_path, 3) == {1: "strict", 3: "strict"}


def test_a_record_that_is_older_than_the_ledger_is_a_lost_one(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal")])
    classes(tmp_path, 1)
    write(tmp_path, [(1, "normal"), (2, "normal")])
    assert classes(tmp_path, 4) == {1: "strict", 2: "strict"}


def test_a_version_that_is_built_again_keeps_what_it_recorded(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal")])
    classes(tmp_path, 1)
    write(tmp_path, [(1, "strict"), (2, "open")])
    assert classes(tmp_path, 1) == {1: "normal", 2: "open"}
    assert classes(tmp_path, 2) == {1: "normal", 2: "open"}
    write(tmp_path, [(2, "normal")])
    assert classes(tmp_path, 2) == {2: "open"}  # as after a ledger came back from a backup


def test_the_record_is_private_and_names_nobody(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal"), (2, "strict")])
    classes(tmp_path)
    place = version_directory(tmp_path / "cache", 1)
    assert {file.name for file in place.iterdir()} == {FILE, FACTS, RECORD, LOCK}
    assert (place / RECORD).stat().st_mode & 0o777 == 0o600
    with connected() as connection:
        rows = connection.execute(f"SELECT * FROM read_parquet('{place / RECORD}')").fetchall()
        other = connection.execute("SELECT sha256('unit 1')").fetchall()
    assert sorted(of for _, of in rows) == ["normal", "strict", "strict"]
    assert all(len(hashed) == 64 for hashed, _ in rows)
    assert other[0][0] not in {hashed for hashed, _ in rows}


def test_one_unit_moves_no_class_but_its_own(tmp_path: Path) -> None:
    everybody = [(1, "normal"), (2, "strict"), (3, None), (3, "open"), (4, "open")]
    found = {}
    for gone in (0, 3):
        folder = tmp_path / str(gone)
        folder.mkdir()
        write(folder, [row for row in everybody if row[0] != gone], visitors=[n for n in (1, 2, 5) if n != gone])
        classes(folder, 1)
        write(folder, [(n, "normal") for n in (1, 2, 3, 4, 5, 6) if n != gone])
        found[gone] = classes(folder, 2)
    assert found[3] == {unit: of for unit, of in found[0].items() if unit != 3}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("nothing", "patients.nothing names the privacy classes but is not in the data. Write the data's own name"),
        ("numbers", "patients.numbers names the privacy classes, but the data hold INTEGER. Make it a text, in a view"),
    ],
)
def test_data_without_a_text_that_names_classes_are_refused(tmp_path: Path, column: str, message: str) -> None:
    write(tmp_path, [(1, "normal")])
    with connected(tmp_path / "clinic.duckdb") as connection:
        connection.execute("ALTER TABLE patients ADD COLUMN numbers INTEGER")
    with pytest.raises(PolicyError, match=message):
        classes(tmp_path, column=column)
    findings = check(policy(tmp_path, column=column))
    assert [f.severity for f in findings if message.rstrip(".") in f.what] == ["error"]


def test_check_tells_the_owner_how_many_are_of_no_class(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal"), (2, "strict"), (3, "vip"), (3, "open")])
    (found,) = [f for f in check(policy(tmp_path)) if f.column == "consent"]
    assert found.what == "units name no class, an unknown one, or several. They are of the strictest: strict."
    assert (found.table, found.count, found.severity) == ("patients", 2, "warning")  # 3, and 0
    assert str(found.share) == "1/2"


def test_another_class_or_column_asks_for_a_refresh(tmp_path: Path) -> None:
    write(tmp_path, [(1, "normal")])
    first = policy(tmp_path)
    ledger = Ledger.open(None, pinned=pinned_of(first), limits=limits_of(first))
    Proxy(first, ledger, tmp_path / "cache", Noiseless(), private=False)._backend.engine.close()
    with pytest.raises(OperationalError, match="policy's tables changed"):
        Proxy(policy(tmp_path, column="city"), ledger, tmp_path / "cache", Noiseless(), private=False)
