"""Boxes of nearly equal numbers of rows: both theorems, on duplicates too and with the worst noise that they allow."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.rectangles import (
    Axis,
    Codes,
    NoisyBoxes,
    best_slabs,
    cells_needed,
    guaranteed_error,
    noisy_boxes,
    rows_needed,
)
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.mechanisms.releases.test_intervals import Given

PURE = Payment("replace_one", epsilon=Fraction(1))


def worst(released: NoisyBoxes, codes: Codes) -> float:
    """The largest error of all rectangles, in rows."""
    ranges = [[(a, b) for a in range(size) for b in range(a, size)] for size in released.sizes]
    held = np.zeros(released.sizes, dtype=np.int64)
    np.add.at(held, tuple(codes.T), 1)
    return max(
        abs(released.rectangle(*rectangle) - int(held[tuple(slice(a, b + 1) for a, b in rectangle)].sum()))
        for rectangle in product(*ranges)
    )


@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)) | st.just((3, 2)), max_size=60),
    st.integers(2, 5),
    st.lists(st.integers(-4, 4), min_size=1, max_size=7),
)
def test_rectangles_err_by_no_more_than_pieces_and_noise(
    rows: list[tuple[int, int]], parts: int, noise: list[int]
) -> None:
    codes = np.array(rows, dtype=np.int64).reshape(-1, 2)
    released = noisy_boxes(codes, (5, 4), parts, PURE, Given(noise), len(codes))
    t, boxes = max(map(abs, noise)), len(released.numbers)
    assert boxes <= parts**2
    assert worst(released, codes) <= 8 * len(codes) / parts + 4 * (1 + 1 / parts) * (t + parts * t) + boxes * t + 1e-6


@pytest.mark.parametrize("sizes", [(9,), (5, 8), (4, 3, 6)])
def test_boxes_fill_the_grid_once(sizes: tuple[int, ...], seed: int) -> None:
    codes = np.random.default_rng(seed).integers(0, sizes, (200, len(sizes)))
    codes[:60] = 2
    released = noisy_boxes(codes, sizes, 4, PURE, Noiseless(), 200)
    held = np.zeros(sizes, dtype=int)
    for box, number in zip(released.boxes, released.numbers, strict=True):
        held[tuple(slice(first, last + 1) for first, last in box)] += 1
        assert ((codes >= box[:, 0]) & (codes <= box[:, 1])).all(axis=1).sum() == number
    box_of = released.box_of()[np.ravel_multi_index(tuple(codes.T), sizes)]
    assert (np.bincount(box_of, minlength=len(released.boxes)) == released.numbers).all()
    placed = released.placed()
    again = released.box_of()[np.ravel_multi_index(tuple(placed.T), sizes)]
    assert (np.bincount(again, minlength=len(released.boxes)) == released.numbers).all()
    assert (held == 1).all()
    assert released.rectangle(*[(0, size - 1) for size in sizes]) == 200


@pytest.mark.parametrize("relation", ["add_remove", "replace_one"])
def test_the_noise_is_that_of_all_numbers_that_a_row_is_counted_in(relation: str) -> None:
    """Two rows a unit; beyond the first axis, rows that go and rows that come lie in slabs of their own."""
    payment = Payment(relation, epsilon=Fraction(1), rows=2)  # type: ignore[arg-type]  # one of the two
    codes, sampler = np.random.default_rng(0).integers(0, (16, 8), (300, 2)), Given([0])
    noisy_boxes(codes, (16, 8), 3, payment, sampler)
    swapped = payment.swapped
    assert sampler.scales == {
        2 / Fraction(1, 10),  # the number of rows
        2 * 2 * 4 / Fraction(9, 40),  # two searches of four probes
        2 * swapped * (2 * 3 + 1) / Fraction(9, 40),  # two of three probes, and the rows of the slab
        2 * swapped / Fraction(9, 20),  # the boxes
    }


def test_the_guarantee_holds_as_often_as_it_says() -> None:
    codes = (np.random.default_rng(4).integers(0, 24, 30000) ** 2 // 24)[:, None]
    payment, parts = Payment("replace_one", epsilon=Fraction(4)), 20
    limit, sampler = guaranteed_error(30000, (24,), payment, parts), FixedSampler("boxes")
    errors = [worst(noisy_boxes(codes, (24,), parts, payment, sampler, 30000), codes) for _ in range(10)]
    assert max(errors) <= limit < 0.4 * 30000


@pytest.mark.parametrize("sizes", [(1024,), (64, 64), (16, 16, 16)])
def test_the_rows_needed_are_those_of_the_guarantee(sizes: tuple[int, ...]) -> None:
    rows, parts = rows_needed(0.2, sizes, PURE)
    assert guaranteed_error(rows, sizes, PURE, parts) <= 0.2 * rows * (1 + 1e-6)
    assert guaranteed_error(rows * 9 // 10, sizes, PURE, parts) > 0.2 * rows * 9 / 10
    assert cells_needed(0.2, sizes, PURE) < rows


def test_dates_and_decimals_lie_on_a_grid() -> None:
    days = Axis(date(2024, 1, 1), 366)
    assert [days.code(date(2024, 12, 31)), days.code(date(1999, 1, 1)), days.code(date(2030, 1, 1))] == [365, 0, 365]
    euros = Axis(Decimal("0.00"), 2000, Decimal("0.05"))
    assert [euros.code(Decimal(value)) for value in ("0.04", "0.05", "12.34")] == [0, 1, 246]
    assert Axis(Fraction(-5), 10, 2).code(-2) == 1
    with pytest.raises(ValueError, match="one kind"):
        days.code(3)


def test_bad_boxes_are_refused() -> None:
    codes = np.zeros((3, 4), dtype=np.int64)
    with pytest.raises(ValueError, match=r"1 to 3 axes .* `marginals`"):
        noisy_boxes(codes, (2, 2, 2, 2), 2, PURE, Noiseless(), 3)
    with pytest.raises(ValueError, match="2 parts"):
        noisy_boxes(codes[:, :1], (2,), 1, PURE, Noiseless(), 3)
    with pytest.raises(ValueError, match="private under"):
        noisy_boxes(codes[:, :1], (2,), 2, Payment("add_remove", epsilon=Fraction(1)), Noiseless(), 3)
    with pytest.raises(ValueError, match="first and last"):
        noisy_boxes(codes[:, :1], (2,), 2, PURE, Noiseless(), 3).rectangle((0, 1), (0, 1))
    with pytest.raises(ValueError, match="ask for a larger one"):
        rows_needed(0.001, (8,), PURE)


@pytest.mark.parametrize("sizes", [(40,), (12, 30), (8, 10, 6)])
def test_rows_of_a_box_are_spread_evenly_in_all_directions(sizes: tuple[int, ...]) -> None:
    whole = np.array([[(0, size - 1) for size in sizes]])
    placed = NoisyBoxes(sizes, whole, np.array([1000.0]), PURE.noise(), 1000).placed()
    for axis, size in enumerate(sizes):
        assert np.abs(np.bincount(placed[:, axis], minlength=size) - 1000 / size).max() < 12
    half = (placed < np.array(sizes) // 2).all(axis=1).sum()
    assert abs(half - 1000 / 2 ** len(sizes)) < 25


def test_slabs_that_are_not_said_are_those_with_the_least_expected_error() -> None:
    private = Payment("add_remove", epsilon=Fraction(1))
    found = [best_slabs(rows, (64, 64), private) for rows in (100, 50_000, 10**8)]
    assert found == [2, 12, 128]
    assert noisy_boxes(np.zeros((0, 2), dtype=np.int64), (64, 64), None, private, Noiseless()).total == 0
    errors = [guaranteed_error(1000, (64, 64), private, 8, of_total=noise) for noise in (0.0, 1e6)]
    assert errors[0] < errors[1]
