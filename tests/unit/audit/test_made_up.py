"""What is made up for a policy: real bounded tables hold it, with units at every cap and bound."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.audit.made_up import ABOVE, FIRST_ROW, LAST_ROW, MOVING, MadeUp
from dpsql.audit.stand_in import AUDITOR, DATABASE, placed, stand_in
from tests.unit.audit.policies import SMALL, WIDE, loaded


@pytest.fixture(params=[SMALL, WIDE], ids=["small", "wide"])
def made(tmp_path: Path, request: pytest.FixtureRequest) -> MadeUp:
    return MadeUp(stand_in(loaded(tmp_path, request.param)))


def test_nothing_is_read_and_all_that_bears_on_noise_is_the_owners(tmp_path: Path) -> None:
    policy = loaded(tmp_path, WIDE)
    own = placed(stand_in(policy), tmp_path / "elsewhere")
    assert own.engine.kind == "duckdb"
    assert (own.neighbours, own.budget.composition) == (policy.neighbours, policy.budget.composition)
    assert (own.random_dp, own.mechanisms, own.classes) == (policy.random_dp, policy.mechanisms, policy.classes)
    assert list(own.budget.analysts) == [AUDITOR]
    assert own.tables["people"].columns["income"].bounds == (0, 100)
    assert own.tables["orders"].unit_column == "person"
    for name, table in policy.tables.items():
        assert own.tables[name].model_dump(exclude={"columns"}) == table.model_dump(exclude={"columns"})


def test_every_table_is_written_and_neighbours_differ_in_one_unit(made: MadeUp, tmp_path: Path) -> None:
    everybody = set(made.units)
    counts = []
    for name, present in (("all", everybody), ("less", everybody - {MOVING[0]})):
        (tmp_path / name).mkdir()
        made.write(present, tmp_path / name)
        with duckdb.connect(str(tmp_path / name / DATABASE), read_only=True) as connection:
            counts.append({table: _count(connection, table) for table in made.policy.tables})
    for name, table in made.policy.tables.items():
        gone = len(made.rows[name][MOVING[0]]) if not table.public else 0
        assert counts[0][name] - counts[1][name] == gone, name


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    found = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    assert found is not None
    return int(found[0])


def test_units_are_at_the_caps_above_them_and_at_the_bounds(made: MadeUp) -> None:
    for name, table in made.policy.tables.items():
        if table.public:
            continue
        cap = table.rows_per_unit
        assert cap is not None
        assert {len(made.rows[name][unit]) for unit in MOVING[1:]} == {cap}
        assert len(made.rows[name][MOVING[0]]) == (1 if table.every_unit else cap + ABOVE)
        assert [len(made.rows[name][unit]) for unit in (FIRST_ROW, LAST_ROW)] == [1, 1]
        for unit in MOVING[1:]:  # no two rows of a unit have one key, as far as there are keys enough
            keys = {tuple(row[column] for column in table.unique) for row in made.rows[name][unit]}
            assert len(keys) == (cap if table.unique else 1)


def test_a_chain_leads_to_the_same_unit(tmp_path: Path) -> None:
    made = MadeUp(stand_in(loaded(tmp_path, WIDE)))
    for unit in made.units:
        owned = {row["account"] for row in made.rows["accounts"][unit]}
        assert {row["account"] for row in made.rows["orders"][unit]} <= owned


def test_public_tables_have_what_the_policy_names(tmp_path: Path) -> None:
    types, rows = MadeUp(stand_in(loaded(tmp_path, WIDE))).public["towns"]
    assert types == {"name": "text", "x": "real", "y": "real"}
    assert len({row[0] for row in rows}) == len(rows) == 3


def test_values_that_a_metric_names_are_in_its_public_table(tmp_path: Path) -> None:
    kind = "town: {kind: tree, edges: [[Alm, Bach, 0.5], [Bach, Cern, 0.2], [Cern, Dorf, 1]]}"
    text = WIDE.replace("town: {kind: euclidean, of: [towns.x, towns.y], epsilon: 0.1}", kind)
    assert [row[0] for row in MadeUp(stand_in(loaded(tmp_path, text))).public["towns"][1]] == [
        "Alm", "Bach", "Cern", "Dorf",
    ]  # fmt: skip


def test_a_cap_beyond_what_is_made_up_is_named(tmp_path: Path) -> None:
    made = MadeUp(stand_in(loaded(tmp_path, SMALL.replace("rows_per_unit: 4", "rows_per_unit: 5000"))))
    assert made.unfilled == ["visits"]
