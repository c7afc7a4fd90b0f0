"""Every pair of tiny neighbours, every output: no chance is above e^epsilon times the other, but for delta.

A planted bug is convicted by the same inequalities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import pytest

from dpsql.mechanisms import MECHANISMS
from dpsql.mechanisms.noise import sensitivity
from dpsql.mechanisms.noise.laws import GaussianLaw
from dpsql.plan.known.groups import most_groups
from dpsql.plan.nodes import Relation
from dpsql.plan.plans import Key
from dpsql.prepare import sources
from dpsql.privacy.sampling import Integers, Sampler
from tests.attacks.seeded_bugs import BUGS
from tests.exhaustive.corpus import BY_MECHANISM, FOLLOWED_CASES, LEFT_OUT, MEAN, MODE, PLANS, QUICK
from tests.exhaustive.planted import half_noise, twice_the_price
from tests.exhaustive.statements import Case, claimed, convicted, laws, verified
from tests.exhaustive.tables import FAMILIES, RELATIONS, neighbours
from tests.exhaustive.verdicts import Claim, Verdict, compared
from tests.exhaustive.world import TinyWorld

LEAST_CHECKS = 1_000_000
"""That `make test-slow` decides."""

LESS = 1 - Fraction(1, 10**30)
"""Of a claim: far less than a float could tell."""

SEVERAL = {"epsilon": 1, "mechanism": "laplace"}
GROUPS = "SELECT g, COUNT(DISTINCT id) FROM {t} GROUP BY g"


@pytest.fixture(scope="module")
def smallest() -> Iterator[TinyWorld]:
    with TinyWorld({"single": 2, "several": 2, "missing": 2, "by_sum": 1}) as world:
        yield world


@pytest.fixture(scope="module")
def every() -> Iterator[TinyWorld]:
    with TinyWorld() as world:
        yield world


@pytest.mark.parametrize(
    ("relation", "step"),
    [*((one, 2) for one in RELATIONS), *(pytest.param(one, 1, marks=pytest.mark.slow) for one in RELATIONS)],
)
def test_no_output_of_the_smallest_tables_tells_more_than_is_charged(
    smallest: TinyWorld, relation: str, step: int
) -> None:
    """All that is asked of them, or every second of it."""
    for case in QUICK[::step]:
        verdict = verified(smallest, case, relation)
        assert verdict.checks > 0
        assert verdict.broken == 0, case


@pytest.mark.slow
def test_no_output_of_any_tiny_table_tells_more_than_is_charged(every: TinyWorld) -> None:
    total = Verdict()
    for case in (*BY_MECHANISM, *PLANS):
        for relation in case.relations:
            verdict = verified(every, case, relation)
            print(f"{relation}; {case}: {verdict.checks:,} checks, {verdict}")
            assert verdict.checks > 0
            assert verdict.broken == 0, (relation, case)
            total += verdict
    assert total.checks >= LEAST_CHECKS


def test_every_mechanism_is_listed_or_left_out_with_a_reason() -> None:
    listed = {case.mechanism for case in (*BY_MECHANISM, *FOLLOWED_CASES)}
    assert listed | LEFT_OUT.keys() == {mechanism.name for mechanism in MECHANISMS}
    assert not listed & LEFT_OUT.keys()


def test_neighbours_are_those_of_the_relation() -> None:
    single, several = FAMILIES["single"], FAMILIES["several"]
    assert len(single.tables) == 35  # multisets of 0 to 4 rows of 3 kinds
    assert len(several.tables) == 180
    assert len(FAMILIES["missing"].tables) == 100  # of two units, each with one of 1 + 3 + 6 multisets
    # From each multiset of 0 to 3 rows one of 3 rows comes, and goes; for each, one of 3 pairs is swapped.
    assert [len([*neighbours(single, relation)]) for relation in RELATIONS] == [2 * 20 * 3, 2 * 20 * 3]


def _half_deviation() -> AbstractContextManager[object]:
    def half(law: GaussianLaw, sampler: Sampler, size: int) -> Integers:
        return sampler.gaussian(law.variance / 4, size)

    return patch.object(GaussianLaw, "draw", half)


def _listed(mechanism: str, sql: str, family: str = "single") -> Case:
    """The first such case."""
    return next(own for own in BY_MECHANISM if (own.mechanism, own.sql, own.family) == (mechanism, sql, family))


def _one_too_low() -> AbstractContextManager[object]:
    def lower(l1: int, l2_squared: int, one_cell: bool) -> sensitivity.Sensitivity:
        return whole(l1 - 1, l2_squared - 1, one_cell)

    whole = sensitivity.Sensitivity
    return patch.object(sensitivity, "Sensitivity", lower)


def _no_group_of_missing_values() -> AbstractContextManager[object]:
    def values_alone(relation: Relation, keys: Sequence[Key]) -> int | None:
        known = [own.domain and tuple(value for value in own.domain if value is not None) for own in keys]
        return most_groups(relation, [replace(own, domain=domain) for own, domain in zip(keys, known, strict=True)])

    return patch.object(sources, "most_groups", values_alone)


PLANTED: dict[str, tuple[Callable[[], AbstractContextManager[object]], Case]] = {
    "half the noise": (half_noise, QUICK[0]),
    "half the noise of a mean at a price with delta": (_half_deviation, _listed("gaussian", MEAN)),
    "half the noise of a mean by a metric": (half_noise, _listed("metric", MEAN, "by_sum")),
    "a quantile chosen at twice its price": (twice_the_price, QUICK[5]),
    "a mode chosen at twice its price": (twice_the_price, QUICK[6]),
    "a mode chosen at twice its price by a metric": (twice_the_price, _listed("metric", MODE, "by_sum")),
    "first groups chosen at twice their price": (twice_the_price, QUICK[7]),
    "a sensitivity that is one too low": (_one_too_low, QUICK[0]),
    "a sensitivity that is one too low, at a price in rho": (_one_too_low, QUICK[4]),
    "the group of missing values is forgotten": (_no_group_of_missing_values, QUICK[-1]),
    **{
        bug.name: (bug.plant, case)
        for bug in BUGS
        for name, case in {
            "half sensitivity": QUICK[0],
            "no threshold": QUICK[3],
            "threshold off by one": QUICK[3],
            "missing group cap": Case("laplace", GROUPS, {**SEVERAL, "max_groups_per_unit": 1}, "several"),
            "wrong group count": Case("laplace", GROUPS, SEVERAL, "several"),
            "float noise": QUICK[0],
        }.items()
        if bug.name == name
    },
    "a threshold off by one, at a price in rho": (
        next(bug.plant for bug in BUGS if bug.name == "threshold off by one"),
        next(own for own in BY_MECHANISM if own.mechanism == "gaussian_threshold" and own.options.get("rho") == 0.5),
    ),
}
"""Each bug, with a statement that it shows in."""


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_convicted_by_an_exact_inequality(smallest: TinyWorld, name: str) -> None:
    plant, case = PLANTED[name]
    with plant():
        assert convicted(smallest, case, "add_remove")


def test_values_beyond_their_bounds_are_convicted_where_nothing_clamps_them() -> None:
    (no_clamp,) = (bug for bug in BUGS if bug.name == "no clamp")
    with no_clamp.plant(), TinyWorld({"single": 1}) as world:
        assert convicted(world, QUICK[0], "add_remove")


@pytest.mark.parametrize("at", [0, 3], ids=["epsilon", "delta"])
def test_a_claim_that_is_a_little_too_small_is_refuted(smallest: TinyWorld, at: int) -> None:
    found, pairs = laws(smallest, QUICK[at], "add_remove"), [*neighbours(FAMILIES["single"], "add_remove", 2)]
    claim = claimed(found.loss)
    assert claim.epsilon
    nearly = Claim(claim.epsilon, claim.delta * LESS) if claim.delta else Claim(claim.epsilon * LESS)
    assert sum(compared(found.by_table[one], found.by_table[two], nearly).broken for one, two in pairs)


def test_a_rho_that_is_a_little_too_small_is_refuted(smallest: TinyWorld) -> None:
    found, pairs = laws(smallest, QUICK[4], "add_remove"), [*neighbours(FAMILIES["single"], "add_remove", 2)]
    nearly = Claim(None, rho=Fraction(1, 2) * (1 - Fraction(1, 10**12)))  # nine standard deviations show that much
    assert sum(compared(found.by_table[one], found.by_table[two], nearly).broken for one, two in pairs)


def test_pairs_that_gamma_is_charged_for_lose_more_than_epsilon() -> None:
    (case,) = (case for case in BY_MECHANISM if case.mechanism == "random_dp")
    with TinyWorld({"cells": 1}) as world:
        found, verdict = laws(world, case, "add_remove"), Verdict()
        for one, two in neighbours(FAMILIES["cells"], "add_remove", 1):
            verdict += compared(found.by_table[one], found.by_table[two], claimed(found.loss))
    assert verdict.broken
