"""Proved intervals of correlations and slopes: every value from which the noise may have made what was released.

With S_xy, S_xx and S_yy the true sums of products around the true means, a statistic p solves S_xy - p F = 0, where

    slope           F = S_xx                            a = 1       b = 0
    correlation     F = (s S_xx + S_yy / s) / 2         a = s / 2   b = 1 / (2 s)   s = sqrt(S_yy / S_xx)

F = a S_xx + b S_yy. Once the true means mx and my and the true s are known, that is linear in the moments. So with S'
and F' those of the noised moments, around their own means, n' the noised number of rows, and e_m the noise of moment m,

    S'_xy - p F' = L - D
    L = sum of w_m e_m      w_xy = 1, w_xx = -p a, w_yy = -p b, w_x = -my + 2 p a mx, w_y = -mx + 2 p b my,
                            w_n = mx my - p (a mx^2 + b my^2)
    D = (X Y - p (a X^2 + b Y^2)) / n'      X = e_x - mx e_n, Y = e_y - my e_n

exactly. *Proof.* n sum xy - sum x sum y is the same around all points, and moments around one follow linearly from
those around another. Around the true means the true sums of x and y are 0, so the noised ones are X and Y, and

    S'_xy = S_xy + e_xy - my e_x - mx e_y + mx my e_n - X Y / n'

S'_xx and S'_yy alike; S_xy - p F = 0 leaves the noise. If all values of a variable are the same, S_xy is 0 and so is p
as `central` has it, whatever s is taken for.

*The interval.* All e_m are within their quantiles but for a tenth of the chance of missing (union bound). Then mx, my
and s lie in ranges, and |X| and |Y| are bounded. At the true mx, my and s, |L| exceeds Q(w), its quantile, with the
rest of that chance. So but for the chance of missing, whatever the data are, the truth is a p with
|S'_xy - p F' + D| <= Q(w) for some mx, my and s of their ranges. What is returned holds all of these: the range of s is
cut into cells, and in each |w| and D are bounded by its ends, and S'_xy - p F' is taken at its nearest to 0. It is
Fieller's interval (1954) but for D and the ranges, which are of the second order: they matter where the rows are few
beside the noise.

*Its ends.* Q is convex in w (as of `mean`), and rises with each |w_m|. So p F' - S'_xy - max(-D) - Q is concave in p on
either side of 0: where it is above 0 at some p and at the last of the bounds, it is so between the two, and cutting
what is left into parts, again and again, finds such a p next to one where it is not. S'_xy is first moved to where some
p within the bounds solves S'_xy = p F', if none does: that leaves out no p, and no interval is a point because its
noise was unlikely.

With fewer rows than two nothing is known. Unless the noised number is above that by its own quantile, the interval is
all of the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.noise.laws import Law
from dpsql.mechanisms.noise.tails import STEPS_APART

__all__ = ["CONFIDENCE", "FORETOLD", "HALVINGS", "solved_within"]

Floats = npt.NDArray[np.float64]
Range = tuple[float, float]

CONFIDENCE = 0.9999  # As a probability: the most for which tails of sums are exact enough.
NEAR = Fraction(1, 10)
"""Of the chance of missing, for the quantiles of single noises, which bound the second order alone. A guess: neither
half of it nor twice as much made narrower intervals."""
CELLS = 32  # Into how many the range of s is cut. A guess: twice as many made intervals 1% narrower.
DENSER = 1.5  # Cells are this power of their place away from the likely s: ends are found near it. A guess.
OCTAVES = 100.0  # Between the bounds of a statistic and the least number beside 0 that an end is told from.
HALVINGS = 28  # Of the octaves: an end is found to 3e-7 of itself, outwards.
FORETOLD = 12  # The same of a width that is foretold: to 2% of itself, which is more than a guess is good for.
PARTS = 32  # Into which what is left of the octaves is cut at once, where groups and cells are few. It is a choice.
TOGETHER = 256
"""Parts, groups and cells up to which these are not only two. It is a choice: numpy takes hardly longer over as many
numbers as over one, and a slope half the time (measured)."""
BATCH = 512  # Groups at once: some 20 MB. It is a choice.
SIGNS = np.array([1.0, -1.0])[:, None, None]  # The upper end, and the lower one: the upper one of values mirrored in y.
LEAST = 2  # Rows.


@dataclass(frozen=True, slots=True)
class _Held:
    """Of (groups, 1) groups: what is released, and the ranges that hold what is not known.

    Attributes:
        n: Noised rows, at least 1.
        squares: Of xy, xx and yy: S' of the noised moments; 0 where there are none.
        means: Of x and y: the middle of the range of its true mean, and half its width.
        aside: Of x and y: bounds of |X| and |Y|.
        laws: Of each moment whose noise may be other than 0.
        reach: Of each moment: its noise's quantile; 0 where it has none.
    """

    n: Floats
    squares: Mapping[str, Floats]
    means: Mapping[str, tuple[Floats, Floats]]
    aside: Mapping[str, Floats]
    laws: Mapping[str, Law]
    reach: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Cells:
    """The equation of (groups, cells), each side multiplied by t: t S_xy - p (a S_xx + b S_yy).

    In a cell each of t, a and b is a factor times 1, u or u^2, for u from its one end to its other.

    Attributes:
        u: The ends, > 0; both 1 where nothing is cut.
        t, a, b: (factor, power of u) each.
    """

    u: tuple[Floats, Floats]
    t: tuple[Floats, Floats]
    a: tuple[Floats, Floats]
    b: tuple[Floats, Floats]

    def ends(self, of: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """The least and the greatest of one of them."""
        factor, power = of
        return factor * self.u[0] ** power, factor * self.u[1] ** power


def solved_within(
    bounds: Range,
    laws: Mapping[str, Law | None],
    widths: Mapping[str, int],
    rows: Sequence[Mapping[str, int]],
    confidence: float,
    halvings: int = HALVINGS,
) -> list[Range]:
    """The interval of each group's correlation, where there is a moment yy, or slope, in grid steps.

    Args:
        bounds: What it is within whatever the data are, equally far on both sides of 0.
        laws: Noise of each moment, all of one kind; None where it is public.
        widths: Of x and y: no value is further from its shift.
        rows: Noised moments of each group.
        confidence: Between 0 and 1; all of the bounds above `CONFIDENCE`.
        halvings: How precisely its ends are told; `FORETOLD` where they are guesses.
    """
    if confidence > CONFIDENCE:
        return [bounds] * len(rows)
    miss = Fraction(str(1 - confidence))
    noised = {name: law for name, law in laws.items() if law is not None}
    near = miss * NEAR / max(1, len(noised))
    reach = {name: 0.0 if law is None else float(law.beyond(near / 2) - 1) for name, law in laws.items()}
    noised = {name: law for name, law in noised.items() if reach[name]}
    found: list[Range] = []
    for start in range(0, len(rows), BATCH):
        some = rows[start : start + BATCH]
        held = _held(noised, reach, widths, some)
        high, low = _ends(held, _cells(held, widths), bounds[1], float(miss * (1 - NEAR)), halvings)
        known = (m["n"] - reach["n"] >= LEAST for m in some)
        ends = zip((-low).tolist(), high.tolist(), known, strict=True)
        found += [(one, other) if told else bounds for one, other, told in ends]
    return found


def _held(
    laws: Mapping[str, Law], reach: Mapping[str, float], widths: Mapping[str, int], rows: Sequence[Mapping[str, int]]
) -> _Held:
    n = _column(max(1, m["n"]) for m in rows)
    fewest, most = np.maximum(1.0, n - reach["n"]), n + reach["n"]
    means, aside = {}, {}
    for name in ("x", "y"):
        total = _column(m[name] for m in rows)
        low, high = total - reach[name], total + reach[name]
        ends = np.minimum(low / fewest, low / most), np.maximum(high / fewest, high / most)
        low, high = (np.clip(end, -widths[name], widths[name]) for end in ends)
        means[name] = (low + high) / 2, (high - low) / 2
        aside[name] = np.maximum(np.abs(total - n * low), np.abs(total - n * high))
    squares = {
        pair: _column(Fraction(m[pair]) - Fraction(m[pair[0]] * m[pair[1]], max(1, m["n"])) for m in rows)
        if pair in reach
        else np.zeros_like(n)
        for pair in ("xy", "xx", "yy")
    }
    return _Held(n, squares, means, aside, laws, reach)


def _column(values: Iterable[int | Fraction]) -> Floats:
    return np.array([float(value) for value in values])[:, None]


def _cells(held: _Held, widths: Mapping[str, int]) -> _Cells:
    """One cell, or `CELLS` of a correlation: below the likely s multiplied by s, above it by 1 / s.

    So far from it t and one of a and b are next to 0, and the other is the same all over a cell.
    """
    none = np.zeros_like(held.n)
    if "yy" not in held.reach:
        return _Cells((none + 1, none + 1), (none + 1, none), (none + 1, none), (none, none))
    (x, x_low, x_high), (y, y_low, y_high) = (_ranged(held, name, widths[name]) for name in ("x", "y"))
    low, high = np.log(y_low / x_high) / 2, np.log(y_high / x_low) / 2
    likely = np.clip(np.log(y / x) / 2, low, high)
    places = np.linspace(0, 1, CELLS // 2 + 1) ** DENSER
    under, over = np.exp((low - likely) * places), np.exp((likely - high) * places)  # of s / likely, and of its inverse
    u = np.hstack([under[:, 1:], over[:, 1:]]), np.hstack([under[:, :-1], over[:, :-1]])
    below, s, every = np.arange(CELLS) < CELLS // 2, np.exp(likely), np.ones_like(u[0])
    a, b = np.where(below, 2.0, 0.0), np.where(below, 0.0, 2.0)
    return _Cells(u, (every, every), (s / 2 * every, a), (every / (2 * s), b))


def _ranged(held: _Held, name: str, width: int) -> tuple[Floats, Floats, Floats]:
    """A likely S_xx or S_yy, and a range of the true one: of rows that are not all alike it is 1/2 at least."""
    (mean, wide), pair, reach = held.means[name], name * 2, held.reach
    far = np.abs(mean) + wide
    noise = reach[pair] + 2 * far * reach[name] + far**2 * reach["n"]
    low = np.maximum(held.squares[pair] - noise, 0.5)
    high = held.squares[pair] + noise + held.aside[name] ** 2 / held.n
    high = np.maximum(np.minimum(high, (held.n + reach["n"]) * float(width) ** 2), low)
    return np.clip(held.squares[pair], low, high), low, high


def _ends(held: _Held, cells: _Cells, most: float, miss: float, halvings: int) -> Floats:
    """(2, groups) the greatest p that the noise allows, by `SIGNS`."""
    every = np.ones((2, *cells.u[0].shape))
    gap, weights_at = _gap(held, cells), _weights(held, cells)
    moved = np.maximum(gap(-most * every), 0)  # S'_xy is moved by as much

    def allowed(p: Floats) -> npt.NDArray[np.bool_]:
        weights, added = weights_at(p)
        width = gap(p) - moved - added - STEPS_APART * sum(weights[name] for name in held.laws)
        likely: npt.NDArray[np.bool_] = _tail(held.laws, weights, np.maximum(width, 0)) >= miss
        return likely | (width <= 0)

    at_last, at_none = allowed(np.stack([most * every, 0 * every]))
    away = np.where(at_none, 1.0, -1.0)  # the end is above 0, or below it
    inside, outside = np.where(at_none, 0.0, 1.0), np.where(at_none, 1.0, 0.0)
    parts = min(PARTS, max(2, TOGETHER // at_none[0].size))
    between = np.arange(1, parts)[:, None, None, None] / parts
    for _ in range(math.ceil(halvings / math.log2(parts))):
        places = np.stack([inside, *(inside + (outside - inside) * between), outside])
        within = allowed(away * most * 2.0 ** (OCTAVES * (places[1:-1] - 1)))
        last = np.where(within.all(axis=0), parts - 1, np.argmin(within, axis=0))[None]  # in front of the first beyond
        inside, outside = (np.take_along_axis(places, last + more, axis=0)[0] for more in (0, 1))
    ends = np.where(at_last, most, away * most * 2.0 ** (OCTAVES * (outside - 1)))
    greatest: Floats = ends.max(axis=-1)
    return greatest


def _gap(held: _Held, cells: _Cells) -> Callable[[Floats], Floats]:
    """Of a p: the least p F' - t S'_xy of each cell: a parabola in u, so it is at an end or where that turns."""
    top, parts = SIGNS * held.squares["xy"], ((cells.a, held.squares["xx"]), (cells.b, held.squares["yy"]))
    of_squared = sum(np.where(power == 2, factor * of, 0.0) for (factor, power), of in parts)
    of_steady = sum(np.where(power == 2, 0.0, factor * of) for (factor, power), of in parts)
    low, high = cells.u

    def least(p: Floats) -> Floats:
        squared, steady = p * of_squared, p * of_steady
        turn = np.where(squared > 0, np.clip(top / (2 * np.where(squared > 0, squared, 1.0)), low, high), low)
        found: Floats = np.minimum.reduce([(squared * u - top) * u + steady for u in (low, high, turn)])
        return found

    return least


def _weights(held: _Held, cells: _Cells) -> Callable[[Floats], tuple[dict[str, Floats], Floats]]:
    """Of a p: bounds of |w| and of -D, over the ranges of the means and each cell, by `SIGNS`.

    Each is linear in each of t, a and b, and in mx and my too, or a square: so the largest is at the ends of the first
    three, and at most the derivatives times half a range away from the middle of the others.
    """
    (x, wide), (y, broad) = held.means["x"], held.means["y"]
    y = SIGNS * y
    tops, over_x, over_y = (cells.ends(of) for of in (cells.t, cells.a, cells.b))
    (_, t), (_, a), (_, b) = tops, over_x, over_y
    of_x = _farthest([top * y for top in tops], [2 * one * x for one in over_x])
    of_y = _farthest([top * x for top in tops], [2 * one * y for one in over_y])
    squares = [one * x * x + other * y * y for one, other in zip(over_x, over_y, strict=True)]
    of_n = _farthest([top * x * y for top in tops], squares)
    far, aside = held.aside["x"], held.aside["y"]
    more_x, more_y = (t * broad, 2 * a * wide), (t * wide, 2 * b * broad)
    more_n = t * (np.abs(x) * broad + np.abs(y) * wide + wide * broad)
    times_n = a * (2 * np.abs(x) + wide) * wide + b * (2 * np.abs(y) + broad) * broad
    crossed, squared = t * far * aside, a * far**2 + b * aside**2

    def at(p: Floats) -> tuple[dict[str, Floats], Floats]:
        size = np.abs(p)
        weights = {
            "xy": t + 0 * p,
            "x": of_x(p) + more_x[0] + size * more_x[1],
            "y": of_y(p) + more_y[0] + size * more_y[1],
            "n": of_n(p) + more_n + size * times_n,
            "xx": size * a,
            "yy": size * b,
        }
        return weights, (crossed + np.maximum(-p, 0) * squared) / held.n

    return at


def _farthest(first: Sequence[Floats], second: Sequence[Floats]) -> Callable[[Floats], Floats]:
    """Of a p: the largest |v - p w|, for v and w between two ends each."""
    low, high = np.minimum(*first), np.maximum(*first)
    one, other = second

    def largest(p: Floats) -> Floats:
        ends = p * one, p * other
        found: Floats = np.maximum(high - np.minimum(*ends), np.maximum(*ends) - low)
        return found

    return largest


def _tail(laws: Mapping[str, Law], weights: Mapping[str, Floats], width: Floats) -> Floats:
    """P(|L| > width), or a little more; 0 where nothing is noised."""
    if not laws:
        return np.zeros_like(width)
    spreads = np.empty((len(laws), *width.shape))
    for place, (name, law) in enumerate(laws.items()):
        np.multiply(weights[name], law.spread, out=spreads[place])
    return next(iter(laws.values())).tail_of_sum(spreads, width)
