"""The ways to answer some queries under a metric, and the one with the least expected error, by public facts alone.

Tests: tests/unit/mechanisms/metric/release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpsql.mechanisms.metric.distances.base import Integers
from dpsql.mechanisms.metric.distances.branches import BranchRelease, branch_release
from dpsql.mechanisms.metric.distances.product import Product
from dpsql.mechanisms.metric.distances.query import Query
from dpsql.mechanisms.metric.release.together import Together, together

__all__ = ["Way", "least_error", "offers"]

MANY_APART = 256
"""How many answers may get a scale each. A guess."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A d-private way to answer all queries.

    Attributes:
        way: "together" has one scale a query, for all its groups; "apart" one for each group of each query; "branches"
            noises the counts beyond each branch of the one attribute that the queries look at, and adds them up.
        release: The scales. Of "apart", one for each answer.
        variances: (answers,) in steps^2: queries in order, each query's groups in ascending order.
        error: What the choice goes by: sum of the variances, each against that of its query asked alone.
    """

    way: Literal["together", "apart", "branches"]
    release: Together | BranchRelease
    variances: tuple[float, ...]
    error: float


def least_error(product: Product, queries: Sequence[Query]) -> Way:
    """The offer with the least expected error; the simpler one where two are as good."""
    return min(offers(product, queries), key=lambda offer: offer.error)


def offers(product: Product, queries: Sequence[Query]) -> list[Way]:
    """All ways to answer the queries, "together" first."""
    alone = [product.lipschitz(query) for query in queries]
    apart = [query.apart() for query in queries]
    sizes = [len(groups) for groups in apart]
    answers = [answer for groups in apart for answer in groups]
    worth = np.repeat([float(1 / (2 * scale**2)) if scale else 0.0 for scale in alone], sizes)
    found = [_together(product, queries, sizes, worth)]
    if len(queries) < len(answers) <= MANY_APART:
        release = together(product, answers)
        found.append(Way("apart", release, release.variances, _error(release.variances, worth)))
    axes = {axis for query in queries for axis in query.attributes}
    if len(axes) == 1:
        found += _branches(product, axes.pop(), answers, worth)
    return found


def _together(product: Product, queries: Sequence[Query], sizes: Sequence[int], worth: Integers) -> Way:
    release = together(product, queries)
    variances = tuple(np.repeat(release.variances, sizes).tolist())
    return Way("together", release, variances, _error(variances, worth))


def _branches(product: Product, axis: int, answers: Sequence[Query], worth: Integers) -> list[Way]:
    """The release of branches, if the attribute's metric is a tree: d is never less than the attribute's own."""
    shape = tuple(size if place == axis else 1 for place, size in enumerate(product.sizes))
    matrix = np.stack([answer.over(shape).values.ravel() for answer in answers])
    release = branch_release(product.attributes[axis], matrix, product.presence, worth.tolist())
    if release is None:
        return []
    variances = release.variances(matrix)
    return [Way("branches", release, variances, _error(variances, worth))]


def _error(variances: Sequence[float], worth: Integers) -> float:
    return float(np.array(variances) @ worth)
