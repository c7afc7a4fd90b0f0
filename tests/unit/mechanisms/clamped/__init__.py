"""Tests of the mechanism `clamped`."""
