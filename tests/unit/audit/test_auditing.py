"""The audit of a policy: it convicts nothing where nothing is wrong, and mechanisms that are broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dpsql.audit import auditing
from dpsql.audit.auditing import Effort, audit, examined, neighbours
from dpsql.audit.facts import facts_asked
from dpsql.audit.made_up import MadeUp
from dpsql.audit.measured import MISS
from dpsql.audit.questions import DELTA, Posed, questions
from dpsql.audit.remembering import Remembering
from dpsql.audit.replay import BOTH
from dpsql.audit.report import Verdicts
from dpsql.audit.stand_in import stand_in
from dpsql.audit.world import Neighbours
from dpsql.engine.base import EngineStatement
from dpsql.errors import EngineFailed, InvariantBroken
from dpsql.mechanisms import top_k
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw, Law
from dpsql.mechanisms.releases import table
from dpsql.owner import shape
from dpsql.policy import load_policy
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler
from tests.attacks.seeded_bugs import BUGS
from tests.unit.audit.policies import SMALL, WIDE, loaded
from tests.unit.test_readme import ROOT

NAMES = ("everybody", "without the heaviest", "without at the upper bounds", "without in every group")
SURE = 1 - MISS
SHORT = Effort(draws=500, seconds=0.02, confidence=SURE)
LONG = Effort(draws=20_000, seconds=60, confidence=SURE)
PLANTED = {bug.name: bug for bug in BUGS}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    return MadeUp(stand_in(loaded(tmp_path_factory.mktemp("audit"), SMALL)))


@pytest.fixture(scope="module")
def world(made: MadeUp) -> Iterator[Neighbours]:
    with neighbours(made, NAMES) as world:
        yield world


def asked(made: MadeUp, *texts: str, mechanism: str = "laplace") -> list[Posed]:
    """The questions of that text, for that mechanism."""
    return [one for one in questions(made, Fraction(1)) if one.template.sql in texts and one.mechanism == mechanism]


def on_fixed_noise(made: MadeUp, world: Neighbours, asking: Sequence[Posed], draws: int = LONG.draws) -> Verdicts:
    """The report on noise that is always the same."""
    with patch.object(auditing, "ExactSampler", lambda: FixedSampler("audit")):
        return examined(made, world, asking, replace(LONG, draws=draws))


TOTAL = "SELECT SUM(cost) FROM visits"
OF_ROWS = ("SELECT AVG(cost) FROM visits", "SELECT STDDEV(cost) FROM visits")
BY_WARD = "SELECT ward, COUNT(DISTINCT person) FROM visits GROUP BY ward"
BY_DIAGNOSIS = "SELECT diagnosis, COUNT(DISTINCT person) FROM visits GROUP BY diagnosis"


@pytest.mark.chance(MISS, "a bound of the table is above its loss")
def test_nothing_is_convicted_and_the_worst_case_is_reached(made: MadeUp, world: Neighbours) -> None:
    every = questions(made, Fraction(1))
    asking = [one for one in every if one.mechanism not in auditing.OWN_DRAWS or "DISTINCT" in one.template.sql]
    alone = {one.mechanism for one in every} - {one.mechanism for one in asking}
    assert alone == {"friendly_core", "located", *table.METHODS} - {"mbi", "halfspaces"}  # slow; two have no columns
    report = examined(made, world, asking, SHORT)
    assert [row for row in report.rows if row.convicted] == []
    assert report.silent == {}
    assert len(report.rows) > 25
    exact = [row for row in report.rows if row.mechanism in ("laplace", "gaussian", "threshold", "clamped", "top_k")]
    exact = [row for row in exact if row.mechanism != "clamped" or row.question not in OF_ROWS]  # drawn their own way
    assert [row.question for row in exact if row.reached is None or row.reached < 0.999] == []
    assert report.databases == len(NAMES)


def test_a_bound_comes_near_the_claim(made: MadeUp, world: Neighbours) -> None:
    (row,) = on_fixed_noise(made, world, asked(made, TOTAL)).rows
    assert 0.85 < row.measured <= row.epsilon == 1
    assert row.draws == LONG.draws
    assert row.verdict == "holds"


@pytest.mark.parametrize(
    ("bug", "mechanism", "sql", "verdict"),
    [
        ("half noise", "laplace", TOTAL, "epsilon"),
        ("missing group cap", "laplace", BY_WARD, "sensitivity"),
        ("half sensitivity", "laplace", TOTAL, "sensitivity"),
        ("no threshold", "threshold", BY_DIAGNOSIS, "threshold"),
        ("reused noise", "laplace", BY_WARD, "fresh noise"),
        ("float noise", "laplace", TOTAL, "grid"),
    ],
)
def test_a_broken_mechanism_is_convicted(
    made: MadeUp, world: Neighbours, bug: str, mechanism: str, sql: str, verdict: str
) -> None:
    with PLANTED[bug].plant():
        few = LONG.draws if verdict == "epsilon" else SHORT.draws
        (row,) = on_fixed_noise(made, world, asked(made, sql, mechanism=mechanism), few).rows
    assert row.convicted
    assert verdict in row.verdict


@pytest.mark.parametrize("method", [pytest.param("cells", marks=pytest.mark.slow), "tree"])
def test_a_synthetic_table_that_is_paid_for_as_one_row_is_convicted(
    made: MadeUp, world: Neighbours, method: str
) -> None:
    of_rows = table._payments
    (posed,) = [one for one in questions(made, Fraction(1)) if one.mechanism == method]
    with patch.object(table, "_payments", lambda price, neighbours, rows: of_rows(price, neighbours, 1)):
        (row,) = on_fixed_noise(made, world, [posed], 1_000).rows
    assert row.verdict == "CONVICTED: epsilon"
    assert (row.epsilon, row.reached, row.draws) == (1, None, 1_000)


def test_facts_hold_and_noise_for_fewer_counts_is_convicted(made: MadeUp, world: Neighbours) -> None:
    facts = facts_asked(made.policy, Fraction(1), DELTA)
    halved = [replace(own, advice=replace(own.advice, law=_halved(own.advice.law))) for own in facts]
    with patch.object(auditing, "ExactSampler", lambda: FixedSampler("facts")):
        plain, texts = examined(made, world, [], LONG, facts=facts).rows
        broken = examined(made, world, [], LONG, facts=halved).rows
    assert (plain.question, plain.mechanism, plain.verdict) == ("dpsql advise --epsilon 1", "facts", "holds")
    assert plain.reached == pytest.approx(1)
    assert 0.5 < plain.measured <= 1
    assert texts.verdict == "holds"
    assert texts.delta == pytest.approx(0.01, rel=0.2)
    assert [row.verdict for row in broken] == ["CONVICTED: epsilon"] * 2


def _halved(law: Law) -> Law:
    match law:
        case LaplaceLaw(scale=scale):
            return LaplaceLaw(scale / 2)
        case GaussianLaw(variance=variance):
            return GaussianLaw(variance / 9)
    raise AssertionError(law)


def test_half_the_noise_and_a_missing_cap_show_in_the_bound_alone(made: MadeUp, world: Neighbours) -> None:
    for bug, sql in (("half noise", TOTAL), ("missing group cap", BY_WARD)):
        with PLANTED[bug].plant():
            (row,) = on_fixed_noise(made, world, asked(made, sql), draws=100_000).rows
        assert row.measured > 1.1, bug


def _no_cap_on_rows() -> AbstractContextManager[object]:
    def uncapped(**declared: Any) -> shape.TableShape:
        return whole(**{**declared, "rows_per_unit": 10**6})

    whole = shape.TableShape
    return patch.object(shape, "TableShape", uncapped)


@pytest.mark.parametrize("plant", [PLANTED["no clamp"].plant, _no_cap_on_rows], ids=["no clamp", "no cap on rows"])
def test_bounded_tables_that_are_not_bounded_are_convicted(
    made: MadeUp, plant: Callable[[], AbstractContextManager[object]]
) -> None:
    with plant(), neighbours(made, NAMES[:2]) as own:
        (row,) = on_fixed_noise(made, own, asked(made, TOTAL), SHORT.draws).rows
    assert row.verdict == "CONVICTED: sensitivity, charge"


def test_who_is_alone_in_a_cell_is_what_gamma_is_for_and_convicts_nothing(tmp_path: Path) -> None:
    columns = "".join(
        f"\n      {name}: {{type: text, values: [{', '.join(f'{name}{at}' for at in range(many))}]}}"
        for name, many in (("x", 13), ("y", 11))  # more cells than others are made up for
    )
    cells = "random_dp:\n  visits: {assume: iid, base_partition: [x, y], gamma_limit: 0.5, row_floor: 50000}\n"
    text = SMALL.replace("max_groups_per_unit: 3", "").replace("columns:", f"columns:{columns}") + cells
    made = MadeUp(stand_in(loaded(tmp_path, text)))
    with neighbours(made, ("everybody", "without alone in its group")) as world:
        of_both = [one for one in questions(made, Fraction(1)) if one.template.sql.startswith("SELECT x, y")]
        (row,) = on_fixed_noise(made, world, of_both, SHORT.draws).rows
    assert (row.mechanism, row.verdict, row.draws) == ("random_dp", "holds", 0)


CLASSES = """
version: 1
name: classes
engine: {kind: duckdb, database: none.duckdb}
neighbours: add_remove
budget:
  ledger: classes.ledger.db
  composition: zcdp
  total: {epsilon: 4, delta: 1.0e-6}
  analysts: {ana: {epsilon: 3, delta: 1.0e-7}}
  per_query: {epsilon: 0.1, delta: 1.0e-9}
tables:
  people:
    unit: person
    key: person
    rows_per_unit: 1
    columns:
      sex: {type: text, values: [F, M, X]}
privacy_classes: {table: people, column: sex, share: {F: 0.5, M: 1}}
"""


@pytest.mark.parametrize(
    ("policy", "epsilon", "audit"),
    [(CLASSES, Fraction(1), "share of a class"), (CLASSES.partition("privacy_classes")[0], Fraction(1, 2), "charge")],
)
def test_a_choice_that_is_priced_in_rho_holds_and_one_of_twice_its_rate_does_not(
    policy: str, epsilon: Fraction, audit: str, tmp_path: Path
) -> None:
    def doubled(*given: Any) -> Any:
        found = rate(*given)
        return found and (2 * found[0], found[1])

    def claimed(*given: Any) -> Any:  # the rho of twice the rate, at the same epsilon and delta
        found = doubled(*given)
        return found and (found[0], replace(found[1], rho=4 * found[1].rho))

    rate = top_k._rate
    made = MadeUp(stand_in(loaded(tmp_path, policy)))
    (first,) = [one for one in questions(made, epsilon) if one.mechanism == "top_k"]
    with neighbours(made, NAMES[:3]) as world:
        (row,) = on_fixed_noise(made, world, [first], SHORT.draws).rows
        for wrong in (doubled, claimed):
            with patch.object(top_k, "_rate", wrong):
                (broken,) = on_fixed_noise(made, world, [first], SHORT.draws).rows
            assert audit in broken.verdict or (wrong is doubled and "CONVICTED" in broken.verdict)
    assert row.verdict == "holds"


def test_an_engine_that_fails_on_one_neighbour_alone_is_convicted(made: MadeUp, world: Neighbours) -> None:
    def failing(engine: Remembering, statement: EngineStatement) -> RawTable:
        table = whole(engine, statement)
        if sum(map(int, table.column("m0"))) < most:
            raise EngineFailed
        return table

    whole, asking = Remembering.run, asked(made, "SELECT COUNT(*) FROM visits")
    (run,) = world.replay([asking[0].template], BOTH[:1], NAMES[:1]).runs[BOTH[0], NAMES[0]]
    most = run.parts[0].raw[()][0]
    with patch.object(Remembering, "run", failing):
        (row,) = on_fixed_noise(made, world, asking, SHORT.draws).rows
    assert "control flow" in row.verdict
    assert row.draws == 0


def test_a_question_that_fails_is_no_refusal(made: MadeUp, world: Neighbours) -> None:
    def broken(*_: object) -> None:
        raise InvariantBroken("a raw table has no column")

    with patch("dpsql.buying.noised", broken), pytest.raises(InvariantBroken, match="fails, where"):
        examined(made, world, asked(made, TOTAL), SHORT)


@pytest.mark.slow
@pytest.mark.chance(MISS, "a bound of the table is above its loss")
@pytest.mark.parametrize("name", ["consent", "homes", "hospital", "survey", "wide"])
def test_no_policy_of_ours_is_convicted(tmp_path: Path, name: str) -> None:
    policy = loaded(tmp_path, WIDE) if name == "wide" else load_policy(ROOT / "policies" / f"{name}.yaml")
    steps: list[float] = []
    report = audit(policy, SHORT, lambda _, done: steps.append(done))
    assert [row for row in report.rows if row.convicted] == []
    assert steps == sorted(steps)
    assert {row.mechanism for row in report.rows} >= {"laplace", "exponential", "preprocessing"}
    if name == "consent":
        assert {"of class strict", "of class normal"} <= {row.of for row in report.rows}
    if name == "homes":
        assert "a row replaced" in {row.of for row in report.rows}
