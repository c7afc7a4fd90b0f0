"""FriendlyCore: statistics of data whose place is not known, at the data's own scale.

A filter keeps rows that are close to most others; a *friendly* mechanism, private on such data alone, does the rest.
The filters' proofs make the whole private on all data.
"""

from dpsql.mechanisms.friendly_core.basic import BasicFilter, BasicSwapFilter
from dpsql.mechanisms.friendly_core.concentrated import ConcentratedFilter, ConcentratedSwapFilter, Core
from dpsql.mechanisms.friendly_core.friends import Ball, friends_in_line

__all__ = [
    "Ball",
    "BasicFilter",
    "BasicSwapFilter",
    "ConcentratedFilter",
    "ConcentratedSwapFilter",
    "Core",
    "friends_in_line",
]
