"""Quantiles, means and variances over as many rows of each unit as are found to serve best: mechanism ``capped``.

`sizes` finds how many rows units have, and what a cap would change; `release` chooses caps and widens intervals by
that, for `quantile` and for `statistics`; `mechanism` has the theorem and makes the offer.

Tests: tests/unit/mechanisms/capped.
"""

from __future__ import annotations
