"""What bad input gets on other engines: the clear errors that DuckDB's has; nothing charged that was not read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

import pytest

import dpsql
import dpsql.testing
from dpsql.errors import EngineFailed, OperationalError, PolicyError
from dpsql.owner.checking.check import check
from dpsql.policy import load_policy
from dpsql.proxy import Proxy, refresh
from dpsql.testing_samplers import Noiseless
from examples import postgres, spark
from tests.doors.elsewhere import Elsewhere, OnPostgres, OnSpark, made

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is looked at")]

POLICY = """\
version: 1
name: odd
engine: {kind: duckdb, database: odd.duckdb}
neighbours: add_remove
budget: {ledger: odd.db, mark: marks, composition: basic, total: {epsilon: 90}, analysts: {ana: {epsilon: 90}},
         per_query: {epsilon: 1}}
tables:
  Odd:
    unit: Person
    rows_per_unit: 2
    columns:
      Weight: {type: real, bounds: [0, 200], grid: 0.5}
      UPPER: {type: integer, bounds: [0, 10]}
      select: {type: text, values: [F, M]}
"""
ODD = """
    CREATE TABLE "Odd" AS SELECT i AS "Person", 50.25 + i AS "Weight", i % 12 AS "UPPER", ['F', 'M'][1 + i % 2] AS
    "select", i AS "a "" quoted ' one", 0.5 AS "dot.ted", 'x' AS "back`tick", i AS "%s {} $1 :p1 ?", i AS "weight "
    FROM range(100) t(i)
"""
ASKED = 'SELECT "select", COUNT(*) AS n, SUM(weight), MAX(upper) FROM odd GROUP BY "select" ORDER BY 1'


def written(folder: Path, elsewhere: Elsewhere, sql: str = ODD, **more: str) -> tuple[Path, str]:
    """The policy over such a table, and what holds it there."""
    (folder / "odd.yaml").write_text(POLICY)
    name = elsewhere.load(made(folder, sql))
    return elsewhere.moved(folder / "odd.yaml", name, **more), name


def changed(policy: Path, pair: tuple[str, str]) -> None:
    """Writes the policy anew, with another text in the place of one."""
    text = policy.read_text()
    assert pair[0] in text
    policy.write_text(text.replace(*pair))


def test_names_of_any_sign_are_read_as_they_are(elsewhere: Elsewhere, tmp_path: Path) -> None:
    there, _ = written(tmp_path, elsewhere)
    made(tmp_path, ODD).rename(tmp_path / "odd.duckdb")
    with dpsql.testing.open(there, Noiseless()) as one, dpsql.testing.open(tmp_path / "odd.yaml", Noiseless()) as two:
        theirs, ours = (proxy.session(analyst="ana").query(ASKED) for proxy in (one, two))
    assert theirs.rows == ours.rows
    assert [row[1] for row in ours.rows] == [50, 50]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("      Weight:", "      weighT:"), "Odd.weighT is in the policy but not in the data"),
        (("unit: Person", "unit: person"), "Odd.person is in the policy but not in the data"),
        (("      UPPER:", "      Size:"), "Odd.Size is in the policy but not in the data"),
        (("  Odd:", "  ODD:"), "has no table or view ODD"),
    ],
)
def test_a_name_that_is_none_is_one_clear_error_to_open_and_to_check(
    elsewhere: Elsewhere, tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    policy, _ = written(tmp_path, elsewhere)
    changed(policy, change)
    with pytest.raises(PolicyError, match=told):
        dpsql.open(policy)
    found = [finding for finding in check(load_policy(policy)) if finding.severity == "error"]
    assert [told in finding.what for finding in found] == [True]


@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("['a'] AS \"UPPER\"", "UPPER is declared integer, but the data hold"),
        ("'x'::BLOB AS \"UPPER\"", "UPPER is declared integer, but the data hold"),
        ("'x'::BLOB AS \"select\"", "select is declared text, but the data hold"),
        ('[i] AS "Person"', "holds .*, which names nobody"),
        ('i / 2.0 AS "Person"', "holds .*, which names nobody"),
        ('i::DECIMAL(9, 2) AS "Person"', "holds .*, which names nobody"),
    ],
)
def test_a_type_that_cannot_be_read_is_named(elsewhere: Elsewhere, tmp_path: Path, column: str, told: str) -> None:
    named = column.rpartition('AS "')[2].rstrip('"')
    others = {"Person": "i", "Weight": "1.5", "UPPER": "1", "select": "'F'"}
    rest = ", ".join(f'{value} AS "{name}"' for name, value in others.items() if name != named)
    policy, _ = written(tmp_path, elsewhere, f'CREATE TABLE "Odd" AS SELECT {column}, {rest} FROM range(3) t(i)')
    with pytest.raises(PolicyError, match=told):
        dpsql.open(policy)


HOSTILE = """
    CREATE TABLE "Odd" AS SELECT * FROM (VALUES
        (1::DECIMAL(38, 0), 'NaN'::DOUBLE, 3::DECIMAL(38, 0), 'F'),
        (2, 'Infinity', 1000000000000000000000000000000, 'M'),
        (3, '-0.0', -10, 'f'), (4, '-Infinity', NULL, ''), (5, 1e-320, 7, 'F'), (NULL, 70, 1, 'F'), (6, 1e308, 99, NULL)
    ) AS t("Person", "Weight", "UPPER", "select")
"""


def test_numbers_at_the_ends_of_their_types_are_read_as_on_duckdb(elsewhere: Elsewhere, tmp_path: Path) -> None:
    there, _ = written(tmp_path, elsewhere, HOSTILE)
    made(tmp_path, HOSTILE).rename(tmp_path / "odd.duckdb")
    asked = ('SELECT "select", COUNT(*), COUNT(weight), COUNT(upper), SUM(weight), SUM(upper), MIN(upper), MAX(weight) '
             'FROM odd GROUP BY ROLLUP ("select") ORDER BY 1')  # fmt: skip
    with dpsql.testing.open(there, Noiseless()) as one, dpsql.testing.open(tmp_path / "odd.yaml", Noiseless()) as two:
        theirs, ours = (proxy.session(analyst="ana").query(asked) for proxy in (one, two))
    assert theirs.rows == ours.rows
    assert [row[0] for row in ours.rows] == ["F", "M", None]


def test_texts_are_booleans_as_on_duckdb(elsewhere: Elsewhere, tmp_path: Path) -> None:
    texts = ", ".join(f"'{own}'" for own in ("1.0", "0.0", "T", "no", "2.0", "1.00"))
    made_of = f'SELECT i AS "Person", 1.0 AS "Weight", 1 AS "UPPER", [{texts}, NULL][1 + i % 7] AS "select"'
    sql = f'CREATE TABLE "Odd" AS {made_of} FROM range(70) t(i)'
    there, _ = written(tmp_path, elsewhere, sql)
    made(tmp_path, sql).rename(tmp_path / "odd.duckdb")
    for file in (tmp_path / "odd.yaml", there):
        changed(file, ("select: {type: text, values: [F, M]}", "select: {type: boolean, nullable: true}"))
    found = []
    for file in (tmp_path / "odd.yaml", there):
        with dpsql.testing.open(file, Noiseless()) as proxy:
            found.append(proxy.session(analyst="ana").query('SELECT "select", COUNT(*) FROM odd GROUP BY 1').rows)
    assert found == [[(False, 20), (True, 20), (None, 30)]] * 2


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        ('SELECT i AS "Person", 1.5 AS "Weight", \'F\' AS "select" FROM range(9) t(i)', False),
        ('SELECT i AS "Person", 1.5 AS "Weight", i AS "upper", \'F\' AS "select" FROM range(9) t(i)', False),
        ('SELECT i AS "Person", 1.5 AS "Weight", [i] AS "UPPER", \'F\' AS "select" FROM range(9) t(i)', False),
        ('SELECT i AS "Person", \'2\' AS "Weight", 5 AS "UPPER", \'F\' AS "select", 1 AS new FROM range(9) t(i)', True),
    ],
)
def test_another_schema_is_a_change_and_is_built_or_refused_by_name(
    elsewhere: Elsewhere, tmp_path: Path, sql: str, mended: bool
) -> None:
    policy, name = written(tmp_path, elsewhere)
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query("SELECT COUNT(*) FROM odd").rows
        elsewhere.again(name, made(tmp_path, f'CREATE TABLE "Odd" AS {sql}'))
        # Of the version that stands:
        assert proxy.session(analyst="ana").query("SELECT COUNT(*) FROM odd WHERE upper > 1").rows
    with pytest.raises(OperationalError, match="The data changed since version 1"):
        dpsql.open(policy)
    if not mended:
        with pytest.raises(PolicyError, match=r"Odd\.UPPER is"):
            refresh(policy)
        elsewhere.again(name, made(tmp_path, ODD))
    assert refresh(policy) == 2
    with dpsql.open(policy) as proxy:
        assert proxy.session(analyst="ana").query("SELECT COUNT(*) FROM odd WHERE upper > 2").rows
        assert proxy.session(analyst="ana").budget().spent.epsilon == 3


# ------------------------------------------------------------------------------- a server that goes, and comes back


@contextmanager
def fresh(kind: str) -> Iterator[Elsewhere]:
    """A server of the test's own, which it may end."""
    if kind == "postgres":
        programs = postgres.programs()
        if programs is None:
            pytest.skip("this machine has no PostgreSQL server")
        with postgres.running(programs) as server:
            yield OnPostgres(server)
    else:
        with spark.running(spark.apache()) as cluster:
            yield OnSpark(cluster)


@pytest.fixture(scope="module")
def mortal(elsewhere: Elsewhere) -> Iterator[Elsewhere]:
    with fresh(elsewhere.kind) as own:
        yield own


def charged_while(proxy: Proxy, during: object) -> None:
    """Has something happen between the next charge and the look that it pays for."""
    ledger = proxy.ledger
    charge = ledger.charge

    def charged(*arguments: object, **more: object) -> object:
        found = charge(*arguments, **more)  # type: ignore[arg-type]  # as it was called
        ledger.charge = charge  # type: ignore[method-assign]
        during()  # type: ignore[operator]
        return found

    ledger.charge = charged  # type: ignore[method-assign, assignment]


def test_a_server_that_starts_anew_between_the_charge_and_the_look_answers(mortal: Elsewhere, tmp_path: Path) -> None:
    policy, _ = written(tmp_path, mortal, deadline="60s")
    with dpsql.testing.open(policy, Noiseless()) as proxy:
        session = proxy.session(analyst="ana")
        again = Timer(0.5, mortal.start)

        def gone() -> None:
            mortal.stop()
            again.start()

        charged_while(proxy, gone)
        assert session.query("SELECT COUNT(*) FROM odd").rows == [(100,)]
        again.join()
        assert session.budget().spent.epsilon == 1


def test_a_server_that_stays_away_costs_what_was_charged_and_the_ledger_holds(
    mortal: Elsewhere, tmp_path: Path
) -> None:
    policy, _ = written(tmp_path, mortal, deadline=mortal.soon)
    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        charged_while(proxy, mortal.stop)
        with pytest.raises(EngineFailed) as failed:
            session.query("SELECT COUNT(*) FROM odd")
        assert "127.0.0.1" not in str(failed.value)
        assert session.budget().spent.epsilon == 1
        with pytest.raises(OperationalError, match=r"not ready\. Nothing was spent"):
            session.query("SELECT SUM(upper) FROM odd")
        assert session.budget().spent.epsilon == 1
        with pytest.raises(OperationalError, match="does not answer"):
            refresh(policy)
        mortal.start()
        assert session.query("SELECT SUM(upper) FROM odd").rows
        assert session.budget().spent.epsilon == 2


def test_a_server_that_goes_during_a_build_leaves_the_version_that_stands(mortal: Elsewhere, tmp_path: Path) -> None:
    policy, _ = written(tmp_path, mortal)
    steps: list[str] = []

    def gone(step: str, share: float) -> None:
        steps.append(step)
        if len(steps) == 2:
            mortal.stop()

    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        assert session.query("SELECT COUNT(*) FROM odd").rows
        with pytest.raises(OperationalError, match=r"(PostgreSQL|Spark) does not answer"):
            refresh(policy, progress=gone)
        mortal.start()
        assert proxy._backend.engine.version == 1
        assert session.query("SELECT SUM(upper) FROM odd").rows
        assert session.query("SELECT COUNT(*) FROM odd").replayed
    assert refresh(policy) == 2
