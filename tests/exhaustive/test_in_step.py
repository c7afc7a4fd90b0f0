"""What draws too often for its law to be listed, draw by draw in two tables at once; planted bugs are convicted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from dpsql.mechanisms.capped.groups import CappedThreshold
from dpsql.mechanisms.capped.release import CappedRelease
from dpsql.mechanisms.capped.sizes import SizeSearch
from dpsql.mechanisms.choice.groups import GroupedRows
from dpsql.mechanisms.clamped import mean as clamped_mean
from dpsql.mechanisms.located import release as located_release
from dpsql.mechanisms.located import search as located_search
from dpsql.mechanisms.located.parts import COUNT
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.releases import marginals
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.tree import TreeShape
from dpsql.privacy.sampling import Integers, Sampler, noised
from dpsql.privacy.tables import RawTable
from tests.exhaustive.branching import UnlistedError
from tests.exhaustive.corpus import FOLLOWED_CASES, MEAN, OPEN
from tests.exhaustive.in_step import Pairs
from tests.exhaustive.planted import half_noise, twice_the_price
from tests.exhaustive.statements import Case, in_step
from tests.exhaustive.steps import ALL, Noised
from tests.exhaustive.synthetic import ASKED, Synthetic, released_table
from tests.exhaustive.tables import FOLLOWED, RELATIONS
from tests.exhaustive.verdicts import Claim
from tests.exhaustive.world import TinyWorld

BY_SUM = "SELECT g, SUM(x) FROM {t} GROUP BY g"
CAPPED = replace(FOLLOWED_CASES[0], options={**FOLLOWED_CASES[0].options, "epsilon": 4})
"""A high price: what the choice within the cap loses then comes nearer to its bound."""

QUICK_CASES = tuple(case for case in FOLLOWED_CASES if case.family == "single" and case.mechanism != "located")
QUICK_TABLES = tuple(
    case for case in ASKED if case.method in {"cells", "tree", "mwem", "projected", "smalldb_paths"} and case.epsilon
)


def _case(mechanism: str, sql: str, family: str, price: str = "") -> Case:
    """The first such case, at a price of such a kind."""
    alike = (own for own in FOLLOWED_CASES if (own.mechanism, own.sql, own.family) == (mechanism, sql, family))
    return next(own for own in alike if not price or price in own.options)


LOCATED = _case("located", MEAN, "lone")


@pytest.fixture(scope="module")
def smallest() -> Iterator[TinyWorld]:
    with TinyWorld({"single": 1}) as world:
        yield world


@pytest.fixture(scope="module")
def longer() -> Iterator[TinyWorld]:
    with TinyWorld({"single": 1, "lone": 1, "alone": 3, "first": 2, "both": 2, "by_sum": 1}) as world:
        yield world


@pytest.fixture(scope="module")
def followed() -> Iterator[TinyWorld]:
    with TinyWorld(FOLLOWED) as world:
        yield world


def test_no_draw_over_the_smallest_tables_tells_more_than_is_charged(smallest: TinyWorld) -> None:
    for case in QUICK_CASES:
        verdict = in_step(smallest, case, "add_remove")
        assert verdict.checks > 0
        assert verdict.broken == 0, case


@pytest.mark.every(2)
@pytest.mark.parametrize("case", QUICK_TABLES, ids=str)
def test_no_draw_of_a_small_synthetic_table_tells_more_than_is_charged(case: Synthetic) -> None:
    verdict = released_table(case, RELATIONS[case.swaps])
    assert verdict.checks > 0
    assert verdict.broken == 0


@pytest.mark.slow
@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("case", "relation"), [(case, relation) for case in FOLLOWED_CASES for relation in case.relations], ids=str
)
def test_no_draw_over_any_followed_table_tells_more_than_is_charged(
    followed: TinyWorld, case: Case, relation: str
) -> None:
    verdict = in_step(followed, case, relation)
    assert verdict.checks > 0
    assert verdict.broken == 0


@pytest.mark.slow
@pytest.mark.parametrize("case", ASKED, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_draw_of_any_synthetic_table_tells_more_than_is_charged(case: Synthetic, relation: str) -> None:
    if case.swaps and relation == "add_remove":
        return
    verdict = released_table(case, relation)
    assert verdict.checks > 0
    assert verdict.broken == 0


def _sizes_for_an_eighth() -> AbstractContextManager[object]:
    return patch.object(SizeSearch, "law", property(lambda search: LaplaceLaw(search.units / search.epsilon / 8)))


def _no_cap() -> AbstractContextManager[object]:
    def all_rows(release: CappedRelease, groups: Any, place: int) -> GroupedRows:
        return kept(release, groups, len(release.search.edges) - 1)

    kept = CappedRelease.kept
    return patch.object(CappedRelease, "kept", all_rows)


def _no_cap_of_a_mean() -> AbstractContextManager[object]:
    def all_rows(release: CappedRelease, raw: RawTable, place: int) -> RawTable:
        return within(release, raw, len(release.search.edges) - 1)

    within = CappedRelease.within
    return patch.object(CappedRelease, "within", all_rows)


def _no_cap_of_groups() -> AbstractContextManager[object]:
    def all_groups(release: CappedThreshold, raw: RawTable, place: int) -> RawTable:
        return within(release, raw, len(release.search.edges) - 1)

    within = CappedThreshold.within
    return patch.object(CappedThreshold, "within", all_groups)


def _totals_that_are_not_clipped() -> AbstractContextManager[object]:
    return patch.object(clamped_mean, "total", lambda values, units, window: 10 * int(np.dot(values, units)))


def _a_count_that_is_not_paid_for() -> AbstractContextManager[object]:
    return patch.object(located_search, "COUNT", 8 * COUNT)


def _nothing_clipped() -> AbstractContextManager[object]:
    def whole(groups: Iterable[tuple[Integers, Integers]], window: object) -> list[int]:
        return [10 * int(np.dot(values, rows)) for values, rows in groups]

    return patch.object(located_release, "totals", whole)


def _one_level_for_nothing() -> AbstractContextManager[object]:
    levels = TreeShape.levels
    assert isinstance(levels, property)
    return patch.object(TreeShape, "levels", property(lambda shape: levels.__get__(shape) - 1))


def _rounds_for_the_price_of_one() -> AbstractContextManager[object]:
    def one(payment: Payment, share: Fraction, numbers: int) -> LaplaceLaw:
        return LaplaceLaw(payment.rows / payment.amount / 2)

    return patch.object(Payment, "number_noise", one)


def _pairs_for_the_whole_price() -> AbstractContextManager[object]:
    return patch.object(marginals, "pair_share", lambda: Fraction(1))


STATEMENTS: dict[str, tuple[Callable[[], AbstractContextManager[object]], Case]] = {
    "half the noise of a variance": (half_noise, QUICK_CASES[0]),
    "half the noise of a covariance": (half_noise, QUICK_CASES[1]),
    "sizes with an eighth of the noise": (_sizes_for_an_eighth, CAPPED),
    "rows above the cap": (_no_cap, CAPPED),
    "rows of a mean above the cap": (_no_cap_of_a_mean, _case("capped", MEAN, "first")),
    "groups above the cap": (_no_cap_of_groups, _case("capped", OPEN, "both")),
    "groups above the cap, at a price in rho": (_no_cap_of_groups, _case("capped", OPEN, "both", "rho")),
    "totals that are not clipped": (_totals_that_are_not_clipped, _case("clamped", MEAN, "first")),
    "half the noise of a mean at its place": (half_noise, _case("located", MEAN, "single")),
    "half the noise of sums by a metric": (half_noise, _case("metric", BY_SUM, "by_sum")),
    "a count that is not paid for": (_a_count_that_is_not_paid_for, LOCATED),
    "a sum that is not clipped": (_nothing_clipped, LOCATED),
}
TABLES: dict[str, tuple[Callable[[], AbstractContextManager[object]], str]] = {
    "half the noise of cells": (half_noise, "cells"),
    "half the noise of a tree": (half_noise, "tree"),
    "a level of a tree that is not paid for": (_one_level_for_nothing, "tree"),
    "half the noise of rectangles": (half_noise, "rectangles"),
    "half the noise of half planes": (half_noise, "halfplanes"),
    "half the noise of projected points": (half_noise, "projected"),
    "pairs of more that cost the whole price": (_pairs_for_the_whole_price, "mbi"),
    "all rounds for the price of one": (_rounds_for_the_price_of_one, "mwem"),
    "pairs that cost the whole price": (_pairs_for_the_whole_price, "marginals"),
    "small databases chosen at twice their price": (twice_the_price, "smalldb"),
    "paths chosen at twice their price": (twice_the_price, "smalldb_paths"),
}
LONG = {"capped", "clamped", "located", "metric", "marginals", "mbi", "halfplanes", "smalldb"}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, case) in STATEMENTS.items() if case.mechanism in LONG])
def test_a_bug_in_a_long_release_is_convicted(longer: TinyWorld, name: str) -> None:
    plant, case = STATEMENTS[name]
    with plant():
        assert in_step(longer, case, "add_remove").broken


@pytest.mark.parametrize("name", [name for name, (_, case) in STATEMENTS.items() if case.mechanism not in LONG])
def test_a_bug_in_a_statement_is_convicted(smallest: TinyWorld, name: str) -> None:
    plant, case = STATEMENTS[name]
    with plant():
        assert in_step(smallest, case, "add_remove").broken


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if own[1] in LONG else []) for name, own in TABLES.items()]
)
def test_a_bug_in_a_synthetic_table_is_convicted(name: str) -> None:
    plant, method = TABLES[name]
    case = next(case for case in ASKED if case.method == method)
    with plant():
        assert released_table(case, RELATIONS[case.swaps]).broken


def _verdict(one: Callable[[Sampler], bytes], two: Callable[[Sampler], bytes]) -> int:
    return Pairs().verdict((one, two), ("one", "two"), Claim(Fraction(1))).broken


def test_a_release_that_looks_at_its_table_beside_its_draws_is_convicted() -> None:
    """Also where a choice decides what is drawn next, and where only what is released tells."""

    def plain(sampler: Sampler) -> bytes:
        return bytes([sampler.permute_and_flip([0, 0], Fraction(1))])

    def tells(sampler: Sampler) -> bytes:
        return plain(sampler) + b"!"

    def draws_on(sampler: Sampler) -> bytes:
        chosen = plain(sampler)
        return chosen if chosen == b"\0" else bytes([sampler.permute_and_flip([0, 9], Fraction(1))])

    assert _verdict(plain, plain) == 0
    assert _verdict(draws_on, draws_on) == 0
    assert _verdict(plain, tells)
    assert _verdict(plain, draws_on)


def test_draws_add_up() -> None:
    """Two choices of a half each cost one together; a third is too much."""

    def drawing(times: int, scores: list[int]) -> Callable[[Sampler], bytes]:
        return lambda sampler: bytes(sampler.intervals([1, 1], scores, Fraction(1, 2))[0] for _ in range(times))

    for times, broken in ((2, False), (3, True)):
        assert bool(_verdict(drawing(times, [0, 39]), drawing(times, [0, 40]))) is broken


def test_noise_that_nothing_is_added_to_is_not_followed() -> None:
    def hidden(sampler: Sampler) -> bytes:
        return bytes(sampler.laplace(Fraction(1), 1).tolist())

    with pytest.raises(UnlistedError):
        _verdict(hidden, hidden)


def test_noise_costs_what_its_law_says() -> None:
    """The closed form of an order is the sum over the law itself."""
    scale, one, two = Fraction(3, 2), 4, 6
    steps = Noised("laplace", scale, (one,)), Noised("laplace", scale, (two,))
    q = np.exp(-1 / float(scale))
    k = np.arange(-60, 60)
    first, second = ((1 - q) / (1 + q) * q ** np.abs(k - own) for own in (one, two))
    for order in (2, 3, 8):
        assert steps[0].order(steps[1], order).log == pytest.approx(
            np.log((first**order / second ** (order - 1)).sum())
        )
    costs = [cost for _, cost in steps[0].seen(steps[1], ALL) if cost is not None]
    assert max(cost.exponent for cost in costs) == Fraction(2) / scale == steps[0].most(steps[1]).exponent  # type: ignore[union-attr]
    assert noised([1], np.array([2])).tolist() == [3]
