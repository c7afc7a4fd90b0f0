"""The noise of the linear queries of one statement, which share its price under a metric.

What is d-private at some scales is (m d)-private at a multiple m with each of them divided by m. How the queries share
d, and which way of answering them has the least expected error, is the work of `metric.together` and `metric.offers`;
here the result is turned into what a ledger charges and what a release draws.

Tests: tests/unit/mechanisms/metric/release/test_cells_release.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsql.mechanisms.metric import BranchRelease, Product, Query, Slopes, Together, least_error, together

__all__ = ["Noise", "Shared", "share_price", "share_price_best"]

MANY_NUMBERS = 1 << 22
"""Groups times cells: above it, one scale for all groups is the only way that is looked at. A guess."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What one query gets.

    Attributes:
        steepness: L: the constant of the query under the metric; 0 where it needs no noise.
        scales: In grid steps, 0 for no noise: one for all groups, or one for each.
        multiples: What it would cost by itself, by column of the ledger; what costs nothing is left out.
        branches: Where its answers are worked out from noised counts beyond branches; the scales are then theirs.
    """

    steepness: Fraction
    scales: tuple[Fraction, ...]
    multiples: Mapping[str, Fraction]
    branches: BranchRelease | None = None

    @property
    def scale(self) -> Fraction | None:
        """The one scale; None where there is no noise."""
        return self.scales[0] or None


@dataclass(frozen=True, slots=True)
class Shared:
    """What all queries of a statement get.

    Attributes:
        noises: One for each query.
        multiples: What they cost together, by column of the ledger; what costs nothing is left out.
    """

    noises: tuple[Noise, ...]
    multiples: Mapping[str, Fraction]


def share_price(queries: Sequence[Query], product: Product, names: Sequence[str], multiple: Fraction) -> Shared:
    """Noise with which the queries' answers together cost at most the multiple of each column.

    Args:
        queries: At least one, over the product's cells.
        product: The metric.
        names: The ledger's columns for its attributes.
        multiple: The price, > 0.
    """
    joint = together(product, queries)
    noises = []
    for query, scale in zip(queries, joint.scales, strict=True):
        steep = product.lipschitz(query)
        own = _own(product, names, query, steep, multiple / scale) if scale else {}
        noises.append(Noise(steep, (scale / multiple,), own))
    return Shared(tuple(noises), _times(product, names, joint.slopes, multiple))


def share_price_best(query: Query, size: int, product: Product, names: Sequence[str], multiple: Fraction) -> Shared:
    """The same for the one query of a statement, with ``size`` groups, by the way of answering that errs least."""
    if size * query.cells > MANY_NUMBERS:
        return share_price([query], product, names, multiple)
    offer = least_error(product, [query])
    match offer.release:
        case Together() as found if offer.way == "together":
            scales, branches, slopes = found.scales, None, found.slopes
        case Together() as found:  # one scale for each group that some cell is in; others are 0, publicly
            groups = [] if query.groups is None else np.unique(query.groups).tolist()
            each = dict(zip(groups, found.scales, strict=True))
            scales, branches, slopes = tuple(each.get(group, Fraction(0)) for group in range(size)), None, found.slopes
        case BranchRelease() as found:
            (axis,) = query.attributes
            along = tuple(found.slope if at == axis else Fraction(0) for at in range(len(names)))
            scales, branches, slopes = found.scales, found, Slopes(along, found.presence)
    multiples = _times(product, names, slopes, multiple)
    scaled = tuple(scale / multiple for scale in scales)
    return Shared((Noise(product.lipschitz(query), scaled, multiples, branches),), multiples)


def _own(
    product: Product, names: Sequence[str], query: Query, steep: Fraction, factor: Fraction
) -> dict[str, Fraction]:
    """What one query costs by itself with noise of scale 1 / factor."""
    return {"": steep * factor} if product.combine != "sum" else _times(product, names, product.slopes(query), factor)


def _times(product: Product, names: Sequence[str], slopes: Slopes, factor: Fraction) -> dict[str, Fraction]:
    """The ledger's columns, for slopes at which the answers are d-private; of a metric that is no sum, one column."""
    if product.combine != "sum":
        whole = max(product.combined(slopes.along), slopes.presence)
        return {"": min(whole, Fraction(1)) * factor} if whole else {}
    columns = dict(zip(names, slopes.along, strict=True)) | {"presence": slopes.presence}
    return {name: slope * factor for name, slope in columns.items() if slope}
