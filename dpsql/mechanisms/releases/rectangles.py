"""ReleaseIntervals in up to three dimensions: boxes of nearly equal numbers of rows, which answer every rectangle.

Neighbours: ``add_remove`` (the number of rows is noised) and ``replace_one`` (`payment`). Loss: `Pure` with discrete
Laplace noise, `Concentrated` with discrete Gaussian noise.

Each of D axes is a grid of N_a cells: whole numbers, dates or decimals (`Axis`). Half of the price is for cuts, each
axis a D-th of it. The rows are cut by the first axis into at most s slabs as in `intervals`; within each slab its
number of rows is noised and its rows are cut by the next axis, and so on. Where cuts coincide, their cell is a slab of
its own. The other half of the price buys the numbers of rows in all boxes that result, at most s^D of them. A rectangle
is answered by the sum of these, of a box that it cuts by the share of the box's cells that it holds.

Theorem 1. The release is epsilon-DP, or rho-zCDP, under the neighbours of its payment.

Proof. Slabs of one axis hold different rows, and what is released in a slab is of its own rows. Under ``add_remove`` a
unit has r_i rows in slab i, r in all; probes whose noise makes them e-DP for units of r rows cost it e r_i / r there,
e in all; in zCDP e (r_i / r)^2, at most e in all. Under ``replace_one`` rows that go and rows that come both cost this:
beyond the first axis, where all slabs are one, probes are priced as twice as many (`payment`, 3 and 5). The boxes are
cells of one histogram, fixed by what was released before (`payment`, 1 and 2).  QED

Theorem 2. Let n be public, t_a bound all noise in the search of axis a, S_a = s^(a - 1), and w bound the noise of all
weighted sums of boxes that rectangles take. Every rectangle's answer is within

    4 D n / s + 4 (1 + 1 / s) (S_1 t_1 + ... + S_D t_D) + w.

Proof. In a slab of N rows, noised to m <= N + t, cuts b_j have F(b_j) >= j m / s - t and F(b_j - 1) < j m / s + t
(`intervals`). A piece from b_(j - 1) + 1 to b_j whose next cut is another one has F(b_j) <= F(b_(j + 1) - 1) <
(j + 1) m / s + t, so that it holds less than 2 m / s + 2 t rows; so does the last piece, and one that ends before a
cell apart holds less. One cell is cut by nothing. A face of the rectangle on axis a cuts one piece in each of at most
S_a slabs, whose m add up to n + S_a t at most; there are two faces on each axis, and what they cut errs by at most its
rows, besides its noise.  QED

Where n is private, its noise is bounded by t_1 as well, and n is what was released (the proof reads m alone).

**Rows** of a box are put into its cells evenly in all directions (`NoisyBoxes.placed`): the i-th at the fractional
parts of i times the powers of the inverse root of x^(D + 1) = x + 1 (Roberts 2018). It is post-processing.

`rows_needed` foretells the n for which this is alpha n, `cells_needed` that of noisy cells of the same grid, made whole
or not: far fewer where the cells fit into memory. Boxes are for grids that do not.

Source: Blum, Ligett, Roth 2013, section 4 ("rectangles"); numbers of boxes, ties and the theorems are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.mechanisms.releases.cells import noisy_total
from dpsql.mechanisms.releases.intervals import BETA, searched_cuts
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.reach import deviation_of, reach_of_sum
from dpsql.mechanisms.releases.shares import shared_out
from dpsql.privacy.sampling import Sampler, noised

__all__ = [
    *("Axis", "NoisyBoxes", "best_slabs", "cells_needed", "expected_error", "guaranteed_error", "noisy_boxes"),
    "rows_needed",
]

MOST_AXES = 3  # Each one more multiplies the boxes by s: the theorem says nothing beyond. It is a choice.
MOST_SLABS = 512  # Into how many slabs an axis is cut, as far as needed numbers of rows are tried. It is a choice.
MOST_BOXES = 1 << 15  # Of all that are tried unasked. It is a choice: a slab of each takes a search.
ROOTS = {1: 1.618033988749895, 2: 1.324717957244746, 3: 1.2207440846057596}
"""The real roots of x^(D + 1) = x + 1, by D (Roberts 2018): what is placed by them is spread evenly."""
Codes = npt.NDArray[np.int64]
Point = int | Fraction | Decimal | date
Box = tuple[tuple[int, int], ...]
"""The first and the last cell on each axis."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A grid of values: whole numbers, dates or decimals.

    Attributes:
        low: The first value.
        cells: How many there are, >= 1.
        step: From each to the next, > 0; days where values are dates.
    """

    low: Point
    cells: int
    step: int | Fraction | Decimal = 1

    def code(self, value: Point) -> int:
        """The cell, from 0, of the last grid value up to this one; what lies outside counts as the nearest end.

        >>> Axis(date(2024, 1, 1), 366).code(date(2024, 3, 1)), Axis(Decimal(0), 1000, Decimal("0.1")).code(Decimal(7))
        (60, 70)
        """
        if isinstance(value, date) and isinstance(self.low, date):
            far = Fraction((value - self.low).days)
        elif isinstance(value, date) or isinstance(self.low, date):
            raise ValueError(f"{value!r} does not lie on an axis from {self.low!r}; give values of one kind")
        else:
            far = Fraction(value) - Fraction(self.low)
        return int(min(self.cells - 1, max(0, far // Fraction(self.step))))


@dataclass(frozen=True, slots=True)
class NoisyBoxes:
    """Boxes that fill a grid, with noised numbers of rows.

    Attributes:
        sizes: (D,) the cells of each axis.
        boxes: (K, D, 2) the first and the last cell of each box on each axis, from 0.
        numbers: (K,) unbiased noised numbers of rows.
        law: The noise of each.
        total: The number of all rows, public or noised, >= 0.
    """

    sizes: tuple[int, ...]
    boxes: Codes
    numbers: npt.NDArray[np.float64]
    law: LaplaceLaw | GaussianLaw
    total: int

    def box_of(self) -> Codes:
        """(product of sizes,) the box that each cell of the grid is in, the last axis' cells running fastest."""
        found = np.empty(self.sizes, dtype=np.int64)
        for number, box in enumerate(self.boxes.tolist()):
            found[tuple(slice(low, high + 1) for low, high in box)] = number
        return found.ravel()

    def placed(self) -> Codes:
        """(total, D) the cells of as many rows, those of a box evenly in it."""
        held = shared_out(self.numbers[None], np.array([self.total]))[0]
        box = np.repeat(np.arange(len(held)), held)
        number = np.arange(1, len(box) + 1) - np.repeat(np.cumsum(held) - held, held)
        root = ROOTS[len(self.sizes)]
        steps = np.array([root ** -(axis + 1) for axis in range(len(self.sizes))])
        low, high = self.boxes[box, :, 0], self.boxes[box, :, 1]
        placed: Codes = low + np.floor((number[:, None] * steps + 0.5) % 1 * (high - low + 1)).astype(np.int64)
        return np.minimum(placed, high)

    def rectangle(self, *ranges: tuple[int, int]) -> float:
        """The released number of rows with cells from first to last, both included, on each axis."""
        if len(ranges) != len(self.sizes):
            raise ValueError(f"{len(ranges)} ranges for {len(self.sizes)} axes; give first and last cell of each")
        shares = np.ones(len(self.numbers))
        for axis, (first, last) in enumerate(ranges):
            low, high = self.boxes[:, axis, 0], self.boxes[:, axis, 1]
            held = np.minimum(high, last) - np.maximum(low, first) + 1
            shares *= np.maximum(held, 0) / (high - low + 1)
        return float(shares @ self.numbers)


def noisy_boxes(
    codes: Codes, sizes: Sequence[int], parts: int | None, payment: Payment, sampler: Sampler, total: int | None = None
) -> NoisyBoxes:
    """Boxes of nearly equal numbers of rows, and how many each holds.

    Args:
        codes: (n, D) integers, the cell of each row on each axis, from 0.
        sizes: (D,) the cells of each axis; D is 1 to 3.
        parts: s >= 2, the slabs of each axis; None for `best_slabs`.
        payment: The price and the neighbours.
        sampler: Of the noise.
        total: The number of rows where it is public (``replace_one``, one row a unit).

    Raises:
        ValueError: If there are no or too many axes, fewer than two parts, or a total is named where it is private.
    """
    _check(sizes, 2 if parts is None else parts)
    rows, left = noisy_total(len(codes), payment, sampler, total)
    parts = best_slabs(rows, sizes, payment, left) if parts is None else parts
    slabs: list[tuple[Box, Codes, int]] = [((), codes, rows)]
    for axis, cells in enumerate(sizes):
        law = _search_law(payment, left / 2, sizes, parts, axis)
        found = []
        for box, inside, held in slabs:
            if axis:
                held = max(0, int(noised([len(inside)], law.draw(sampler, 1))[0]))
            values = np.sort(inside[:, axis])

            def up_to(cell: int, values: Codes = values) -> int:
                return int(np.searchsorted(values, cell - 1, side="right"))

            for first, last in _pieces(searched_cuts(up_to, cells, held, parts, law, sampler), cells):
                within = (inside[:, axis] >= first) & (inside[:, axis] <= last)
                found.append(((*box, (first, last)), inside[within], 0))
        slabs = found
    law = payment.noise(left / 2)
    seen = noised([len(inside) for _, inside, _ in slabs], law.draw(sampler, len(slabs)))
    boxes = np.array([box for box, _, _ in slabs], dtype=np.int64).reshape(len(slabs), len(sizes), 2)
    return NoisyBoxes(tuple(sizes), boxes, np.asarray(seen, dtype=np.float64), law, rows)


def guaranteed_error(
    rows: int,
    sizes: Sequence[int],
    payment: Payment,
    parts: int,
    beta: float = BETA,
    left: Fraction = Fraction(1),
    of_total: float = 0.0,
) -> float:
    """Rows within which every rectangle is but for a probability beta (Theorem 2).

    Args:
        rows: n, public or noised.
        sizes: (D,) the cells of each axis.
        payment: The price and the neighbours.
        parts: s.
        beta: Between 0 and 1.
        left: The share of the price beside that of a noised n.
        of_total: What bounds the noise of n, but for a probability besides.
    """
    _check(sizes, parts)
    axes, chance = len(sizes), beta / (len(sizes) + 1)
    error = 4 * axes * rows / parts
    for axis, cells in enumerate(sizes):
        slabs = parts**axis
        law = _search_law(payment, left / 2, sizes, parts, axis)
        noise = law.quantile(1 - chance / (slabs * _probes(cells, parts, axis)))
        error += 4 * (1 + 1 / parts) * slabs * (noise if axis else max(noise, of_total))
    rectangles = math.prod(cells * (cells + 1) / 2 for cells in sizes)
    return error + reach_of_sum(payment.noise(left / 2), parts**axes, chance / (2 * rectangles))


def expected_error(
    rows: int, sizes: Sequence[int], payment: Payment, parts: int, left: Fraction = Fraction(1)
) -> float:
    """The error of a rectangle, root mean square, in rows, nearly: of no theorem, but far nearer than Theorem 2.

    What one rectangle cuts, the noise of the boxes in it and that of the searches, as if all were independent and
    evenly spread; a third of that, for so it was at the most, and mostly less, over age and hours of Adult.
    """
    axes = len(sizes)
    square = axes * (rows / parts) ** 2 / 3 + parts**axes / 3 * deviation_of(payment.noise(left / 2)) ** 2
    for axis in range(axes):
        square += axes * parts**axis * deviation_of(_search_law(payment, left / 2, sizes, parts, axis)) ** 2
    return math.sqrt(square) / 3


def best_slabs(rows: int, sizes: Sequence[int], payment: Payment, left: Fraction = Fraction(1)) -> int:
    """The number of slabs of each axis with the least expected error, among powers of 2 and those halfway between."""
    halves = [s for i in range(1, MOST_SLABS.bit_length()) for s in (2**i, 3 * 2 ** (i - 1))]
    tried: list[int] = [slabs for slabs in halves if slabs ** len(sizes) <= MOST_BOXES]
    return min(tried, key=lambda slabs: expected_error(rows, sizes, payment, slabs, left))


def rows_needed(alpha: float, sizes: Sequence[int], payment: Payment, beta: float = BETA) -> tuple[int, int]:
    """The least n, nearly, for which every rectangle errs by at most alpha n but for a probability beta, and its s.

    >>> rows_needed(0.2, (64, 64), Payment("replace_one", epsilon=Fraction(1)))
    (147492300, 61)
    """
    found = []
    for parts in range(math.floor(4 * len(sizes) / alpha) + 1, MOST_SLABS + 1, 1 + len(sizes) ** 2):
        noise = guaranteed_error(0, sizes, payment, parts, beta)
        found.append((math.ceil(noise / (alpha - 4 * len(sizes) / parts)), parts))
    if not found:
        raise ValueError(f"an error of {alpha} needs more than {MOST_SLABS} slabs an axis; ask for a larger one")
    return min(found)


def cells_needed(alpha: float, sizes: Sequence[int], payment: Payment, beta: float = BETA) -> int:
    """The same for noise on every cell of the grid (`cells`), before numbers are made whole.

    >>> cells_needed(0.1, (64, 64), Payment("replace_one", epsilon=Fraction(1)))
    11053
    """
    rectangles = math.prod(cells * (cells + 1) / 2 for cells in sizes)
    return math.ceil(reach_of_sum(payment.noise(), math.prod(sizes), beta / (2 * rectangles)) / alpha)


def _check(sizes: Sequence[int], parts: int) -> None:
    if not 1 <= len(sizes) <= MOST_AXES or min(sizes) < 1 or parts < 2:
        raise ValueError(
            f"axes of {list(sizes)} cells in {parts} parts: give 1 to {MOST_AXES} axes of a cell or more, and 2 parts "
            "or more; `marginals` releases more columns"
        )


def _probes(cells: int, parts: int, axis: int) -> int:
    """The most numbers that the search of one slab reads: all probes, and beyond the first axis its rows."""
    return (parts - 1) * max(1, (cells - 1).bit_length()) + (axis > 0)


def _search_law(
    payment: Payment, share: Fraction, sizes: Sequence[int], parts: int, axis: int
) -> LaplaceLaw | GaussianLaw:
    """The noise of each number read in the search of an axis, of so many axes that cost ``share`` together."""
    twice = payment.swapped if axis else 1
    return payment.number_noise(share / len(sizes), numbers=twice * _probes(sizes[axis], parts, axis))


def _pieces(cuts: Sequence[int], cells: int) -> list[tuple[int, int]]:
    """The first and last cells, from 0, between cuts from 1; the cell of cuts that coincide is apart."""
    found, after = [], 0
    for cut in sorted({*cuts, cells}):
        apart = list(cuts).count(cut) > 1
        if apart and after < cut - 1:
            found.append((after, cut - 2))
            after = cut - 1
        if after < cut:
            found.append((after, cut - 1))
        after = cut
    return found
