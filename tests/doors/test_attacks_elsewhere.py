"""The attacks of tests/attacks on other engines: the same tests, over the same data moved there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings

import dpsql.testing
from dpsql.engine.dialect import Dialect
from dpsql.errors import UnsupportedQuery
from dpsql.session import Session
from dpsql.testing import Noiseless, TestProxy
from examples import postgres
from tests.attacks import test_asked_at_once as at_once
from tests.attacks import test_classes as classes
from tests.attacks import test_crafted as crafted
from tests.attacks import test_missing_values as missing
from tests.attacks import test_narrowed_bounds as narrowed
from tests.attacks import test_stability as stability
from tests.attacks import test_unit_keys as unit_keys
from tests.attacks.consenting import QUESTIONS, Clinic
from tests.attacks.fuzzed import asked, explained
from tests.attacks.fuzzed import opened as fuzzed
from tests.attacks.random_rows import Drawn, sub_queries
from tests.attacks.relations import Tables, planned, selected
from tests.doors.elsewhere import Ask, Elsewhere, OnPostgres, Unplanned
from tests.sql.databases import POLICIES

pytestmark = [pytest.mark.doors, pytest.mark.chance(0, "no noise is looked at, or the same every time")]

Folders = pytest.TempPathFactory
Worlds = dict[int, tuple[Dialect, Ask]]


@contextmanager
def opened(policy: Path, sampler: object = None) -> Iterator[TestProxy]:
    with dpsql.testing.open(policy, sampler or Noiseless()) as proxy:  # type: ignore[arg-type]  # a sampler
        yield proxy


class TestUnitKeys:
    """A key that is the unit."""

    @pytest.fixture(scope="class")
    @classmethod
    def sides(cls, elsewhere: Elsewhere, tmp_path_factory: Folders) -> Iterator[tuple[TestProxy, TestProxy]]:
        folder = tmp_path_factory.mktemp("keys")
        one, two = (
            elsewhere.beside(unit_keys.written(folder / str(len(people)), people)) for people in ((1, 2, 3), (1, 2))
        )
        with opened(one) as everybody, opened(two) as without:
            yield everybody, without

    test_a_join = staticmethod(unit_keys.test_a_join_on_a_key_that_is_the_unit_meets_one_row)
    test_no_two_rows = staticmethod(unit_keys.test_no_two_rows_of_a_unit_are_alike_in_a_key_of_several_columns)


class TestMissingValues:
    """Missing values where the policy says that none is missing."""

    @pytest.fixture(scope="class", params=missing.MISSING[:2])
    @classmethod
    def sessions(
        cls, elsewhere: Elsewhere, request: pytest.FixtureRequest, tmp_path_factory: Folders
    ) -> Iterator[Callable[[], missing.Counting]]:
        policy = missing.written(tmp_path_factory.mktemp("missing"), request.param)
        with opened(elsewhere.beside(policy)) as proxy:
            yield lambda: missing.Counting(proxy._backend, "ana")

    test_an_interval = staticmethod(missing.test_an_interval_is_as_wide_whatever_is_missing)
    test_a_missing_value = staticmethod(missing.test_a_missing_value_stands_at_the_centre)


class TestCrafted:
    """Values and statements crafted to get an answer that is not what it says."""

    @pytest.fixture(scope="class")
    @classmethod
    def clinic(cls, elsewhere: Elsewhere, tmp_path_factory: Folders) -> Iterator[crafted.Clinic]:
        with ExitStack() as stack:

            def clinic(neighbours: str = "add_remove", sampler: object = None) -> Session:
                policy = elsewhere.beside(crafted.written(tmp_path_factory.mktemp("crafted"), neighbours))
                return stack.enter_context(opened(policy, sampler)).session(analyst="ana")

            yield clinic

    @pytest.fixture(scope="class")
    @classmethod
    def session(cls, clinic: crafted.Clinic) -> Session:
        return clinic()

    test_a_key = staticmethod(crafted.test_a_key_stays_a_key_through_union_all)
    test_totals = staticmethod(crafted.test_totals_of_rows_that_a_cap_cuts_are_not_spread_over_their_parts)
    test_a_public_total = staticmethod(crafted.test_an_exact_public_total_stays_exact)
    test_zero = staticmethod(crafted.test_zero_has_no_sign_that_would_tell_whose_row_came_first)
    test_a_confidence = staticmethod(crafted.test_a_confidence_that_floats_round_to_0_or_1_is_refused_before_the_charge)


class TestAskedAtOnce:
    """One question asked at the same moment."""

    @pytest.fixture
    def folder(self, elsewhere: Elsewhere, tmp_path: Path) -> Path:
        return elsewhere.beside(at_once.written(tmp_path)).parent

    @pytest.fixture
    def overtaken(self, folder: Path) -> Iterator[object]:
        with at_once.two(folder) as found:
            yield found

    test_spellings = staticmethod(at_once.test_spellings_asked_at_one_moment_are_one_charge_and_one_draw)
    test_released_meanwhile = staticmethod(
        at_once.test_what_another_process_released_meanwhile_is_served_and_not_charged
    )
    test_two_processes = staticmethod(at_once.test_two_processes_that_ask_the_same_at_one_moment_pay_once)


class TestClasses:
    """Each class of units for itself, on PostgreSQL: the same would take minutes on Spark."""

    @pytest.fixture(scope="class")
    @classmethod
    def elsewhere(cls, server: postgres.Server) -> Elsewhere:
        return OnPostgres(server)

    @pytest.fixture(scope="class")
    @classmethod
    def everybody(cls, elsewhere: Elsewhere) -> Iterator[Clinic]:
        with Clinic(moved=elsewhere.beside) as clinic:
            yield clinic

    @pytest.fixture(scope="class")
    @classmethod
    def answers(cls, elsewhere: Elsewhere, everybody: Clinic) -> classes.Answers:
        found: classes.Answers = {name: {"": everybody.ask(sql)} for name, sql in QUESTIONS.items()}
        for gone in classes.REMOVED:
            with Clinic(gone=[gone], moved=elsewhere.beside) as without:
                for name, sql in QUESTIONS.items():
                    found[name][gone] = without.ask(sql)
        return found

    test_who_is_removed = staticmethod(classes.test_who_is_removed_loses_no_more_than_the_share_of_their_class)
    test_the_whole_loss = staticmethod(classes.test_the_audit_reaches_the_whole_loss_of_each_class)
    test_a_class = staticmethod(classes.test_no_statement_names_the_class_of_a_unit)


class TestNarrowedBounds:
    """Bounds narrowed by conditions, over rows that another engine lets through."""

    @pytest.fixture(scope="class")
    @classmethod
    def asked(cls, elsewhere: Elsewhere, tmp_path_factory: Folders) -> Iterator[tuple[Dialect, Ask]]:
        file = tmp_path_factory.mktemp("narrowed") / "narrowed.duckdb"
        with duckdb.connect(str(file)) as database:
            narrowed.fill(database, "t")
        with elsewhere.asked(elsewhere.load(file)) as found:
            yield found

    def test_no_row_lies_outside(self, asked: tuple[Dialect, Ask]) -> None:
        words, ask = asked

        @given(narrowed.arguments(), narrowed.conditions(), narrowed.conditions())
        @settings(max_examples=100, deadline=None, database=None, suppress_health_check=narrowed.CHECKS)
        def drawn(argument: str, where: str, kept: str) -> None:
            narrowed.assert_inside(words, ask, argument, where, kept)

        drawn()


@pytest.mark.parametrize("name", POLICIES)
def test_nothing_is_charged_and_then_fails(elsewhere: Elsewhere, name: str, tmp_path: Path, seed: int) -> None:
    with fuzzed(name, tmp_path, seed, elsewhere.beside) as session:
        asked(session, name, seed, 4)
        explained(session, name, seed, 30)


class TestRelations:
    """Rows of rows, however they are made: each has the rows there that it has on DuckDB, where none moves too far.
    Sail has no plan for one of them: such a statement fails before its charge.
    """

    @pytest.fixture(scope="class")
    @classmethod
    def tables(cls) -> Iterator[Tables]:
        tables = Tables()
        yield tables
        tables.close()

    @pytest.fixture(scope="class")
    @classmethod
    def worlds(cls, elsewhere: Elsewhere, tables: Tables, tmp_path_factory: Folders) -> Iterator[Worlds]:
        folder = tmp_path_factory.mktemp("worlds")
        with ExitStack() as stack:
            found = {}
            for world in (0, 5):
                tables.keep(world, folder / f"{world}.duckdb")
                found[world] = stack.enter_context(elsewhere.asked(elsewhere.load(folder / f"{world}.duckdb")))
            yield found

    @pytest.mark.parametrize("sql", [*stability.RELATIONS, *stability.VARIANTS])
    def test_a_relation(self, tables: Tables, worlds: Worlds, sql: str) -> None:
        self.the_same(tables, worlds, sql)

    def test_random_relations(self, tables: Tables, worlds: Worlds) -> None:
        @given(sub_queries())
        @settings(max_examples=60, deadline=None, database=None, suppress_health_check=stability.CHECKS)
        def drawn(one: Drawn) -> None:
            self.the_same(tables, worlds, one.sql)

        drawn()

    def the_same(self, tables: Tables, worlds: Worlds, sql: str) -> None:
        try:
            relation = planned(sql)
        except UnsupportedQuery:
            return
        for world, (words, ask) in worlds.items():
            text, parameters = selected(relation, words)
            try:
                found = ask(text, parameters)
            except Unplanned:
                assert words.name == "Spark"
                return
            assert Counter(map(tuple, found)) == tables.rows(relation, world), sql
