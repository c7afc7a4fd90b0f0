"""Counts, sums and means of units' totals, with a bound of them that is found: mechanism ``clamped``.

`mechanism` has the theorem of totals and makes the offers; `release` chooses a clamp and adds up what it leaves, and
`facts` takes one from what `dpsql advise` released; `mean` has the theorem of means and their release.

Tests: tests/unit/mechanisms/clamped.
"""

from __future__ import annotations
