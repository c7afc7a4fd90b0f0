"""Preprocessing as SQL gets it: how far neighbours move what is noised, where Delta comes from, and what is refused."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Offer, Price, Refusal, Request
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.preprocessing import maximum, mean_of, median, minimum, quantile, trimmed_mean, variance_of
from dpsql.mechanisms.preprocessing.mechanism import Preprocessing
from dpsql.mechanisms.preprocessing.release import STEPS, ByRows, Fixed, PreprocessedRelease, PreprocessedSum
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.types import Facts, Grid, Type
from dpsql.privacy.kinds import Pure
from dpsql.privacy.loss import Composed
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import CITY, FEW_ROWS, ONE_ROW, OPEN, asking, counted, offered, raw

INCOME = Facts(Type.INTEGER, centre=Fraction(40), spread=Fraction(20))
ONE = Price(Fraction(1), Fraction(0))
MUCH = Price(Fraction(900), Fraction(0))
NAMED = Options(mechanism="preprocessing", sensitivity=Fraction(24))
BY_NAME = Options(mechanism="preprocessing")
BOUNDED = Grid(Fraction(1), -50, 150)
FUNCTIONS = ("quantile_cont", "avg", "trimmed_mean", "var_pop", "var_samp", "stddev_samp", "min", "max")


def request(function: str, **given: Any) -> Request:
    """A request for a column without bounds, with centre 40 and spread 20."""
    fraction = Fraction(1, 5) if function in ("trimmed_mean", "quantile_disc") else Fraction(1, 2)
    return asking(function, **{"facts": INCOME, "grid": None, "price": ONE, "fraction": fraction, **given})


def offer(function: str, **given: Any) -> PreprocessedRelease:
    release = offered(Preprocessing().offer(request(function, **given)))
    assert isinstance(release, PreprocessedRelease)
    return release


def refused(function: str, **given: Any) -> str:
    answer = Preprocessing().offer(request(function, **given))
    assert isinstance(answer, Refusal)
    return answer.reason


def answers(release: Offer, *groups: Sequence[int]) -> Sequence[Any]:
    """What it releases without noise."""
    return release.release(counted(*map(Counter, groups)), Noiseless()).values


def steps(release: PreprocessedRelease, values: Sequence[int], rows: int) -> int:
    """The number of one group that gets noise, after so many rows were released."""
    tally = Counter(values)
    rising = sorted(tally)
    return release.steps(np.array(rising, dtype=np.int64), np.array([tally[v] for v in rising], dtype=np.int64), rows)


def epsilons(release: PreprocessedRelease) -> list[Fraction]:
    """Of the number of rows, where that is noised, and of the answer."""
    parts = release.loss.parts if isinstance(release.loss, Composed) else (release.loss,)
    return [part.epsilon for part in parts if isinstance(part, Pure)]


# --------------------------------------------------------------------------------------------------- the theorem


@pytest.mark.parametrize(
    ("function", "named"), [*((name, True) for name in FUNCTIONS), *((name, False) for name in FUNCTIONS[:-2])]
)
def test_a_unit_moves_all_groups_together_by_no_more_than_its_rows(function: str, named: bool) -> None:
    held = Contribution(rows=3, groups=2, rows_in_group=3)
    release = offer(function, held=held, keys=(CITY,), rows_about=60, price=MUCH, options=NAMED if named else Options())
    chance = random.Random(f"{function} {named}")
    farthest = Fraction(0)
    for _ in range(80):
        released = [chance.randint(-3, 9) for _ in range(2)]  # whatever numbers of rows came out before
        groups = [[chance.choice((-900, 0, 39, 40, 41, 7000)) for _ in range(chance.randrange(6))] for _ in range(2)]
        unit = [(chance.randrange(2), chance.choice((-(10**6), 0, 40, 10**6))) for _ in range(3)]
        fuller = [[*group, *(value for at, value in unit if at == index)] for index, group in enumerate(groups)]
        moved = sum(
            abs(steps(release, one, n) - steps(release, two, n))
            for one, two, n in zip(groups, fuller, released, strict=True)
        )
        assert moved <= 3 * STEPS
        farthest = max(farthest, Fraction(moved, 3 * STEPS))
    assert farthest >= Fraction(1, 3)
    assert release.law.scale == 3 * STEPS / epsilons(release)[-1]


def test_a_swap_moves_a_median_by_twice_its_sensitivity_and_gets_twice_the_noise() -> None:
    options = replace(NAMED, centre=Fraction(0))
    for n in (1, 2, 9):
        release = offer("quantile_cont", options=options, neighbours="replace_one")
        one, two = [1000 * 24] * n, [1000 * 24] * (n - 1) + [-(10**6)]
        assert steps(release, one, 0) - steps(release, two, 0) == 2 * STEPS
        assert release.law.scale == 2 * STEPS


def test_a_price_in_rho_buys_no_more_than_it() -> None:
    release = offer("avg", price=Price(None, Fraction(0), Fraction(1, 8)))
    assert sum(epsilon * math.tanh(epsilon / 2) for epsilon in map(float, epsilons(release))) <= 1 / 8


# ------------------------------------------------------------------------------------------------- what comes out


def test_without_noise_the_answer_is_the_preprocessed_statistic_of_each_group() -> None:
    groups: tuple[list[int], ...] = ([30, 30, 30, 55, 900], [], [77], [-5, 200, 40, 41] * 3)
    forms: dict[str, Callable[[list[int], int], Fraction]] = {
        "quantile_cont": lambda x, d: median(x, centre=40, sensitivity=d),
        "avg": lambda x, d: mean_of(x, centre=40, sensitivity=d),
        "trimmed_mean": lambda x, d: trimmed_mean(x, Fraction(1, 5), centre=40, sensitivity=d),
        "var_pop": lambda x, d: variance_of(x, sensitivity=d),
        "var_samp": lambda x, d: variance_of(x, sensitivity=d, ddof=1),
        "quantile_disc": lambda x, d: quantile(x, Fraction(1, 5), centre=40, sensitivity=d, discrete=True),
        "min": lambda x, d: minimum(x, d, centre=40),
        "max": lambda x, d: maximum(x, d, centre=40),
    }
    for function, form in forms.items():
        release = offer(function, keys=(CITY,), options=NAMED)
        wanted = [float(form(group, 24)) for group in groups]
        assert answers(release, *groups) == pytest.approx(wanted, abs=24e-6), function
    roots = answers(offer("stddev_pop", keys=(CITY,), options=NAMED), *groups)
    assert roots == pytest.approx([float(variance_of(group, sensitivity=24)) ** 0.5 for group in groups], abs=1e-3)


def test_an_empty_group_is_noise_around_the_centre_and_around_0_for_a_variance() -> None:
    step, elsewhere = 24e-6, replace(NAMED, centre=Fraction(7))  # rounded down to a millionth of Delta
    assert answers(offer("avg", options=NAMED), []) == pytest.approx([40], abs=step)
    assert answers(offer("quantile_cont", options=elsewhere), []) == pytest.approx([7], abs=step)
    assert answers(offer("var_samp", options=NAMED), []) == [0]


def test_minima_and_maxima_of_whole_numbers_are_whole() -> None:
    released = offer("max", options=NAMED).release(counted({5: 2, 9: 1}), FixedSampler(3))
    assert all(type(value) is int for value in released.values)


def test_a_sum_is_clipped_to_what_each_row_may_add() -> None:
    release = offered(Preprocessing().offer(request("sum", held=FEW_ROWS, keys=(CITY,), options=NAMED)))
    assert isinstance(release, PreprocessedSum)
    (measure,) = release.need.measures  # type: ignore[union-attr]  # a sum asks for aggregates
    assert measure.grid == Grid(Fraction(1), -2, 2)  # 24, shared by 12 rows
    assert release.law == LaplaceLaw(Fraction(12 * 2))
    assert release.release(raw([5, -3]), Noiseless()).values == [5, -3]
    assert "clipped to within 2 of 0" in release.notes[0]


@pytest.mark.parametrize("function", ["quantile_cont", "avg", "var_pop", "stddev_pop"])
def test_intervals_hold_the_preprocessed_statistic_as_often_as_they_say(function: str) -> None:
    release = offer(function, keys=(CITY,), rows_about=400, grid=BOUNDED, options=BY_NAME)
    group = list(range(100)) * 4
    (exact,) = answers(release, group)
    size = 400
    released = release.release(counted(*[Counter(group)] * size), FixedSampler(f"intervals of {function}"))
    held = sum(low <= exact <= high for low, high in release.intervals(released, 0.9))
    assert abs(held - 0.9 * size) < 5 * math.sqrt(0.09 * size) + 0.02 * size


def test_intervals_of_extremes_hold_what_lies_between_two_grid_steps() -> None:
    release = offer("max", options=replace(NAMED, sensitivity=Fraction(1, 1000), centre=Fraction(0)))
    released = release.release(counted({50: 600}), Noiseless())
    assert released.values == [1]  # of 0.6
    assert release.intervals(released, 0.95) == [(0, 1)]


# ------------------------------------------------------------------------------------------- where Delta comes from


def test_a_named_sensitivity_is_the_units_and_shared_by_its_rows() -> None:
    assert offer("avg", options=NAMED).amount == Fixed(Fraction(24))
    shared = offer("avg", options=NAMED, held=FEW_ROWS, keys=(CITY,))
    assert shared.amount == Fixed(Fraction(2))
    assert shared.sensitivity == 24
    assert shared.scale == pytest.approx(12 * 2)


def test_a_noised_number_of_rows_costs_a_tenth_and_sets_each_groups_delta() -> None:
    release = offer("avg", rows_about=1000, keys=(CITY,))
    assert epsilons(release) == [Fraction(1, 10), Fraction(9, 10)]
    assert release.count_law is not None
    assert release.count_law.scale == 10
    assert (release.sensitivity, release.scale) == (None, None)
    released = release.release(counted({40: 1000}, {40: 8}), Noiseless())
    assert released.columns["rows"] == [1000, 8]
    # W = 1.5 spread (n epsilon)^(1/3), three digits, rounded up
    assert [release.amount.of(n) for n in (1000, 8)] == [Fraction(290, 1000), Fraction(58, 8)]


def test_what_is_noised_below_five_over_epsilon_counts_as_that_many_rows() -> None:
    release = offer("quantile_cont", rows_about=10_000, price=Price(Fraction(1, 10), Fraction(0)))
    assert isinstance(release.amount, ByRows)
    assert release.amount.least == 56  # 5 / 0.09
    assert release.amount.of(-400) == release.amount.of(56) == Fraction(60, 56)


def test_a_floor_on_the_rows_spares_the_count_where_that_promises_less_error() -> None:
    near = offer("avg", rows_about=1000, rows_at_least=990, facts=replace(INCOME, nullable=False))
    assert (near.count_law, near.loss) == (None, Pure(Fraction(1)))
    assert near.amount == Fixed(Fraction(299, 990), reach=Fraction(299))
    far = offer("avg", rows_about=1000, rows_at_least=100, facts=replace(INCOME, nullable=False))
    assert far.count_law is not None
    few = offer("avg", rows_about=20, rows_at_least=20, facts=replace(INCOME, nullable=False))
    assert few.count_law is None
    nulls = offer("avg", rows_about=1000, rows_at_least=990)  # of which any number may be NULL
    assert nulls.count_law is not None


def test_a_public_number_of_rows_is_taken_as_it_is() -> None:
    given = {"neighbours": "replace_one", "rows_public": True, "facts": replace(INCOME, nullable=False)}
    release = offer("avg", **given)
    assert (release.count_law, release.loss) == (None, Pure(Fraction(1)))
    assert release.release(counted({40: 7}), FixedSampler(1)).columns["rows"] == [7]
    assert offer("avg", **{**given, "facts": INCOME}).count_law is not None


def test_the_centre_is_the_statements_then_the_columns_then_the_middle_and_inside_the_bounds() -> None:
    bare = replace(INCOME, centre=None)
    assert offer("avg", options=replace(NAMED, centre=Fraction(3))).query.centre == 3
    assert offer("avg", options=NAMED).query.centre == 40
    assert offer("avg", options=NAMED, grid=BOUNDED, facts=bare).query.centre == 50
    assert offer("avg", options=replace(NAMED, centre=Fraction(999)), grid=BOUNDED).query.centre == 150


def test_bounds_cut_the_reach() -> None:
    release = offer("avg", grid=BOUNDED, rows_about=10**6)
    assert release.amount.of(10**6) == Fraction(200, 10**6)


# --------------------------------------------------------------------------------------------------------- refusals


def test_what_it_cannot_do_is_refused_with_what_to_write() -> None:
    assert "only a threshold can" in refused("avg", keys=(OPEN,), selects=True)
    assert "it answers quantiles, AVG" in refused("corr")
    assert "it answers quantiles, AVG" in refused("count_rows")
    assert "it answers quantiles, AVG" in refused("quantile_cont", fraction=Fraction(1))
    assert "100000 rows" in refused("quantile_cont", fraction=Fraction(9, 10), rows_about=100_001)
    for function in ("min", "max", "sum"):
        assert "no rule sets its sensitivity" in refused(function)
        assert "no rule sets its sensitivity" in refused(function, options=replace(NAMED, mechanism=None))
    no_facts = Facts(Type.INTEGER)
    assert "there is no centre" in refused("avg", facts=no_facts)
    assert "there is no spread" in refused("avg", facts=replace(no_facts, centre=Fraction(1)))
    assert "there is no spread" in refused("var_pop", facts=no_facts)
    assert "leaves nothing of a sum" in refused("sum", held=FEW_ROWS, options=replace(NAMED, sensitivity=Fraction(11)))
    assert "beyond that sensitivity" in refused("sum", grid=Grid(Fraction(1), 30, 50), options=NAMED)
    assert "one value only" in refused("avg", grid=Grid(Fraction(7), 0, 0), options=NAMED)
    assert "too small to buy any noise" in refused("avg", price=Price(None, Fraction(0), Fraction(1, 10**30)))


def test_many_groups_are_answered_only_by_name() -> None:
    many = {"keys": (replace(CITY, domain=tuple(range(6_000))),), "held": FEW_ROWS, "rows_about": 10**4}
    assert "only by name" in refused("avg", **many)
    assert offer("avg", options=Options(mechanism="preprocessing"), **many).mechanism == "preprocessing"


def test_bounds_alone_are_enough_by_name_and_for_a_trimmed_mean() -> None:
    bounded = {"facts": Facts(Type.INTEGER), "grid": BOUNDED, "rows_about": 1000}
    assert "there is no spread" in refused("avg", **bounded)
    assert offer("avg", options=Options(mechanism="preprocessing"), **bounded).amount.of(1000) == Fraction(200, 1000)
    assert offer("trimmed_mean", **bounded).amount.of(1000) == Fraction(200, 1000)


# ------------------------------------------------------------------------------------------------------------ notes


def test_notes_say_over_what_how_far_when_exact_and_what_no_interval_covers() -> None:
    over_units = offer("quantile_cont", rows_about=1000, options=BY_NAME).notes
    assert over_units[0].startswith("Over units, one row each; one row moves it by at most Delta = W / rows, their")
    assert over_units[0].endswith("about 0.06, W = 60.")
    assert "the median lies within half of 60 of the centre 40" in over_units[1]
    assert "more rows do not mend that" in over_units[1]
    assert over_units[1].endswith("Intervals cover the noise alone.")
    unasked = offer("quantile_cont", rows_about=1000).notes
    assert "The end of its interval away from the centre is not known" in unasked[1]
    assert unasked[1].endswith("with OPTIONS (mechanism = 'preprocessing').")
    over_rows = offer("var_pop", held=FEW_ROWS, keys=(CITY,), options=NAMED).notes
    assert over_rows[0] == "Over rows, at most 12 of one unit; one row moves it by at most Delta = 2."


def test_the_expected_error_counts_the_bias_that_a_small_sensitivity_brings() -> None:
    small, large = (
        offer("avg", rows_about=1000, options=replace(NAMED, sensitivity=Fraction(x, 1000))) for x in (1, 3000)
    )
    assert small.half_width > 10  # noise of 0.001, and the centre may be far off
    assert large.half_width == pytest.approx(3 * math.log(20), rel=0.01)
    assert offer("avg", rows_about=1000).half_width < min(small.half_width, large.half_width)


def test_one_row_more_costs_the_same_noise_over_units_and_over_single_rows() -> None:
    assert offer("avg", held=ONE_ROW).law == offer("avg", held=Contribution(1, 1, 1), keys=(CITY,)).law


# --------------------------------------------------------------------------------------------------------- choosing


def taken(function: str, facts: Facts, grid: Grid | None) -> str:
    return choose(request(function, facts=facts, grid=grid, rows_about=1000)).release.mechanism


def test_a_centre_and_a_spread_decide_who_answers_where_there_are_no_bounds() -> None:
    wide, bare = Grid(Fraction(1), 0, 10**5), Facts(Type.INTEGER)
    for function in ("quantile_cont", "avg", "var_pop", "stddev_samp"):
        assert taken(function, INCOME, None) == ("exponential" if function == "quantile_cont" else "preprocessing")
        assert taken(function, INCOME, wide) == taken(function, bare, wide) != "preprocessing"
    assert taken("sum", INCOME, wide) == "clamped"
    assert taken("max", INCOME, wide) == "exponential"


@pytest.mark.parametrize("facts", [INCOME, Facts(Type.INTEGER)])
def test_a_trimmed_mean_within_bounds_has_to_be_asked_for_by_name(facts: Facts) -> None:
    request = asking("trimmed_mean", facts=facts, grid=Grid(Fraction(1), 0, 10**5), fraction=Fraction(1, 10))
    with pytest.raises(UnsupportedQuery, match="OPTIONS \\(mechanism = 'preprocessing'\\)"):
        choose(request)
    assert choose(request, wanted="preprocessing").release.mechanism == "preprocessing"


@pytest.mark.parametrize("function", ["avg", "trimmed_mean", "var_pop", "stddev_samp"])
def test_a_sensitivity_that_leaves_nothing_but_the_centre_is_refused_before_the_charge(function: str) -> None:
    facts, rows = replace(INCOME, spread=Fraction(30)), 1000
    power = 1 if function in ("avg", "trimmed_mean") else 2
    least = Fraction(3, 100) ** power / rows
    for sensitivity, refused in ((least, False), (least * Fraction(99, 100), True), (Fraction(1, 10**9), True)):
        request = asking(function, facts=facts, rows_about=rows, options=Options(sensitivity=sensitivity))
        answer = Preprocessing().offer(request)
        assert isinstance(answer, Refusal) == refused
        assert not isinstance(answer, Refusal) or "leaves nothing of 1000 rows" in answer.reason


SPREAD = Fraction(30)


@pytest.mark.parametrize("function", ["avg", "trimmed_mean", "var_pop", "stddev_samp"])
def test_more_steps_than_end_in_seconds_are_refused_by_public_facts(function: str) -> None:
    """600,000 rows of a spread of 30: those further than W / 2 from the mean are 30,000 where W = 90 * 20^(1/3).

    Of a trimmed mean that leaves out a fifth, a quarter may be further than W: W = 45 * 4^(1/3).
    """
    power = 1 if function in ("avg", "trimmed_mean") else 2

    def asked(wide: float, rows: int = 600_000, groups: int = 1, spread: Fraction | None = SPREAD) -> Refusal | None:
        keys = {} if groups == 1 else {"keys": (replace(CITY, domain=tuple(range(groups))),)}
        options = Options(mechanism="preprocessing", sensitivity=Fraction(wide) ** power / rows)
        known = replace(INCOME, spread=spread)
        answer = Preprocessing().offer(request(function, facts=known, rows_about=rows, options=options, **keys))
        return answer if isinstance(answer, Refusal) else None

    enough = 45 * 4 ** (1 / 3) if function == "trimmed_mean" else 90 * 20 ** (1 / 3)
    assert asked(enough * 1.001) is None
    said = asked(enough * 0.999)
    assert said is not None and "it takes minutes; name a sensitivity of" in said.reason
    named = Fraction(said.reason.split("sensitivity of ")[1].split(" ")[0])
    assert asked(float(named * 600_000) ** (1 / power)) is None
    assert asked(10, rows=30_000) is None
    assert asked(10, rows=3_000, groups=10) is None
    assert asked(10, rows=3_900, groups=10) is not None
    unknown = asked(enough, spread=None)
    assert unknown is not None and "declare a spread" in unknown.reason


def test_where_the_sensitivity_reaches_from_bound_to_bound_no_row_is_walked() -> None:
    bounded = {"facts": Facts(Type.INTEGER), "grid": BOUNDED, "rows_about": 600_000}
    named = Options(mechanism="preprocessing", sensitivity=Fraction(200, 600_000))
    assert not isinstance(Preprocessing().offer(request("avg", options=named, **bounded)), Refusal)
    by_width = replace(named, sensitivity=None)
    assert not isinstance(Preprocessing().offer(request("avg", options=by_width, **bounded)), Refusal)
    less = replace(named, sensitivity=Fraction(100, 600_000))
    answer = Preprocessing().offer(request("avg", options=less, **bounded))
    assert isinstance(answer, Refusal) and "it takes minutes" in answer.reason


def test_a_tiny_epsilon_makes_the_rules_walks_as_long() -> None:
    small = request("avg", facts=INCOME, rows_about=600_000, price=Price(Fraction(1, 10**5), Fraction(0)))
    answer = Preprocessing().offer(small)
    assert isinstance(answer, Refusal) and "a larger epsilon" in answer.reason


@pytest.mark.parametrize(
    "share", [Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 4), Fraction(49, 100)]
)
def test_what_the_rule_of_a_trimmed_mean_sets_is_never_too_long(share: Fraction) -> None:
    assert offer("trimmed_mean", fraction=share, rows_about=10**7)


@pytest.mark.parametrize("function", ["avg", "var_pop", "stddev_samp"])
def test_what_the_rules_of_means_and_variances_set_is_not_too_long_at_any_usual_price(function: str) -> None:
    assert offer(function, rows_about=10**7, price=Price(Fraction(1, 1000), Fraction(0)))
