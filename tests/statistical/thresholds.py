"""How sure a statistical test must be before it fails, and how much it draws."""

from __future__ import annotations

from dpsql.audit.measured import MISS

P_THRESHOLD = MISS
"""A correct sampler fails one statistical test in 10^9 runs; hundreds of tests stay below one false alarm in 10^6."""

SAMPLE_SIZE = 100_000
"""Draws in a default test; those marked slow draw ten times as many."""
