"""Means and variances at each group's own place: mechanism ``located``.

`place` finds where a group's rows lie from noised numbers, `parts` prices them, `release` clips there and tells the
interval, `mechanism` has the theorem and makes the offer.

Tests: tests/unit/mechanisms/located.
"""

from __future__ import annotations
