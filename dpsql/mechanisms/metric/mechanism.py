"""Statements priced by a multiple of a metric: counts, sums, means and modes of single rows, answered all together.

Neighbours: one row replaced, under ``replace_one``; and under ``add_remove`` also one row more or less, at the metric's
``presence``. Loss: `MetricLoss`, or `Free` where no move of one row changes any answer.

Theorem. The answers of a statement cost the multiple of the metric that it names, all together (`release.cells_release`
has the proof, `release.together` how they share it).

Nothing but public facts is looked at before the charge: the policy, the statement, public tables.

Source: Kamalaruban, Perrier, Asghar, Kaafar 2018; `release.cells_release` names what is ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dpsql.errors import InvariantBroken, ProgrammingError, UnsupportedQuery
from dpsql.limits import MOST_LISTED
from dpsql.mechanisms.base import OWN, Joint, Mechanism, Refusal, Request
from dpsql.mechanisms.metric.linear import Part, linear_offers
from dpsql.mechanisms.metric.questions import Groups, grouped, image, question
from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric
from dpsql.mechanisms.metric.rows import CellDomain, read_rows
from dpsql.plan.measured.domains import Evaluate
from dpsql.plan.options import Options
from dpsql.plan.plans import Key, Plan

__all__ = ["MetricPrivacy"]


def _no_policy(*_: Any) -> Any:
    raise InvariantBroken("a statement under a metric needs a policy that has one")


@dataclass(frozen=True, slots=True)
class MetricPrivacy(Mechanism):
    """Linear queries over the cells of a metric's domain, noised together.

    Attributes:
        metrics: Those of the policy, by name.
        evaluate: Runs expressions over public values.
        public: Reads public tables.
    """

    name: str = "metric"
    options: frozenset[str] = frozenset({"metric", "multiple"})
    metrics: Mapping[str, RowMetric] = field(default_factory=dict, compare=False)
    evaluate: Evaluate = field(default=_no_policy, compare=False)
    public: PublicRows = field(default=_no_policy, compare=False)

    def takes(self, request: Request) -> bool:
        """Whether it is priced by a multiple."""
        return request.price.multiple is not None

    def reads(self, request: Request) -> frozenset[str]:
        """Its own alone: the protected thing is one row, so no cap bounds a person's."""
        return self.options

    def statement(self, plan: Plan, options: Options) -> tuple[Plan, Options]:
        """A statement under a metric with every group listed, and the options that it reads; others as they are.

        Raises:
            ProgrammingError: Its price is none, or there is no such metric.
            UnsupportedQuery: A key is no function of the metric's attributes, or there are too many groups.
        """
        if plan.table is not None or not self._prices(options):
            return plan, options
        metric = self._metric(options)
        free = replace(plan, keys=self._listed(plan, metric), combined=())  # its answers are of all cells
        return free, options.only(OWN | self.options)

    def _prices(self, options: Options) -> bool:
        return options.mechanism == self.name or options.metric is not None or options.multiple is not None

    def _metric(self, options: Options) -> RowMetric:
        """The metric by which a statement is priced, where its price is whole."""
        names = ", ".join(self.metrics) or "none"
        if options.mechanism not in (None, self.name):
            raise ProgrammingError(
                f"metric and multiple price a statement of mechanism 'metric', not '{options.mechanism}'. "
                "Leave one out."
            )
        if options.metric is None:
            raise ProgrammingError(f"mechanism 'metric' needs a metric. Write metric = NAME; the policy has {names}.")
        metric = next((own for name, own in self.metrics.items() if name.lower() == options.metric), None)
        if metric is None:
            raise ProgrammingError(f"There is no metric {options.metric}. The policy has {names}.")
        if options.multiple is None:
            raise ProgrammingError(
                f"A statement under metric {metric.name} is priced by a multiple of it. Write multiple = 0.5, for "
                "example."
            )
        if options.epsilon is not None or options.rho is not None:
            raise ProgrammingError(
                "multiple is the whole price of a statement under a metric. Leave epsilon and rho out."
            )
        return metric

    def _listed(self, plan: Plan, metric: RowMetric) -> tuple[Key, ...]:
        """The keys, open ones with the values that the cells of the domain give them."""
        unlisted = [key.expression for key in plan.keys if key.domain is None]
        keys = plan.keys
        if unlisted:
            rows = replace(read_rows(plan.relation, metric), conditions=())
            cells = CellDomain(metric, rows, unlisted, self.evaluate, self.public)
            keys = tuple(
                replace(key, domain=image(cells.values(key.expression))) if key.domain is None else key for key in keys
            )
        for places in plan.sets if plan.sets is not None else (tuple(range(len(keys))),):
            size = math.prod(len(keys[place].domain or ()) for place in places)
            if size > MOST_LISTED:
                raise UnsupportedQuery(
                    f"there are {size:,} groups, more than {MOST_LISTED:,}.",
                    construct="GROUP BY",
                    hint="Group by fewer keys, or by coarser ones.",
                )
        return keys

    def offer(self, request: Request) -> Refusal:
        """No offer: even a single aggregate is answered by `together`."""
        return Refusal(self.name, "what is priced by a metric is answered all together.")

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        """One offer for all requests of a statement under a metric; none for others.

        Raises:
            UnsupportedQuery: One of them is no linear query over the metric's attributes, or they tell too many cells
                apart.
        """
        if not requests or any(request.selects or not self.takes(request) for request in requests):
            return ()
        first = requests[0]
        metric = self._metric(first.options)
        rows = read_rows(first.source.relation, metric)
        asked = [argument for request in requests if (argument := request.aggregate.argument) is not None]
        asked += [key.expression for request in requests for key in request.source.keys]
        cells = CellDomain(metric, rows, asked, self.evaluate, self.public)
        counted, groups = cells.counted(), dict[tuple[Key, ...], Groups]()
        for request in requests:
            groups.setdefault(request.source.keys, grouped(cells, request.source.keys))
        parts = [
            Part(request, question(cells, counted, request.aggregate, groups[request.source.keys]))
            for request in requests
        ]
        return (linear_offers(metric, rows, cells, parts),)
