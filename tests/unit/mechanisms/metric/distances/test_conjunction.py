"""Products of factors against the same query over all cells."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from dpsql.mechanisms.metric import Chain, Discrete, Points, Product, Query
from tests.unit.mechanisms.metric.conjunction import slopes_of_conjunction
from tests.unit.mechanisms.metric.examples import KINDS, fraction
from tests.unit.mechanisms.metric.oracles import agrees


def test_the_slopes_are_those_of_the_query_over_all_cells() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        kinds = [list(KINDS.values())[int(kind)] for kind in rng.integers(len(KINDS), size=3)]
        product = Product(tuple(kind(rng, 4) for kind in kinds), presence=fraction(rng) if seed % 2 else None)
        factors = [rng.integers(-3, 4, size=size if rng.integers(4) else 1) for size in product.sizes]
        query = Query(reduce(np.multiply.outer, factors))
        found, truth = slopes_of_conjunction(product, factors), product.slopes(query)
        assert found.presence == truth.presence
        for each, true, metric in zip(found.along, truth.along, product.attributes, strict=True):
            assert agrees(each, true, exactly=not isinstance(metric, Points))


def test_no_cell_is_made() -> None:
    product = Product((Chain.even(1000, Fraction(1, 7)), Discrete(1000, Fraction(1))) * 5, presence=Fraction(1, 2))
    slopes = slopes_of_conjunction(product, [(np.arange(1000) % 2).astype(int)] * 10)
    assert set(slopes.along) == {Fraction(7), Fraction(1)}
    assert slopes.presence == 2


def test_a_factor_too_few_or_of_another_size_is_refused() -> None:
    product = Product((Discrete(3, Fraction(1)), Discrete(2, Fraction(1))))
    for factors in ([np.ones(3, dtype=int)], [np.ones(2, dtype=int), np.ones(2, dtype=int)]):
        with pytest.raises(ValueError, match=r"factors must be 2, of \(3, 2\) numbers or 1"):
            slopes_of_conjunction(product, factors)
