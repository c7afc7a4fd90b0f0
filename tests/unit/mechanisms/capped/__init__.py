"""Tests of the mechanism `capped`."""
