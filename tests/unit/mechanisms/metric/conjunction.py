"""Queries that are a product of one factor for each attribute: their slopes without any cell of the domain.

Theorem. Let q(x) = product over a of f_a(x_a). Then the slope along attribute a is that of f_a times the largest |f_b|
of each other attribute b: where x and y differ in a only, q(x) - q(y) is f_a(x_a) - f_a(y_a) times the product of the
other f_b, and some cell attains all their maxima at once.

A conjunction of conditions is such a product of zeros and ones, and so is the number of cells of no matter: 10^30 cells
take the time of their axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric.distances.base import Integers, Lines
from dpsql.mechanisms.metric.distances.product import Product, Slopes

__all__ = ["slopes_of_conjunction"]


def slopes_of_conjunction(product: Product, factors: Sequence[Integers]) -> Slopes:
    """The slopes of the query that is the product of the factors, as `Product.slopes` would find them.

    Args:
        product: The metric.
        factors: For each attribute, (its size,) integers; (1,) for an attribute that is not looked at.

    Raises:
        ValueError: If there is not a factor for each attribute, of its size or 1.

    >>> from dpsql.mechanisms.metric.distances.chain import Chain
    >>> metric = Product((Chain.even(10**5, Fraction(1, 10)),) * 6)
    >>> slopes_of_conjunction(metric, [(np.arange(10**5) > 7).astype(int)] * 6).along[0]
    Fraction(10, 1)
    """
    if len(factors) != len(product.attributes) or any(
        len(factor) not in (1, size) for factor, size in zip(factors, product.sizes, strict=True)
    ):
        raise ValueError(f"factors must be {len(product.sizes)}, of {product.sizes} numbers or 1.")
    largest = [int(np.abs(factor).max()) for factor in factors]
    along = tuple(
        attribute.slope(Lines(factor[None, :])) * math.prod(largest[:axis] + largest[axis + 1 :])
        if len(factor) > 1
        else Fraction(0)
        for axis, (attribute, factor) in enumerate(zip(product.attributes, factors, strict=True))
    )
    presence = Fraction(math.prod(largest)) / product.presence if product.presence is not None else Fraction(0)
    return Slopes(along, presence)
