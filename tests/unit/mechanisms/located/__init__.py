"""Tests of the mechanism `located`."""
