"""FriendlyCore: statistics of data whose place is not known, at the data's own scale.

A filter keeps rows that are close to most others; a *friendly* mechanism, private on such data alone, does the rest.
The filters' proofs make the whole private on all data. `basic` states what friendly means.

Radii, scales and weights must not come from the private table, unless paid for.
"""

from dpsql.mechanisms.friendly_core.average import Average, FriendlyAverage
from dpsql.mechanisms.friendly_core.basic import BasicFilter, BasicSwapFilter
from dpsql.mechanisms.friendly_core.clusters import KMeans, k_means, plan_k_means
from dpsql.mechanisms.friendly_core.concentrated import ConcentratedFilter, ConcentratedSwapFilter, Core
from dpsql.mechanisms.friendly_core.diameter import DiameterSearch, tolerance
from dpsql.mechanisms.friendly_core.friends import Ball, friends_in_line
from dpsql.mechanisms.friendly_core.located import GaussianTotal, LaplaceTotal, Located, LocateThenClamp
from dpsql.mechanisms.friendly_core.place import PlaceByCoins, PlaceByNoise

__all__ = [
    "Average",
    "Ball",
    "BasicFilter",
    "BasicSwapFilter",
    "ConcentratedFilter",
    "ConcentratedSwapFilter",
    "Core",
    "DiameterSearch",
    "FriendlyAverage",
    "GaussianTotal",
    "KMeans",
    "LaplaceTotal",
    "LocateThenClamp",
    "Located",
    "PlaceByCoins",
    "PlaceByNoise",
    "friends_in_line",
    "k_means",
    "plan_k_means",
    "tolerance",
]
