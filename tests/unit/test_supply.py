"""What dpsql is made of, and that it is made again the same: the lock, the bill of materials, the wheel, no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.materials import bill, locked, needed
from tests.unit.test_packaging import PROJECT, run
from tests.unit.test_readme import ROOT

LOCK = locked((ROOT / ".ci" / "lock.txt").read_text())
BILL = json.loads((ROOT / ".ci" / "bom.cdx.json").read_text())
HASH = re.compile("[0-9a-f]{64}")


def test_what_ci_installs_has_a_version_that_the_project_admits_and_hashes() -> None:
    extras = PROJECT["optional-dependencies"]
    asked = [Requirement(own) for own in (*PROJECT["dependencies"], *extras["doors"], *extras["docs"], *extras["test"])]
    for own in asked:
        if own.name != "dpsql":
            found = LOCK[canonicalize_name(own.name)]
            assert all(own.specifier.contains(one.version) for one in found), f"{own}: run make lock"
    assert all(HASH.fullmatch(own) for found in LOCK.values() for one in found for own in one.hashes or ("",))


def test_ci_installs_nothing_without_a_hash() -> None:
    steps = [line.strip() for line in (ROOT / ".ci" / "run").read_text().splitlines() if line.startswith("install -")]
    assert len(steps) == 3
    assert all("--require-hashes" in step or "--no-deps" in step for step in steps)
    assert all("--only-binary :all:" in step or "--no-build-isolation" in step for step in steps)


def test_the_bill_of_materials_names_all_that_dpsql_needs_with_version_hashes_and_licence() -> None:
    told = {own["name"] for own in BILL["components"]}
    assert told == set(needed()) - {"dpsql"}, "run make lock"
    for own in BILL["components"]:
        assert own["version"] in [one.version for one in LOCK[own["name"]]], "run make lock"
        assert own["purl"] == f"pkg:pypi/{own['name']}@{own['version']}"
        assert own["hashes"]
    refs = {own["bom-ref"] for own in BILL["components"]} | {"dpsql"}
    assert {own["ref"] for own in BILL["dependencies"]} == refs
    assert {ref for own in BILL["dependencies"] for ref in own["dependsOn"]} <= refs


def test_the_bill_of_materials_is_the_same_when_it_is_made_again() -> None:
    assert bill() == bill()
    assert bill().keys() == BILL.keys()


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a wheel is made of a commit")
def test_a_wheel_that_is_made_again_has_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for mask in ("022", "077"):
        place = tmp_path / mask
        own = f"umask {mask} && git clone --quiet {ROOT} {place} && cd {place} && make -s wheel BIN=$0"
        run("sh", "-c", own, str(Path(sys.executable).parent), cwd=tmp_path)
        made += [wheel.read_bytes() for wheel in (place / "dist").glob("*.whl")]
    assert len(made) == 2
    assert made[0] == made[1]


ASKED = """
import sys, socket
import duckdb, dpsql
try:
    socket.create_connection(("127.0.0.1", 9), timeout=1)
except OSError as error:
    print(error.errno)
with duckdb.connect("clinic.duckdb") as database:
    database.execute("CREATE TABLE people AS SELECT range AS person, range % 90 AS age FROM range(100)")
with dpsql.open("clinic.yaml") as proxy:
    print(len(proxy.session(analyst="ana").query("SELECT COUNT(*) FROM people").rows))
    print(proxy.refresh())
"""
POLICY = """
version: 1
name: clinic
engine: {kind: duckdb, database: clinic.duckdb}
neighbours: add_remove
budget:
  ledger: clinic.ledger.db
  mark: marks
  composition: basic
  total: {epsilon: 100}
  analysts: {ana: {epsilon: 40}}
  per_query: {epsilon: 0.5}
tables:
  people:
    unit: person
    rows_per_unit: 1
    columns: {age: {type: integer, bounds: [0, 99]}}
"""
ALONE = ("unshare", "--map-root-user", "--net")  # A process without any network, loopback included.


@pytest.mark.slow
@pytest.mark.chance(0, "asserts nothing of the draws; an audit convicts a correct dpsql with 1e-12 at most")
@pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run([*ALONE, "true"], check=False, capture_output=True).returncode != 0,
    reason="nobody may make a process without a network here",
)
def test_query_refresh_and_audit_work_without_a_network(tmp_path: Path) -> None:
    (tmp_path / "clinic.yaml").write_text(POLICY)
    own = {"XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}

    def alone(*command: str) -> str:
        asked = [*ALONE, sys.executable, *command]
        ran = subprocess.run(asked, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    assert alone("-c", ASKED).split() == ["101", "1", "2"]  # 101 is ENETUNREACH: there is no way to anywhere
    assert alone("-m", "dpsql.cli", "budget", "clinic.yaml")
    audited = alone("-m", "dpsql.cli", "audit", "clinic.yaml", "--draws", "100", "--confidence", "0.999999999999")
    assert "Nothing is convicted." in audited
