"""Metric privacy: two values are protected from each other as well as the owner says, not all alike.

Each attribute has a metric on its values; a `Product` makes them one metric d on the cells of the domain. A row's
change from cell i to cell j may change the odds of what anybody sees by a factor of at most exp(d(i, j)). Ordinary
epsilon-DP is the case where every distance is epsilon. A query that moves little between values that are close needs
little noise: `Product.lipschitz` says how much.

    metric = Product((Chain.even(110, Fraction(1, 20)), Discrete(2, Fraction(1, 2))))
    metric.lipschitz(Query(values))         # scale of discrete Laplace noise on the sum of values over the rows
    together(metric, queries).scales        # of several queries, d-private together
    least_error(metric, queries)            # the best of these, of a scale for each group, and of noised prefixes
"""

from dpsql.mechanisms.metric.distances.base import Lines, Metric, MetricError, Pairs
from dpsql.mechanisms.metric.distances.branches import BranchRelease, branch_release
from dpsql.mechanisms.metric.distances.chain import Chain
from dpsql.mechanisms.metric.distances.discrete import Discrete
from dpsql.mechanisms.metric.distances.missing import WithNull
from dpsql.mechanisms.metric.distances.points import Points
from dpsql.mechanisms.metric.distances.positions import DistanceThreshold, Smooth
from dpsql.mechanisms.metric.distances.product import Combine, Product, Slopes
from dpsql.mechanisms.metric.distances.query import Query
from dpsql.mechanisms.metric.distances.star import Star
from dpsql.mechanisms.metric.distances.table import Edge, Table
from dpsql.mechanisms.metric.distances.tree import Tree
from dpsql.mechanisms.metric.release.offers import Way, least_error, offers
from dpsql.mechanisms.metric.release.selection import exponent_of_groups, exponent_of_scores, shortfall
from dpsql.mechanisms.metric.release.together import STRATEGIES, Together, together

__all__ = [
    "STRATEGIES",
    "BranchRelease",
    "Chain",
    "Combine",
    "Discrete",
    "DistanceThreshold",
    "Edge",
    "Lines",
    "Metric",
    "MetricError",
    "Pairs",
    "Points",
    "Product",
    "Query",
    "Slopes",
    "Smooth",
    "Star",
    "Table",
    "Together",
    "Tree",
    "Way",
    "WithNull",
    "branch_release",
    "exponent_of_groups",
    "exponent_of_scores",
    "least_error",
    "offers",
    "shortfall",
    "together",
]
