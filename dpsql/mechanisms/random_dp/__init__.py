"""Random differential privacy: answers that protect a person drawn at random, but on a gamma of all tables.

Neighbours: ``add_remove`` and ``replace_one``, each with a gamma of its own (`privacy.exposure`). Loss: `RandomDP`.

Let X_1, ..., X_(n + 1) be exchangeable units, and D, D' the two neighbours that differ in the last of them. A
mechanism is (epsilon, delta, gamma)-random DP if with probability at least 1 - gamma over the units it is (epsilon,
delta)-DP for that one pair: P(M(D) in S) <= e^epsilon P(M(D') in S) + delta for every S, and the other way round. So
gamma is the share of people who may have no protection at all, not a small chance that noise fails.

Theorem. Let E be an event of the units alone, of probability gamma, fixed before anybody asks. If away from E every
answer, chosen with all earlier ones in sight, is (epsilon_i, delta_i)-DP for the pair (rho_i-zCDP, ...), then away
from E all of them together are what these losses compose to, and gamma is paid once.

Proof. Fix units outside of E. What is left is one pair of tables and answers that are private for it; composition, its
filters included, is proved pair by pair.  QED

Answers of the same declared partition and table version share their event (`histogram`), those of a declared mean have
theirs (`mean`); further events add up by the union bound. An event that depends on an answer is none of them:
mechanisms that are each (0, gamma)-random DP can, if the second is chosen after the first, show everybody
(docs/random_dp.md). So the policy declares every partition and every mean beforehand, and anything else is refused.

Source: Hall, Rinaldo, Wasserman 2013, "Random differential privacy"; the composition of a fixed event is above.
"""

from __future__ import annotations

from dataclasses import dataclass

from dpsql.mechanisms.base import Mechanism, Offer, Refusal, Request
from dpsql.mechanisms.random_dp.histogram import histogram_offer
from dpsql.mechanisms.random_dp.mean import mean_offer
from dpsql.mechanisms.random_dp.opted import opted_in
from dpsql.plan.aggregates import FUNCTIONS

__all__ = ["RandomDP"]


@dataclass(frozen=True, slots=True)
class RandomDP(Mechanism):
    """Counts over the cells of a declared partition, and declared means. Only by name: it promises less."""

    name: str = "random_dp"
    options: frozenset[str] = frozenset({"gamma"})

    def offer(self, request: Request) -> Offer | Refusal:
        """An offer for a statement that names it, or why there is none; unnamed, what it would be like."""
        found = self._offer(request)
        if request.options.mechanism != self.name:
            unnamed = "it promises less than differential privacy, and answers only where it is named."
            found = unnamed if isinstance(found, str) else " ".join([unnamed, *found.notes])
        return Refusal(self.name, found) if isinstance(found, str) else found

    def _offer(self, request: Request) -> Offer | str:
        asked = opted_in(request)
        if isinstance(asked, str):
            return asked
        if FUNCTIONS[request.aggregate.function].arguments == 0:
            return histogram_offer(self.name, request, asked)
        if request.aggregate.function == "avg":
            return mean_offer(self.name, request, asked)
        if request.aggregate.function == "count":
            return "it counts all rows of a cell: no column of them, and no FILTER; put conditions into WHERE."
        return f"it answers COUNT(*), COUNT(DISTINCT unit) and declared means, not {request.aggregate.text}."
