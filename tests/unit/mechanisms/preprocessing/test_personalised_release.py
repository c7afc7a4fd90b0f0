"""A sensitivity for each class: no unit moves a number further than its class pays for, in exact integers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from dpsql.errors import InvariantBroken
from dpsql.limits import FARTHEST_STEP
from dpsql.mechanisms.base import Price, Refusal, Request
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.preprocessing import maximum, minimum
from dpsql.mechanisms.preprocessing.personalised import personalised
from dpsql.mechanisms.preprocessing.personalised_release import ClippedTotal, PersonalisedExtreme
from dpsql.plan.needs import Contribution
from dpsql.plan.options import Options
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type
from dpsql.privacy.kinds import PerClass
from dpsql.privacy.tables import RawTable
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.asking import BY_RHO, CITY, COST, FEW_ROWS, GRID, HALF, ONE_ROW, asking, of_classes, raw

SHARES = {"strict": Fraction(1, 4), "normal": Fraction(1), "open": Fraction(1, 3)}
ON_GRID = replace(COST.facts, step=GRID.step)


def asked(
    function: str,
    *,
    shares: Mapping[str, Fraction] = SHARES,
    price: Price = HALF,
    held: Contribution = ONE_ROW,
    keys: tuple[Key, ...] = (),
    options: Options = Options(mechanism="preprocessing"),  # noqa: B008 - frozen
    facts: Facts = ON_GRID,
    **others: Any,
) -> Request:
    """A request of a policy with classes, as `prepare` makes it."""
    plain = asking(function, held=held, keys=keys, price=price, facts=facts, **others)
    return replace(of_classes(plain, shares), options=options)


def offered(request: Request) -> ClippedTotal | PersonalisedExtreme | Refusal:
    assert request.personal is not None
    return personalised(request, request.personal, "preprocessing")


def offer(function: str, **how: Any) -> ClippedTotal | PersonalisedExtreme:
    answer = offered(asked(function, **how))
    assert not isinstance(answer, Refusal), answer.reason
    return answer


def total(function: str, **how: Any) -> ClippedTotal:
    answer = offer(function, **how)
    assert isinstance(answer, ClippedTotal)
    return answer


def extreme(function: str, sensitivity: int = 6, **how: Any) -> PersonalisedExtreme:
    answer = offer(function, options=_naming(sensitivity), **how)
    assert isinstance(answer, PersonalisedExtreme)
    return answer


def _naming(sensitivity: int) -> Options:
    return Options(mechanism="preprocessing", sensitivity=Fraction(sensitivity))


Unit = tuple[str, tuple[int | None, ...]]
"""A class, and a value (in grid steps) for each group, None where it has none there."""


def clipped(release: ClippedTotal, units: Sequence[Unit], groups: int) -> list[int]:
    """The numbers before noise: what the engine adds up, class by class."""
    assert all(measure.grid is not None for measure in release.need.measures)
    ends = {
        name: m.grid.high for name, m in zip(release.sensitivities.clips, release.need.measures, strict=True) if m.grid
    }
    ratio = release.base / release.sensitivities.step
    table = [
        [
            sum(min(max(int(v * ratio), -end), end) for k, own in units if k == name and (v := own[g]) is not None)
            for g in range(groups)
        ]
        for name, end in ends.items()
    ]
    return list(release.release(raw(*table), Noiseless()).columns["steps"])


def moved(release: PersonalisedExtreme, units: Sequence[Unit], groups: int) -> list[int]:
    rows = sorted((g, v, k) for k, own in units for g, v in enumerate(own) if v is not None)
    columns = list(zip(*((*row, 1) for row in rows), strict=True)) or [(), (), (), ()]
    table = RawTable(dict(zip(("group", "value", "by", "rows"), columns, strict=True)), size=groups)
    return list(release.release(table, Noiseless()).columns["steps"])


def neighbours(
    values: Sequence[int | None], groups: int, most: int = 3
) -> Iterator[tuple[list[Unit], list[Unit], str]]:
    """Every table of few units, with and without each of them."""
    kinds = [(name, own) for name in SHARES for own in product(values, repeat=groups)]
    for size in range(1, most + 1):
        for units in combinations_with_replacement(kinds, size):
            yield from ((list(units), [*units[:i], *units[i + 1 :]], units[i][0]) for i in range(size))


@pytest.mark.every(2)
@pytest.mark.parametrize("price", [HALF, BY_RHO], ids=["epsilon", "rho"])
@pytest.mark.parametrize("function", ["sum", "count_units", "min", "max"])
def test_no_unit_moves_a_number_further_than_its_class_pays_for(function: str, price: Price) -> None:
    values = [None, 1] if function == "count_units" else [None, -30, 4, 1000]
    release = extreme(function, price=price) if function in ("min", "max") else total(function, price=price)
    reached = dict.fromkeys(SHARES, Fraction(0))
    for units, others, name in neighbours(values, groups=1, most=2 if function == "sum" else 3):
        both = [
            clipped(release, own, 1) if isinstance(release, ClippedTotal) else moved(release, own, 1)
            for own in (units, others)
        ]
        far = abs(both[0][0] - both[1][0])
        assert far <= release.sensitivities.moved[name]
        reached[name] = max(reached[name], far / release.sensitivities.law.scale)
    for name, epsilon in release.loss.epsilons.items():
        assert reached[name] <= epsilon
        assert reached[name] > Fraction(999, 1000) * epsilon  # the bound is reached: nothing is given away


def test_over_groups_the_moves_of_one_unit_add_up_to_what_its_class_pays_for() -> None:
    # At most 12 rows of 0 to 100 in 3 groups: 1,200 in all of them together.
    release = total("sum", held=FEW_ROWS, keys=(CITY,))
    assert release.sensitivities.clips["normal"] * release.sensitivities.step == 1200
    assert release.sensitivities.clips["strict"] * release.sensitivities.step == 100  # a quarter of 1,200, in 3 parts
    for name, epsilon in release.loss.epsilons.items():
        worst = 0
        for own in ((5000, 5000, 2000), (4000, 4000, 4000), (12000, 0, 0), (2000, 5000, 5000)):
            both = (
                clipped(release, [("open", (70, 80, 90)), (name, own)], 3),
                clipped(release, [("open", (70, 80, 90))], 3),
            )
            worst = max(worst, sum(abs(a - b) for a, b in zip(*both, strict=True)))
        assert worst / release.sensitivities.law.scale <= epsilon
        assert worst / release.sensitivities.law.scale > Fraction(99, 100) * epsilon


def test_bounds_between_two_grid_steps_count_as_the_outer_one() -> None:
    # Each of 12 values is put inside a grid that ends at 100, not at 99.995.
    facts = replace(ON_GRID, high=Fraction(99995, 1000))
    found = total("sum", held=FEW_ROWS, keys=(CITY,), facts=facts).sensitivities
    assert found.moved["normal"] * found.step >= 1200


@pytest.mark.parametrize("function", ["sum", "count_rows", "max"])
def test_the_noise_is_for_every_class_there_could_be(function: str) -> None:
    how: dict[str, Any] = {"options": _naming(6)} if function == "max" else {}
    release, fewer = offer(function, **how), offer(function, shares={"normal": Fraction(1)}, **how)
    assert release.scale == pytest.approx(fewer.scale, rel=1e-3)  # a strict class costs no noise,
    assert release.sensitivities.clips["strict"] < release.sensitivities.clips["normal"]  # but counts with less
    assert dict(release.loss.epsilons) == {
        "strict": Fraction(1, 8),
        "normal": Fraction(1, 2),
        "open": Fraction(166666666666, 10**12),  # a third of 1/2 in whole units of the ledger
    }


def test_what_a_class_loses_in_rho_is_the_square_of_its_share() -> None:
    price = Price(None, Fraction(0), rho=Fraction(1, 8))
    account = offer("count_rows", price=price).loss.account("zcdp")
    for name, share in SHARES.items():
        assert account.of_class(name).rho * Fraction(1, 10**12) <= share**2 / 8
        assert account.of_class(name).rho * Fraction(1, 10**12) > share**2 / 8 * Fraction(999, 1000)


def test_a_count_weighs_a_unit_by_the_share_of_its_class() -> None:
    release = total("count_rows", shares={"strict": Fraction(1, 4), "normal": Fraction(1)})
    assert clipped(release, [("strict", (1,))] * 4 + [("normal", (1,))] * 3, 1) == [4 * 10**6]
    (value,) = release.release(raw([10**6 // 4 * 3], [2 * 10**6]), Noiseless()).values
    assert value == 3  # 2.75, on the grid of counts
    assert "strict 0.25, normal 1" in release.notes[0]


@pytest.mark.parametrize(("function", "form"), [("max", maximum), ("min", minimum)])
def test_an_extreme_is_the_preprocessed_one(function: str, form: Callable[..., Fraction]) -> None:
    release, chance = extreme(function), random.Random(5)
    for _ in range(200):
        units: list[Unit] = [
            (chance.choice(list(SHARES)), (chance.randrange(1001),)) for _ in range(chance.randrange(30))
        ]
        values = [Fraction(own[0] or 0, 10) for _, own in units]
        tolls = [release.sensitivities.clips[name] * release.sensitivities.step for name, _ in units]
        assert moved(release, units, 1) == [form(values, tolls, centre=50) // release.sensitivities.step]


def test_an_extreme_of_many_units_is_the_extreme_itself() -> None:
    release = extreme("max", sensitivity=5)
    crowd: list[Unit] = [*[("normal", (900,))] * 40, *[("strict", (1000,))] * 40]
    (steps,) = moved(release, crowd, 1)
    assert steps * release.sensitivities.step == 100  # in the column's unit, whose grid is 1/10
    (alone,) = moved(release, [("strict", (1000,))], 1)
    assert alone * release.sensitivities.step == 50 + Fraction(5, 4)  # the centre, and what one strict unit may do


def test_a_group_of_nobody_is_noise_around_0_or_the_centre() -> None:
    assert clipped(total("sum"), [], 1) == [0]
    release = extreme("min")
    assert [step * release.sensitivities.step for step in moved(release, [], 2)] == [50, 50]


def test_intervals_hold_the_answer_and_are_on_the_grid_of_the_column() -> None:
    for release in (total("count_rows"), total("sum")):
        table = raw([4 * 10**6] * 300, [9 * 10**6] * 300, [0] * 300)
        released = release.release(table, FixedSampler(3))
        exact = 13 * 10**6 * release.sensitivities.step
        for level, least in ((0.5, 0.4), (0.95, 0.9)):
            ends = release.intervals(released, level)
            assert all(low <= value <= high for (low, high), value in zip(ends, released.values, strict=True))
            held = sum(low <= exact <= high for low, high in ends)  # type: ignore[operator]  # numbers
            assert least * 300 <= held
        assert release.base != 1 or all(isinstance(value, int) for value in released.values)


def test_a_count_is_not_moved_unless_that_is_expected_to_pay() -> None:
    many, few = (asked("count_rows", options=Options(), rows_about=rows) for rows in (10_000, 4))
    for request, biased in ((many, False), (few, True)):
        plain, moved_a_little = Laplace().offer(request), offered(request)
        assert not isinstance(plain, Refusal)
        assert not isinstance(moved_a_little, Refusal)
        assert (moved_a_little.half_width < plain.half_width) == biased


def test_a_sum_is_moved_where_the_spread_says_that_little_lies_beyond() -> None:
    for spread, pays in ((Fraction(1, 10), True), (Fraction(20), False)):
        facts = replace(COST.facts, centre=Fraction(2), spread=spread)
        request = asked("sum", options=Options(), facts=facts, rows_about=10_000)
        plain, moved_a_little = Laplace().offer(request), offered(request)
        assert not isinstance(plain, Refusal)
        assert not isinstance(moved_a_little, Refusal)
        assert (moved_a_little.half_width < plain.half_width) == pays


def test_a_named_sensitivity_is_that_of_the_least_strict_class() -> None:
    named = total("sum", options=_naming(20))
    assert named.sensitivity == 20
    assert {k: d * named.sensitivities.step for k, d in named.sensitivities.clips.items()}["strict"] == 5
    without_bounds = total("sum", grid=None, facts=Facts(Type.REAL), options=_naming(20))
    assert without_bounds.sensitivity == 20


def test_clips_fit_the_engines_integers_whatever_sensitivity_is_named() -> None:
    # A unit's total may lie anywhere: beyond 2^63 steps the engine would fail, and tell that somebody's does.
    largest = total("sum", grid=None, facts=Facts(Type.REAL), options=_naming(10**15))
    assert max(largest.sensitivities.clips.values()) <= FARTHEST_STEP


@pytest.mark.parametrize(
    ("function", "how", "reason"),
    [
        ("sum", {"grid": None, "facts": Facts(Type.REAL), "options": Options()}, "there are no bounds; write OPTIONS"),
        ("max", {"options": Options()}, "no rule sets its sensitivity; write OPTIONS"),
        ("max", {"facts": Facts(Type.REAL), "grid": None, "options": _naming(3)}, "there is no centre; declare one"),
        ("max", {"facts": Facts(Type.DATE), "grid": None, "options": _naming(3)}, "is not a number."),
        ("count_rows", {"price": Price(None, Fraction(0), rho=Fraction(1, 10**12))}, "too small"),
    ],
)
def test_what_is_not_proved_is_refused_with_what_to_write(function: str, how: dict[str, Any], reason: str) -> None:
    answer = offered(asked(function, **how))
    assert isinstance(answer, Refusal)
    assert reason in answer.reason


def test_aggregates_that_are_no_value_of_each_unit_have_no_classes() -> None:
    for function in ("avg", "count_distinct", "mode", "var_pop", "quantile_cont"):
        request = asking(function)
        assert of_classes(request, SHARES).personal is None


def test_a_swap_is_never_priced_by_class() -> None:
    assert asked("sum", neighbours="replace_one").personal is None
    with pytest.raises(InvariantBroken, match="add_remove alone"):
        offered(replace(asked("sum"), neighbours="replace_one"))


def test_a_loss_names_every_class_of_the_policy() -> None:
    for function in ("count_rows", "sum", "count", "count_units"):
        assert isinstance(offer(function).loss, PerClass)
        assert set(offer(function).loss.epsilons) == set(SHARES)
