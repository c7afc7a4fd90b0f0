"""CORR, REGR_SLOPE and COVAR without bounds, from the covariance matrix of a core: mechanism ``friendly_core``.

Neighbours: ``add_remove``; ``replace_one`` without groups. Loss: (epsilon, delta), *idealised*, by the theorem of
`friendly_core.covariance`: offered only where the policy admits that, and noted in every answer. A unit has one row at
most. One more or less changes one group, so that each group may cost the whole price; one exchanged changes two groups.

A statistic of the released matrix costs nothing more, and no correlation is beyond 1. A group where too few parts agree
has none: NULL, charged like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.base import Interval, Offer, Refusal, Request, derive
from dpsql.mechanisms.friendly_core.covariance import Covariance, plan_covariance
from dpsql.mechanisms.friendly_core.covariance_release import covariance_notes
from dpsql.plan.grids import saturating_grid
from dpsql.plan.needs import Values
from dpsql.plan.types import Facts, Grid
from dpsql.privacy.kinds import Loss
from dpsql.privacy.sampling import Sampler
from dpsql.privacy.tables import RawTable, ReleasedTable

__all__ = ["FriendlyPair", "offer_pair"]

Floats = npt.NDArray[np.float64]
NAME = "friendly_core"


def _covar(matrix: Floats) -> float:
    return float(matrix[0, 1])


def _corr(matrix: Floats) -> float:
    variances = float(matrix[0, 0]) * float(matrix[1, 1])
    return 0.0 if variances <= 0 else max(-1.0, min(1.0, float(matrix[0, 1]) / math.sqrt(variances)))


def _slope(matrix: Floats) -> float:
    """Of the first column, y, against the second, x."""
    return 0.0 if matrix[1, 1] <= 0 else float(matrix[0, 1] / matrix[1, 1])


STATISTICS: Mapping[str, Callable[[Floats], float]] = {
    "covar_pop": _covar,  # the core's number is not known, and the two hardly differ
    "covar_samp": _covar,
    "corr": _corr,
    "regr_slope": _slope,
}


def offer_pair(request: Request) -> FriendlyPair | Refusal:
    """An offer for a statistic of two columns, or why there is none."""
    aggregate, source = request.aggregate, request.source
    if not request.idealised:
        return Refusal(NAME, f"{aggregate.text} takes idealised arithmetic, and the policy does not admit that.")
    if aggregate.argument is None or aggregate.second is None:
        return Refusal(NAME, f"it does not answer {aggregate.text}.")
    if request.selects:
        return Refusal(NAME, "it cannot decide which groups of an open domain appear; only a threshold can.")
    if source.keys and request.neighbours == "replace_one":
        return Refusal(NAME, "under replace_one an exchanged unit would change two groups.")
    if source.contribution.total != 1:
        return Refusal(NAME, "one unit has several rows or groups here, and it needs one row of each unit.")
    try:
        plan = plan_covariance(2, request.price)
    except ValueError as error:
        return Refusal(NAME, f"{error}.")
    if request.rows_read < plan.rows_needed:
        return Refusal(
            NAME,
            f"it deals people into {plan.parts} parts and needs about {plan.rows_needed:,} of them in a group; the "
            f"policy guesses {request.rows_read:,} (rows_about).",
        )
    facts = request.facts, request.second_facts
    grids = request.grid or saturating_grid(facts[0]), request.second_grid or saturating_grid(facts[1])
    need = Values(source, aggregate.argument, grids[0], others=((aggregate.second, grids[1]),))
    return FriendlyPair(NAME, need, plan, aggregate.function, grids, _spreads(facts), request.rows_read)


def _spreads(facts: tuple[Facts, Facts]) -> tuple[float, float]:
    """A guess of both standard deviations: as declared, else a sixth of the bounds; infinite where nothing is known."""
    found = []
    for own in facts:
        bounded = isinstance(own.low, Fraction) and isinstance(own.high, Fraction)
        width = Fraction(own.high) - Fraction(own.low) if bounded else None  # type: ignore[arg-type]  # both are
        found.append(float(own.spread or (width / 6 if width else math.inf)))
    return found[0], found[1]


@dataclass(frozen=True, slots=True)
class FriendlyPair(Offer):
    """An offer to release a statistic of two columns in every group.

    Attributes:
        loss: That of one group: the groups hold different units.
        need: Pairs of values, one for each unit.
        plan: What each group's matrix takes.
        function: Which statistic.
        grids: Of both columns.
        spreads: Guesses of both standard deviations, in the columns' units.
        rows_about: Guess of the rows in a group.
        half_width: In the statistic's unit: 1.96 sqrt(2) eta, for a correlation of 0.
    """

    loss: Loss = field(init=False)
    need: Values
    plan: Covariance
    function: str
    grids: tuple[Grid, Grid]
    spreads: tuple[float, float]
    rows_about: int

    def __post_init__(self) -> None:
        y, x = self.spreads
        unit = {"corr": 1.0, "regr_slope": y / x if y < math.inf else math.inf}.get(self.function, y * x)
        width = 1.96 * math.sqrt(2) * self.plan.expected_eta * unit
        derive(self, loss=self.plan.loss, half_width=width, notes=covariance_notes(self.plan, self.rows_about))

    def release(self, raw: RawTable, sampler: Sampler) -> ReleasedTable:
        """``value`` in the statistic's unit for each group; None where too few parts agree."""
        group, rows = (np.asarray(raw.column(name), dtype=np.int64) for name in ("group", "rows"))
        pairs = np.stack(
            [
                np.asarray(raw.column(name), dtype=np.float64) * float(grid.step)
                for name, grid in zip(self.need.columns, self.grids, strict=False)
            ],
            axis=1,
        )
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(raw.size + 1))
        own = [order[start:end] for start, end in pairwise(edges)]
        found = [self.plan.matrix(np.repeat(pairs[at], rows[at], axis=0), sampler) for at in own]
        statistic = STATISTICS[self.function]
        return ReleasedTable({"value": [None if matrix is None else statistic(matrix) for matrix in found]})

    @property
    def bracketed(self) -> bool:
        """No."""
        return False

    def intervals(self, released: ReleasedTable, confidence: float) -> Sequence[Interval]:
        """None is known: how far the core's statistic lies from that of all rows depends on the data."""
        return [(None, None)] * len(released.values)
