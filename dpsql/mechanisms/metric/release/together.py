"""Several queries answered together: the scales of their noise, by the strategy with the least expected error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.exact import Floats
from dpsql.mechanisms.metric.distances.product import Product, Slopes
from dpsql.mechanisms.metric.distances.query import Query
from dpsql.mechanisms.metric.release.several import rows_of, scales_of
from dpsql.mechanisms.metric.release.strategies import optimum, strategy_1, strategy_2, strategy_3

__all__ = ["STRATEGIES", "Together", "together"]

Strategy = Callable[[Floats, Floats], Floats]
"""From rows of moves and what each query counts to weights."""

STRATEGIES: dict[str, Strategy] = {
    "strategy_1": lambda rows, counts: strategy_1(rows),
    "strategy_2": lambda rows, counts: strategy_2(rows),
    "strategy_3": lambda rows, counts: strategy_3(rows),
    "optimum": optimum,
}
FOR_OPTIMUM = 64  # Queries answered together. It is a choice: beyond it strategy 3 is nearly as good, and much quicker.
MANY_ROWS = 20_000  # Different moves that weights are found from. It is a choice between time and noise.


@dataclass(frozen=True, slots=True)
class Together:
    """Noise with which the answers of several queries are d-private together; with s / m they are (m d)-private.

    Attributes:
        strategy: How the metric was shared: a name of `STRATEGIES`, "one" for a single query, "parts" where there were
            too many moves to look at and each query has a part of its own.
        scales: Of each query's noise, in steps of its grid; 0 where the answer is public.
        slopes: What the answers cost in all, along each attribute for each unit of its metric, and for presence.
    """

    strategy: str
    scales: tuple[Fraction, ...]
    slopes: Slopes

    @property
    def variances(self) -> tuple[float, ...]:
        """Of each answer, in steps^2: those of continuous noise, which are a little above."""
        return tuple(float(2 * scale**2) for scale in self.scales)


def together(product: Product, queries: Sequence[Query], strategy: str | None = None) -> Together:
    """The noise of several queries' answers.

    Args:
        product: d.
        queries: At least one.
        strategy: A name of `STRATEGIES`; None for the best that the number of queries and moves allows: the least sum
            of variances, each counted against the variance of the query when it is asked alone.

    Raises:
        ValueError: If there is no such strategy.

    >>> from dpsql.mechanisms.metric.distances.chain import Chain
    >>> ages = Product((Chain.even(100, Fraction(1, 10)),))
    >>> adults, mean = Query((np.arange(100) >= 18) + 0), Query(np.arange(100))
    >>> [float(scale) for scale in together(ages, [adults, mean], "strategy_2").scales]
    [20.00000000001819, 20.00000000001819]
    """
    if strategy is not None and strategy not in STRATEGIES:
        raise ValueError(f"there is no strategy {strategy!r}; write one of {', '.join(STRATEGIES)}.")
    alone = [product.lipschitz(query) for query in queries]
    noisy = [place for place, scale in enumerate(alone) if scale > 0]
    if len(noisy) < 2:
        return _one(product, queries, alone)
    chosen = [queries[place] for place in noisy]
    counts = np.array([float(1 / alone[place] ** 2) for place in noisy])
    name, weights = _weights(product, chosen, counts, strategy)
    found, slopes = scales_of(product, chosen, weights)
    scales = dict(zip(noisy, found, strict=True))
    return Together(name, tuple(scales.get(place, Fraction(0)) for place in range(len(queries))), slopes)


def _one(product: Product, queries: Sequence[Query], alone: Sequence[Fraction]) -> Together:
    """One query with noise, or none."""
    slopes = Slopes((Fraction(0),) * len(product.attributes), Fraction(0))
    for query, scale in zip(queries, alone, strict=True):
        if scale > 0:
            own = product.slopes(query)
            slopes = Slopes(tuple(slope / scale for slope in own.along), own.presence / scale)
    return Together("one", tuple(alone), slopes)


def _weights(product: Product, queries: Sequence[Query], counts: Floats, strategy: str | None) -> tuple[str, Floats]:
    """The strategy's name and its weights."""
    rows = rows_of(product, queries, MANY_ROWS)
    if rows is None or not rows.any(axis=0).all():
        # Too many moves to look at, or so many that none of some query's is among the longest: one row is left, the
        # queries' own constants, for which equal parts are best.
        return "parts", np.sqrt(counts)
    name = strategy or ("optimum" if len(queries) <= FOR_OPTIMUM else "strategy_3")
    return name, STRATEGIES[name](rows, counts)
