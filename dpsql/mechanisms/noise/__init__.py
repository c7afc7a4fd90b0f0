"""Noise on sums and counts: its laws, the numbers it is added to, and what it may depend on."""
